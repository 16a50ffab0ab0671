// Level by level: the same calls as in one forward, with the inputs of one level in memory.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

/// Dropout, BatchNorm, an edit in place, a branch on data, containers and a region.
struct PartImpl : nn::Module {
    nn::Sequential layers = register_module(
        "layers", nn::Sequential(nn::Linear(4, 4), nn::BatchNorm1d(4),
                                 nn::ReLU(nn::ReLUOptions(true)), nn::Dropout(0.5)));
    nn::Linear other = register_module("other", nn::Linear(4, 4));
    nn::Linear shared;
    explicit PartImpl(nn::Linear const& given) : shared{register_module("shared", given)} {}
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        auto y = layers->forward(x);
        if (y.sum().item<float>() > 0)
            y = other(y);
        y = cb::region(
            "mix", [](Tensor const& a, Tensor const& b) { return a * b + at::rand_like(a); }, y, x);
        return shared(y).mul_(2);
    }
};
TORCH_MODULE(Part);

struct TreeImpl : nn::Module {
    nn::Linear shared = register_module("shared", nn::Linear(4, 4));
    Part first = register_module("first", Part(shared));
    Part second = register_module("second", Part(shared));
    nn::Linear never = register_module("never", nn::Linear(4, 4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return second(first(first(x)) + shared(x));
    }
};
TORCH_MODULE(Tree);

/// Of each component: the arguments, result and gradients of each of its calls.
using seen_calls = std::map<std::string, std::vector<Tensor>>;

seen_calls calls_of(Tree& model, Tensor const& x, cb::memory_mode memory, bool with_loss) {
    seen_calls found;
    auto const look = [&](auto& captured) {
        captured.for_each([&](std::size_t, auto& one) {
            auto& mine = found[one.path()];
            for (auto& group : one.calls()) {
                auto& call = group.captured();
                call.stored->each_argument([&](Tensor& each) { mine.push_back(each.clone()); });
                for (auto const& gradient : call.gradients)
                    mine.push_back(gradient.defined() ? gradient.clone() : at::zeros({0}));
                auto replay = group.replay();
                replay.prepare();
                replay.forward();
                for (auto const& output : replay.outputs())
                    mine.push_back(output.detach().clone());
                if (replay.prepare_backward()) {
                    replay.backward();
                    for (auto const& gradient : replay.gradients())
                        mine.push_back(gradient.defined() ? gradient.clone() : at::zeros({0}));
                }
            }
        });
        CHECK(captured.put_back().verified);
        auto& shape = found["(shape)"];
        for (auto const& call : captured.calls())
            shape.push_back(at::tensor({static_cast<std::int64_t>(call.row), call.index,
                                        static_cast<std::int64_t>(call.parent_call)}));
        for (auto const& row : captured.nodes())
            shape.push_back(at::tensor({static_cast<std::int64_t>(row.state), row.calls}));
    };
    cb::options wishes;
    wishes.memory = memory;
    if (with_loss)
        look(*cb::provide(model, x).loss(sum_of).capture(wishes));
    else
        look(*cb::provide(model, x).capture(wishes));
    return found;
}

}  // namespace

TEST_CASE("level by level, calls are those of one forward", "[levels]") {
    for (std::uint64_t const seed : {1U, 2U, 3U, 4U}) {
        CAPTURE(seed);
        torch::manual_seed(seed);
        Tree model;
        auto const x = at::randn({8, 4});
        for (bool const with_loss : {true, false}) {
            auto const once = calls_of(model, x, cb::memory_mode::one_forward, with_loss);
            auto const levels = calls_of(model, x, cb::memory_mode::level_by_level, with_loss);
            REQUIRE(once.size() == levels.size());
            CHECK(once.at("first.layers.3").size() > 2);
            CHECK(once.at("first.mix").size() > 2);
            for (auto const& [path, tensors] : once) {
                CAPTURE(path);
                auto const& others = levels.at(path);
                REQUIRE(tensors.size() == others.size());
                for (std::size_t i = 0; i < tensors.size(); ++i)
                    CHECK(torch::equal(tensors[i], others[i]));
            }
        }
    }
}

namespace {

/// Counts what is alive, and passes on to the allocator that was there.
class counting_allocator final : public c10::Allocator {
public:
    counting_allocator() { c10::SetCPUAllocator(this, priority); }
    ~counting_allocator() override { c10::SetCPUAllocator(real_, priority); }

    c10::DataPtr allocate(std::size_t bytes) override {
        auto* const block = new held{real_->allocate(bytes), bytes};
        peak = (std::max)(peak, alive += static_cast<std::int64_t>(bytes));
        return {block->memory.get(), block, &give_back, c10::Device{c10::kCPU}};
    }
    c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
    void copy_data(void* to, void const* from, std::size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }

    /// The most that was alive while `work` ran, above what was alive before.
    template<class Work>
    std::int64_t peak_of(Work work) {
        auto const before = alive;
        peak = alive;
        work();
        return peak - before;
    }

private:
    struct held {
        c10::DataPtr memory;
        std::size_t bytes;
    };
    static void give_back(void* context) {
        std::unique_ptr<held> const block{static_cast<held*>(context)};
        alive -= static_cast<std::int64_t>(block->bytes);
    }

    static constexpr std::uint8_t priority = 100;
    c10::Allocator* real_ = c10::GetCPUAllocator();
    static inline std::int64_t alive = 0;
    std::int64_t peak = 0;
};

constexpr std::int64_t width = 1 << 18;  // 1 MiB

struct ScaleImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return x * 0.5;
    }
};
TORCH_MODULE(Scale);

/// Inputs of their own on every level.
struct DeepImpl : nn::Module {
    std::vector<Scale> parts;
    std::shared_ptr<DeepImpl> below;
    explicit DeepImpl(int levels) {
        for (int part = 0; part < 4; ++part)
            parts.push_back(register_module("part" + std::to_string(part), Scale()));
        if (levels > 1)
            below = register_module("below", std::make_shared<DeepImpl>(levels - 1));
    }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (auto& part : parts)
            x = part(x);
        return below == nullptr ? x : below->forward(x + 1);
    }
};

/// Few parameters, and a batch that is small.
struct WidensImpl : nn::Module {
    Tensor scale = register_parameter("scale", at::ones({1}));
    std::shared_ptr<DeepImpl> deep = register_module("deep", std::make_shared<DeepImpl>(6));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return deep->forward(x.expand({width}) * scale).sum();
    }
};
TORCH_MODULE(Widens);

/// Bytes of the tensors that the calls of each level were given, a memory counted once.
struct memory_of_run {
    std::int64_t peak = 0;
    std::int64_t largest_level = 0;
};

memory_of_run measure(counting_allocator& memory, Widens& model, Tensor const& x,
                      cb::memory_mode mode, bool with_loss) {
    memory_of_run found;
    found.peak = memory.peak_of([&] {
        auto const look = [&](auto const& captured) {
            std::map<std::size_t, std::int64_t> levels;
            std::map<std::size_t, std::unordered_set<void const*>> known;
            captured->for_each([&](std::size_t row, auto& one) {
                auto const depth = captured->nodes()[row].depth;
                auto const add = [&](Tensor const& each) {
                    if (known[depth].insert(each.storage().unsafeGetStorageImpl()).second)
                        levels[depth] += static_cast<std::int64_t>(each.storage().nbytes());
                };
                for (auto& group : one.calls()) {
                    auto& call = group.captured();
                    call.stored->each_argument(add);
                    for (auto const& gradient : call.gradients)
                        if (gradient.defined())
                            add(gradient);
                }
            });
            for (auto const& [depth, bytes] : levels)
                found.largest_level = (std::max)(found.largest_level, bytes);
        };
        cb::options wishes;
        wishes.memory = mode;
        if (with_loss)
            look(cb::provide(model, x).loss(sum_of).capture(wishes));
        else
            look(cb::provide(model, x).capture(wishes));
    });
    return found;
}

}  // namespace

TEST_CASE("level by level, no more than one level's inputs are kept", "[levels]") {
    counting_allocator memory;
    Widens model;
    auto const x = at::ones({1});
    for (bool const with_loss : {false, true}) {
        CAPTURE(with_loss);
        c10::AutoGradMode const mode{with_loss};
        auto const plain = memory.peak_of([&] {
            auto const loss = model(x);
            if (with_loss)
                static_cast<void>(torch::autograd::grad({loss}, {model->scale}));
        });
        auto const once = measure(memory, model, x, cb::memory_mode::one_forward, with_loss);
        auto const levels = measure(memory, model, x, cb::memory_mode::level_by_level, with_loss);
        CAPTURE(plain, once.peak, once.largest_level, levels.peak, levels.largest_level);
        CHECK(levels.largest_level >= 4 * width * 4);
        CHECK(levels.peak - plain <= levels.largest_level * 11 / 10);
        CHECK(once.peak - plain > 2 * once.largest_level);
    }
}

namespace {
/// Goes another way the first time, since nothing puts its counter back.
struct WandersImpl : nn::Module {
    nn::Linear left = register_module("left", nn::Linear(4, 4));
    nn::Linear right = register_module("right", nn::Linear(4, 4));
    nn::Linear both = register_module("both", nn::Linear(4, 4));
    int times = 0;
    int throws_at = 1'000;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        if (++times >= throws_at)
            throw std::runtime_error{"the cache is full"};
        return both(times == 1 ? left(x) : right(x));
    }
};
TORCH_MODULE(Wanders);

auto by_level() {
    cb::options wishes;
    wishes.memory = cb::memory_mode::level_by_level;
    return cb::pipeline{cb::preprocessors{}, cb::profilers{cb::latency{.warmup = 0, .samples = 2}},
                        cb::sinks{}, wishes};
}
}  // namespace

TEST_CASE("a forward that goes another way, or fails, costs the rows it concerns", "[levels]") {
    Wanders model;
    auto const x = at::rand({2, 4});
    auto report = by_level().run(cb::provide(model, x));
    CHECK(report["both"].state() == cb::status::ok);
    CHECK(report["left"].state() == cb::status::opaque);
    CHECK(report["left"].reason() == "the forward went another way when it ran once more");
    CHECK(report["right"].state() == cb::status::not_called);

    Wanders full;
    full->throws_at = 3;
    report = by_level().run(cb::provide(full, x));
    CHECK(report["both"].state() == cb::status::failed);
    CHECK_THAT(report["both"].reason(),
               Catch::Matchers::ContainsSubstring("its inputs could not be captured: ") &&
                   Catch::Matchers::ContainsSubstring("the cache is full"));
}
