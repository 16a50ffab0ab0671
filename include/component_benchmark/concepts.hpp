// everywhere: the contracts of all plugins, in one place
//
//   provider      capture(options) gives the captured model         provider/provide.hpp
//   preprocessor  name, apply(component) gives a guard              docs/writing_a_plugin.md
//   profiler      name, result, [needs], [check()], [begin(options, environment)],
//                 [look_at(model)], profile(component, ...),
//                 [tell(notes)]                                     profile/latency.hpp
//   sink          name, write(document), [check()], [needs], [begin(document)],
//                 [component_done(document, row)]                   sink/journal.hpp
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/node.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

struct document;
struct options;
struct run_notes;

/// One repetition of a call: `prepare`, `forward`, and, when `prepare_backward()`, `backward`. Only
/// `forward` and `backward` are work of the component.
template<class Replay>
concept replay = requires(Replay& one) {
    one.prepare();
    one.forward();
    { one.prepare_backward() } -> std::same_as<bool>;
    { one.why_no_backward() } -> std::convertible_to<std::string>;
    one.backward();
    one.release();
};

/// Calls that cost the same; `replay()` makes them again.
template<class Group>
concept call_group = requires(Group const& group) {
    { group.count() } -> std::same_as<std::int64_t>;
    { group.members() } -> std::convertible_to<std::vector<std::size_t>>;
    { group.replay() } -> replay;
};

/// What preprocessors and profilers get: a module with its calls. `parameters()` and `buffers()`
/// give tensors, each once; `calls()` is empty when nothing can be replayed, and `why_no_calls()`
/// says why.
template<class Component>
concept component = requires(Component& one) {
    { one.path() } -> std::convertible_to<std::string>;
    { one.type() } -> std::convertible_to<std::string>;
    { *one.calls().begin() } -> call_group;
    { one.why_no_calls() } -> std::convertible_to<std::string>;
    one.parameters();
    one.buffers();
    one.preserve_arguments();
};

/// Stands for any component where a plugin's signature is checked; none is ever made.
struct component_archetype {
    struct a_replay {
        void prepare();
        void forward();
        bool prepare_backward();
        std::string why_no_backward();
        void backward();
        void release();
    };
    struct a_call_group {
        [[nodiscard]] std::int64_t count() const;
        [[nodiscard]] std::vector<std::size_t> members() const;
        [[nodiscard]] a_replay replay() const;
    };
    struct a_tensor {
        [[nodiscard]] std::int64_t numel() const;
        [[nodiscard]] std::size_t nbytes() const;
    };
    std::string path();
    std::string type();
    std::vector<a_call_group>& calls();
    std::string why_no_calls();
    std::vector<a_tensor> parameters();
    std::vector<a_tensor> buffers();
    int preserve_arguments();
    template<class Visit>
    void each_argument(Visit&& visit);
};
static_assert(component<component_archetype>);

/// What a provider's `capture` points to. `nodes()` gives a reference where the state of a row or
/// its reason change while components are handed out. An optional `skip(std::vector<bool>)` names
/// rows that need not be handed out.
template<class Captured>
concept captured = requires(Captured& model) {
    { model.nodes() } -> std::convertible_to<std::vector<node>>;
    { model.calls() } -> std::convertible_to<std::vector<call>>;
    { model.environment() } -> std::convertible_to<environment>;
    { model.put_back() } -> std::convertible_to<verification>;
};

/// Each concept below is one requirement, so a failed one is the message.
namespace requirement {

template<class Plugin>
concept named = requires {
    { Plugin::name } -> std::convertible_to<std::string_view>;
};

template<class Provider>
concept captures = requires(Provider& provider, options const& wishes) {
    { *provider.capture(wishes) } -> captured;
};

template<class Profiler>
concept has_result = requires {
    typename Profiler::result;
};

template<class Profiler>
concept described_result = boost::hana::Struct<typename Profiler::result>::value;

template<class T>
inline constexpr bool is_metric = false;
template<class Unit, aggregate Rule>
inline constexpr bool is_metric<metric<Unit, Rule>> = true;

template<class Sink>
concept writes = requires(Sink& sink, document const& report) {
    sink.write(report);
};

template<class Plugin>
concept checks_early = requires(Plugin& plugin) {
    plugin.check();
};

/// Optional members of a profiler: what the run is, before it measures, and what there is to say of
/// its numbers, after the last component.
template<class Profiler>
concept begins = requires(Profiler& profiler, options const& wishes, environment const& around) {
    profiler.begin(wishes, around);
};
template<class Profiler>
concept tells = requires(Profiler const& profiler, run_notes& notes) {
    profiler.tell(notes);
};

/// What a profiler with `static constexpr bool in_place = true` finds is of one place in the model,
/// and never that of an identical component.
template<class Profiler>
inline constexpr bool in_place = false;
template<class Profiler>
requires requires {
    Profiler::in_place;
}
inline constexpr bool in_place<Profiler> = Profiler::in_place;

/// A profiler may look at the captured model before the first component is measured.
template<class Profiler, class Captured>
concept looks_at = requires(Profiler& profiler, Captured& model) {
    profiler.look_at(model);
};

/// Optional members of a sink: the report before anything is measured, and each row as it is
/// finished.
template<class Sink>
concept opens = requires(Sink& sink, document const& report) {
    sink.begin(report);
};
template<class Sink>
concept follows = requires(Sink& sink, document const& report, std::size_t row) {
    sink.component_done(report, row);
};

template<class Captured>
concept skips = requires(Captured& model, std::vector<bool> rows) {
    model.skip(rows);
};

}  // namespace requirement
}  // namespace component_benchmark
