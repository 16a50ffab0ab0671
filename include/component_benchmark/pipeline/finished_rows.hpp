// PIPELINE -> result, sink: what a run has met with, row by row, and which rows it has finished
#pragma once

#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/pipeline/progress.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// What was thrown while rows were measured.
template<class Text>
class basic_troubles {
public:
    /// Nothing of the row could be measured.
    void broke(std::size_t row, Text const& why) {
        at(broken_, row) = why.empty() ? "something without a text was thrown" : why;
    }

    /// One profiler has lost its numbers.
    void lost(std::size_t row, Text const& why) { add(at(lost_, row), why); }

    /// It has the numbers of another row.
    void reused(std::size_t row, Text const& from) { at(reused_, row) = from; }

    /// Everything of the row was measured.
    [[nodiscard]] bool none_at(std::size_t row) const {
        auto const is_empty = [row](auto const& all) {
            return row >= all.size() || all[row].empty();
        };
        return is_empty(broken_) && is_empty(lost_);
    }

    /// Says so in the row.
    void add_to(node& facts, std::size_t row) const {
        if (row < broken_.size() && !broken_[row].empty()) {
            facts.state = status::failed;
            facts.reason = broken_[row];
        }
        if (row < lost_.size() && !lost_[row].empty() && facts.state == status::ok)
            add(facts.reason, lost_[row]);
        if (row < reused_.size() && !reused_[row].empty() && facts.state == status::ok) {
            facts.state = status::reused;
            facts.reason = reused_[row];
        }
    }

private:
    [[nodiscard]] static Text& at(std::vector<Text>& all, std::size_t row) {
        all.resize((std::max)(all.size(), row + 1));
        return all[row];
    }

    static void add(Text& to, Text const& why) { to += (to.empty() ? "" : "; ") + why; }

    std::vector<Text> broken_;  // empty where nothing is known
    std::vector<Text> lost_;
    std::vector<Text> reused_;
};

using troubles = basic_troubles<std::string>;

/// A row that an earlier run has measured keeps what that run says of it.
void take_facts(a_document auto& found, std::vector<node> const& nodes, auto const& met_with) {
    for (std::size_t row = 0; row < nodes.size(); ++row) {
        if (found.nodes[row].resumed)
            continue;
        found.nodes[row] = nodes[row];
        met_with.add_to(found.nodes[row], row);
    }
}

/// Tells the sinks of each row when it is finished, and again when the capture has more to say of
/// it afterwards.
template<class Sinks>
class finished_rows {
public:
    finished_rows(document& found, std::vector<node> const& nodes, troubles const& met_with,
                  Sinks& sinks, progress& line)
        : found_{found}, nodes_{nodes}, met_with_{met_with}, sinks_{sinks}, line_{line} {}

    void add(std::size_t row) {
        last_ = row;
        if (!interrupted())
            tell();
    }

    void look_back() {
        if (last_ < nodes_.size() && !interrupted() && nodes_[last_].reason != reason_)
            tell();
    }

private:
    void tell() {
        if constexpr (Sinks::any_follows) {
            reason_ = nodes_[last_].reason;
            found_.nodes[last_] = nodes_[last_];
            met_with_.add_to(found_.nodes[last_], last_);
            sinks_.component_done(found_, last_, line_);
        }
    }

    document& found_;
    std::vector<node> const& nodes_;
    troubles const& met_with_;
    Sinks& sinks_;
    progress& line_;
    std::size_t last_ = static_cast<std::size_t>(-1);
    std::string reason_;
};

}  // namespace component_benchmark::detail
