// user's program -> provider: times the user's own training steps, part by part
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/step_times.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Says where the time of a training step goes. The steps are the program's own, so nothing is run
/// that would not have run:
///
///     cb::step_ledger ledger;
///     ledger.step(batch_size, [&] {
///         auto batch = ledger.data([&] { return loader.next(); });
///         ledger.zero_grad([&] { optimizer.zero_grad(); });
///         auto output = ledger.forward([&] { return model(batch.input); });
///         auto loss = ledger.loss([&] { return loss_of(output, batch.labels); });
///         ledger.backward([&] { loss.backward(); });
///         ledger.optimizer([&] { optimizer.step(); });
///     });
///     pipeline.run(cb::provide(model, batch.input).loss(...).step(ledger));
///
/// Each call returns what its work returns. A part within another is taken out of it; what lies
/// between the parts is "unattributed". A step that throws is forgotten. On a device that works
/// asynchronously a part is the time to launch it, unless `wait` waits for the device; it is called
/// at the begin and the end of each part. For one thread. (A template so that a file which does not
/// use it does not pay for it.)
template<class = void>
class basic_step_ledger {
public:
    explicit basic_step_ledger(clock_function clock = &steady_nanoseconds,
                               void (*wait)() noexcept = nullptr)
        : clock_{clock}, wait_{wait} {}

    basic_step_ledger(basic_step_ledger const&) = delete;
    basic_step_ledger& operator=(basic_step_ledger const&) = delete;

    /// Times `work` as one step on `examples` (0: unknown) of the batch.
    template<class Work>
    decltype(auto) step(std::int64_t examples, Work&& work) {
        if (is_open_)
            throw error{"step_ledger: a step was begun within a step"};
        if (examples < 0)
            throw error{"step_ledger: a step on " + std::to_string(examples) +
                        " examples; expected 0 (unknown) or more"};
        open_step const one{*this, examples};
        return std::forward<Work>(work)();
    }

    template<class Work>
    decltype(auto) data(Work&& work) {
        return time(step_part::data, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) to_device(Work&& work) {
        return time(step_part::to_device, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) forward(Work&& work) {
        return time(step_part::forward, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) loss(Work&& work) {
        return time(step_part::loss, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) backward(Work&& work) {
        return time(step_part::backward, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) optimizer(Work&& work) {
        return time(step_part::optimizer, std::forward<Work>(work));
    }
    template<class Work>
    decltype(auto) zero_grad(Work&& work) {
        return time(step_part::zero_grad, std::forward<Work>(work));
    }

    /// Work in a step that is not the step's: a profile, a validation.
    template<class Work>
    decltype(auto) apart(Work&& work) {
        open_part const one{*this, &apart_ns_};
        return std::forward<Work>(work)();
    }

    /// The step that is in the middle by its time, among the last thousand; `steps` is 0 when none
    /// is finished.
    [[nodiscard]] step_times middle() const {
        if (finished_.empty())
            return {};
        std::vector<step_times> all{finished_.begin(), finished_.end()};
        auto const place = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::nth_element(all.begin(), place, all.end(),
                         [](auto const& a, auto const& b) { return a.total_ns() < b.total_ns(); });
        place->steps = static_cast<std::int64_t>(all.size());
        return *place;
    }

private:
    static constexpr std::size_t most_kept = 1000;

    template<class Work>
    decltype(auto) time(step_part part, Work&& work) {
        auto const index = static_cast<std::size_t>(part);
        if (!is_open_)
            throw error{"step_ledger: '" + std::string{step_part_names[index]} +
                        "' was timed outside of a step; call it within ledger.step(examples, "
                        "work)"};
        open_part const one{*this, &now_.part_ns[index]};
        return std::forward<Work>(work)();
    }

    /// From here on time is that of `place`; gives the one before.
    std::int64_t* turn_to(std::int64_t* place) {
        if (wait_ != nullptr)
            wait_();
        auto const now = clock_();
        *current_ += now - last_;
        last_ = now;
        return std::exchange(current_, place);
    }

    class open_part {
    public:
        open_part(basic_step_ledger& owner, std::int64_t* place)
            : owner_{owner}, before_{owner.turn_to(place)} {}
        open_part(open_part const&) = delete;
        open_part& operator=(open_part const&) = delete;
        ~open_part() { owner_.turn_to(before_); }

    private:
        basic_step_ledger& owner_;
        std::int64_t* before_;
    };

    class open_step {
    public:
        open_step(basic_step_ledger& owner, std::int64_t examples) : owner_{owner} {
            owner.now_ = {};
            owner.now_.examples = examples;
            owner.is_open_ = true;
            owner.turn_to(&owner.now_.unattributed_ns);
        }
        open_step(open_step const&) = delete;
        open_step& operator=(open_step const&) = delete;
        ~open_step() {
            owner_.turn_to(&owner_.apart_ns_);
            owner_.is_open_ = false;
            if (std::uncaught_exceptions() > failures_)
                return;
            owner_.finished_.push_back(owner_.now_);
            if (owner_.finished_.size() > most_kept)
                owner_.finished_.pop_front();
        }

    private:
        basic_step_ledger& owner_;
        int failures_ = std::uncaught_exceptions();
    };

    clock_function clock_;
    void (*wait_)() noexcept;
    std::deque<step_times> finished_;
    step_times now_;
    std::int64_t apart_ns_ = 0;  // what is not a step's
    std::int64_t* current_ = &apart_ns_;
    std::int64_t last_ = 0;
    bool is_open_ = false;
};

using step_ledger = basic_step_ledger<>;

}  // namespace component_benchmark
