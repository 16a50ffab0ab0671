// CAPTURE: components that cost the same, so that one measurement will do for all
#pragma once

#include <component_benchmark/capture/op_sequence.hpp>
#include <component_benchmark/capture/tensor_look.hpp>
#include <component_benchmark/capture/training_flags.hpp>
#include <component_benchmark/hook/describe.hpp>

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Finds for a component an earlier one that is identical: classes and modes of the modules,
/// looks of parameters and buffers, signatures of the calls (arguments, layout, gradients, modes),
/// and the operators that its first run alone came to, forward and backward. One whose operators
/// or arguments hang on values is like no other. (A template as `basic_session` is.)
template<class Component>
class identical_components {
public:
    /// The row of an identical one, which was run before `one`.
    [[nodiscard]] std::optional<std::size_t> find_or_add(std::size_t row, Component& one,
                                                         op_sequence<> const& operators) {
        if (operators.depends_on_values() || one.is_region() || takes_integers(one))
            return std::nullopt;
        auto const [known, is_new] = rows_.emplace(text_of(one, operators), row);
        return is_new ? std::nullopt : std::optional{known->second};
    }

private:
    // Indices and offsets: what is done with them hangs on their values.
    [[nodiscard]] static bool takes_integers(Component& one) {
        bool any = false;
        one.each_argument([&](at::Tensor& tensor) {
            any = any || c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
        });
        return any;
    }

    [[nodiscard]] static std::string text_of(Component& one, op_sequence<> const& operators) {
        std::string text = std::to_string(operators.hash()) + '/';
        for (auto const& module : modules_of(one.module())) {
            auto const& object = *module;
            text += typeid(object).name();
            text += module->is_training() ? 't' : 'e';
        }
        for (auto const& tensors : {one.parameters(), one.buffers()}) {
            text += '/';
            for (auto const& tensor : tensors) {
                tensor_look const look{tensor};
                text += sizes_text(look.sizes) + sizes_text(look.strides) + look.parts +
                        c10::getDtypeNames(look.dtype).first + look.device.str() +
                        (look.requires_grad ? 'g' : ';');
            }
        }
        for (auto& group : one.calls())
            text += '/' + std::to_string(group.count()) + 'x' + group.captured().signature;
        return text;
    }

    std::unordered_map<std::string, std::size_t> rows_;
};

}  // namespace component_benchmark::capture
