// provider -> CAPTURE: the modules of a model as rows in pre-order
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/hook/state.hpp>

#include <c10/util/Type.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// "torch::nn::LinearImpl" becomes "Linear": what people call a class.
[[nodiscard]] inline std::string short_name(std::type_info const& type) {
    std::string name = c10::demangle(type.name());
    auto const arguments = name.find('<');
    auto const colon = name.rfind("::", arguments);
    if (colon != std::string::npos)
        name.erase(0, colon + 2);
    constexpr std::string_view suffix = "Impl";
    if (name.size() > suffix.size() && name.ends_with(suffix))
        name.resize(name.size() - suffix.size());
    return name;
}

/// A region that a forward had: the path of the component it was called in, and its name.
struct found_region {
    std::string parent;
    std::string name;
    bool operator==(found_region const&) const = default;
};

/// A module that a class declares in CB_COMPONENTS.
struct declared_module {
    torch::nn::Module* parent;
    std::string name;
    torch::nn::Module* module;
    hook::state_maker state;                   ///< null when its class declares none
    std::shared_ptr<torch::nn::Module> owner;  ///< null when nobody shares it
};

/// Rows of a model: its modules, and behind the children of each the regions of its forward. A
/// module that is registered several times is measured at its first path; the other rows are
/// aliases of that one and have no children. (A template, so that a file which runs no pipeline
/// does not pay for it.)
template<class Module>
class basic_module_tree {
public:
    /// Of `declared`, those that are registered nowhere get rows too.
    explicit basic_module_tree(Module& root, std::vector<found_region> const& regions = {},
                               std::vector<declared_module> const& declared = {}) {
        auto known = root.modules(/*include_self=*/false);
        for (auto const& one : declared) {
            if (one.module == &root ||
                std::any_of(known.begin(), known.end(),
                            [&](auto const& other) { return other.get() == one.module; }))
                continue;
            unregistered_.push_back(one);
            auto const below = one.module->modules(/*include_self=*/false);
            known.insert(known.end(), below.begin(), below.end());
        }
        add(root, "", node::none, regions);
        for (std::size_t row = 0; row < nodes_.size(); ++row)
            if (is_unregistered(row))
                unregistered_rows_.push_back(row);
    }

    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::vector<node>& nodes() noexcept { return nodes_; }
    [[nodiscard]] Module& module(std::size_t row) const { return *modules_[row]; }

    /// The row that measures `module`, or `node::none` when the model does not have it.
    [[nodiscard]] std::ptrdiff_t row_of(Module const* module) const {
        auto const found = rows_.find(module);
        return found == rows_.end() ? node::none : static_cast<std::ptrdiff_t>(found->second);
    }

    /// The row of a region in the forward of `parent`, or `node::none`.
    [[nodiscard]] std::ptrdiff_t region_of(std::size_t parent, std::string_view name) const {
        for (auto row = parent + 1; row < nodes_[parent].end; row = nodes_[row].end)
            if (regions_[row] && nodes_[row].name == name)
                return static_cast<std::ptrdiff_t>(row);
        return node::none;
    }

    /// Parameters of the module and of what is declared below it, registered or not.
    [[nodiscard]] std::vector<at::Tensor> parameters(std::size_t row) const {
        return all_below(row, [](Module const& module) { return module.parameters(); });
    }
    [[nodiscard]] std::vector<at::Tensor> buffers(std::size_t row) const {
        return all_below(row, [](Module const& module) { return module.buffers(); });
    }

    /// The row's module is declared and not registered.
    [[nodiscard]] bool is_unregistered(std::size_t row) const {
        for (auto const& one : unregistered_)
            if (one.module == modules_[row])
                return !regions_[row];
        return false;
    }

    /// The modules that are declared and not registered, with their paths.
    [[nodiscard]] std::vector<std::pair<std::string, Module*>> unregistered() const {
        std::vector<std::pair<std::string, Module*>> found;
        for (auto const row : unregistered_rows_)
            found.emplace_back(nodes_[row].path, modules_[row]);
        return found;
    }

    /// `row` is `above` or stands below it, be it by another path than its own.
    [[nodiscard]] bool is_below(std::size_t row, std::size_t above) const {
        if (regions_[above])
            above = static_cast<std::size_t>(row_of(modules_[above]));
        if (row >= above && row < nodes_[above].end)
            return true;
        for (auto const alias : aliases_)
            if (alias >= above && alias < nodes_[above].end &&
                is_below(row, static_cast<std::size_t>(nodes_[alias].alias_of)))
                return true;
        return false;
    }

    /// The row is a region; its module is the one whose forward has it.
    [[nodiscard]] bool is_region(std::size_t row) const { return regions_[row]; }

    /// The module of this row is registered at another path too.
    [[nodiscard]] bool is_shared(std::size_t row) const { return shared_[row]; }

private:
    template<class Get>
    [[nodiscard]] std::vector<at::Tensor> all_below(std::size_t row, Get get) const {
        if (regions_[row])  // what its module's forward may use
            row = static_cast<std::size_t>(row_of(modules_[row]));
        auto found = get(*modules_[row]);
        for (auto const other : unregistered_rows_)
            if (other != row && is_below(other, row)) {
                auto const more = get(*modules_[other]);
                found.insert(found.end(), more.begin(), more.end());
            }
        return found;
    }

    [[nodiscard]] node row_below(std::string name, std::ptrdiff_t parent) const {
        node added;
        if (parent != node::none) {
            auto const& above = nodes_[static_cast<std::size_t>(parent)];
            added.path = above.path.empty() ? name : above.path + "." + name;
            added.depth = above.depth + 1;
        }
        added.name = std::move(name);
        added.parent = parent;
        return added;
    }

    void add(Module& module, std::string name, std::ptrdiff_t parent,
             std::vector<found_region> const& regions) {
        auto const row = nodes_.size();
        auto added = row_below(std::move(name), parent);
        added.type = short_name(typeid(module));
        auto const [position, is_new] = rows_.emplace(&module, row);
        if (!is_new) {
            added.alias_of = static_cast<std::ptrdiff_t>(position->second);
            shared_[position->second] = true;
            aliases_.push_back(row);
        }
        nodes_.push_back(std::move(added));
        modules_.push_back(&module);
        shared_.push_back(false);
        regions_.push_back(false);
        if (is_new) {
            for (auto const& child : module.named_children()) {
                alive_.push_back(child.value());  // a forward may replace it
                add(*child.value(), child.key(), static_cast<std::ptrdiff_t>(row), regions);
            }
            for (auto const& one : unregistered_)
                if (one.parent == &module)
                    add(*one.module, free_name(one.name, row), static_cast<std::ptrdiff_t>(row),
                        regions);
            add_regions(module, row, regions);
        }
        nodes_[row].end = nodes_.size();
    }

    // Another module may still be registered under the name of a member.
    [[nodiscard]] std::string free_name(std::string name, std::size_t parent) const {
        for (auto row = parent + 1; row < nodes_.size(); row = nodes_[row].end)
            if (nodes_[row].name == name)
                return name + " (not registered)";
        return name;
    }

    void add_regions(Module& module, std::size_t parent, std::vector<found_region> const& regions) {
        for (auto const& region : regions) {
            if (region.parent != nodes_[parent].path)
                continue;
            if (region.name.empty() || region.name.find('.') != std::string::npos)
                throw error{"the region '" + region.name + "' in " + nodes_[parent].type +
                            " needs a name without dots"};
            for (auto row = parent + 1; row < nodes_.size(); row = nodes_[row].end)
                if (nodes_[row].name == region.name)
                    throw error{"the region '" + region.name + "' in " + nodes_[parent].type +
                                " has the name of a submodule; give it another"};
            auto const row = nodes_.size();
            nodes_.push_back(row_below(region.name, static_cast<std::ptrdiff_t>(parent)));
            nodes_[row].type = "region";
            modules_.push_back(&module);
            shared_.push_back(false);
            regions_.push_back(true);
            add_regions(module, row, regions);
            nodes_[row].end = nodes_.size();
        }
    }

    std::vector<node> nodes_;
    std::vector<Module*> modules_;
    std::vector<std::shared_ptr<Module>> alive_;
    std::vector<bool> shared_;
    std::vector<bool> regions_;
    std::vector<declared_module> unregistered_;
    std::vector<std::size_t> aliases_;  // rows
    std::vector<std::size_t> unregistered_rows_;
    std::unordered_map<void const*, std::size_t> rows_;  // by address of the module
};

using module_tree = basic_module_tree<torch::nn::Module>;

}  // namespace component_benchmark::capture
