// PIPELINE: joins provider, preprocessors, profilers and sinks
#pragma once

#include <component_benchmark/concepts.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/filter.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/lists.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/core/time_budget.hpp>
#include <component_benchmark/pipeline/checks.hpp>
#include <component_benchmark/pipeline/finished_rows.hpp>
#include <component_benchmark/pipeline/plugins.hpp>
#include <component_benchmark/pipeline/preprocess.hpp>
#include <component_benchmark/pipeline/progress.hpp>
#include <component_benchmark/pipeline/resume.hpp>
#include <component_benchmark/pipeline/reuse.hpp>
#include <component_benchmark/pipeline/run_facts.hpp>
#include <component_benchmark/pipeline/surroundings.hpp>
#include <component_benchmark/pipeline/told_sinks.hpp>
#include <component_benchmark/pipeline/unreached.hpp>
#include <component_benchmark/result/assemble.hpp>
#include <component_benchmark/result/columns.hpp>
#include <component_benchmark/result/report.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace component_benchmark {

template<class Preprocessors, class Profilers, class Sinks>
class pipeline {
    static_assert(
        std::is_void_v<Preprocessors> && !std::is_void_v<Preprocessors>,
        "component_benchmark: a pipeline takes cb::preprocessors{...}, cb::profilers{...}, "
        "cb::sinks{...} and, if wanted, cb::options{...}, in this order");

public:
    explicit pipeline(auto const&...) {}
};

/// Captures a model, runs each component alone and measures it, and shows the result:
///
///     auto pipeline = cb::pipeline{cb::preprocessors{}, cb::profilers{cb::latency{}},
///                                  cb::sinks{cb::table{}}};
///     auto report = pipeline.run(cb::provide(model, input));
template<class... Preprocessor, class... Profiler, class... Sink>
class pipeline<preprocessors<Preprocessor...>, profilers<Profiler...>, sinks<Sink...>> {
public:
    pipeline(preprocessors<Preprocessor...> first, profilers<Profiler...> second,
             sinks<Sink...> third, options wishes = {})
        : preprocessors_{std::move(first.plugins)},
          profilers_{std::move(second.plugins)},
          sinks_{std::move(third.plugins)},
          options_{std::move(wishes)} {}

    /// Whether every sink can write where it is told to and no filter, peak or formula is nonsense;
    /// throws `error` if not. `run` asks first of all; ask yourself where a run comes late in a
    /// program.
    void check() {
        filters::check(options_.include, "include");
        filters::check(options_.exclude, "exclude");
        peaks::check(options_.peaks);
        check_seconds(options_.time_budget_s, "options.time_budget_s");
        static_cast<void>(peaks::from_environment());  // throws where it is nonsense
        auto const check_one = [](auto& plugin) {
            if constexpr (requirement::checks_early<std::remove_reference_t<decltype(plugin)>>)
                plugin.check();
        };
        detail::for_each_in(profilers_, check_one);
        detail::for_each_in(sinks_, check_one);
    }

    /// Measures every component of the provider's model. What a component throws becomes its row;
    /// `error` is thrown when nothing can be captured. The model is as it was on every way out.
    /// Ctrl-C ends it early: the report says that it is partial, and the program gets the signal
    /// when the sinks have written.
    template<class Provider>
    report<Profiler...> run(Provider&& provider) {
        static_assert(requirement::captures<std::remove_reference_t<Provider>>,
                      "component_benchmark: pipeline.run needs a provider: write "
                      "`pipeline.run(cb::provide(model, arguments...))`");
        check();
        interruption_guard const interruption;
        detail::surroundings<> const outside;
        time_budget budget{options_.time_budget_s, options_.clock};
        auto const captured = provider.capture(options_);
        document found;
        (add_columns(found, columns_of<Profiler>()), ...);
        auto around = captured->environment();
        found.facts = detail::facts_of_run(around, options_);
        detail::name_preprocessors(found.facts, preprocessors_);
        around.budget = &budget;
        begin(around);
        found.nodes = captured->nodes();
        found.calls = captured->calls();
        found.facts.model = found.nodes.empty() ? "" : found.nodes.front().type;
        detail::told_sinks sinks{sinks_};
        open(found, sinks);
        detail::for_each_in(profilers_, [&](auto& profiler) {
            if constexpr (requirement::looks_at<decltype(profiler), decltype(*captured)>)
                profiler.look_at(*captured);
        });
        auto const seen = measure(found, *captured, sinks, budget);
        outside.tell(found.facts);
        detail::take_notes(found.facts, notes());
        found.facts.complete = !interrupted();
        detail::take_facts(found, captured->nodes(), troubles_);
        if (!found.facts.complete)
            detail::mark_unreached(found, seen);
        found.calls = captured->calls();
        found.facts.unchanged = captured->put_back();
        complete(found);
        sinks.write(found);
        return {std::move(found), sinks.take_failures()};
    }

private:
    using profiler_list = detail::type_list<Profiler...>;
    static_assert(detail::check_preprocessors(detail::type_list<Preprocessor...>{},
                                              std::index_sequence_for<Preprocessor...>{}));
    static_assert(detail::check_profilers<0>(detail::type_list<>{}, profiler_list{}));
    static_assert(detail::check_sinks(profiler_list{}, detail::type_list<Sink...>{},
                                      std::index_sequence_for<Sink...>{}));

    /// A type of its own for each profiler: two may share one result type.
    template<class Plugin>
    struct slot {
        std::optional<typename Plugin::result> result;
    };
    using results = std::tuple<slot<Profiler>...>;

    void begin(environment const& around) {
        detail::for_each_in(profilers_, [&](auto& profiler) {
            if constexpr (requirement::begins<std::remove_reference_t<decltype(profiler)>>)
                profiler.begin(options_, around);
        });
    }

    [[nodiscard]] run_notes notes() {
        run_notes all;
        detail::for_each_in(profilers_, [&](auto const& profiler) {
            if constexpr (requirement::tells<std::remove_cvref_t<decltype(profiler)>>)
                profiler.tell(all);
        });
        return all;
    }

    /// What is known before anything is measured, an earlier run's numbers among it.
    void open(document& found, detail::told_sinks<Sink...>& sinks) {
        found.facts.complete = false;
        found.facts.conventions = notes().conventions;
        auto const resumed =
            options_.resume == nullptr ? "" : detail::resume(found, *options_.resume);
        sinks.begin(found);
        if (!resumed.empty())
            found.facts.options.emplace_back("resume", resumed);
        detail::name_sinks(found.facts, sinks_);
    }

    /// The rows that the run came to.
    template<class Captured>
    std::vector<bool> measure(document& found, Captured& captured,
                              detail::told_sinks<Sink...>& sinks, time_budget& budget) {
        troubles_ = {};
        std::vector<bool> seen;
        for (auto const& row : found.nodes)
            seen.push_back(row.resumed);
        auto const known = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
        if constexpr (requirement::skips<Captured>)
            captured.skip(seen);
        if constexpr (requires { captured.leave_out_backward(); })
            if (!detail::any_goes_back(profilers_))
                captured.leave_out_backward();
        auto const& nodes = captured.nodes();
        detail::progress line;
        detail::finished_rows finished{found, nodes, troubles_, sinks, line};
        auto const all = detail::count_handed_out(found.nodes) - known;
        budget.expect(all);
        std::size_t number = 0;
        captured.for_each([&](std::size_t row, auto& one) {
            if (interrupted() || found.nodes[row].resumed)
                return;
            finished.look_back();
            line.show(++number, all, one.path().empty() ? one.type() : one.path());
            seen[row] = true;
            budget.next_component();
            visit(found, row, one);
            finished.add(row);
        });
        finished.look_back();
        return seen;
    }

    template<class Component>
    void visit(document& found, std::size_t row, Component& one) {
        static_assert(component<Component>);
        try {
            [[maybe_unused]] auto const undo = one.preserve_arguments();
            if constexpr (sizeof...(Preprocessor) > 0 && requires { one.forget_rehearsal(); })
                one.forget_rehearsal();  // which was of another call
            preprocess<0>(one, [&] { profile_all(found, row, one); });
        } catch (...) {
            auto const why = current_failure();
            troubles_.broke(row, why);
            [[maybe_unused]] std::size_t first = 0;
            (put<Profiler>(found, first, row, unavailable_result<Profiler>(why)), ...);
        }
    }

    // The guards live until the component is finished, and go in reverse order.
    template<std::size_t Position, class Component, class Next>
    void preprocess(Component& one, Next next) {
        if constexpr (Position == sizeof...(Preprocessor)) {
            next();
        } else {
            [[maybe_unused]] auto const guard =
                detail::applied(std::get<Position>(preprocessors_), one);
            preprocess<Position + 1>(one, next);
        }
    }

    template<class Component>
    void profile_all(document& found, std::size_t row, Component& one) {
        results done;
        std::size_t first = 0;
        std::optional<detail::identical_row> from;
        if (auto const like = detail::row_like(one); like && troubles_.none_at(*like)) {
            from = detail::identical_to(found, row, *like);
            troubles_.reused(row, detail::reused_from(found.nodes[*like]));
        }
        detail::for_each_in(profilers_, [&](auto& profiler) {
            using profiler_type = std::remove_reference_t<decltype(profiler)>;
            auto& mine = std::get<slot<profiler_type>>(done).result;
            if (from && !requirement::in_place<profiler_type>) {
                mine.emplace(result_in<profiler_type>(found, from->row));
                auto const end = first + detail::metrics_of<typename profiler_type::result>;
                while (first < end)
                    detail::take_over(found, first++, row, *from);
                return;
            }
            try {
                if (interrupted())
                    throw std::runtime_error{std::string{run_was_interrupted}};
                mine.emplace(profile_with(profiler, one, done,
                                          typename detail::needs_of<profiler_type>::type{}));
            } catch (...) {
                auto const why = current_failure();
                mine.emplace(unavailable_result<profiler_type>(why));
                if (why != run_was_interrupted)
                    troubles_.lost(row, std::string{profiler_type::name} + " failed: " + why);
            }
            put<profiler_type>(found, first, row, *mine);
            if constexpr (requires { mine->by_call; })
                put_calls(found, mine->by_call);
        });
    }

    template<class Plugin, class Component, class... Needed>
    static typename Plugin::result profile_with(Plugin& profiler, Component& one, results& done,
                                                needs<Needed...>) {
        return profiler.profile(one, *std::get<slot<Needed>>(done).result...);
    }

    // `first`: the profiler's first column; afterwards that of the next one.
    template<class Plugin>
    static void put(document& found, std::size_t& first, std::size_t row,
                    typename Plugin::result const& result) {
        auto cells = cells_of<Plugin>(result);
        auto const width = cells.size();
        put_cells(found, first, row, std::move(cells));
        first += width;
    }

    [[no_unique_address]] std::tuple<Preprocessor...> preprocessors_;
    [[no_unique_address]] std::tuple<Profiler...> profilers_;
    [[no_unique_address]] std::tuple<Sink...> sinks_;
    options options_;
    detail::troubles troubles_;
};

template<class... Misplaced>
pipeline(Misplaced...) -> pipeline<void, void, void>;

template<class... Preprocessor, class... Profiler, class... Sink>
pipeline(preprocessors<Preprocessor...>, profilers<Profiler...>, sinks<Sink...>, options = {})
    -> pipeline<preprocessors<Preprocessor...>, profilers<Profiler...>, sinks<Sink...>>;

}  // namespace component_benchmark
