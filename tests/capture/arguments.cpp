// Arguments of every kind: given back at a replay where they own what they hold, refused otherwise.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <boost/hana/adapt_struct.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/IListRef.h>
#include <torch/torch.h>

#include <algorithm>
#include <any>
#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using Catch::Matchers::ContainsSubstring;

namespace {

struct CacheImpl : nn::Module {
    std::vector<Tensor> kept;
};
TORCH_MODULE(Cache);

/// A tree of itself, as libraries for JSON have it; that of a leaf is the leaf.
struct json {
    using value_type = json;
    [[nodiscard]] json const* begin() const { return this; }
    [[nodiscard]] json const* end() const { return this + 1; }
};

struct plain_struct {
    int width = 1;
};
struct struct_with_pointer {
    Tensor dense;
    Tensor* sparse;
};
struct adapted {
    Tensor dense;
    std::vector<Tensor> sparse;
    int width = 1;
};
struct tree {
    Tensor value;
    std::vector<tree> children;
};
struct like_softmax {  // of the members that torch::nn::ASMoutput has, and one more
    Tensor output;
    double loss = 0;
    std::vector<Tensor>* cache = nullptr;
};
enum class flag : bool { off, on };
struct owner_and_loops {
    std::string owner;
    int loops = 1;
};
struct less_than_limit {
    int* limit;
    bool operator()(int left, int right) const { return left < right && left < *limit; }
};
struct opted_in {
    int width = 1;
};

}  // namespace

BOOST_HANA_ADAPT_STRUCT(struct_with_pointer, dense, sparse);
BOOST_HANA_ADAPT_STRUCT(adapted, dense, sparse, width);
BOOST_HANA_ADAPT_STRUCT(tree, value, children);
BOOST_HANA_ADAPT_STRUCT(like_softmax, output, loss, cache);
namespace component_benchmark {
template<>
inline constexpr bool safe_to_replay<opted_in> = true;
template<>
inline constexpr bool safe_to_replay<json> = true;
template<>
inline constexpr bool safe_to_replay<owner_and_loops> = true;
}  // namespace component_benchmark

namespace {

template<class Argument>
std::string why() {
    return cb::hook::why_not_stored<Argument>();
}

}  // namespace

TEST_CASE("arguments that own what they hold are replayed", "[capture]") {
    CHECK(why<Tensor>().empty());
    CHECK(why<std::chrono::milliseconds>().empty());
    CHECK(why<std::vector<std::complex<double>>>().empty());
    CHECK(why<std::deque<Tensor>>().empty());
    CHECK(why<std::set<int>>().empty());
    CHECK(why<std::unordered_map<std::string, std::vector<Tensor>>>().empty());
    CHECK(why<std::queue<Tensor>>().empty());
    CHECK(why<std::stack<Tensor, std::vector<Tensor>>>().empty());
    CHECK(why<std::priority_queue<int>>().empty());
    CHECK(why<torch::OrderedDict<std::string, Tensor>>().empty());
    CHECK(why<c10::SmallVector<std::int64_t, 4>>().empty());
    CHECK(why<std::mt19937>().empty());
    CHECK(why<at::ArrayRef<std::vector<Tensor>>>().empty());
    CHECK(why<std::optional<std::span<int const>>>().empty());
    CHECK(why<std::optional<at::Generator>>().empty());
    CHECK(why<adapted>().empty());
    CHECK(why<std::vector<tree>>().empty());
    CHECK(why<opted_in>().empty());
    CHECK(why<json>().empty());
    auto const holds_nothing = [](Tensor const& x) { return x; };
    CHECK(why<decltype(holds_nothing)>().empty());
    CHECK(why<Tensor (*)(Tensor const&)>().empty());
    CHECK(why<at::ArrayRef<bool>>().empty());
    CHECK(why<std::span<bool const>>().empty());
}

TEST_CASE("views and pointers inside containers are not replayed", "[capture]") {
    using cache = std::vector<Tensor>;
    auto const view = "argument 1 holds a view";
    auto const pointer = "argument 1 holds a pointer";
    CHECK(why<std::vector<std::string_view>>() == view);
    CHECK(why<std::vector<at::IntArrayRef>>() == view);
    CHECK(why<std::tuple<int, std::string_view>>() == view);
    CHECK(why<std::deque<std::string_view>>() == view);
    CHECK(why<std::multimap<int, std::vector<std::string_view>>>() == view);
    CHECK(why<at::ArrayRef<std::string_view>>() == view);
    CHECK(why<std::vector<at::Generator>>() == "argument 1 holds a generator");
    CHECK(why<std::pair<Tensor, cache*>>() == pointer);
    CHECK(why<std::map<std::string, cache*>>() == pointer);
    CHECK(why<std::vector<std::vector<cache*>>>() == pointer);
    CHECK(why<std::list<cache*>>() == pointer);
    CHECK(why<std::variant<int, cache*>>() == pointer);
    CHECK(why<std::queue<Tensor*>>() == pointer);
    CHECK(why<torch::OrderedDict<std::string, Tensor*>>() == pointer);
    CHECK(why<struct_with_pointer>() == pointer);
    CHECK(why<like_softmax>() == pointer);
    CHECK(why<std::map<std::string, std::shared_ptr<cache>>>() ==
          "argument 1 holds a std::shared_ptr");
    CHECK(why<std::tuple<Tensor&, int&>>() == "argument 1 holds a reference");
    CHECK(why<std::pair<int, Tensor const&>>() == "argument 1 holds a reference");
    auto const writable = "argument 1 is a span whose elements the call may write";
    CHECK(why<std::span<int>>() == writable);
    CHECK(why<std::optional<std::span<float>>>() == writable);
    CHECK(why<std::optional<std::optional<at::IntArrayRef>>>() == view);
    CHECK(why<std::vector<nn::AnyValue>>() == "argument 1 holds a torch::nn::AnyValue");
}

TEST_CASE("functions and handles are not replayed", "[capture]") {
    auto const handle = "argument 1 is a handle to a shared object";
    CHECK(why<c10::List<Tensor>>() == handle);
    CHECK(why<c10::Dict<std::string, Tensor>>() == handle);
    CHECK(why<c10::IValue>() == handle);
    CHECK(why<Cache>() == handle);
    CHECK(why<nn::AnyModule>() == handle);
    CHECK(why<nn::Sequential>() == handle);
    CHECK(why<std::optional<c10::List<Tensor>>>() ==
          "argument 1 holds a handle to a shared object");
    CHECK(why<std::function<Tensor(Tensor)>>() ==
          "argument 1 is a std::function, which may hold references");
    CHECK(why<std::vector<std::function<void()>>>() ==
          "argument 1 holds a std::function, which may hold references");
}

TEST_CASE("an argument of a class that is not known is not replayed, and its name is said",
          "[capture]") {
    CHECK(why<Tensor>().empty());
    CHECK_THAT(why<plain_struct>(), ContainsSubstring("argument 1 is a ") &&
                                        ContainsSubstring("plain_struct, whose members are not "
                                                          "known: name them with "
                                                          "BOOST_HANA_ADAPT_STRUCT"));
    CHECK_THAT(why<std::vector<plain_struct>>(), ContainsSubstring("argument 1 holds a "));
    int outside = 0;
    auto const closure = [&outside](int more) { outside += more; };
    for (auto const& reason :
         {why<std::any>(), why<at::Storage>(), why<c10::MaybeOwned<Tensor>>(),
          why<at::OptionalTensorRef>(), why<at::ITensorListRef>(), why<at::IOptTensorListRef>(),
          why<std::set<int, less_than_limit>>(), why<decltype(closure)>()})
        CHECK_THAT(reason, ContainsSubstring("whose members are not known"));
}

namespace {
struct CalledBackImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(2, 2));
    Tensor forward(Tensor const& x, std::function<Tensor(Tensor)> const& then) {
        CB_FORWARD(x, then);
        return then(linear(x));
    }
};
TORCH_MODULE(CalledBack);
struct TiedImpl : nn::Module {
    Tensor forward(std::tuple<Tensor&, int&> both) {
        CB_FORWARD(both);
        ++std::get<1>(both);
        return std::get<0>(both) * 2;
    }
};
TORCH_MODULE(Tied);
struct FillsImpl : nn::Module {
    Tensor forward(Tensor const& x, Cache cache) {
        CB_FORWARD(x, cache);
        cache->kept.push_back(x);
        return x + 1;
    }
};
TORCH_MODULE(Fills);
struct ReadsImpl : nn::Module {
    Tensor forward(Tensor const& x, json const& tree) {
        CB_FORWARD(x, tree);
        static_cast<void>(tree);
        return x + 1;
    }
};
TORCH_MODULE(Reads);

struct HoldsAll : nn::Module {
    CalledBack called_back = register_module("called_back", CalledBack());
    Tied tied = register_module("tied", Tied());
    Fills fills = register_module("fills", Fills());
    Reads reads = register_module("reads", Reads());
    Cache cache;
    int count = 0;
    std::vector<Tensor> seen;
    bool once = false;
    Tensor forward(Tensor const& given) {
        CB_FORWARD(given);
        auto const offset = at::ones({2});
        auto x = called_back(given, [&](Tensor y) {
            seen.push_back(y);
            return y + offset;
        });
        x = tied(std::tie(x, count));
        return reads(fills(x, cache), json{});
    }
};
}  // namespace

TEST_CASE("what a replay must not reach is left alone, and the children are measured",
          "[capture]") {
    HoldsAll model;
    // the root's own repetitions have these effects, those of its children must have none
    auto const report =
        quick({.include = {{.min_depth = 1}}}).run(cb::provide(model, at::rand({1, 2})));
    CHECK(model.count == 1);
    CHECK(model.seen.size() == 1);
    CHECK(model.cache->kept.size() == 1);
    for (auto const* path : {"called_back", "tied", "fills"})
        CHECK(report[path].state() == cb::status::opaque);
    CHECK(report["called_back.linear"].state() == cb::status::ok);
    CHECK(report["reads"].state() == cb::status::ok);
    CHECK(report.document().facts.unchanged.verified);
}

namespace {
struct EditsImpl : nn::Module {
    Tensor forward(std::deque<Tensor> parts, std::variant<int, Tensor> other,
                   std::queue<Tensor> line, std::stack<Tensor> pile,
                   torch::OrderedDict<std::string, Tensor> named, adapted whole,
                   std::vector<tree> trees) {
        CB_FORWARD(parts, other, line, pile, named, whole, trees);
        auto sum = std::get<Tensor>(other) + parts[0].mul_(2);
        sum = sum + line.front().mul_(2) + pile.top().mul_(2) + named["x"].mul_(2);
        sum = sum + whole.dense.mul_(2) + whole.sparse.at(0).mul_(2);
        return sum + trees.at(0).children.at(0).value.mul_(2);
    }
};
TORCH_MODULE(Edits);
struct HoldsEdits : nn::Module {
    Edits child = register_module("child", Edits());
    Tensor forward(Tensor const& x) {
        std::queue<Tensor> line;
        line.push(x + 1);
        std::stack<Tensor> pile;
        pile.push(x + 1);
        torch::OrderedDict<std::string, Tensor> named;
        named.insert("x", x + 1);
        return child(std::deque<Tensor>{x + 1}, std::variant<int, Tensor>{x}, line, pile, named,
                     adapted{x + 1, {x + 1}}, std::vector<tree>{{x + 1, {{x + 1, {}}}}});
    }
};
}  // namespace

TEST_CASE("tensors are found in any container, and edits of them are undone", "[capture]") {
    HoldsEdits model;
    auto const x = at::ones({2});
    auto const captured = cb::provide(model, x).capture({});
    CHECK(captured->nodes()[1].in_shapes == "[2], [2], [2], [2], [2], [2], [2], [2], [2]");
    int replays = 0;
    captured->for_each([&](std::size_t, auto& one) {
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            for (int repetition = 0; repetition < 2; ++repetition) {
                replay.prepare();
                replay.forward();
                CHECK(replay.outputs()[0][0].template item<float>() == 29.0F);
                ++replays;
            }
        }
    });
    CHECK(replays == 4);
}

namespace {
struct each_finds_one {
    Tensor tensor;
    int times = 1;
    void each_tensor(cb::tensor_visitor visit) { visit(tensor); }
};
struct RepeatsImpl : nn::Module {
    Tensor any(nn::AnyValue times) {
        CB_CALL(any, times);
        return at::ones({2}) * times.get<int>();
    }
    Tensor each(each_finds_one const& one) {
        CB_CALL(each, one);
        return one.tensor * one.times;
    }
    Tensor texts(std::vector<std::string> const& list) {
        CB_CALL(texts, list);
        return at::ones({2}) * static_cast<double>(list.size());
    }
    Tensor flags(at::ArrayRef<bool> list) {
        CB_CALL(flags, list);
        return at::ones({2}) * static_cast<double>(list[0] ? 3 : 4);
    }
    Tensor loops(owner_and_loops const& given, flag on) {
        CB_CALL(loops, given, on);
        return at::ones({2}) * given.loops * (on == flag::on ? 1 : 10);
    }
    Tensor holds(nn::AnyValue pointer) {
        CB_CALL(holds, pointer);
        return at::ones({2}) * *pointer.get<int*>();
    }
};
TORCH_MODULE(Repeats);
template<class Call>
struct HoldsRepeats : nn::Module {
    Repeats child = register_module("child", Repeats());
    Call call;
    explicit HoldsRepeats(Call given) : call{given} {}
    Tensor forward(Tensor const& x) { return x + call(child); }
};

/// How many of the child's calls are measured apart, and what each replay gives.
std::vector<float> measured_apart(auto call) {
    HoldsRepeats model{call};
    auto const captured = cb::provide(model, at::zeros({2})).capture({});
    std::vector<float> found;
    visit(*captured, "child", [&](auto& one) {
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            replay.prepare();
            replay.forward();
            found.push_back(replay.outputs()[0][0].template item<float>());
        }
    });
    std::sort(found.begin(), found.end());  // operands of + come in any order
    return found;
}
}  // namespace

TEST_CASE("calls that differ in what is not a tensor are measured apart", "[capture]") {
    using list = std::vector<float>;
    CHECK(measured_apart([](Repeats& one) {
              return one->any(nn::AnyValue(1)) + one->any(nn::AnyValue(300));
          }) == list{1, 300});
    CHECK(measured_apart([](Repeats& one) {
              return one->any(nn::AnyValue(2)) + one->any(nn::AnyValue(2));
          }) == list{2});
    CHECK(measured_apart([](Repeats& one) {
              return one->each({at::ones({2}), 1}) + one->each({at::ones({2}), 300});
          }) == list{1, 300});
    CHECK(measured_apart([](Repeats& one) {
              return one->texts({"a;b"}) + one->texts({"a", "b"});
          }) == list{1, 2});
    CHECK(measured_apart([](Repeats& one) {
              return one->loops({"a", 1}, flag::on) + one->loops({"a", 3}, flag::on);
          }) == list{1, 3});
    // The mark of what has no text is in no text, be it a user's or the bytes of an address.
    auto const described = [](std::string const& text) {
        return cb::hook::describe_values(std::tuple{text});
    };
    CHECK(described("why?").find(cb::hook::not_described) == std::string::npos);
    CHECK(described("?") != described("q"));
    CHECK(described("?q") != described("\\q"));
    CHECK(described("why?") == described("why?"));
    CHECK(cb::hook::describe_values(std::tuple{flag::on}) !=
          cb::hook::describe_values(std::tuple{flag::off}));
    CHECK(measured_apart([](Repeats& one) {
              std::array<bool, 1> const yes{true};
              std::array<bool, 1> const no{false};
              return one->flags(yes) + one->flags(no);
          }) == list{3, 4});
}

TEST_CASE("a torch::nn::AnyValue is replayed when what it holds is known", "[capture]") {
    int number = 2;
    HoldsRepeats model{[&number](Repeats& one) { return one->holds(nn::AnyValue(&number)); }};
    auto const report = quick().run(cb::provide(model, at::zeros({2})));
    CHECK(report["child"].state() == cb::status::opaque);
    CHECK(report["child"].reason() ==
          "an argument is a torch::nn::AnyValue that holds a int*, which is not looked into");
}

namespace {
/// Adds 1 to a number behind the back of the version counter.
void add_one(Tensor const& x) {
    x.mutable_data_ptr<float>()[0] += 1;
}
struct SeesImpl : nn::Module {
    std::vector<float> seen;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        seen.push_back(x[0].item<float>());
        return x * 2;
    }
};
TORCH_MODULE(Sees);
struct RawRoot : nn::Module {
    Sees child = register_module("child", Sees());
    Tensor forward(Tensor const& x) {
        add_one(x);
        return child(x);
    }
};
struct RawChildImpl : nn::Module {
    std::vector<float> seen;
    Tensor forward(Tensor& x) {
        CB_FORWARD(x);
        add_one(x);
        seen.push_back(x[0].item<float>());
        return x * 2;
    }
};
TORCH_MODULE(RawChild);
struct HoldsRawChild : nn::Module {
    RawChild child = register_module("child", RawChild());
    Tensor forward(Tensor const& x) {
        auto y = x * 1;
        return child(y);
    }
};
}  // namespace

TEST_CASE("raw writes to the batch are noticed, and everything is measured on what it was given",
          "[capture]") {
    RawRoot model;
    auto const x = at::zeros({2});
    auto const report = quick().run(cb::provide(model, x));
    CHECK(std::count(model.child->seen.begin(), model.child->seen.end(), 1.0F) ==
          static_cast<std::ptrdiff_t>(model.child->seen.size()));
    CHECK(x[0].item<float>() == 0.0F);
    CHECK(report[""].state() == cb::status::ok);
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("raw writes to an argument that is a reference are noticed", "[capture]") {
    HoldsRawChild model;
    auto const x = at::zeros({2});
    CHECK(quick().run(cb::provide(model, x))["child"].state() == cb::status::failed);
    model.child->seen.clear();
    auto const copied = quick({.copy_arguments = true}).run(cb::provide(model, x));
    CHECK(copied["child"].state() == cb::status::ok);
    CHECK(std::count(model.child->seen.begin(), model.child->seen.end(), 1.0F) ==
          static_cast<std::ptrdiff_t>(model.child->seen.size()));
}

namespace {
struct raw_batch {
    Tensor x;
    int steps = 0;
};
struct TakesRaw : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(2, 2));
    Tensor forward(raw_batch& given) {
        CB_FORWARD(given);
        ++given.steps;
        return linear(given.x.mul_(2));
    }
};
struct refuses_copies {
    refuses_copies() = default;
    refuses_copies(refuses_copies const&) { throw std::runtime_error{"no copies today"}; }
};
struct TakesRefusing : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(2, 2));
    Tensor forward(Tensor const& x, refuses_copies const& given) {
        CB_FORWARD(x, given);
        static_cast<void>(given);
        return linear(x);
    }
};
}  // namespace

template<>
inline constexpr bool component_benchmark::safe_to_replay<refuses_copies> = true;

TEST_CASE("a batch that cannot be looked into is said not to be verified", "[capture]") {
    TakesRaw model;
    raw_batch batch{at::ones({1, 2})};
    auto const report = quick().run(cb::provide(model, batch));
    auto const& unchanged = report.document().facts.unchanged;
    CHECK_FALSE(unchanged.verified);
    CHECK_THAT(
        unchanged.not_compared.back(),
        ContainsSubstring("argument 1 of the forward: it is a ") && ContainsSubstring("raw_batch"));
    CHECK(report["linear"].state() == cb::status::ok);
}

TEST_CASE("an argument of the batch that throws when it is copied is a sentence", "[capture]") {
    TakesRefusing model;
    refuses_copies given;
    auto const x = at::ones({1, 2});
    CHECK_THROWS_WITH(
        cb::provide(model, x, given).capture({}),
        ContainsSubstring("an argument of cb::provide threw while it was copied: no copies today"));
}

namespace {
struct two_tensors {
    Tensor first;
    Tensor second;
};
struct ConstantImpl : nn::Module {
    const Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return x * 2;
    }
};
TORCH_MODULE(Constant);
struct WritesImpl : nn::Module {
    Tensor weight = register_parameter("weight", at::ones({2}));
    void forward(Tensor const& x, Tensor& out) {
        CB_FORWARD(x, out);
        out = x * weight;
    }
};
TORCH_MODULE(Writes);
struct ReturnsImpl : nn::Module {
    Tensor weight = register_parameter("weight", at::ones({2}));
    Tensor last;
    two_tensors forward(Tensor const& x) {
        CB_FORWARD(x);
        return {x * weight, x};
    }
    Tensor const& by_reference(Tensor const& x) {
        CB_CALL(by_reference, x);
        last = x * weight;
        return last;
    }
};
TORCH_MODULE(Returns);
struct HoldsReturns : nn::Module {
    Returns unknown = register_module("unknown", Returns());
    Returns reference = register_module("reference", Returns());
    Constant constant = register_module("constant", Constant());
    Writes writes = register_module("writes", Writes());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        Tensor out;
        writes->forward(x, out);
        return unknown(x).first + reference->by_reference(constant(x)) + out;
    }
};
}  // namespace

TEST_CASE("a result of a class that is not known has no backward, and says so", "[capture]") {
    HoldsReturns model;
    auto const report = quick().run(cb::provide(model, at::rand({1, 2})).loss(sum_of));
    auto const& times = report["unknown"].get<cb::latency>();
    CHECK(times.latency_ms.has_value());
    CHECK(times.latency_bwd_ms.why() == cb::result_is_unknown);
    CHECK(report["writes"].get<cb::latency>().latency_bwd_ms.why() == cb::result_is_unknown);
    CHECK(report["constant"].get<cb::latency>().latency_bwd_ms.why() == cb::no_gradient_needed);
    CHECK(cb::hook::obstacle_of<std::shared_ptr<Tensor>>());
}

TEST_CASE("a result by reference has its shape and its backward", "[capture]") {
    HoldsReturns model;
    auto const report = quick().run(cb::provide(model, at::rand({1, 2})).loss(sum_of));
    CHECK(report["reference"].get<cb::latency>().latency_bwd_ms.has_value());
    CHECK(report.document().nodes[2].out_shapes == "[1, 2]");
}

namespace {
struct DrawsFrom : nn::Module {
    Tensor forward(Tensor const& x, at::Generator source) {
        CB_FORWARD(x, source);
        return x + at::rand(x.sizes(), source);
    }
    Tensor draw(Tensor const& x, std::optional<at::Generator>& source) {
        CB_CALL(draw, x, source);
        return x * at::rand(x.sizes(), source);
    }
};
struct Draws : nn::Module {
    std::shared_ptr<DrawsFrom> child = register_module("child", std::make_shared<DrawsFrom>());
    std::vector<Tensor> given;
    Tensor forward(Tensor const& x, at::Generator source, std::optional<at::Generator> second) {
        auto const y = child->forward(x, source);
        return child->draw(child->forward(y, source), second);
    }
};
}  // namespace

TEST_CASE("a generator that is an argument is the user's, and replays draw from copies",
          "[capture]") {
    Draws model;
    auto const x = at::rand({4});
    auto source = at::make_generator<at::CPUGeneratorImpl>(7);
    std::optional<at::Generator> second = at::make_generator<at::CPUGeneratorImpl>(8);
    auto const expected = model.forward(x, source.clone(), second->clone());
    auto const before = source.get_state().clone();
    auto const second_before = second->get_state().clone();
    auto const captured = cb::provide(model, x, source, second).capture({});
    int replays = 0;
    captured->for_each([&](std::size_t row, auto& one) {
        Tensor first;
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            for (int repetition = 0; repetition < 3; ++repetition) {
                replay.prepare();
                replay.forward();
                auto const result = replay.outputs()[0].clone();
                if (row == 0)
                    CHECK(torch::equal(result, expected));
                CHECK((repetition == 0 || torch::equal(result, first)));
                first = result;
                ++replays;
            }
        }
    });
    CHECK(replays == 6);
    CHECK(torch::equal(source.get_state(), before));
    CHECK(torch::equal(second->get_state(), second_before));
    CHECK(captured->put_back().verified);
}
