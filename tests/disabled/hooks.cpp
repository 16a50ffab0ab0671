// Hooks with arguments of every shape, in code whose operands g++ -O0 likes to swap.
#include <component_benchmark/hook/forward.hpp>

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

struct settings {
    int const* batch;
};

struct two_tensors {
    at::Tensor first, second;
};

// begin profile
template<>
inline constexpr bool component_benchmark::safe_to_replay<settings> = true;
template<>
struct component_benchmark::tensor_access<two_tensors> {
    static void each(two_tensors& value, component_benchmark::tensor_visitor visit) {
        visit(value.first);
        visit(value.second);
    }
};
// end profile

namespace {

struct shape {
    virtual ~shape() = default;
    [[nodiscard]] virtual int corners() const = 0;
};

struct triangle final : shape {
    [[nodiscard]] int corners() const override { return 3; }
};

struct only_moved {
    explicit only_moved(int start) : value{std::make_unique<int>(start)} {}
    std::unique_ptr<int> value;
};

struct module {
    double bias = 0.5;
    CB_STATE(bias);
    CB_COMPONENTS(bias);

    at::Tensor forward(at::Tensor input, at::Tensor const& mask, double scale, int count,
                       std::vector<at::Tensor> others) {
        CB_FORWARD(input, mask, scale, count, others);
        for (auto const& other : others)
            input = input.add(other, scale);
        double sum = 0.0;
        for (int i = 0; i < count; ++i) {
            double const weight = i * 0.5;
            sum += weight * scale;
            sum += scale * weight + bias * sum;
        }
        return input.mul(mask).mul(sum);
    }

    at::Tensor views(at::TensorList tensors, at::IntArrayRef sizes, std::string_view name,
                     std::initializer_list<int> numbers, int (&array)[3], char const* text) {
        CB_CALL(views, tensors, sizes, name, numbers, array, text);
        double sum = array[0];
        for (auto const number : numbers)
            sum += array[1] + sum * number;
        for (auto const size : sizes)
            sum = static_cast<double>(size) * sum + sum * bias;
        return tensors[0].mul(sum + static_cast<double>(name.size()) + text[0]);
    }

    at::Tensor owners(only_moved moved, std::unique_ptr<int> pointer, at::Tensor&& temporary,
                      std::tuple<at::Tensor, int> pair, std::string&& words) {
        CB_CALL(owners, moved, pointer, temporary, pair, words);
        double const left = *pointer;
        double const right = *moved.value;
        double const factor = left * right + right * static_cast<double>(words.size());
        return temporary.mul(factor).add(std::get<0>(pair), std::get<1>(pair));
    }

    double seen_through(shape& abstract, shape const& constant, shape* pointer) const {
        CB_CALL(seen_through, abstract, constant, pointer);
        double const first = abstract.corners();
        return first * bias + bias * constant.corners() + pointer->corners() * first;
    }

    double of_others(settings const& fixed, two_tensors both) {
        CB_CALL(of_others, fixed, both);
        double const dimensions = static_cast<double>(both.first.dim());
        return dimensions * bias + *fixed.batch * dimensions +
               static_cast<double>(both.second.dim());
    }

    at::Tensor alone() {
        CB_CALL(alone);
        return at::Tensor{};
    }

    void nothing_back(double& out) {
        CB_CALL(nothing_back, out);
        out = out * bias + bias * out;
    }

    template<class... Value>
    double pack(Value const&... values) {
        CB_CALL(pack, values...);
        return (static_cast<double>(values) + ...) * bias + bias * sizeof...(Value);
    }

    template<class Value>
    auto&& passed_on(Value&& value) {
        CB_CALL(passed_on, value);
        return std::forward<Value>(value);
    }
};

}  // namespace

double use_all(at::Tensor const& input) {
    module one;
    triangle first;
    int array[] = {1, 2, 3};
    std::vector<at::Tensor> const list{input};
    double sum = 0.0;
    one.nothing_back(sum);
    sum += one.seen_through(first, first, &first) + one.pack(1, 2.0F, sum) + one.passed_on(sum);
    sum += one.of_others({array}, {input, input});
    sum += static_cast<double>(one.forward(input, input, 2.0, 3, list).dim());
    sum += static_cast<double>(one.views(list, {1, 2}, "name", {1, 2}, array, "text").dim());
    sum += static_cast<double>(
        one.owners(only_moved{2}, std::make_unique<int>(1), input.add(1), {input, 1}, "words")
            .dim());
    return sum + static_cast<double>(one.alone().defined());
}
