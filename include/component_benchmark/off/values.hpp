// off -> VALUES: what stands for a metric that nobody measures
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/metric.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>

// Inlined at -O0 too, where nothing else is.
#define COMPONENT_BENCHMARK_DETAIL_GONE [[gnu::always_inline]] constexpr

namespace component_benchmark::off {

/// Takes anything and keeps nothing: for what holds strings, paths, files or functions.
struct anything {
    template<class... T>
    COMPONENT_BENCHMARK_DETAIL_GONE anything(T const&...) noexcept {}
};

/// Takes a list, written out or made before, and keeps nothing.
template<class Element>
struct list_of {
    COMPONENT_BENCHMARK_DETAIL_GONE list_of(std::initializer_list<Element>) noexcept {}
    template<class List>
    COMPONENT_BENCHMARK_DETAIL_GONE list_of(List const&) noexcept {}
};

/// An empty list, where a report has sentences or samples.
struct nothing {
    COMPONENT_BENCHMARK_DETAIL_GONE std::string const* begin() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::string const* end() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE bool empty() const noexcept { return true; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::size_t size() const noexcept { return 0; }
};

[[nodiscard]] inline std::string why() {
    return "built with COMPONENT_BENCHMARK_ENABLED=0";
}

/// A metric that nobody measured; its value throws, as that of any unavailable metric does.
template<class Number>
struct metric {
    COMPONENT_BENCHMARK_DETAIL_GONE bool has_value() const noexcept { return false; }
    COMPONENT_BENCHMARK_DETAIL_GONE explicit operator bool() const noexcept { return false; }
    [[noreturn]] Number value() const { throw error{"this metric is unavailable: " + off::why()}; }
    COMPONENT_BENCHMARK_DETAIL_GONE Number value_or(Number fallback) const { return fallback; }
    COMPONENT_BENCHMARK_DETAIL_GONE origin from() const noexcept { return origin::unavailable; }
    [[nodiscard]] std::string why() const { return off::why(); }
};

/// A metric found by its id.
struct cell {
    std::string why = off::why();
    static constexpr origin from = origin::unavailable;
    COMPONENT_BENCHMARK_DETAIL_GONE bool has_value() const noexcept { return false; }
    COMPONENT_BENCHMARK_DETAIL_GONE double number() const noexcept { return 0.0; }
};

}  // namespace component_benchmark::off
