// tests: a small report with one of everything that a sink has to show
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/result/document.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::test {

/// Builds a tree row by row, in pre-order.
class document_builder {
public:
    /// Adds a row below `parent` (an index, -1 for the root) and gives its index.
    std::ptrdiff_t add(std::ptrdiff_t parent, std::string name, std::string type,
                       status state = status::ok, std::string reason = {}) {
        node row;
        row.name = std::move(name);
        row.type = std::move(type);
        row.parent = parent;
        row.state = state;
        row.reason = std::move(reason);
        row.calls = state == status::not_called || state == status::filtered ? 0 : 1;
        if (parent >= 0) {
            auto const& above = report.nodes[static_cast<std::size_t>(parent)];
            row.path = above.path.empty() ? row.name : above.path + "." + row.name;
            row.depth = above.depth + 1;
        }
        report.nodes.push_back(std::move(row));
        auto const end = report.nodes.size();
        for (auto above = static_cast<std::ptrdiff_t>(end) - 1; above >= 0;) {
            report.nodes[static_cast<std::size_t>(above)].end = end;
            above = report.nodes[static_cast<std::size_t>(above)].parent;
        }
        for (auto& column : report.columns)
            column.cells.resize(report.nodes.size());
        return static_cast<std::ptrdiff_t>(report.nodes.size()) - 1;
    }

    template<class Value>
    void set(std::ptrdiff_t row, std::string const& id, Value value, origin from = origin::measured,
             std::string why = {}) {
        for (auto& column : report.columns)
            if (column.id == id)
                column.cells[static_cast<std::size_t>(row)] = {value, from, std::move(why)};
    }

    void shapes(std::ptrdiff_t row, std::string in, std::string out) {
        auto& of = report.nodes[static_cast<std::size_t>(row)];
        of.in_shapes = std::move(in);
        of.out_shapes = std::move(out);
        of.dtypes = "float32 -> float32";
        report.calls.push_back({static_cast<std::size_t>(row), 0, of.parent < 0 ? -1 : 0,
                                of.in_shapes, of.out_shapes, of.dtypes, false});
    }

    /// The row with that path, which must be there.
    [[nodiscard]] std::ptrdiff_t row(std::string const& path) const {
        std::ptrdiff_t index = 0;
        while (report.nodes.at(static_cast<std::size_t>(index)).path != path)
            ++index;
        return index;
    }

    document report;
};

[[nodiscard]] inline std::vector<column> sample_columns() {
    auto const ms = [](char const* id, char const* label) {
        return column{id,        label, "ms", unit_kind::time, better::lower, aggregate::sum, false,
                      "latency", {},    {}};
    };
    return {ms("latency_ms", "Latency"),
            ms("latency_bwd_ms", "Latency backward"),
            ms("total_ms", "Total"),
            ms("self_ms", "Self"),
            {"params",
             "Parameters",
             "",
             unit_kind::count,
             better::none,
             aggregate::sum,
             true,
             "model_size",
             {},
             {}},
            {"model_size_mb",
             "Size",
             "MB",
             unit_kind::bytes,
             better::lower,
             aggregate::sum,
             false,
             "model_size",
             {},
             {}},
            {"cache_misses",
             "Cache misses",
             "",
             unit_kind::count,
             better::lower,
             aggregate::sum,
             true,
             "cache",
             {},
             {}},
            {"mfu_pct",
             "MFU",
             "%",
             unit_kind::percent,
             better::higher,
             aggregate::latency_weighted_mean,
             false,
             "mfu",
             {},
             {}},
            {"bound",
             "Bound",
             "",
             unit_kind::text,
             better::none,
             aggregate::none,
             false,
             "roofline",
             {},
             {}}};
}

/// DeepFM as a run might leave it, with one row in every state.
[[nodiscard]] inline document sample_document() {
    document_builder make;
    make.report.columns = sample_columns();
    auto const times = [&make](std::ptrdiff_t row, double forward, double backward, double self,
                               origin from = origin::measured, std::string const& why = {}) {
        make.set(row, "latency_ms", forward, from, why);
        make.set(row, "latency_bwd_ms", backward, from, why);
        make.set(row, "total_ms", forward, from == origin::measured ? origin::derived : from, why);
        make.set(row, "self_ms", self, origin::derived);
    };
    auto const size = [&make](std::ptrdiff_t row, std::int64_t parameters) {
        make.set(row, "params", parameters);
        make.set(row, "model_size_mb", static_cast<double>(parameters) * 4e-6);
    };

    auto const root = make.add(-1, "", "SimpleDeepFMNN");
    times(root, 0.41234, 0.90071, 0.01342);
    size(root, 145'666);
    make.shapes(root, "[32, 64], KeyedJaggedTensor(4 keys, 512 values)", "[32, 1]");

    auto const sparse = make.add(root, "sparse_arch", "SparseArch");
    times(sparse, 0.1021, 0.3012, 0.0041);
    size(sparse, 128'000);
    make.shapes(sparse, "KeyedJaggedTensor(4 keys, 512 values)", "[32, 128]");
    auto const bags = make.add(sparse, "embedding_bag_collection", "EmbeddingBagCollection");
    times(bags, 0.098, 0.2911, -0.0021);
    size(bags, 128'000);
    make.shapes(bags, "KeyedJaggedTensor(4 keys, 512 values)", "[32, 128]");
    auto const tables =
        make.add(bags, "embedding_bags", "ModuleDict", status::not_called, "it was never called");
    size(tables, 128'000);
    for (int i = 1; i <= 3; ++i) {
        auto const table = make.add(tables, "t" + std::to_string(i), "EmbeddingBag",
                                    i == 2 ? status::reused : status::ok);
        auto const from = i == 2 ? origin::reused : origin::measured;
        times(table, 0.0334, 0.0712, 0.0334, from);
        size(table, 32'000);
        make.shapes(table, "[128], [33]", "[32, 32]");
    }
    auto const alias = make.add(tables, "t4", "EmbeddingBag", status::reused);
    make.report.nodes.back().alias_of = alias - 3;

    auto const dense = make.add(root, "dense_arch", "DenseArch", status::estimated,
                                "CUDA out of memory. Tried to allocate 2.00 GiB\nException raised "
                                "from malloc at CUDACachingAllocator.cpp:1421");
    times(dense, 0.1602, 0.3312, 0.0, origin::estimated);
    size(dense, 12'448);
    make.shapes(dense, "[32, 64]", "[32, 32]");
    auto const model = make.add(dense, "model", "Sequential");
    times(model, 0.15911, 0.3299, 0.00109, origin::estimated, "lower bound: model.3 has no value");
    size(model, 12'448);
    make.shapes(model, "[32, 64]", "[32, 32]");
    double const forward[] = {0.1004, 0.0081, 0.0421};
    for (int i = 0; i < 4; ++i) {
        bool const fails = i == 3;
        auto const layer = make.add(model, std::to_string(i), i % 2 == 0 ? "Linear" : "ReLU",
                                    fails ? status::failed : status::ok,
                                    fails ? "a leaf that requires grad is used in-place" : "");
        if (!fails)
            times(layer, forward[i], 2.0 * forward[i], forward[i]);
        make.shapes(layer, i < 2 ? "[32, 64]" : "[32, 128]", "[32, 128]");
    }

    auto const inter = make.add(root, "inter_arch", "FMInteractionArch");
    times(inter, 0.1123, 0.2201, 0.0123);
    size(inter, 5'152);
    make.shapes(inter, "[32, 32], KeyedTensor(4 keys, [32, 128])", "[32, 65]");
    auto const deep = make.add(inter, "deep_fm", "DeepFM");
    times(deep, 0.0701, 0.1401, 0.0701);
    size(deep, 5'152);
    make.set(deep, "mfu_pct", 27.06, origin::derived);
    make.set(deep, "bound", std::string{"compute"}, origin::derived);
    make.set(deep, "cache_misses", std::int64_t{12'345'678'901});
    make.shapes(deep, "[32, 32], [32, 32], [32, 32], [32, 32], [32, 32]", "[32, 32]");
    make.add(deep, "dense_module", "Sequential", status::filtered);
    make.add(make.row("inter_arch.deep_fm.dense_module"), "0", "Linear", status::filtered);
    times(make.add(make.row("inter_arch.deep_fm.dense_module"), "1", "ReLU"), 0.0071, 0.0142,
          0.0071);
    auto const fm = make.add(inter, "fm", "FactorizationMachine", status::opaque,
                             "argument 2 is a raw pointer");
    make.shapes(fm, "[32, 160]", "[32, 1]");
    auto const over = make.add(root, "over_arch", "OverArch");
    times(over, 0.0212, 0.0401, 0.0212);
    make.set(over, "mfu_pct", 104.2, origin::derived,
             std::string{over_the_peak} + ": the peak is too low");
    make.set(over, "bound", std::string{"memory"}, origin::derived);
    size(over, 66);
    make.shapes(over, "[32, 65]", "[32, 1]");

    auto& report = make.report;
    report.columns.front().calls.resize(report.calls.size());
    for (std::size_t i = 0; i < report.calls.size(); ++i)
        report.columns.front().calls[i] = report.columns.front().cells[report.calls[i].row];
    report.samples = {{"latency_ms", 0, {0.412, 0.4125, 0.413}}, {"latency_ms", 1, {0.1, 0.102}}};
    report.facts = {"SimpleDeepFMNN",
                    "2025-01-02T03:04:05Z",
                    true,
                    "0.1.0",
                    "2.11.0",
                    "g++ 12.2.0",
                    "Release",
                    "deepfm --shape cpu-small",
                    "Intel(R) Xeon(R) CPU",
                    1,
                    "captured",
                    {{"depth", "9"}, {"json", "report.json"}},
                    {"rebatch"},
                    {true, {"parameters", "buffers"}, {}, {}},
                    {"the machine is busy: latencies jump to multiples of 8 ms"}};
    report.facts.conventions = {
        {"flops", "strict"}, {"flops_per_multiply_add", "2"}, {"mfu", "forward"}};
    report.facts.peaks.name = "Intel(R) Xeon(R) CPU";
    report.facts.peaks.kind = "cpu";
    report.facts.peaks.set(number_format::fp32, {0.0893, peak_source::measured});
    report.facts.peaks.bandwidth = bandwidth_peak{12.5, peak_source::user};
    report.facts.peaks.note = "measured with 1 thread";
    return std::move(make.report);
}

/// Names that try to break out of wherever they are printed.
[[nodiscard]] inline document hostile_document() {
    document_builder make;
    make.report.columns = sample_columns();
    make.report.facts.model = "evil\x1b[31m model";
    auto const root = make.add(-1, "", "Root\x1b]0;title\x07");
    std::string const names[] = {
        "</script><script>alert(1)</script>",
        "<!-- & \"quoted\" 'single' back\\slash",
        "two\nlines\r\tand a tab",
        std::string{"nul\0byte", 8},
        "bad utf-8 \xff\xfe \xc3( \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80",
        "line\u2028and\u2029paragraph separators",
        "\u202Eright to left\u200F",
        "\u6DF1\u5EA6\u5B66\u4E60\u6A21\u578B\u7684\u540D\u5B57",
        "\U0001F525\U0001F525 fire \U0001F468\u200D\U0001F469\u200D\U0001F467",
        "e\u0301\u0301\u0301 combining",
        std::string(300, 'x') + "_end",
        "\u009B31m C1 control \x7f"};
    for (auto const& name : names) {
        auto const row = make.add(root, name, "Type<" + name + ">");
        make.set(row, "latency_ms", 1.5);
        make.set(row, "total_ms", 1.5);
        make.set(row, "self_ms", 1.5);
        make.shapes(row, name, "[1]");
        make.report.facts.warnings.push_back(name);
    }
    make.add(root, "broken", "Broken", status::failed, "\x1b[2J\nsecond line");
    make.set(root, "total_ms", 18.0);
    return std::move(make.report);
}

/// A root and `rows - 1` layers below it.
[[nodiscard]] inline document large_document(std::size_t rows) {
    document report;
    report.columns = sample_columns();
    for (std::size_t i = 0; i < rows; ++i) {
        node row;
        row.name = i == 0 ? "" : "layer_" + std::to_string(i);
        row.path = row.name;
        row.type = i == 0 ? "Stack" : "Linear";
        row.parent = i == 0 ? node::none : 0;
        row.end = i == 0 ? rows : i + 1;
        row.depth = i == 0 ? 0 : 1;
        row.state = status::ok;
        row.calls = 1;
        row.in_shapes = "[32, " + std::to_string(i) + "]";
        report.nodes.push_back(std::move(row));
        for (auto& column : report.columns)
            column.cells.push_back({0.001 * static_cast<double>(i + 1), origin::measured, {}});
    }
    return report;
}

}  // namespace component_benchmark::test
