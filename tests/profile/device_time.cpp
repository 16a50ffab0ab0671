// Times on a device that works asynchronously: a made-up one, with a timeline of its own.
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/profile/device_time.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t us = 1'000;

/// Does what it is given one after the other on each of two streams, while `fake::now`, the
/// program's time, goes on.
struct fake_device {
    std::int64_t free_at = 0;
    std::int64_t other_free_at = 0;
    std::int64_t began = 0;
    std::int64_t ended = 0;
    std::int64_t held_ns = 0;  ///< all that `hold` has given it to do
    bool held = false;

    static void add(std::int64_t& stream, std::int64_t takes) {
        stream = (std::max)(stream, fake::now) + takes;
    }
    void launch(std::int64_t host, std::int64_t takes) {
        fake::now += host;
        add(free_at, takes);
    }
    void wait() { fake::now = (std::max)({fake::now, free_at, other_free_at}); }
    [[nodiscard]] int index() const { return 3; }
    void start() { began = (std::max)(free_at, fake::now); }
    void stop() { ended = (std::max)(free_at, fake::now); }
    void wait_for_stop() { fake::now = (std::max)(fake::now, ended); }
    [[nodiscard]] double elapsed_ms() const { return static_cast<double>(ended - began) / 1e6; }
    void hold(double ms) {
        held_ns += static_cast<std::int64_t>(ms * 1e6);
        launch(5 * us, static_cast<std::int64_t>(ms * 1e6));
    }
    [[nodiscard]] bool is_held() const { return fake::now < began; }
};

/// A call of so many kernels.
struct device_replay : fake::replay {
    std::shared_ptr<fake_device> on = std::make_shared<fake_device>();
    int kernels = 1;
    std::int64_t host = 5 * us;
    std::int64_t takes = 1000 * us;
    std::int64_t elsewhere = 0;
    bool waits = false;
    bool has_backward = true;

    [[nodiscard]] fake_device* device() { return on.get(); }
    void forward() {
        for (int kernel = 0; kernel < kernels; ++kernel) {
            on->launch(host, takes);
            if (waits)
                on->wait();
        }
        if (elsewhere > 0)
            fake_device::add(on->other_free_at, elsewhere);
    }
    [[nodiscard]] bool prepare_backward() {
        on->launch(host, 7 * us);  // the gradients; never part of a number
        return has_backward;
    }
    void backward() {
        for (int kernel = 0; kernel < 2 * kernels; ++kernel)
            on->launch(host, takes);
    }
};

struct device_component : fake::component {
    struct group : fake::call_group {
        device_replay source_on_device;
        [[nodiscard]] device_replay replay() const { return source_on_device; }
    };
    std::vector<group> on_device;
    [[nodiscard]] std::vector<group>& calls() { return on_device; }
};

device_component one_call(device_replay call) {
    device_component made;
    made.on_device.emplace_back().numbers = {0};
    made.on_device[0].source_on_device = std::move(call);
    return made;
}

device_replay tiny_kernels() {
    device_replay call;
    call.kernels = 50;
    call.takes = 2 * us;
    return call;
}

cb::latency timed() {
    return {.samples = 20,
            .clock = &fake::clock,
            .noise = [] { return cb::noise_reading{}; },
            .processor = &fake::clock};
}
cb::device_time on_device() {
    return {.clock = &fake::clock};
}

}  // namespace

TEST_CASE("the latency of work on a device is when it is done, not when it is launched",
          "[device]") {
    device_replay call;
    auto component = one_call(call);
    auto const found = timed().profile(component);
    CHECK(found.latency_ms.value() == Approx(1.005));
    CHECK(found.latency_bwd_ms.value() == Approx(2.005));
    CHECK(found.latency_fwd_bwd_ms.value() == Approx(3.010));
    CHECK(found.cpu_time_ms.value() == Approx(0.005));  // waiting is not in it
    CHECK(found.latency_ms.why().empty());
}

TEST_CASE("what held the device back is said", "[device]") {
    auto component = one_call({});
    auto wishes = timed();
    static int asked = 0;
    wishes.device_noise = [](int index) -> cb::device_reading {
        asked = index;
        static double mhz = 1980.0;
        mhz -= 300.0;
        return {mhz, 0x4};
    };
    auto const found = wishes.profile(component);
    CHECK(asked == 3);
    CHECK(found.latency_ms.why() ==
          "the device's clock went from 1,680 to 1,380 MHz; the device "
          "was held back by its power cap");
}

TEST_CASE("fifty tiny kernels: how long the device is busy, waits, and the program waits",
          "[device]") {
    auto component = one_call(tiny_kernels());
    CHECK(timed().profile(component).latency_ms.value() == Approx(0.252));
    auto const found = on_device().profile(component);
    CHECK(found.gpu_time_ms.value() == Approx(0.100));
    CHECK(found.gpu_time_bwd_ms.value() == Approx(0.200));
    CHECK(found.wall_ms.value() == Approx(0.252));
    CHECK(found.launch_ms.value() == Approx(0.250));
    CHECK(found.launch_share_pct.value() == Approx(100.0 * (1.0 - 0.100 / 0.252)));
    REQUIRE(found.by_call.size() == 2);
    CHECK(found.by_call[0].value == Approx(0.100));
    CHECK(found.by_call[1].value == Approx(0.252));
}

TEST_CASE("one large kernel: the device hardly waits", "[device]") {
    auto component = one_call({});
    auto const found = on_device().profile(component);
    CHECK(found.gpu_time_ms.value() == Approx(1.0));
    CHECK(found.launch_share_pct.value() == Approx(100.0 * 0.005 / 1.005));
}

TEST_CASE("calls that are not alike count as often as they occur", "[device]") {
    auto component = one_call(tiny_kernels());
    component.on_device[0].numbers = {0, 2, 3};
    auto& other = component.on_device.emplace_back();
    other.numbers = {1};
    other.source_on_device.has_backward = false;
    auto const found = on_device().profile(component);
    CHECK(found.gpu_time_ms.value() == Approx((3 * 0.100 + 1.0) / 4));
    CHECK(found.gpu_time_bwd_ms.value() == Approx(3 * 0.200 / 4));  // there it costs nothing
    CHECK(found.wall_ms.value() == Approx((3 * 0.252 + 1.005) / 4));
    CHECK(found.launch_share_pct.value() ==
          Approx(100.0 * (1.0 - (3 * 0.100 + 1.0) / (3 * 0.252 + 1.005))));
}

TEST_CASE("work on another stream is waited for, and said", "[device]") {
    device_replay call;
    call.elsewhere = 1500 * us;
    auto component = one_call(call);
    auto const found = timed().profile(component);
    CHECK(found.latency_ms.value() == Approx(1.505));
    CHECK_THAT(found.latency_ms.why(),
               ContainsSubstring("up to 0.50 ms of it on other streams than that of its call"));
}

TEST_CASE("what waits for the device cannot be queued", "[device]") {
    auto call = tiny_kernels();
    call.waits = true;
    auto component = one_call(call);
    auto wishes = on_device();
    wishes.most_hold_ms = 10;
    auto const found = wishes.profile(component);
    CHECK_FALSE(found.gpu_time_ms.has_value());
    CHECK(found.gpu_time_ms.why() == cb::waits_for_its_device);
    CHECK(found.launch_share_pct.why() == cb::waits_for_its_device);
    CHECK(found.wall_ms.value() == Approx(0.350));
    CHECK(found.gpu_time_bwd_ms.value() == Approx(0.200));  // which does not wait
    REQUIRE(found.by_call.size() == 1);
    // it was tried with more and more, within limits
    auto const held = component.on_device[0].source_on_device.on->held_ns;
    CHECK(held < 100'000 * us);
}

TEST_CASE("launches that take longer than was thought are held for longer", "[device]") {
    auto call = tiny_kernels();
    call.host = 100 * us;
    auto component = one_call(call);
    auto const held_for_2_ms = [&](double most) {
        auto wishes = on_device();
        wishes.most_hold_ms = most;
        return wishes.profile(component).gpu_time_ms;
    };
    CHECK(held_for_2_ms(200).value() == Approx(0.100));
    CHECK_FALSE(held_for_2_ms(2).has_value());
}

TEST_CASE("what has no backward says why", "[device]") {
    device_replay call;
    call.has_backward = false;
    auto component = one_call(call);
    CHECK(on_device().profile(component).gpu_time_bwd_ms.why() == "no output requires a gradient");
}

TEST_CASE("a component on the CPU has no times of a device", "[device]") {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(1000 * us, 0, {0}));
    CHECK_THROWS_WITH(on_device().profile(component), std::string{cb::works_on_the_cpu});
    fake::component uncalled{"x", {}, "not called", {}};
    CHECK_THROWS_WITH(on_device().profile(uncalled), "not called");
}
