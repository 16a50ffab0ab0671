// op -> OP CATALOGUE -> observer: what is known of an operator, looked up once
#pragma once

#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/op_class.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace component_benchmark {

struct op_info {
    std::string name;  ///< "aten::addmm"
    c10::OperatorHandle handle;
    op_class kind;
    formulas::built_in const* formula;  ///< or null
    /// Nothing but calls of other operators, which the dispatcher sees: it does no work itself.
    bool composite;
};

namespace ops {

/// Whether any overload of an operator has this name.
template<class = void>
[[nodiscard]] bool is_registered(std::string_view name) {
    auto const known = c10::Dispatcher::singleton().getAllOpNames();
    return std::any_of(known.begin(), known.end(),
                       [&](auto const& one) { return one.name == name; });
}

/// One a thread, so that nothing is locked. (A template as `op_watch` is.)
template<class Info = op_info>
class op_catalogue {
public:
    /// Null for a range that a program names itself: it is no operator.
    template<class Function>
    [[nodiscard]] Info const* of(Function const& function) {
        // the dispatcher keeps the name of an operator for as long as the operator is registered
        auto const known = by_name_.find(function.name());
        if (known != by_name_.end())
            return &known->second;
        auto const name = function.operator_name();
        if (!name)
            return nullptr;
        auto const handle = c10::Dispatcher::singleton().findSchema(*name);
        if (!handle)
            return nullptr;
        auto const composite =
            handle->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
        return &by_name_
                    .emplace(function.name(),
                             Info{name->name, *handle, class_of(name->name, *handle),
                                  formulas::find(name->name), composite})
                    .first->second;
    }

private:
    std::unordered_map<char const*, Info> by_name_;
};

}  // namespace ops
}  // namespace component_benchmark
