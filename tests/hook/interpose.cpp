// tests: LibTorch's own forwards, seen without an edit; nothing else about them may change
#include "support/catch2.hpp"
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/hook/forward.hpp>

#include <torch/torch.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

using lines = std::vector<std::string>;

/// Records the calls of modules below and including `root`.
class recording {
public:
    explicit recording(nn::Module& root)
        : tree_{root},
          wanted_(tree_.nodes().size(), cb::capture::call_detail::all()),
          session_{tree_, wanted_} {}

    /// What `run` returns or throws comes through.
    template<class Run>
    decltype(auto) of(Run run) {
        cb::hook::listening const now{session_};
        return run();
    }

    /// "linear1(Linear) in layer" for each call, in the order in which they began.
    [[nodiscard]] lines calls() {
        lines text;
        for (auto const& call : session_.calls()) {
            auto const& facts = tree_.nodes()[call.row];
            auto line = facts.path + "(" + facts.type + ")";
            if (call.parent != cb::capture::captured_call::none)
                line += " in " + path_of(call.parent);
            if (!call.finished)
                line += ", threw";
            text.push_back(line);
        }
        return text;
    }

    [[nodiscard]] bool has_open_call() const { return session_.innermost().module != nullptr; }
    cb::capture::captured_call& operator[](std::size_t number) { return session_.calls()[number]; }
    [[nodiscard]] std::string type(std::size_t number) {
        return tree_.nodes()[session_.calls()[number].row].type;
    }

private:
    std::string path_of(std::ptrdiff_t call) {
        return tree_.nodes()[session_.calls()[static_cast<std::size_t>(call)].row].path;
    }

    cb::capture::module_tree tree_;
    std::vector<cb::capture::call_detail> wanted_;
    cb::capture::session session_;
};

/// Nothing but children under names; nobody calls its forward.
struct parts : nn::Module {
    template<class Holder>
    Holder add(std::string const& name, Holder part) {
        return register_module(name, std::move(part));
    }
};

/// `Run` on modules in training mode, with the same random numbers whether recorded or not.
template<class Run>
std::pair<std::vector<Tensor>, std::vector<Tensor>> plain_and_recorded(recording& record, Run run) {
    torch::manual_seed(3);
    auto plain = run();
    torch::manual_seed(3);
    auto recorded = record.of(run);
    return {std::move(plain), std::move(recorded)};
}

bool same(std::vector<Tensor> const& left, std::vector<Tensor> const& right) {
    if (left.size() != right.size())
        return false;
    for (std::size_t position = 0; position < left.size(); ++position)
        if (!at::equal(left[position], right[position]))
            return false;
    return true;
}

std::size_t tensor_arguments(cb::capture::captured_call& call) {
    std::size_t count = 0;
    call.stored->each_argument([&](Tensor&) { ++count; });
    return count;
}

template<class Run>
std::string error_of(Run run) {
    try {
        run();
    } catch (c10::Error const& error) {
        return error.what_without_backtrace();
    }
    return "";
}

// ---- users' classes that derive from LibTorch's

struct unmarked_linear : nn::LinearImpl {
    using nn::LinearImpl::LinearImpl;
    Tensor forward(Tensor const& x) { return nn::LinearImpl::forward(x) * 2; }
};

struct marked_linear : nn::LinearImpl {
    using nn::LinearImpl::LinearImpl;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return nn::LinearImpl::forward(x) * 2;
    }
};

struct marked_norm : nn::BatchNorm1dImpl {
    using nn::BatchNorm1dImpl::BatchNorm1dImpl;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return nn::BatchNorm1dImpl::forward(x) * 2;
    }
};

/// Normalises without a module of LibTorch.
struct functional_norm : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return nn::functional::batch_norm(x, {}, {},
                                          nn::functional::BatchNormFuncOptions().training(true));
    }
};

/// Its norm refuses a batch of one, after its hook has begun and before the operator that ends it.
struct careful : nn::Module {
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(3));
    nn::Linear after = register_module("after", nn::Linear(3, 3));
    std::shared_ptr<functional_norm> functional =
        register_module("functional", std::make_shared<functional_norm>());

    Tensor forward(Tensor const& x, bool functional_next) {
        CB_FORWARD(x, functional_next);
        try {
            return norm(x.slice(0, 0, 1));
        } catch (c10::Error const&) {
            return functional_next ? functional->forward(x) : after(x);
        }
    }
};

}  // namespace

TEST_CASE("default arguments keep working, and a recorded call has all arguments", "[hook]") {
    parts model;
    auto lstm = model.add("lstm", nn::LSTM(4, 6));
    auto gru = model.add("gru", nn::GRU(4, 6));
    auto cell = model.add("cell", nn::LSTMCell(4, 6));
    auto attention = model.add("attention", nn::MultiheadAttention(4, 2));
    auto transposed = model.add("transposed", nn::ConvTranspose1d(3, 2, 3));
    auto unpool = model.add("unpool", nn::MaxUnpool1d(2));
    auto bag = model.add("bag", nn::EmbeddingBag(5, 2));
    auto layer = model.add("layer", nn::TransformerDecoderLayer(4, 2));
    auto const x = at::randn({2, 3, 4});

    recording record{model};
    auto const [plain, recorded] = plain_and_recorded(record, [&] {
        auto const [output, state] = lstm(x);
        auto const [hidden, memory] = cell(x[0]);
        return std::vector<Tensor>{output,
                                   std::get<0>(state),
                                   std::get<1>(gru(x)),
                                   hidden,
                                   memory,
                                   std::get<0>(attention(x, x, x)),
                                   transposed(x),
                                   unpool(x, at::arange(4).expand({2, 3, 4}) * 2),
                                   bag(at::ones({2, 3}, at::kLong)),
                                   layer(x, x)};
    });

    CHECK(same(plain, recorded));
    auto const calls = record.calls();
    REQUIRE(calls.size() >= 8);
    CHECK(lines(calls.begin(), calls.begin() + 8) ==
          lines{"lstm(LSTM)", "cell(LSTMCell)", "gru(GRU)", "attention(MultiheadAttention)",
                "transposed(ConvTranspose1d)", "unpool(MaxUnpool1d)", "bag(EmbeddingBag)",
                "layer(TransformerDecoderLayer)"});
    CHECK(tensor_arguments(record[0]) == 1);  // the state is not given
    CHECK(tensor_arguments(record[3]) == 3);
    CHECK(record[3].stored->values() != "");  // need_weights and average_attn_weights
    CHECK(tensor_arguments(record[5]) == 2);
    CHECK(tensor_arguments(record[7]) == 2);
}

TEST_CASE("types, clones and containers of LibTorch stay what they are", "[hook]") {
    nn::Sequential sequence(nn::Linear(3, 4), nn::ReLU(), nn::Dropout(0.5), nn::Linear(4, 2));
    auto const x = at::randn({5, 3});
    auto const& first = sequence->at<nn::LinearImpl>(0);
    CHECK(typeid(first) == typeid(nn::LinearImpl));
    CHECK(sequence->at<nn::LinearImpl>(3).options.in_features() == 4);
    CHECK(sequence->children()[1]->as<nn::ReLU>() != nullptr);
    CHECK(sequence->children()[1]->as<nn::Linear>() == nullptr);
    CHECK(sequence->children()[0]->name() == "torch::nn::LinearImpl");

    auto const copy = std::dynamic_pointer_cast<nn::SequentialImpl>(sequence->clone());
    REQUIRE(copy);
    recording record{*copy};
    auto const [plain, recorded] =
        plain_and_recorded(record, [&] { return std::vector{copy->forward(x)}; });
    CHECK(same(plain, recorded));
    CHECK(record.calls() == lines{"0(Linear)", "1(ReLU)", "2(Dropout)", "3(Linear)"});

    nn::AnyModule any(nn::GRU(3, 2));  // fills default arguments in at run time
    recording second{*any.ptr()};
    second.of([&] { return any.forward<std::tuple<Tensor, Tensor>>(x.unsqueeze(0)); });
    CHECK(second.calls() == lines{"(GRU)"});
}

TEST_CASE("an exception of LibTorch passes through and leaves no open call", "[hook]") {
    parts model;
    auto linear = model.add("linear", nn::Linear(3, 4));
    auto layer = model.add("layer", nn::TransformerEncoderLayer(4, 2));
    auto const wrong = at::ones({2, 5, 7});

    recording record{model};
    auto const plain = error_of([&] { linear(wrong); });
    CHECK(plain != "");
    CHECK(error_of([&] { record.of([&] { return linear(wrong); }); }) == plain);
    CHECK_FALSE(record.has_open_call());
    CHECK(error_of([&] { record.of([&] { return layer(wrong); }); }) ==
          error_of([&] { layer(wrong); }));
    CHECK_FALSE(record.has_open_call());
    CHECK(cb::hook::current == nullptr);
    record.of([&] { return linear(at::ones({2, 3})); });
    auto const calls = record.calls();
    CHECK(calls.front() == "linear(Linear), threw");
    CHECK(calls[1] == "layer(TransformerEncoderLayer), threw");
    CHECK(calls.back() == "linear(Linear)");
}

TEST_CASE("an exception of a user's function inside a LibTorch module passes through", "[hook]") {
    nn::Functional thrower([](Tensor const&) -> Tensor { throw std::domain_error{"mine"}; });
    recording record{*thrower};
    CHECK_THROWS_AS(record.of([&] { return thrower(at::ones({1})); }), std::domain_error);
    CHECK_FALSE(record.has_open_call());
    CHECK(record.calls() == lines{"(Functional), threw"});
}

TEST_CASE("calls that LibTorch makes inside itself are seen under their parent", "[hook]") {
    parts model;
    auto layer = model.add("layer", nn::TransformerEncoderLayer(4, 2));
    auto encoder = model.add("encoder", nn::TransformerEncoder(layer, 1));
    auto const x = at::randn({3, 2, 4});
    recording record{model};
    auto const [plain, recorded] = plain_and_recorded(record, [&] {
        return std::vector{layer(x), encoder(x)};
    });
    CHECK(same(plain, recorded));

    auto const in_layer = [](std::string const& path) {
        return lines{path + "self_attn(MultiheadAttention) in ",
                     path + "dropout1(Dropout) in ",
                     path + "norm1(LayerNorm) in ",
                     path + "linear1(Linear) in ",
                     path + "dropout(Dropout) in ",
                     path + "linear2(Linear) in ",
                     path + "dropout2(Dropout) in ",
                     path + "norm2(LayerNorm) in "};
    };
    lines expected{"layer(TransformerEncoderLayer)"};
    for (auto const& line : in_layer("layer."))
        expected.push_back(line + "layer");
    expected.emplace_back("encoder(TransformerEncoder)");
    expected.emplace_back("encoder.layers.0(TransformerEncoderLayer) in encoder");
    for (auto const& line : in_layer("encoder.layers.0."))
        expected.push_back(line + "encoder.layers.0");
    CHECK(record.calls() == expected);
}

TEST_CASE("a class derived from LibTorch's is one call, with and without CB_FORWARD", "[hook]") {
    parts model;
    auto const unmarked = model.add("unmarked", std::make_shared<unmarked_linear>(3, 4));
    auto const marked = model.add("marked", std::make_shared<marked_linear>(3, 4));
    auto const norm = model.add("norm", std::make_shared<marked_norm>(4));
    auto const x = at::randn({5, 3});
    recording record{model};
    auto const [plain, recorded] = plain_and_recorded(record, [&] {
        return std::vector{unmarked->forward(x), norm->forward(marked->forward(x))};
    });
    CHECK(same(plain, recorded));
    CHECK(record.calls() ==
          lines{"unmarked(unmarked_linear)", "marked(marked_linear)", "norm(marked_norm)"});
    // with the macro the whole call is replayed
    auto const again = record[1].stored->copy();
    again->run();
    again->each_result([&](Tensor& output) { CHECK(at::equal(output, marked->forward(x))); });
}

TEST_CASE("a pool that asks itself for indices is one call", "[hook]") {
    parts model;
    auto max = model.add("max", nn::MaxPool1d(2));
    auto adaptive = model.add("adaptive", nn::AdaptiveMaxPool1d(2));
    auto fractional = model.add(
        "fractional", nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(3)));
    auto const x = at::randn({2, 6, 6});
    recording record{model};
    auto const [plain, recorded] = plain_and_recorded(record, [&] {
        return std::vector{max(x),        std::get<1>(max->forward_with_indices(x)),
                           adaptive(x),   std::get<1>(adaptive->forward_with_indices(x)),
                           fractional(x), std::get<1>(fractional->forward_with_indices(x))};
    });
    CHECK(same(plain, recorded));
    CHECK(record.calls() == lines{"max(MaxPool1d)", "max(MaxPool1d)", "adaptive(AdaptiveMaxPool1d)",
                                  "adaptive(AdaptiveMaxPool1d)", "fractional(FractionalMaxPool2d)",
                                  "fractional(FractionalMaxPool2d)"});
    CHECK(record[0].outputs.size() == 1);
    CHECK(record[1].outputs.size() == 2);
}

TEST_CASE("nothing is recorded when nobody listens", "[hook]") {
    careful model;
    recording record{model};
    CHECK(cb::hook::current == nullptr);
    model.forward(at::ones({2, 3}), false);
    model.norm(at::randn({4, 3}));
    CHECK(record.calls().empty());
}

TEST_CASE("a normalisation layer that throws leaves no open call", "[hook]") {
    careful model;
    recording record{model};

    // its check of the dimensions throws before the call begins
    auto const wrong = at::ones({2, 3, 4, 5});
    auto const plain = error_of([&] { model.norm(wrong); });
    CHECK(plain != "");
    CHECK(error_of([&] { record.of([&] { return model.norm(wrong); }); }) == plain);
    CHECK_FALSE(record.has_open_call());
    CHECK(record.calls().empty());

    // the size of the batch is looked at after the call has begun
    record.of([&] { return model.forward(at::randn({4, 3}), false); });
    CHECK_FALSE(record.has_open_call());
    CHECK(record.calls() ==
          lines{"(careful)", "norm(BatchNorm1d) in , threw", "after(Linear) in "});

    // an operator that runs next is not taken for the end of the norm
    recording second{model};
    second.of([&] { return model.forward(at::randn({4, 3}), true); });
    CHECK_FALSE(second.has_open_call());
    CHECK(second.calls() ==
          lines{"(careful)", "norm(BatchNorm1d) in , threw", "functional(functional_norm) in "});
    CHECK(second[0].finished);
    CHECK(second[2].finished);

    // nothing follows it
    recording third{model};
    CHECK(error_of([&] { third.of([&] { return model.norm(at::randn({1, 3})); }); }) != "");
    CHECK(third.of([&] { return model.after(at::randn({4, 3})); }).defined());
    CHECK(third.calls() == lines{"norm(BatchNorm1d), threw", "after(Linear)"});
    CHECK_FALSE(third.has_open_call());

    // the same one follows it
    auto const good = at::randn({4, 3});
    recording fourth{model};
    CHECK(error_of([&] { fourth.of([&] { return model.norm(at::randn({1, 3})); }); }) != "");
    CHECK(fourth.of([&] { return model.norm(good); }).defined());
    CHECK(fourth.calls() == lines{"norm(BatchNorm1d), threw", "norm(BatchNorm1d)"});
    CHECK(fourth[1].inputs.front().is_same({good}));
    CHECK_FALSE(fourth.has_open_call());
}

TEST_CASE("a functional normalisation is not a call of a module", "[hook]") {
    functional_norm model;
    auto const x = at::randn({4, 3});
    recording record{model};
    auto const functional = [&] {
        return nn::functional::batch_norm(x, {}, {},
                                          nn::functional::BatchNormFuncOptions().training(true));
    };
    CHECK(at::equal(record.of(functional), functional()));
    CHECK(record.calls().empty());
    record.of([&] { return model.forward(x); });
    CHECK(record.calls() == lines{"(functional_norm)"});
}

TEST_CASE("normalisation layers one after another, and inside each other's siblings", "[hook]") {
    parts model;
    auto batch = model.add("batch", nn::BatchNorm2d(3));
    auto instance = model.add(
        "instance", nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).track_running_stats(true)));
    auto const x = at::randn({2, 3, 4, 4});
    recording record{model};
    record.of([&] { return instance(batch(x)); });
    CHECK(record.calls() == lines{"batch(BatchNorm2d)", "instance(InstanceNorm2d)"});
    batch->eval();
    instance->eval();
    recording evaluating{model};
    evaluating.of([&] { return batch(instance(x)); });
    CHECK(evaluating.calls() == lines{"instance(InstanceNorm2d)", "batch(BatchNorm2d)"});
}

TEST_CASE("calls of other threads neither appear nor disturb", "[hook]") {
    parts model;
    auto linear = model.add("linear", nn::Linear(8, 8));
    auto norm = model.add("norm", nn::BatchNorm1d(8));
    norm->eval();  // its statistics are not for two threads
    auto const x = at::randn({4, 8});
    std::atomic<bool> stop{false};
    std::atomic<bool> started{false};
    std::thread other{[&] {
        torch::NoGradGuard const no_grad;
        do {
            static_cast<void>(norm(linear(x)));
            started = true;
        } while (!stop);
    }};
    while (!started)
        std::this_thread::yield();
    recording record{model};
    record.of([&] {
        for (int time = 0; time < 50; ++time)
            static_cast<void>(norm(linear(x)));
        return 0;
    });
    stop = true;
    other.join();
    CHECK_FALSE(record.has_open_call());
    lines expected;
    for (int time = 0; time < 50; ++time)
        expected.insert(expected.end(), {"linear(Linear)", "norm(BatchNorm1d)"});
    CHECK(record.calls() == expected);
}
