// CAPTURE: whose parameters the components below will come to
#pragma once

#include <component_benchmark/core/node.hpp>

#include <cstddef>

namespace component_benchmark::capture {

/// Each parameter of the row belongs to a row below it for which `runs(row)` is true.
template<class Tree, class Runs>
[[nodiscard]] bool parameters_are_below(Tree const& tree, std::size_t row, Runs runs) {
    auto const& nodes = tree.nodes();
    if (tree.is_region(row) || !tree.module(row).parameters(/*recurse=*/false).empty())
        return false;
    for (auto below = row + 1; below < nodes[row].end; below = nodes[below].end) {
        auto const is_run = nodes[below].alias_of == node::none && runs(below);
        if (!is_run && !tree.parameters(below).empty() && !parameters_are_below(tree, below, runs))
            return false;
    }
    return true;
}

}  // namespace component_benchmark::capture
