// HOOK -> capture: finds the tensors inside any argument or result
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace torch {
template<class Key, class Value>
class OrderedDict;
namespace nn {
class AnyValue;
struct ASMoutput;
namespace utils::rnn {
class PackedSequence;
}
}  // namespace nn
}  // namespace torch

namespace component_benchmark {

/// Called with each tensor, which it may replace.
using tensor_visitor = c10::function_ref<void(at::Tensor&)>;

/// The customisation point for a type with tensors inside that is not yours: specialise it with
/// `static void each(T& value, tensor_visitor visit)`. A type of yours is found without it when it
/// has a member `each_tensor(visit)` or is a Hana Struct. A call with an argument of a class
/// that is none of these is not replayed, nor are tensors in such a result seen.
template<class T>
struct tensor_access {};

namespace hook {

template<class T>
void each_tensor(T& value, tensor_visitor visit);

namespace detail {

template<class T>
concept has_access = requires(T& value, tensor_visitor visit) {
    tensor_access<T>::each(value, visit);
};

template<class T>
concept has_member = requires(T& value, tensor_visitor visit) {
    value.each_tensor(visit);
};

// Declared only: their headers cost seconds.
template<class T>
concept packed_sequence = std::is_same_v<T, torch::nn::utils::rnn::PackedSequence>;
template<class T>
concept any_value = std::is_same_v<T, torch::nn::AnyValue>;
template<class T>
concept adaptive_softmax_output = std::is_same_v<T, torch::nn::ASMoutput>;

// Class templates, not overloads: a nested container declared later would be missed by lookup.
template<class T>
struct visit_as {
    static void each(T& value, tensor_visitor visit) {
        if constexpr (requires { *value.begin(), value.end(); }) {
            // what stands in a set is const; a tree of itself, as of JSON, holds no tensors
            using reference = decltype(*value.begin());
            using value_type = std::remove_reference_t<reference>;
            if constexpr (std::is_lvalue_reference_v<reference> && !std::is_const_v<value_type> &&
                          !std::is_scalar_v<value_type> && !std::is_same_v<value_type, T>)
                for (auto& element : value)
                    hook::each_tensor(element, visit);
        }
    }
};

template<class T>
struct visit_tuple {
    static void each(T& tuple, tensor_visitor visit) {
        auto const look = [&]<class Element>(Element& element) {
            if constexpr (!std::is_const_v<Element>)  // as the key in a map
                hook::each_tensor(element, visit);
        };
        std::apply([&](auto&... elements) { (look(elements), ...); }, tuple);
    }
};

/// std::queue, std::stack and std::priority_queue: they hand out one element only.
template<class Adaptor>
concept container_adaptor = requires(Adaptor& adaptor) {
    typename Adaptor::container_type;
    adaptor.pop();
};

template<class Adaptor>
struct opened : Adaptor {
    static constexpr auto container = &opened::c;  // a protected member
};

template<container_adaptor Adaptor>
struct visit_as<Adaptor> {
    static void each(Adaptor& adaptor, tensor_visitor visit) {
        hook::each_tensor(adaptor.*opened<Adaptor>::container, visit);
    }
};
template<class Key, class T>
struct visit_as<torch::OrderedDict<Key, T>> {
    static void each(auto& dictionary, tensor_visitor visit) {
        for (auto& item : dictionary)
            hook::each_tensor(item.value(), visit);
    }
};
template<>
struct visit_as<at::Tensor> {
    static void each(at::Tensor& tensor, tensor_visitor visit) {
        if (tensor.defined())
            visit(tensor);
    }
};
template<class T>
struct visit_as<std::optional<T>> {
    static void each(std::optional<T>& value, tensor_visitor visit) {
        if (value)
            hook::each_tensor(*value, visit);
    }
};
template<class... T>
struct visit_as<std::variant<T...>> {
    static void each(std::variant<T...>& value, tensor_visitor visit) {
        if (!value.valueless_by_exception())
            std::visit([&](auto& held) { hook::each_tensor(held, visit); }, value);
    }
};
template<class... T>
struct visit_as<std::tuple<T...>> : visit_tuple<std::tuple<T...>> {};
template<class First, class Second>
struct visit_as<std::pair<First, Second>> : visit_tuple<std::pair<First, Second>> {};

}  // namespace detail

/// Tensors inside a `T` are found by a rule of their own, not as a container or Hana Struct.
template<class T>
concept finds_tensors = detail::has_access<T> || detail::has_member<T> ||
    detail::packed_sequence<T> || detail::any_value<T>;

/// Calls `visit` with every defined tensor in `value`, in an order that depends on nothing but the
/// value.
template<class T>
void each_tensor(T& value, tensor_visitor visit) {
    if constexpr (std::is_const_v<T>) {
        static_assert(!std::is_const_v<T>, "component_benchmark: visit a copy, not a const value");
    } else if constexpr (detail::has_access<T>) {
        tensor_access<T>::each(value, visit);
    } else if constexpr (detail::has_member<T>) {
        value.each_tensor(visit);
    } else if constexpr (boost::hana::Struct<T>::value) {
        boost::hana::for_each(boost::hana::accessors<T>(), [&](auto accessor) {
            hook::each_tensor(boost::hana::second(accessor)(value), visit);
        });
    } else if constexpr (detail::packed_sequence<T>) {
        at::Tensor parts[] = {value.data(), value.batch_sizes(), value.sorted_indices(),
                              value.unsorted_indices()};
        for (auto& part : parts)
            hook::each_tensor(part, visit);
        value = T{parts[0], parts[1], parts[2], parts[3]};
    } else if constexpr (detail::any_value<T>) {
        if (auto* tensor = value.template try_get<at::Tensor>())
            hook::each_tensor(*tensor, visit);
    } else if constexpr (detail::adaptive_softmax_output<T>) {
        hook::each_tensor(value.output, visit);
    } else {
        detail::visit_as<T>::each(value, visit);
    }
}

}  // namespace hook
}  // namespace component_benchmark
