// Optimizers inside backward: FBGEMM's table-batched embeddings, and what is like them.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/signal_handler.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

/// Loads FBGEMM's operators; why that is not possible, or empty.
std::string load_fbgemm() {
    std::filesystem::path const folder = COMPONENT_BENCHMARK_TEST_FBGEMM;
    if (!exists(folder / "fbgemm_gpu_tbe_training_backward_pt2.so"))
        return "no fbgemm_gpu in " + folder.string() +
               ": run tools/setup.sh fbgemm, or set "
               "COMPONENT_BENCHMARK_FBGEMM";
    if (TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11)
        return "FBGEMM 1.6.0 is built for LibTorch 2.11, and this is " TORCH_VERSION;
    // Without CUDA's libraries the real libtorch.so cannot be loaded, and nothing in it is needed.
    for (auto const& library : {std::filesystem::path{COMPONENT_BENCHMARK_TEST_LIBTORCH_NAME},
                                folder / "fbgemm_gpu_tbe_training_backward.so",
                                folder / "fbgemm_gpu_tbe_training_forward.so",
                                folder / "fbgemm_gpu_tbe_training_backward_pt2.so"})
        if (dlopen(library.c_str(), RTLD_NOW) == nullptr)
            throw std::runtime_error{dlerror()};
    return {};
}

/// True where the operators are there; else the test case is skipped, and says why.
bool has_fbgemm() {
    static auto const why_not = load_fbgemm();
    if (!why_not.empty())
        WARN("skipped: " << why_not);
    return why_not.empty();
}

using named_arguments = std::vector<std::pair<std::string_view, c10::IValue>>;

/// Calls an operator with arguments by name; the others are the defaults of its schema.
Tensor call(char const* name, named_arguments const& arguments) {
    auto const found = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
    torch::jit::Stack stack;
    for (auto const& expected : found.schema().arguments()) {
        auto const given =
            std::find_if(arguments.begin(), arguments.end(),
                         [&](auto const& argument) { return argument.first == expected.name(); });
        stack.push_back(given != arguments.end()
                            ? given->second
                            : expected.default_value().value_or(c10::IValue{}));
    }
    found.callBoxed(stack);
    return stack.at(0).toTensor();
}

constexpr std::int64_t tables = 3;
constexpr std::int64_t rows = 11;
constexpr std::int64_t width = 4;
constexpr std::int64_t batch_size = 8;

/// Where the tables lie, and which of its operators FBGEMM is asked for.
class table_batch : public nn::Module {
public:
    virtual Tensor forward(Tensor const& indices, Tensor const& offsets) = 0;
    [[nodiscard]] virtual std::vector<Tensor> tensors() const = 0;

protected:
    static Tensor make_weights() { return at::rand({tables * rows * width}) - 0.5; }
    static Tensor make_momentum() { return at::full({tables * rows}, 0.1); }

    [[nodiscard]] Tensor sgd(Tensor const& indices, Tensor const& offsets,
                             Tensor const& weights) const {
        auto all = arguments(indices, offsets);
        all.emplace_back("host_weights", weights);
        return call("fbgemm::split_embedding_codegen_lookup_sgd_function_cpu", all);
    }

    [[nodiscard]] Tensor adagrad(Tensor const& indices, Tensor const& offsets,
                                 Tensor const& weights, Tensor const& momentum) const {
        auto all = arguments(indices, offsets);
        all.emplace_back("host_weights", weights);
        all.emplace_back("momentum1_host", momentum);
        all.emplace_back("momentum1_placements", placements_);
        all.emplace_back("momentum1_offsets", momentum_offsets_);
        return call("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function_cpu", all);
    }

    /// The operator that FBGEMM's own module calls: a placeholder is what requires a gradient.
    [[nodiscard]] Tensor adagrad_by_placeholder(Tensor const& indices, Tensor const& offsets,
                                                Tensor const& placeholder, Tensor const& weights,
                                                Tensor const& momentum) const {
        auto all = arguments(indices, offsets);
        all.emplace_back("placeholder_autograd_tensor", placeholder);
        all.emplace_back("weights", std::vector<Tensor>{weights, placements_, weights_offsets_});
        all.emplace_back("momentum1",
                         std::vector<Tensor>{momentum, placements_, momentum_offsets_});
        all.emplace_back("learning_rate_tensor", at::full({}, 0.1));
        std::vector<std::optional<Tensor>> caches(7);
        caches[3] = caches[4] = at::empty({0}, at::kInt);  // there are none on a CPU
        all.emplace_back("aux_tensor", caches);
        all.emplace_back("aux_int", std::vector<std::int64_t>{0, 26, (1 << 26) - 1});
        all.emplace_back("aux_float", std::vector<double>{0, 1});
        all.emplace_back("aux_bool",
                         c10::List<bool>{false, false, true, false, false, false, false});
        all.emplace_back("optim_int", std::vector<std::int64_t>{0});
        all.emplace_back("optim_float", std::vector<double>{1e-8, 0, 0});
        return call("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function_pt2", all);
    }

private:
    [[nodiscard]] named_arguments arguments(Tensor const& indices, Tensor const& offsets) const {
        return {{"weights_placements", placements_},
                {"weights_offsets", weights_offsets_},
                {"D_offsets", width_offsets_},
                {"total_D", tables * width},
                {"max_D", width},
                {"hash_size_cumsum", row_offsets_},
                {"total_hash_size_bits", 6},
                {"indices", indices},
                {"offsets", offsets},
                {"pooling_mode", 0},
                {"gradient_clipping", false},
                {"max_gradient", 1.0},
                {"stochastic_rounding", false},
                {"output_dtype", 0},
                {"eps", 1e-8},
                {"weight_decay_mode", 0},  // the schema's default is no integer
                {"learning_rate", 0.1}};
    }

    Tensor placements_ = at::zeros({tables}, at::kInt);
    Tensor weights_offsets_ = at::arange(tables) * (rows * width);
    Tensor momentum_offsets_ = at::arange(tables) * rows;
    Tensor row_offsets_ = at::arange(tables + 1) * rows;
    Tensor width_offsets_ = (at::arange(tables + 1) * width).to(at::kInt);
};

struct Sgd : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return sgd(indices, offsets, weights);
    }
};

struct Registered : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor momentum = register_buffer("momentum", make_momentum());
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return adagrad(indices, offsets, weights, momentum);
    }
};

struct Declared : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor momentum = make_momentum();
    CB_STATE(momentum);
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return adagrad(indices, offsets, weights, momentum);
    }
};

/// Nothing but a placeholder is registered as a parameter.
struct Placeholder : table_batch {
    Tensor placeholder = register_parameter("placeholder", at::zeros({0}));
    Tensor weights = register_buffer("weights", make_weights());
    Tensor momentum = make_momentum();
    CB_STATE(momentum);
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return adagrad_by_placeholder(indices, offsets, placeholder, weights, momentum);
    }
};

/// Nothing at all is registered.
struct Unregistered : table_batch {
    Tensor weights = make_weights().requires_grad_();
    Tensor momentum = make_momentum();
    CB_STATE(weights, momentum);
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return adagrad(indices, offsets, weights, momentum);
    }
};

struct Undeclared : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor momentum = make_momentum();
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return adagrad(indices, offsets, weights, momentum);
    }
};

/// Rowwise Adagrad inside backward by raw pointers, as FBGEMM has it.
struct by_hand : torch::autograd::Function<by_hand> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& weights,
                          Tensor const& momentum, Tensor const& indices) {
        auto const each = indices.view({tables, -1}) + at::arange(tables).unsqueeze(1) * rows;
        context->saved_data["weights"] = weights.detach();
        context->saved_data["momentum"] = momentum;
        context->saved_data["rows"] = each;
        return weights.detach()
            .view({-1, width})
            .index_select(0, each.flatten())
            .view({tables, batch_size, -1, width})
            .sum(2)
            .transpose(0, 1)
            .reshape({batch_size, -1});
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list const& gradients) {
        auto const each = context->saved_data["rows"].toTensor();
        auto* const weights = context->saved_data["weights"].toTensor().mutable_data_ptr<float>();
        auto* const momentum = context->saved_data["momentum"].toTensor().mutable_data_ptr<float>();
        auto const gradient = gradients[0].contiguous();
        for (std::int64_t position = 0; position < each.numel(); ++position) {
            auto const row = each.const_data_ptr<std::int64_t>()[position];
            auto const table = position / each.size(1);
            auto const sample = position % each.size(1) / (each.size(1) / batch_size);
            auto const* const one =
                gradient.const_data_ptr<float>() + (sample * tables + table) * width;
            for (std::int64_t column = 0; column < width; ++column)
                momentum[row] += one[column] * one[column] / width;
            for (std::int64_t column = 0; column < width; ++column)
                weights[row * width + column] -= 0.1F * one[column] / std::sqrt(momentum[row]);
        }
        return {Tensor{}, Tensor{}, Tensor{}};
    }
};

/// Besides the optimizer inside backward: an average as a parameter and a generator of its own.
struct ByHand : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor average = register_parameter("average", at::zeros({tables * width}), false);
    Tensor momentum = make_momentum();
    at::Generator noise = at::make_generator<at::CPUGeneratorImpl>(7);
    CB_STATE(momentum, noise);
    [[nodiscard]] std::vector<Tensor> tensors() const override {
        auto const drawn = noise;
        return {weights, average, momentum, drawn.get_state()};
    }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        auto const found = by_hand::apply(weights, momentum, indices);
        average.mul_(0.9).add_(found.detach().mean(0), 0.1);
        return found + average + at::rand(found.sizes(), noise) * 0.01;
    }
};

struct ByHandUndeclared : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor momentum = make_momentum();
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return by_hand::apply(weights, momentum, indices);
    }
};

/// Nobody knows of its weights.
struct ByHandUnknown : table_batch {
    Tensor weights = make_weights().requires_grad_();
    Tensor momentum = make_momentum();
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return by_hand::apply(weights, momentum, indices);
    }
};

struct Ranker : nn::Module {
    explicit Ranker(std::shared_ptr<table_batch> made)
        : sparse{register_module("sparse", std::move(made))} {}
    std::shared_ptr<table_batch> sparse;
    nn::Linear over = register_module("over", nn::Linear(tables* width, 1));
    Tensor forward(Tensor const& indices, Tensor const& offsets) {
        CB_FORWARD(indices, offsets);
        return at::sigmoid(over(sparse->forward(indices, offsets)));
    }
};

struct batch {
    Tensor indices = at::randint(rows, {tables * batch_size * 2}, at::kLong);
    Tensor offsets = at::arange(tables * batch_size + 1) * 2;
    Tensor labels = at::rand({batch_size, 1}).round();

    [[nodiscard]] auto loss() const {
        return [labels = labels](Tensor const& output) {
            return nn::functional::binary_cross_entropy(output, labels);
        };
    }
};

void check_same(std::vector<Tensor> const& left, std::vector<Tensor> const& right) {
    REQUIRE(left.size() == right.size());
    for (std::size_t index = 0; index < left.size(); ++index) {
        INFO("tensor " << index);
        CHECK(cb::capture::same_bytes(left[index], right[index]));
    }
}

/// Everything that decides how a training goes on.
std::vector<Tensor> state_of(Ranker const& model) {
    auto state = model.parameters();
    for (auto const& tensor : model.sparse->tensors())
        state.push_back(tensor);
    for (auto& tensor : state)
        tensor = tensor.detach().clone();
    return state;
}

using maker = std::shared_ptr<table_batch> (*)();
template<class Tables>
std::shared_ptr<table_batch> make() {
    return std::make_shared<Tables>();
}

/// 20 steps; `look`, if given, is called at the tenth.
std::vector<Tensor> train(maker make_tables,
                          std::function<void(Ranker&, batch const&)> const& look = {}) {
    torch::manual_seed(3);
    Ranker model{make_tables()};
    torch::optim::SGD optimizer{model.over->parameters(), 0.1};
    for (int step = 0; step < 20; ++step) {
        batch const now;
        if (step == 10 && look)
            look(model, now);
        optimizer.zero_grad();
        now.loss()(model.forward(now.indices, now.offsets)).backward();
        optimizer.step();
    }
    auto state = state_of(model);
    state.push_back(at::rand({4}));  // the generator
    return state;
}

auto profile(Ranker& model, batch const& now) {
    return quick().run(cb::provide(model, now.indices, now.offsets).loss(now.loss()));
}

void check_training(maker make_tables) {
    auto const plain = train(make_tables);
    check_same(plain, train(make_tables));
    check_same(plain, train(make_tables, [](Ranker& model, batch const& now) {
                   auto const before = state_of(model);
                   auto const report = profile(model, now);
                   check_same(before, state_of(model));
                   CHECK(report.document().facts.unchanged.verified);
                   for (auto const* path : {"", "sparse", "over"}) {
                       INFO("row '" << path << "'");
                       CHECK(report[path].state() == cb::status::ok);
                       CHECK(report[path].reason().empty());
                       auto const& times = report[path].get<cb::latency>();
                       CHECK(times.latency_ms.from() == cb::origin::measured);
                       CHECK(times.latency_bwd_ms.from() == cb::origin::measured);
                   }
               }));
}

/// Each repetition of each component finds the same and leaves the same.
void check_replays(maker make_tables) {
    torch::manual_seed(3);
    Ranker model{make_tables()};
    batch const now;
    auto captured = cb::provide(model, now.indices, now.offsets).loss(now.loss()).capture({});
    captured->for_each([&](std::size_t, auto& one) {
        if (one.path() == "over")
            return;
        auto replay = one.calls().at(0).replay();
        std::vector<Tensor> first;
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            auto const before = model.sparse->tensors()[0].detach().clone();
            replay.forward();
            auto after = replay.outputs();
            REQUIRE(replay.prepare_backward());
            replay.backward();
            CHECK_FALSE(cb::capture::same_bytes(model.sparse->tensors()[0], before));
            for (auto const& tensor : state_of(model))
                after.push_back(tensor);
            for (auto& tensor : after)
                tensor = tensor.detach().clone();
            if (repetition == 0)
                first = after;
            check_same(first, after);
        }
    });
}

void check_hidden_momentum(maker make_tables) {
    torch::manual_seed(3);
    Ranker model{make_tables()};
    batch const now;
    auto const weights = model.sparse->tensors()[0].detach().clone();
    auto const report = profile(model, now);
    auto const& unchanged = report.document().facts.unchanged;
    CHECK_FALSE(unchanged.verified);
    CHECK(std::count(unchanged.not_compared.begin(), unchanged.not_compared.end(),
                     "'sparse' has state that is neither registered nor declared") == 1);
    CHECK(cb::capture::same_bytes(model.sparse->tensors()[0], weights));
    auto const& times = report["sparse"].get<cb::latency>();
    CHECK(times.latency_ms.has_value());
    CHECK(times.latency_bwd_ms.why() == cb::hidden_state);
    CHECK(report[""].get<cb::latency>().latency_bwd_ms.from() != cb::origin::measured);
    CHECK(report["over"].get<cb::latency>().latency_bwd_ms.has_value());
}

}  // namespace

TEST_CASE("FBGEMM's operators write weights in backward and move no version counter", "[capture]") {
    if (!has_fbgemm())
        return;
    for (auto const make_tables : {make<Sgd>, make<Registered>, make<Placeholder>}) {
        Ranker model{make_tables()};
        batch const now;
        auto const weights = model.sparse->tensors()[0];
        auto const before = weights.detach().clone();
        now.loss()(model.forward(now.indices, now.offsets)).backward();
        CHECK(weights._version() == 0);
        CHECK_FALSE(weights.grad().defined());
        CHECK_FALSE(cb::capture::same_bytes(weights, before));
    }
}

TEST_CASE("a training with FBGEMM's optimizers is bit-identical with a profile in its middle",
          "[capture]") {
    if (!has_fbgemm())
        return;
    SECTION("SGD") {
        check_training(make<Sgd>);
    }
    SECTION("momentum as a buffer") {
        check_training(make<Registered>);
    }
    SECTION("momentum as a declared member") {
        check_training(make<Declared>);
    }
    SECTION("weights as a buffer") {
        check_training(make<Placeholder>);
    }
    SECTION("weights as a declared member") {
        check_training(make<Unregistered>);
    }
}

TEST_CASE("each replay of FBGEMM's operators finds weights and momentum as the call did",
          "[capture]") {
    if (!has_fbgemm())
        return;
    for (auto const make_tables :
         {make<Sgd>, make<Registered>, make<Declared>, make<Placeholder>, make<Unregistered>})
        check_replays(make_tables);
}

TEST_CASE("momentum of FBGEMM that nobody declared is found by its effect", "[capture]") {
    if (has_fbgemm())
        check_hidden_momentum(make<Undeclared>);
}

TEST_CASE("an optimizer in backward by raw pointers, an average and a generator leave no trace",
          "[capture]") {
    check_training(make<ByHand>);
    check_replays(make<ByHand>);
}

TEST_CASE("momentum that nobody declared is found by its effect", "[capture]") {
    check_hidden_momentum(make<ByHandUndeclared>);
}

namespace {
/// Cuts off what it was asked for, where nothing of the loss is needed.
template<class Cut>
struct CutsOff : Ranker {
    using Ranker::Ranker;
    Tensor forward(Tensor const& indices, Tensor const& offsets) {
        CB_FORWARD(indices, offsets);
        return Cut{}(over(sparse->forward(indices, offsets)));
    }
};
struct detaches {
    Tensor operator()(Tensor const& x) const { return x.detach(); }
};
struct has_no_gradient {
    Tensor operator()(Tensor const& x) const { return x.argmax(1); }
};
struct SkipsSparse : Ranker {
    using Ranker::Ranker;
    Tensor forward(Tensor const& indices, Tensor const& offsets) {
        CB_FORWARD(indices, offsets);
        return at::sigmoid(over(sparse->forward(indices, offsets).detach()));
    }
};

template<class Model>
void check_found_below(maker make_tables) {
    torch::manual_seed(3);
    Model model{make_tables()};
    batch const now;
    auto const weights = model.sparse->tensors()[0].detach().clone();
    auto const report = quick().run(cb::provide(model, now.indices, now.offsets));
    CHECK_FALSE(report.document().facts.unchanged.verified);
    CHECK(cb::capture::same_bytes(model.sparse->tensors()[0], weights));
    CHECK(report["sparse"].template get<cb::latency>().latency_bwd_ms.why() == cb::hidden_state);
}
}  // namespace

TEST_CASE("momentum that nobody declared is found below a module whose backward does not reach it",
          "[capture]") {
    check_found_below<CutsOff<detaches>>(make<ByHandUndeclared>);
    check_found_below<CutsOff<has_no_gradient>>(make<ByHandUndeclared>);
    check_found_below<SkipsSparse>(make<ByHandUndeclared>);
}

namespace {
/// What `sparse` finds goes through a gate that is closed, so that it gets a gradient of zeros.
struct ClosedGate : Ranker {
    using Ranker::Ranker;
    Tensor gate = register_parameter("gate", at::zeros({1}));
    Tensor forward(Tensor const& indices, Tensor const& offsets) {
        CB_FORWARD(indices, offsets);
        return at::sigmoid(over(sparse->forward(indices, offsets) * gate));
    }
};
/// The weights get a gradient by another way than through `sparse`.
struct TiedToRoot : Ranker {
    using Ranker::Ranker;
    Tensor forward(Tensor const& indices, Tensor const& offsets) {
        CB_FORWARD(indices, offsets);
        auto const found = sparse->forward(indices, offsets).detach();
        return at::sigmoid(over(found)) + sparse->parameters()[0].sum() * 1e-3;
    }
};

/// An optimizer that steps in every fifth backward.
struct FifthStep : torch::autograd::Function<FifthStep> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& weights,
                          Tensor const& momentum) {
        context->saved_data["weights"] = weights.detach();
        context->saved_data["momentum"] = momentum;
        return weights * 1;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list const& gradients) {
        auto* const steps = context->saved_data["momentum"].toTensor().mutable_data_ptr<float>();
        auto* const weights = context->saved_data["weights"].toTensor().mutable_data_ptr<float>();
        steps[0] += 1;
        if (static_cast<int>(steps[0]) % 5 == 0)
            weights[0] -= 1;
        return {gradients[0], Tensor{}};
    }
};
struct Accumulates : table_batch {
    Tensor weights = register_parameter("weights", at::ones({tables * width}));
    Tensor momentum = at::zeros({1});
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return FifthStep::apply(weights, momentum) * at::ones({batch_size, 1});
    }
};
}  // namespace

TEST_CASE("momentum that nobody declared is found behind a gradient of zeros and tied weights",
          "[capture]") {
    check_found_below<ClosedGate>(make<ByHandUndeclared>);
    check_found_below<TiedToRoot>(make<ByHandUndeclared>);
}

TEST_CASE("an optimizer that steps now and then is found in the end", "[capture]") {
    Ranker model{make<Accumulates>()};
    batch const now;
    auto const report = profile(model, now);
    CHECK_FALSE(report.document().facts.unchanged.verified);
    CHECK(report[""].reason() == cb::writes_now_and_then);
    CHECK(torch::equal(model.sparse->tensors()[0].detach(), at::ones({tables * width})));
}

namespace {
struct passes_on : torch::autograd::Function<passes_on> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& x,
                          Tensor const& weights, Tensor const& momentum, bool only_first) {
        context->saved_data["weights"] = weights.detach();
        context->saved_data["momentum"] = momentum;
        context->saved_data["only_first"] = only_first;
        return x * 1;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list const& gradients) {
        auto* const weights = context->saved_data["weights"].toTensor().mutable_data_ptr<float>();
        auto* const momentum = context->saved_data["momentum"].toTensor().mutable_data_ptr<float>();
        if (!context->saved_data["only_first"].toBool() || *momentum == 0)
            *weights += 1;
        *momentum += 1;
        return {gradients[0], Tensor{}, Tensor{}, Tensor{}};
    }
};
struct PassesOn : nn::Module {
    Tensor weights = register_parameter("weights", at::zeros({1}));
    Tensor momentum = at::zeros({1});
    bool only_first = false;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return passes_on::apply(x, weights, momentum, only_first);
    }
};
struct BeforeHidden : nn::Module {
    nn::Linear first = register_module("first", nn::Linear(4, 4));
    std::shared_ptr<PassesOn> second = register_module("second", std::make_shared<PassesOn>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return second->forward(first(x));
    }
};
}  // namespace

TEST_CASE("what the captured backward writes and no measured component does is a doubt",
          "[capture]") {
    for (bool const only_first : {false, true}) {
        BeforeHidden model;
        model.second->only_first = only_first;
        auto const report = quick({.include = {{.path = "first"}}})
                                .run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
        auto const& unchanged = report.document().facts.unchanged;
        CHECK_FALSE(unchanged.verified);
        CHECK(unchanged.not_compared.back() ==
              "parameter second.weights is written by a backward of a component that was not "
              "measured");
        CHECK(model.second->weights.item<float>() == 0.0F);
    }
}

namespace {
struct throws_in_backward : table_batch {
    Tensor weights = register_parameter("weights", make_weights());
    Tensor momentum = make_momentum();
    [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights, momentum}; }
    struct function : torch::autograd::Function<function> {
        static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& weights) {
            context->saved_data["weights"] = weights.detach();
            return weights.sum({0}) * 1;
        }
        static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                     torch::autograd::tensor_list const&) {
            context->saved_data["weights"].toTensor().mutable_data_ptr<float>()[0] += 1;
            throw std::runtime_error{"no more memory"};
        }
    };
    Tensor forward(Tensor const& indices, Tensor const& offsets) override {
        CB_FORWARD(indices, offsets);
        return function::apply(weights).sum() * at::ones({batch_size, tables * width});
    }
};
}  // namespace

TEST_CASE("a backward that writes and throws is a doubt", "[capture]") {
    Ranker model{make<throws_in_backward>()};
    batch const now;
    auto const report = quick().run(cb::provide(model, now.indices, now.offsets));
    CHECK(report["sparse"].state() == cb::status::failed);
    CHECK_FALSE(report.document().facts.unchanged.verified);
}

namespace {
struct in_half {
    static constexpr char const* name = "in_half";
    struct guard {
        nn::Module* module;
        ~guard() { module->to(torch::kFloat); }
    };
    template<class Component>
    guard apply(Component& component) const {
        component.each_argument([](Tensor& argument) {
            if (argument.is_floating_point())
                argument = argument.detach().to(torch::kBFloat16);
        });
        component.module().to(torch::kBFloat16);
        return {&component.module()};
    }
};
/// An average that its forward writes.
struct Averages : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor average = register_parameter("average", at::zeros({4}), false);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const found = linear(x);
        average.mul_(0.5).add_(found.detach().mean(0), 0.5);
        return found + average;
    }
};
}  // namespace

TEST_CASE("what a preprocessor did to the weights is not said of the component", "[capture]") {
    Averages model;
    cb::pipeline pipeline{cb::preprocessors{in_half{}},
                          cb::profilers{cb::latency{.warmup = 1, .samples = 2}}, cb::sinks{}};
    auto const report = pipeline.run(cb::provide(model, at::rand({2, 4})));
    for (auto const* path : {"", "linear"}) {
        CHECK(report[path].state() == cb::status::ok);
        CHECK(report[path].reason().empty());
        CHECK(report[path].get<cb::latency>().latency_ms.has_value());
    }
    CHECK(report.document().facts.unchanged.verified);
    CHECK(model.linear->weight.scalar_type() == at::kFloat);
}

namespace {
struct interrupts {
    static constexpr char const* name = "interrupts";
    struct guard {};
    template<class Component>
    guard apply(Component& component) const {
        if (component.path() == "sparse")
            std::raise(SIGINT);
        return {};
    }
};
}  // namespace

TEST_CASE("a run that is interrupted keeps its doubts", "[capture]") {
    cb::test::signal_handler const own{SIGINT, [](int) {}};
    Ranker model{make<ByHandUndeclared>()};
    batch const now;
    cb::pipeline pipeline{cb::preprocessors{interrupts{}}, cb::profilers{cb::latency{}},
                          cb::sinks{}};
    auto const report = pipeline.run(cb::provide(model, now.indices, now.offsets));
    CHECK_FALSE(report.document().facts.complete);
    CHECK_FALSE(report.document().facts.unchanged.verified);
}

namespace {
/// Writes a parameter of its sibling.
struct Helper : nn::Module {
    nn::Linear other{nullptr};
    bool raw = false;
    int forwards = 0;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        ++forwards;
        at::NoGradGuard const no_grad;
        if (raw)
            other->weight.mutable_data_ptr<float>()[0] += 1;
        else
            other->weight.mul_(0.5);
        return x + 1;
    }
};
struct WithHelper : nn::Module {
    std::shared_ptr<Helper> helper = register_module("helper", std::make_shared<Helper>());
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    WithHelper() { helper->other = linear; }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return linear(helper->forward(x));
    }
};
}  // namespace

TEST_CASE("a module whose parameter another one writes is not said to have written it",
          "[capture]") {
    for (bool const raw : {false, true}) {
        WithHelper model;
        model.helper->raw = raw;
        auto const before = model.linear->weight.detach().clone();
        auto const report = quick().run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
        CHECK(report.document().facts.unchanged.verified);
        CHECK(report["linear"].state() == cb::status::ok);
        CHECK(report["linear"].get<cb::latency>().latency_bwd_ms.has_value());
        CHECK(torch::equal(model.linear->weight.detach(), before));
    }
}

TEST_CASE("what a forward writes is no doubt, also where only one more forward shows who did it",
          "[capture]") {
    for (bool const raw : {false, true}) {
        WithHelper model;
        model.helper->raw = raw;
        auto const before = model.linear->weight.detach().clone();
        auto const report = quick({.include = {{.path = "linear"}}})
                                .run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
        CHECK(model.helper->forwards == (raw ? 2 : 1));
        auto const& unchanged = report.document().facts.unchanged;
        CHECK(unchanged.verified);
        CHECK(std::count(unchanged.changed.begin(), unchanged.changed.end(),
                         "parameter linear.weight") == 1);
        CHECK(torch::equal(model.linear->weight.detach(), before));
    }
}

TEST_CASE("weights that nobody knows of are left alone, and the rows say so", "[capture]") {
    auto const plain = train(make<ByHandUnknown>);
    check_same(plain, train(make<ByHandUnknown>, [](Ranker& model, batch const& now) {
                   auto const report = profile(model, now);
                   auto const& times = report["sparse"].get<cb::latency>();
                   CHECK(times.latency_bwd_ms.why() == cb::nothing_to_reach);
                   CHECK(report[""].reason() == cb::backward_is_partial);
                   CHECK(report["over"].reason().empty());
               }));
}

TEST_CASE("hooks on declared weights do not fire in a profile and fire after it", "[capture]") {
    struct Scaled : table_batch {
        Tensor weights = at::ones({tables * width}).requires_grad_();
        CB_STATE(weights);
        [[nodiscard]] std::vector<Tensor> tensors() const override { return {weights}; }
        Tensor forward(Tensor const& indices, Tensor const& offsets) override {
            CB_FORWARD(indices, offsets);
            return weights * at::ones({batch_size, 1});
        }
    };
    Ranker model{make<Scaled>()};
    batch const now;
    int fired = 0;
    model.sparse->tensors()[0].register_hook([&](Tensor const&) { ++fired; });
    CHECK(profile(model, now)["sparse"].get<cb::latency>().latency_bwd_ms.has_value());
    CHECK(fired == 0);
    now.loss()(model.forward(now.indices, now.offsets)).backward();
    CHECK(fired == 1);
}
