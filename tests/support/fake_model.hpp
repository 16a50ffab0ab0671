// A model without torch: components whose replays advance a clock by what the test says.
#pragma once

#include <component_benchmark/concepts.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fake {

/// Time that only a test moves.
inline std::int64_t now = 0;
inline std::int64_t clock() noexcept {
    return now;
}

struct tensor {
    std::int64_t elements = 0;
    [[nodiscard]] std::int64_t numel() const { return elements; }
    [[nodiscard]] std::size_t nbytes() const { return static_cast<std::size_t>(elements) * 4; }
};

struct replay {
    std::int64_t forward_ns = 0;
    std::int64_t backward_ns = 0;
    int* prepared = nullptr;
    std::vector<std::int64_t> forwards{};  ///< if given, one after the other
    std::size_t next = 0;
    void (*during_forward)() = nullptr;
    std::vector<std::int64_t> backwards{};  ///< as `forwards`
    std::size_t next_backward = 0;

    void prepare() {
        now += 1'000'000;  // must never be part of a number
        if (prepared != nullptr)
            ++*prepared;
    }
    void forward() {
        now += forwards.empty() ? forward_ns : forwards[next++ % forwards.size()];
        if (during_forward != nullptr)
            during_forward();
    }
    [[nodiscard]] bool prepare_backward() {
        now += 1'000'000;
        return backward_ns > 0 || !backwards.empty();
    }
    [[nodiscard]] std::string why_no_backward() const { return "no output requires a gradient"; }
    void backward() {
        now += backwards.empty() ? backward_ns : backwards[next_backward++ % backwards.size()];
    }
    void release() {}
};

struct call_group {
    fake::replay source;
    std::vector<std::size_t> numbers;

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(numbers.size()); }
    [[nodiscard]] std::vector<std::size_t> members() const { return numbers; }
    [[nodiscard]] fake::replay replay() const { return source; }
};

/// Members set one by one: g++ 12 warns of uninitialised vectors where it moves the whole.
[[nodiscard]] inline call_group group(std::int64_t forward_ns, std::int64_t backward_ns,
                                      std::vector<std::size_t> numbers) {
    call_group made;
    made.source.forward_ns = forward_ns;
    made.source.backward_ns = backward_ns;
    made.numbers = std::move(numbers);
    return made;
}

struct component {
    std::string path_;
    std::vector<call_group> groups;
    std::string why = "not called";
    std::vector<tensor> tensors;
    int preserved = 0;

    [[nodiscard]] std::string path() const { return path_; }
    [[nodiscard]] std::string type() const { return "Fake"; }
    [[nodiscard]] std::vector<call_group>& calls() { return groups; }
    [[nodiscard]] std::string why_no_calls() const { return why; }
    [[nodiscard]] std::vector<tensor> parameters() const { return tensors; }
    [[nodiscard]] std::vector<tensor> buffers() const { return {}; }
    int preserve_arguments() { return ++preserved; }
};

/// The captured model: rows in pre-order, and the component of each.
struct model {
    std::vector<component_benchmark::node> rows;
    std::vector<component_benchmark::call> all_calls;
    std::vector<component> components;
    bool* was_put_back = nullptr;

    [[nodiscard]] std::vector<component_benchmark::node> const& nodes() const { return rows; }
    [[nodiscard]] std::vector<component_benchmark::call> calls() const { return all_calls; }
    [[nodiscard]] component_benchmark::environment environment() const {
        return {"fake 1.0", "fake", 1, "ones", {}};
    }
    component_benchmark::verification put_back() {
        if (was_put_back != nullptr)
            *was_put_back = true;
        return {true, {"everything"}, {}, {}};
    }
    template<class Visit>
    void for_each(Visit&& visit) {
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (rows[row].alias_of == component_benchmark::node::none &&
                rows[row].state != component_benchmark::status::filtered)
                visit(row, components[row]);
    }

    /// The first call of the nearest row above that is called.
    [[nodiscard]] std::ptrdiff_t caller(std::ptrdiff_t above) const {
        using component_benchmark::node;
        for (; above != node::none; above = rows[static_cast<std::size_t>(above)].parent)
            for (std::size_t number = 0; number < all_calls.size(); ++number)
                if (all_calls[number].row == static_cast<std::size_t>(above))
                    return static_cast<std::ptrdiff_t>(number);
        return node::none;
    }

    /// Adds a row below `parent` (the first has none) that takes `forward_ns` in each of its calls.
    std::size_t add(std::ptrdiff_t parent, std::string name, std::int64_t calls = 1,
                    std::int64_t forward_ns = 1'000'000, std::int64_t backward_ns = 2'000'000) {
        using component_benchmark::node;
        node row;
        row.name = name;
        row.type = "Fake";
        row.parent = parent;
        row.calls = calls;
        row.state =
            calls > 0 ? component_benchmark::status::ok : component_benchmark::status::not_called;
        if (parent != node::none) {
            auto const& above = rows[static_cast<std::size_t>(parent)];
            row.path = above.path.empty() ? name : above.path + "." + name;
            row.depth = above.depth + 1;
        }
        auto const index = rows.size();
        component made{row.path, {}, "not called", {tensor{10}}};
        if (calls > 0) {
            auto made_group = group(forward_ns, backward_ns, {});
            for (std::int64_t call = 0; call < calls; ++call) {
                made_group.numbers.push_back(all_calls.size());
                all_calls.push_back(
                    {index, call, caller(parent), "[1]", "[1]", "float32 -> float32", false});
            }
            made.groups.push_back(made_group);
        }
        rows.push_back(row);
        components.push_back(made);
        for (auto above = static_cast<std::ptrdiff_t>(index); above != node::none;
             above = rows[static_cast<std::size_t>(above)].parent)
            rows[static_cast<std::size_t>(above)].end = index + 1;
        return index;
    }

    /// The component cannot be replayed, as after a failure.
    void fail(std::size_t row, std::string reason) {
        rows[row].state = component_benchmark::status::failed;
        rows[row].reason = reason;
        components[row].groups.clear();
        components[row].why = std::move(reason);
    }
};

struct provider {
    model captured;
    [[nodiscard]] std::unique_ptr<model> capture(component_benchmark::options const&) {
        return std::make_unique<model>(captured);
    }
};

}  // namespace fake
