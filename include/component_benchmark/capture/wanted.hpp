// options -> CAPTURE: which rows are measured, and what is recorded to that end
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/filter.hpp>
#include <component_benchmark/core/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// What `options` wants of a model. Calls are known only after the forward, so what hangs on them
/// is recorded, and `decide` drops it. (A template as `basic_module_tree` is.)
template<class Tree>
class basic_wanted_rows {
public:
    basic_wanted_rows(Tree const& tree, options wishes)
        : tree_{tree}, wishes_{std::move(wishes)}, measured_(tree.nodes().size()) {
        filters::check(wishes_.include, "include");
        filters::check(wishes_.exclude, "exclude");
        find_holders();
        count_parameters();
        choose();
    }

    /// What is to be kept of each row's calls, so that `rows` can be replayed.
    [[nodiscard]] std::vector<call_detail> details(std::vector<std::size_t> const& rows) const {
        std::vector<call_detail> found(nodes().size());
        for (auto const row : rows)
            add(found, row, call_detail::all());
        return found;
    }

    /// The same so that no more is known of `rows` than what their calls looked like.
    [[nodiscard]] std::vector<call_detail> outline(std::vector<std::size_t> const& rows) const {
        auto found = details(rows);
        for (auto& detail : found)
            detail = {.looks = detail.looks};
        return found;
    }

    /// The rows that are measured, an alias not counted, breadth-first: one list for each level.
    [[nodiscard]] std::vector<std::vector<std::size_t>> levels() const {
        std::vector<std::vector<std::size_t>> found;
        for (std::size_t row = 0; row < nodes().size(); ++row)
            if (measured_[row] && nodes()[row].alias_of == node::none) {
                found.resize((std::max)(found.size(), nodes()[row].depth + 1));
                found[nodes()[row].depth].push_back(row);
            }
        return found;
    }

    [[nodiscard]] bool measured(std::size_t row) const { return measured_[row]; }

    /// The rows know the number of their calls by now. Throws `error` when nothing is left.
    void decide() {
        calls_known_ = true;
        choose();
        if (left_ == 0)
            throw error{nothing_left()};
        for (auto const& one : wishes_.include)
            look_for("include", one);
        for (auto const& one : wishes_.exclude)
            look_for("exclude", one);
    }

    /// Sentences on filters that fit nothing: misspelt, most likely.
    [[nodiscard]] std::vector<std::string> const& warnings() const noexcept { return warnings_; }

private:
    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return tree_.nodes(); }

    // Asked for only where it matters: a large model has many.
    void count_parameters() {
        bool asked = false;
        for (auto const& one : wishes_.include)
            asked = asked || filters::asks_for_parameters(one);
        for (auto const& one : wishes_.exclude)
            asked = asked || filters::asks_for_parameters(one);
        parameters_.resize(nodes().size());
        for (std::size_t row = 0; asked && row < nodes().size(); ++row)
            if (!tree_.is_region(row))
                for (auto const& tensor : each_once(tree_.parameters(row)))
                    parameters_[row] += tensor.numel();
    }

    [[nodiscard]] bool fits_model(filter const& one, std::size_t row) const {
        return filters::fits_model(one, nodes()[row], parameters_[row]);
    }

    // While the calls are unknown, what could be wanted is.
    [[nodiscard]] bool is_included(std::size_t row) const {
        for (auto const& one : wishes_.include)
            if (fits_model(one, row) && (!calls_known_ || filters::fits_calls(one, nodes()[row])))
                return true;
        return wishes_.include.empty();
    }
    [[nodiscard]] bool is_excluded(std::size_t row) const {
        for (auto const& one : wishes_.exclude)
            if (fits_model(one, row) && (calls_known_ ? filters::fits_calls(one, nodes()[row])
                                                      : !filters::asks_for_calls(one)))
                return true;
        return false;
    }

    void choose() {
        left_ = 0;
        for (std::size_t row = 0; row < nodes().size(); ++row) {
            auto const& facts = nodes()[row];
            auto const is_alias = facts.alias_of != node::none;
            measured_[row] = facts.depth <= wishes_.depth &&
                             (is_alias ? measured_[static_cast<std::size_t>(facts.alias_of)]
                                       : is_included(row) && !is_excluded(row));
            left_ += measured_[row] && !is_alias ? 1 : 0;
        }
    }

    // The calls of a Sequential are inferred from those of its children: the arguments are the
    // first one's, the results the last one's.
    void add(std::vector<call_detail>& found, std::size_t row, call_detail const& detail) const {
        row = own_row(row);
        auto const before = found[row];
        found[row] |= detail;
        if (found[row] == before || tree_.is_region(row) || !is_sequential(tree_.module(row)))
            return;
        auto const end = nodes()[row].end;
        for (auto child = row + 1; child < end; child = nodes()[child].end)
            add(found, child,
                {.looks = true,
                 .context = detail.context,
                 .arguments = detail.arguments && child == row + 1,
                 .gradients = detail.gradients && nodes()[child].end == end});
        // and to tell them from those of others with the same children, these are inferred as well
        for (auto child = row + 1; child < end; child = nodes()[child].end)
            for (auto const holder : holders_of_[own_row(child)])
                add(found, holder, {.looks = true});
    }

    [[nodiscard]] std::size_t own_row(std::size_t row) const {
        auto const alias_of = nodes()[row].alias_of;
        return alias_of == node::none ? row : static_cast<std::size_t>(alias_of);
    }

    void find_holders() {
        holders_of_.resize(nodes().size());
        for (std::size_t row = 1; row < nodes().size(); ++row) {
            auto const above = static_cast<std::size_t>(nodes()[row].parent);
            auto const own = own_row(row);
            if (!tree_.is_region(row) && tree_.is_shared(own) && is_sequential(tree_.module(above)))
                holders_of_[own].push_back(above);
        }
    }

    void look_for(std::string const& list, filter const& one) {
        std::string hint;
        for (std::size_t row = 0; row < nodes().size(); ++row) {
            auto const& facts = nodes()[row];
            if (!fits_model(one, row))
                continue;
            if (facts.alias_of == node::none && filters::fits_calls(one, facts))
                return;
            if (facts.alias_of != node::none)
                hint = "; '" + facts.path + "' is measured as '" +
                       nodes()[static_cast<std::size_t>(facts.alias_of)].path + "'";
        }
        warnings_.push_back("the " + list + " filter " + filters::text_of(one) +
                            " fits no component" + hint);
    }

    [[nodiscard]] std::string nothing_left() const {
        auto text = "no component of " + nodes().front().type + " is left to be measured";
        char const* before = ": ";
        auto const add = [&](std::string const& option, std::string const& value) {
            if (!value.empty())
                text.append(std::exchange(before, ", ")).append(option).append(" ").append(value);
        };
        if (wishes_.depth != (std::numeric_limits<std::size_t>::max)())
            add("depth", std::to_string(wishes_.depth));
        add("include", filters::text_of(wishes_.include));
        add("exclude", filters::text_of(wishes_.exclude));
        return text;
    }

    Tree const& tree_;
    options wishes_;
    bool calls_known_ = false;
    std::vector<std::vector<std::size_t>> holders_of_;  // Sequentials, of each shared row
    std::size_t left_ = 0;                              // rows to be measured
    std::vector<bool> measured_;
    std::vector<std::int64_t> parameters_;  // of each row, where a filter asks for them
    std::vector<std::string> warnings_;
};

using wanted_rows = basic_wanted_rows<module_tree>;

}  // namespace component_benchmark::capture
