// The macros: every shape of forward, every kind of argument.
#include "support/catch2.hpp"
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/hook/forward.hpp>

#include <boost/hana/define_struct.hpp>

#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

/// The calls that `run` makes of modules below (and including) `root`.
struct recording {
    cb::capture::module_tree tree;
    std::vector<cb::capture::call_detail> wanted;
    cb::capture::session session;

    template<class Run>
    recording(nn::Module& root, Run run)
        : tree{root},
          wanted(tree.nodes().size(), cb::capture::call_detail::all()),
          session{tree, wanted} {
        cb::hook::listening const now{session};
        run();
    }

    [[nodiscard]] std::size_t size() { return session.calls().size(); }
    cb::capture::captured_call& operator[](std::size_t index) { return session.calls()[index]; }

    /// The result's tensors of one replay.
    std::vector<Tensor> replay(std::size_t index) {
        auto const again = session.calls()[index].stored->copy();
        again->run();
        std::vector<Tensor> results;
        again->each_result([&](Tensor& tensor) { results.push_back(tensor); });
        return results;
    }
};

Tensor ones() {
    return at::ones({2, 2});
}

// --- shapes of forward ---------------------------------------------------------------------------

struct Plain : nn::Module {
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x * 2;
    }
};
struct Defaulted : nn::Module {
    Tensor forward(Tensor const& x, int times = 3, std::optional<Tensor> const& add = {}) {
        CB_FORWARD(x, times, add);
        return add ? x * times + *add : x * times;
    }
};
struct Overloaded : nn::Module {
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x;
    }
    Tensor forward(Tensor x, Tensor y) {
        CB_FORWARD(x, y);
        return x + y;
    }
};
struct Templated : nn::Module {
    template<class T>
    T forward(T x) {
        CB_FORWARD(x);
        return x;
    }
};
struct Forwarding : nn::Module {
    template<class T>
    Tensor forward(T&& x) {
        CB_FORWARD(x);
        return x + 1;
    }
};
template<class T>
struct ClassTemplate : nn::Module {
    T forward(T x) {
        CB_FORWARD(x);
        return x;
    }
};
struct Const : nn::Module {
    Tensor forward(Tensor x) const {
        CB_FORWARD(x);
        return x;
    }
};
struct Base : nn::Module {
    virtual Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x + 1;
    }
};
struct Derived : Base {
    Tensor forward(Tensor x) override {
        CB_FORWARD(x);
        return Base::forward(x) * 2;
    }
};
struct Private : nn::Module {
    Tensor call(Tensor x) { return forward(x); }

private:
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x;
    }
};
struct Encoder : nn::Module {
    Tensor encode(Tensor x, int k) {
        CB_CALL(encode, x, k);
        return x * k;
    }
    void forward(Tensor x) {
        CB_FORWARD(x);
        static_cast<void>(encode(x, 2));
    }
};
struct Nullary : nn::Module {
    int forward() {
        CB_FORWARD();
        return 3;
    }
};
struct Recursive : nn::Module {
    Tensor forward(Tensor x, int depth) {
        CB_FORWARD(x, depth);
        return depth > 0 ? forward(x, depth - 1) + forward(x, depth - 1) : x;
    }
};
struct ReferenceResult : nn::Module {
    Tensor kept = ones();
    Tensor& forward(Tensor const& x) {
        CB_FORWARD(x);
        kept = x;
        return kept;
    }
};
struct Throwing : nn::Module {
    std::shared_ptr<Plain> child = register_module("child", std::make_shared<Plain>());
    Tensor forward(Tensor x, int how) {
        CB_FORWARD(x, how);
        auto y = child->forward(x);
        if (how == 1)
            throw std::runtime_error{"x"};
        if (how == 2)
            throw 42;
        return y;
    }
};
struct Catching : nn::Module {
    std::shared_ptr<Throwing> child = register_module("child", std::make_shared<Throwing>());
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        try {
            return child->forward(x, 1);
        } catch (std::runtime_error const&) {
            return child->forward(x, 0);
        }
    }
};

// --- kinds of arguments --------------------------------------------------------------------------

struct MoveOnly : nn::Module {
    std::shared_ptr<Plain> child = register_module("child", std::make_shared<Plain>());
    int forward(std::unique_ptr<int> p) {
        CB_FORWARD(p);
        static_cast<void>(child->forward(ones()));
        return *p;
    }
};
struct Rvalue : nn::Module {
    Tensor forward(Tensor&& x) {
        CB_FORWARD(x);
        return x;
    }
};
struct Lvalue : nn::Module {
    void forward(Tensor& x) {
        CB_FORWARD(x);
        x = x + 1;
    }
};
struct Views : nn::Module {
    Tensor forward(Tensor x, at::IntArrayRef sizes, std::optional<at::IntArrayRef> again,
                   c10::string_view mode, std::span<int const> more) {
        CB_FORWARD(x, sizes, again, mode, more);
        auto y = x.view(sizes);
        if (again)
            y = y.view(*again);
        return mode == "twice" ? y * 2 * more[0] : y;
    }
};
struct TensorViews : nn::Module {
    Tensor forward(at::TensorList list) {
        CB_FORWARD(list);
        return at::cat(list);
    }
};
struct Listed : nn::Module {
    int forward(std::initializer_list<int> list) {
        CB_FORWARD(list);
        return static_cast<int>(list.size());
    }
};
struct Pointer : nn::Module {
    Tensor forward(Tensor x, Tensor const* y) {
        CB_FORWARD(x, y);
        return x + *y;
    }
};
struct Shared : nn::Module {
    Tensor forward(std::shared_ptr<Tensor> x) {
        CB_FORWARD(x);
        return *x;
    }
};
struct cache {
    std::vector<Tensor> kept;
};
struct Cached : nn::Module {
    Tensor forward(Tensor x, std::reference_wrapper<cache> state) {
        CB_FORWARD(x, state);
        state.get().kept.push_back(x);
        return x;
    }
};
struct OptedIn : nn::Module {
    Tensor forward(Tensor x, int const* times) {
        CB_FORWARD(x, times);
        return x * *times;
    }
};
struct CopyThrows {
    CopyThrows() = default;
    CopyThrows(CopyThrows const&) { throw std::runtime_error{"no copies today"}; }
    CopyThrows(CopyThrows&&) = default;
};
struct TakesCopyThrows : nn::Module {
    int forward(CopyThrows value) {
        CB_FORWARD(value);
        static_cast<void>(value);
        return 5;
    }
};
struct Any : nn::Module {
    Tensor forward(nn::AnyValue value) {
        CB_FORWARD(value);
        return value.get<Tensor>();
    }
};
struct shape {
    virtual ~shape() = default;
    [[nodiscard]] virtual int corners() const = 0;
};
struct square final : shape {
    [[nodiscard]] int corners() const override { return 4; }
};
struct Abstract : nn::Module {
    Tensor forward(Tensor x, shape const& s) {
        CB_FORWARD(x, s);
        return x * s.corners();
    }
};

struct hana_struct {
    BOOST_HANA_DEFINE_STRUCT(hana_struct, (Tensor, first), (std::vector<Tensor>, rest));
};
struct member_struct {
    Tensor only;
    template<class Visit>
    void each_tensor(Visit&& visit) {
        visit(only);
    }
};
struct foreign_struct {
    Tensor only;
};

using nested = std::map<std::string, std::vector<std::optional<std::tuple<Tensor, int>>>>;

struct Structured : nn::Module {
    Tensor forward(hana_struct a, member_struct const& b, foreign_struct c, nested const& d) {
        CB_FORWARD(a, b, c, d);
        return a.first + a.rest[0] + b.only + c.only + std::get<0>(*d.at("k")[1]);
    }
};

}  // namespace

namespace component_benchmark {
template<>
inline constexpr bool safe_to_replay<int const*> = true;
template<>
inline constexpr bool safe_to_replay<CopyThrows> = true;
template<>
struct tensor_access<foreign_struct> {
    static void each(foreign_struct& value, tensor_visitor visit) { visit(value.only); }
};
}  // namespace component_benchmark

TEST_CASE("every shape of forward is recorded once and can be made again", "[hook]") {
    auto const x = ones();
    auto const check = [&](auto module, auto run, std::size_t calls) {
        recording r{module, [&] { run(module); }};
        CHECK(r.size() == calls);
        for (std::size_t index = 0; index < r.size(); ++index) {
            CHECK(r[index].replayable());
            CHECK_NOTHROW(r.replay(index));
        }
        CHECK(r.session.innermost().module == nullptr);
    };
    check(
        Plain{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        Defaulted{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        Overloaded{}, [&](auto& m) { return m.forward(x, x); }, 1);
    check(
        Overloaded{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        Templated{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        Forwarding{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        ClassTemplate<Tensor>{}, [&](auto& m) { return m.forward(x); }, 1);
    check(
        Const{}, [&](auto const& m) { return m.forward(x); }, 1);
    check(
        Derived{}, [&](Base& m) { return m.forward(x); }, 1);
    check(
        Private{}, [&](auto& m) { return m.call(x); }, 1);
    check(
        Encoder{}, [&](auto& m) { m.forward(x); }, 2);
    check(
        Nullary{}, [&](auto& m) { return m.forward(); }, 1);
    check(
        Recursive{}, [&](auto& m) { return m.forward(x, 2); }, 7);
    check(
        ReferenceResult{}, [&](auto& m) { m.forward(x); }, 1);
    check(
        Rvalue{}, [&](auto& m) { return m.forward(x + 0); }, 1);
    check(
        Any{}, [&](auto& m) { return m.forward(nn::AnyValue{Tensor{x}}); }, 1);
}

TEST_CASE("the caller gets what it would get without recording", "[hook]") {
    auto const x = at::rand({2, 2});
    Derived derived;
    recording r{derived, [&] { CHECK(torch::equal(derived.forward(x), (x + 1) * 2)); }};
    ReferenceResult reference;
    recording r2{reference, [&] { CHECK(&reference.forward(x) == &reference.kept); }};
    MoveOnly move_only;
    recording r3{move_only, [&] { CHECK(move_only.forward(std::make_unique<int>(7)) == 7); }};
    Lvalue lvalue;
    auto changed = ones();
    recording r4{lvalue, [&] { lvalue.forward(changed); }};
    CHECK(torch::equal(changed, ones() + 1));
}

TEST_CASE("recursion keeps parents and indices", "[hook]") {
    Recursive module;
    recording r{module, [&] { module.forward(ones(), 1); }};
    REQUIRE(r.size() == 3);
    CHECK(r[0].parent == -1);
    CHECK(r[1].parent == 0);
    CHECK(r[2].parent == 0);
    CHECK(r[2].index == 2);
}

TEST_CASE("exceptions of any type pass through and leave no open call", "[hook]") {
    Throwing module;
    recording r{module, [&] {
                    CHECK_THROWS_AS(module.forward(ones(), 1), std::runtime_error);
                    CHECK_THROWS_AS(module.forward(ones(), 2), int);
                }};
    REQUIRE(r.size() == 4);
    CHECK_FALSE(r[0].finished);
    CHECK(r[1].finished);
    CHECK_FALSE(r[2].finished);
    CHECK(r.session.innermost().module == nullptr);

    Catching catching;
    recording r2{catching, [&] { catching.forward(ones()); }};
    REQUIRE(r2.size() == 5);
    CHECK(r2[0].finished);
    CHECK_FALSE(r2[1].finished);
    CHECK(r2[3].parent == 0);
    CHECK(r2[3].finished);
}

TEST_CASE("views are kept as owners", "[hook]") {
    Views module;
    TensorViews tensors;
    auto const x = at::arange(4);
    std::optional<recording> r;
    {
        std::vector<std::int64_t> sizes{1, 4};
        std::vector<std::int64_t> again{2, 2};
        std::string mode = "twice";
        std::vector<int> more{3};
        r.emplace(module, [&] {
            module.forward(x, sizes, at::IntArrayRef{again}, mode, std::span<int const>{more});
        });
        sizes.assign({9, 9});
        again.assign({9, 9});
        mode = "wrong";
        more[0] = 0;
    }
    CHECK(torch::equal(r->replay(0).at(0), x.view({2, 2}) * 6));

    std::optional<recording> r2;
    {
        std::vector<Tensor> list{x, x};
        r2.emplace(tensors, [&] { tensors.forward(list); });
        list.clear();
    }
    CHECK(r2->replay(0).at(0).numel() == 8);
}

TEST_CASE("what cannot be made again says so, argument by argument", "[hook]") {
    auto const x = ones();
    auto const why = [](auto module, auto run) {
        recording r{module, [&] { run(module); }};
        CHECK_FALSE(r[0].replayable());
        return r[0].opaque;
    };
    CHECK(why(MoveOnly{}, [](auto& m) { m.forward(std::make_unique<int>(1)); }) ==
          "argument 1 is a std::unique_ptr, which cannot be copied");
    CHECK(why(Listed{},
              [](auto& m) {
                  m.forward({1, 2});
              }) ==
          "argument 1 is a std::initializer_list, which cannot be built again (take at::ArrayRef)");
    CHECK(why(Pointer{}, [&](auto& m) { m.forward(x, &x); }) == "argument 2 is a pointer");
    CHECK(why(Shared{}, [&](auto& m) { m.forward(std::make_shared<Tensor>(x)); }) ==
          "argument 1 is a std::shared_ptr");
    cache state;
    CHECK(why(Cached{}, [&](auto& m) { m.forward(x, state); }) ==
          "argument 2 is a std::reference_wrapper");
    CHECK(state.kept.size() == 1);
    CHECK(why(TakesCopyThrows{}, [](auto& m) { CHECK(m.forward(CopyThrows{}) == 5); }) ==
          "an argument threw while it was copied: no copies today");
    CHECK_THAT(why(Abstract{}, [&](auto& m) { m.forward(x, square{}); }),
               Catch::Matchers::ContainsSubstring("cannot be copied"));
}

TEST_CASE("children of a call that cannot be made again are recorded", "[hook]") {
    MoveOnly module;
    recording r{module, [&] { module.forward(std::make_unique<int>(1)); }};
    REQUIRE(r.size() == 2);
    CHECK(r[1].replayable());
    CHECK(r[1].parent == 0);
}

TEST_CASE("a pointer type can be opted in", "[hook]") {
    OptedIn module;
    int times = 3;
    recording r{module, [&] { module.forward(ones(), &times); }};
    REQUIRE(r[0].replayable());
    CHECK(torch::equal(r.replay(0).at(0), ones() * 3));
}

TEST_CASE("tensors are found in nested containers and user's structs", "[hook]") {
    Structured module;
    auto const x = ones();
    nested deep;
    deep["k"] = {std::nullopt, std::tuple{x, 1}};
    recording r{module, [&] {
                    module.forward(hana_struct{x, {x}}, member_struct{x}, foreign_struct{x}, deep);
                }};
    CHECK(r[0].inputs.size() == 5);
    auto const again = r[0].stored->copy();
    again->each_argument([](Tensor& tensor) { tensor = at::full({2, 2}, 2.0F); });
    again->run();
    again->each_result([](Tensor& result) {
        CHECK(torch::equal(result, at::full({2, 2}, 10.0F)));
    });
    CHECK(torch::equal(r.replay(0).at(0), at::full({2, 2}, 5.0F)));
}

TEST_CASE("values that are not tensors tell calls apart", "[hook]") {
    Defaulted module;
    recording r{module, [&] {
                    module.forward(ones(), 2);
                    module.forward(ones(), 3);
                    module.forward(ones(), 2);
                }};
    CHECK(r[0].stored->values() == r[2].stored->values());
    CHECK(r[0].stored->values() != r[1].stored->values());
}

TEST_CASE("a hooked forward records nothing when nobody listens", "[hook]") {
    Plain module;
    CHECK(cb::hook::current == nullptr);
    CHECK(torch::equal(module.forward(ones()), ones() * 2));
    recording r{module, [] {}};
    static_cast<void>(module.forward(ones()));
    CHECK(r.size() == 0);
}

TEST_CASE("a second listener on one thread is refused by name", "[hook]") {
    Plain module;
    recording r{module, [&] {
                    CHECK_THROWS_WITH((recording{module, [] {}}),
                                      Catch::Matchers::ContainsSubstring(
                                          "a profile is capturing on this thread already"));
                    module.forward(ones());
                }};
    CHECK(r.size() == 1);
}
