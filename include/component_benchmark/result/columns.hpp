// profile -> RESULT: a profiler's typed result becomes cells of columns, and back
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/result/document.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace component_benchmark {

/// What people read for an id: "latency_bwd_ms" becomes "Latency backward". The unit stands apart.
[[nodiscard]] inline std::string label_of(std::string_view id) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"fwd_bwd", "forward+backward"},
        {"fwd", "forward"},
        {"bwd", "backward"},
        {"params", "parameters"},
        {"model_size", "size"}};
    constexpr std::pair<std::string_view, std::string_view> whole_labels[] = {
        {"flops_fwd", "FLOPs"},
        {"flops_bwd", "FLOPs backward"},
        {"flops_fwd_bwd", "FLOPs fwd+bwd"},
        {"in_context_ms", "In context"},
        {"context_gap_pct", "Gap to context"},
        {"tflops_per_s", "Throughput"},
        {"tflops_per_s_fwd_bwd", "Throughput fwd+bwd"},
        {"mfu_pct", "MFU"},
        {"mfu_fwd_pct", "MFU forward"},
        {"mfu_fwd_bwd_pct", "MFU fwd+bwd"},
        {"hfu_pct", "HFU"},
        {"avg_bw_gbps", "Bandwidth"},
        {"bw_util_pct", "Bandwidth util."},
        {"roofline_util_pct", "Roofline util."},
        {"traffic_mb", "Traffic"},
        {"traffic_bwd_mb", "Traffic backward"}};
    for (auto const& [known, label] : whole_labels)
        if (id == known)
            return std::string{label};
    for (std::string_view unit : {"_ms", "_mb", "_pct", "_gbps"})
        if (id.ends_with(unit))
            id.remove_suffix(unit.size());
    std::string label{id};
    for (auto const& [short_word, word] : words)
        if (auto const at = label.find(short_word); at != std::string::npos) {
            label.replace(at, short_word.size(), word);
            break;
        }
    for (auto& letter : label)
        letter = letter == '_' ? ' ' : letter;
    if (!label.empty() && label[0] >= 'a' && label[0] <= 'z')
        label[0] = static_cast<char>(label[0] - 'a' + 'A');
    return label;
}

namespace detail {

/// Calls `visit(id, accessor)` for each metric of a result.
template<class Result, class Visit>
void each_metric(Visit&& visit) {
    boost::hana::for_each(boost::hana::accessors<Result>(), [&](auto pair) {
        visit(std::string{boost::hana::first(pair).c_str()}, boost::hana::second(pair));
    });
}

/// How many metrics a result has.
template<class Result>
inline constexpr std::size_t metrics_of =
    decltype(boost::hana::unpack(boost::hana::accessors<Result>(), []<class... Pair>(Pair...) {
        return std::integral_constant<std::size_t, sizeof...(Pair)>{};
    }))::value;

template<class Metric>
[[nodiscard]] cell to_cell(Metric const& value) {
    cell made{.value = {}, .from = value.from(), .why = value.why()};
    if (value.has_value())
        made.value = value.value();
    return made;
}

template<class Metric>
[[nodiscard]] Metric from_cell(cell const& one) {
    using value_type = typename Metric::value_type;
    if (!one.has_value())
        return Metric::unavailable(one.why);
    if constexpr (std::is_same_v<value_type, std::string>)
        return Metric{std::string{one.words()}, one.from}.because(one.why);
    else
        return Metric{static_cast<value_type>(one.number()), one.from}.because(one.why);
}

}  // namespace detail

/// The empty columns of a profiler.
template<class Profiler>
[[nodiscard]] std::vector<column> columns_of() {
    using result = typename Profiler::result;
    std::vector<column> made;
    detail::each_metric<result>([&](std::string id, auto accessor) {
        using metric_type = std::remove_cvref_t<decltype(accessor(std::declval<result&>()))>;
        using unit = typename metric_type::unit;
        column one;
        one.label = label_of(id);
        one.id = std::move(id);
        one.unit = unit::symbol;
        one.kind = unit::kind;
        one.direction = unit::direction;
        one.rule = metric_type::rule;
        one.integer = std::is_integral_v<typename unit::value_type>;
        one.profiler = Profiler::name;
        one.detail = requires {
            unit::is_detail;
        };
        made.push_back(std::move(one));
    });
    return made;
}

/// The metrics of a result as cells, in the order of `columns_of`.
template<class Profiler>
[[nodiscard]] std::vector<cell> cells_of(typename Profiler::result const& result) {
    std::vector<cell> made;
    detail::each_metric<typename Profiler::result>([&](std::string const&, auto accessor) {
        made.push_back(detail::to_cell(accessor(result)));
    });
    return made;
}

/// A result whose metrics are all unavailable for one reason.
template<class Profiler>
[[nodiscard]] typename Profiler::result unavailable_result(std::string const& why) {
    typename Profiler::result made;
    detail::each_metric<typename Profiler::result>([&](std::string const&, auto accessor) {
        auto& metric = accessor(made);
        metric = std::remove_cvref_t<decltype(metric)>::unavailable(why);
    });
    return made;
}

/// The metrics that stand in a row of the document, as a profiler's result or another type that has
/// them.
template<class Profiler, class Result = typename Profiler::result>
[[nodiscard]] Result result_in(document const& report, std::size_t row) {
    Result made;
    detail::each_metric<Result>([&](std::string const& id, auto accessor) {
        auto& metric = accessor(made);
        if (auto const* column = report.find(id))
            metric = detail::from_cell<std::remove_cvref_t<decltype(metric)>>(column->cells[row]);
    });
    return made;
}

}  // namespace component_benchmark
