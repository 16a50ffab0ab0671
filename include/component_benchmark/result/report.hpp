// pipeline -> RESULT -> user's program: the report with typed access
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/reported.hpp>
#include <component_benchmark/result/columns.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace component_benchmark {

/// The row of `path`; throws `error` with what is near when there is none.
[[nodiscard]] inline std::size_t row_of(document const& report, std::string_view path) {
    for (std::size_t row = 0; row < report.nodes.size(); ++row)
        if (report.nodes[row].path == path)
            return row;
    std::string_view parent = path;
    std::size_t best = 0;
    while (!parent.empty() && best == 0) {  // the deepest part of the path that exists
        auto const dot = parent.rfind('.');
        parent = dot == std::string_view::npos ? std::string_view{} : parent.substr(0, dot);
        for (std::size_t row = 0; row < report.nodes.size(); ++row)
            if (!parent.empty() && report.nodes[row].path == parent)
                best = row;
    }
    std::string known;
    for (auto next = best + 1; !report.nodes.empty() && next < report.nodes[best].end;
         next = report.nodes[next].end)
        known += (known.empty() ? "" : ", ") + report.nodes[next].name;
    auto const where = report.nodes.empty() || best == 0 ? std::string{"the root"}
                                                         : "'" + report.nodes[best].path + "'";
    throw error{"the report has no component '" + std::string{path} + "'; " + where + " has " +
                (known.empty() ? "no children" : known)};
}

/// What a pipeline with these profilers found.
template<class... Profiler>
class report {
public:
    /// One component of the report.
    class row {
    public:
        row(document const& report, std::size_t index) : document_{&report}, index_{index} {}

        /// The result of a profiler of the pipeline, without what only other profilers need.
        template<class Wanted>
        [[nodiscard]] reported_result<Wanted> get() const {
            static_assert(
                (std::is_same_v<Wanted, Profiler> || ...),
                "component_benchmark: report[path].get<P>() needs P among the profilers of "
                "the pipeline that made the report");
            return result_in<Wanted, reported_result<Wanted>>(*document_, index_);
        }

        /// A metric by its id, without its type; throws `error` for an unknown id.
        [[nodiscard]] cell const& operator[](std::string_view id) const {
            if (auto const* found = document_->find(id))
                return found->cells[index_];
            throw error{"the report has no metric '" + std::string{id} + "'"};
        }

        [[nodiscard]] node const& facts() const noexcept { return document_->nodes[index_]; }
        [[nodiscard]] std::int64_t calls() const noexcept { return facts().calls; }
        [[nodiscard]] std::string const& in_shapes() const noexcept { return facts().in_shapes; }
        [[nodiscard]] std::string const& out_shapes() const noexcept { return facts().out_shapes; }
        [[nodiscard]] std::string const& dtypes() const noexcept { return facts().dtypes; }
        [[nodiscard]] status state() const noexcept { return facts().state; }
        [[nodiscard]] std::string const& reason() const noexcept { return facts().reason; }

    private:
        document const* document_;
        std::size_t index_;
    };

    report(component_benchmark::document found, std::vector<std::string> failures)
        : document_{std::move(found)}, failures_{std::move(failures)} {}

    /// The component with this path (the root's is empty). An alias gives the row that it stands
    /// for. Throws `error` for an unknown path.
    [[nodiscard]] row operator[](std::string_view path) const {
        auto const index = row_of(document_, path);
        auto const original = document_.nodes[index].alias_of;
        return {document_, original == node::none ? index : static_cast<std::size_t>(original)};
    }

    [[nodiscard]] component_benchmark::document const& document() const noexcept {
        return document_;
    }

    /// One sentence for each sink that could not write; the others have written.
    [[nodiscard]] std::vector<std::string> const& failures() const noexcept { return failures_; }

private:
    component_benchmark::document document_;
    std::vector<std::string> failures_;
};

}  // namespace component_benchmark
