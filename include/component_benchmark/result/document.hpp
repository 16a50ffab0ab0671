// pipeline -> result -> sink: the finished report as plain columns, the same for every sink
#pragma once

#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/step_times.hpp>
#include <component_benchmark/core/unit.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace component_benchmark {

/// A metric without its type: what sinks print. `std::monostate` is "no value".
struct cell {
    std::variant<std::monostate, std::int64_t, double, std::string> value;
    origin from = origin::unavailable;
    std::string why;

    [[nodiscard]] bool has_value() const noexcept { return value.index() != 0; }

    /// The number, whatever its type; 0 when there is none or the value is in words, so ask
    /// `has_value` first.
    [[nodiscard]] double number() const noexcept {
        if (auto const* integer = std::get_if<std::int64_t>(&value))
            return static_cast<double>(*integer);
        auto const* real = std::get_if<double>(&value);
        return real != nullptr ? *real : 0.0;
    }

    /// The value of a metric in words, or nothing.
    [[nodiscard]] std::string_view words() const noexcept {
        auto const* text = std::get_if<std::string>(&value);
        return text != nullptr ? std::string_view{*text} : std::string_view{};
    }
};

/// What is known of one metric in all rows.
struct column {
    std::string id;     ///< stable name, e.g. "latency_ms"
    std::string label;  ///< for people, e.g. "Latency"
    std::string unit;
    unit_kind kind = unit_kind::count;
    better direction = better::none;
    aggregate rule = aggregate::none;
    bool integer = false;
    std::string profiler;     ///< who measured it
    std::vector<cell> cells;  ///< one a node
    std::vector<cell> calls;  ///< one a call, or empty when it is not measured by call
    bool detail = false;      ///< shown in no table
};

/// Raw samples of one metric for one call.
struct sample_set {
    std::string column;
    std::size_t call = 0;
    std::vector<double> values;
};

/// One thing about the machine.
using machine_fact = std::variant<std::int64_t, double, std::string>;

/// What the report says of the run as a whole.
struct run_facts {
    std::string model;
    std::string created;  ///< UTC, ISO 8601
    bool complete = true;
    std::string library;
    std::string libtorch;
    std::string compiler;
    std::string build_type;
    std::string command;
    std::string device;
    std::int64_t threads = 0;
    std::string gradients;  ///< "captured" or "ones"
    std::vector<std::pair<std::string, std::string>> options;
    std::vector<std::string> preprocessors;
    verification unchanged;
    std::vector<std::string> warnings;
    std::string device_kind = "cpu";
    /// How numbers are to be read, e.g. {"flops", "strict"}.
    std::vector<std::pair<std::string, std::string>> conventions = {};
    device_peaks peaks = {};
    step_times step = {};  ///< `step.steps` is 0 when the program gave none
    /// The machine, when the run began and ended, e.g. {"load_end", 1.02}.
    std::vector<std::pair<std::string, machine_fact>> environment = {};
    bool busy_machine = false;                   ///< other programs used it, too
    std::vector<std::string> disturbances = {};  ///< by the machine, as sentences

    /// What is to be known of the program and of the machine.
    [[nodiscard]] std::vector<std::string> all_warnings() const {
        auto all = warnings;
        all.insert(all.end(), disturbances.begin(), disturbances.end());
        return all;
    }
};

/// The whole report: facts of the run, the tree in pre-order, its calls, and a column a metric.
struct document {
    run_facts facts;
    std::vector<node> nodes;
    std::vector<call> calls;
    std::vector<column> columns;
    std::vector<sample_set> samples;

    /// The column with this id, or null.
    [[nodiscard]] column const* find(std::string_view id) const noexcept {
        for (auto const& candidate : columns)
            if (candidate.id == id)
                return &candidate;
        return nullptr;
    }
};

/// A report. A function that takes it so is compiled where it is used: a file that includes the
/// umbrella and runs nothing does not pay for what the sinks are made of.
template<class T>
concept a_document = std::same_as<T, document>;

}  // namespace component_benchmark
