// provider -> CAPTURE -> pipeline: a captured model whose components have the types that the user's
// classes declare
#pragma once

#include <component_benchmark/capture/captured_model.hpp>
#include <component_benchmark/hook/components.hpp>

#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// A component of which the class is known: `module()` gives it, so that plugins may overload.
template<class Module, class Base = component>
class typed_component : public Base {
public:
    using module_type = Module;

    typed_component(Base&& found, Module& module) : Base{std::move(found)}, typed_{&module} {}

    [[nodiscard]] Module& module() const noexcept { return *typed_; }

private:
    Module* typed_;
};

/// The modules that `root` and what it declares name in CB_COMPONENTS.
template<class Root>
[[nodiscard]] std::vector<declared_module> declared_in(Root& root) {
    std::vector<declared_module> found;
    hook::walk_components(
        root, [&](torch::nn::Module& parent, std::string const& name, auto& child) {
            using child_class = std::remove_cvref_t<decltype(child)>;
            found.push_back({&parent, name, &child, hook::state_access::maker<child_class>(),
                             child.weak_from_this().lock()});
        });
    return found;
}

/// A captured model that hands out what is declared in CB_COMPONENTS, and the root, as
/// `typed_component`s of their classes, and the rest as `component`s. (The base is a parameter so
/// that a file which runs no pipeline does not pay for it.)
template<class Root, class Base = captured_model>
class walked_model : public Base {
public:
    template<class Step>
    walked_model(Root& root, batch_look const& batch, options const& wishes, Step step)
        : Base{root, batch, wishes, step, declared_in(root)}, root_{root} {}

    template<class Visit>
    void for_each(Visit&& visit) {
        using typed_visit = void (*)(Visit&, std::size_t, component&);
        std::unordered_map<torch::nn::Module*, typed_visit> typed;
        auto const add = [&]<class Module>(Module& module) {
            typed.emplace(&module, [](Visit& out, std::size_t row, component& found) {
                auto& known = dynamic_cast<Module&>(found.module());
                typed_component<Module> one{std::move(found), known};
                out(row, one);
            });
        };
        add(root_);
        hook::walk_components(
            root_, [&](torch::nn::Module&, std::string const&, auto& child) { add(child); });
        Base::for_each([&](std::size_t row, component& found) {
            auto const known = typed.find(&found.module());
            if (found.is_region() || known == typed.end())
                visit(row, found);
            else
                known->second(visit, row, found);
        });
    }

private:
    Root& root_;
};

}  // namespace component_benchmark::capture
