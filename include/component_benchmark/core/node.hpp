// provider -> capture -> result: what is known of a component before anything is measured
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

/// What became of a component. The names are those of the report schema.
enum class status { ok, estimated, reused, failed, not_called, filtered, opaque };

[[nodiscard]] constexpr std::string_view name_of(status value) noexcept {
    constexpr std::string_view names[] = {"ok",         "estimated", "reused", "failed",
                                          "not_called", "filtered",  "opaque"};
    return names[static_cast<int>(value)];
}

/// Why a component has no numbers that a run did not come to.
inline constexpr std::string_view run_was_interrupted = "not measured: the run was interrupted";

/// One row of the tree. Rows stand in pre-order: a parent before its children, the root first.
struct node {
    static constexpr std::ptrdiff_t none = -1;

    std::string name;  ///< last part of the path; the root has none
    std::string path;  ///< registered names joined by '.'; the root's is empty
    std::string type;  ///< short name of the module's class
    std::ptrdiff_t parent = none;
    std::size_t end = 0;  ///< one past the last row of the subtree
    std::size_t depth = 0;
    std::ptrdiff_t alias_of = none;  ///< the row that measures this module, if it is not this one
    status state = status::not_called;
    std::string reason;  ///< why it is not `ok`
    std::int64_t calls = 0;
    std::string in_shapes;   ///< of the first call, e.g. "[32, 64], [32, 8]"
    std::string out_shapes;  ///< of the first call
    std::string dtypes;      ///< of its inputs and outputs, e.g. "float32 -> float32"
    bool resumed = false;    ///< measured by an earlier run, whose journal has its numbers
};

/// As it is called in a sentence.
[[nodiscard]] inline std::string name_in_text(node const& row) {
    return row.path.empty() ? "the root" : "'" + row.path + "'";
}

/// One captured call of a component.
struct call {
    std::size_t row = 0;     ///< index of its component's node
    std::int64_t index = 0;  ///< 0 for the first call of its component
    std::ptrdiff_t parent_call = -1;
    std::string in_shapes;
    std::string out_shapes;
    std::string dtypes;
    bool recomputed = false;  ///< called again inside backward (checkpointing)
};

/// What the model's state was compared with after a run, by value.
struct verification {
    bool verified = false;
    std::vector<std::string> compared;
    std::vector<std::string> not_compared;
    std::vector<std::string> changed;  ///< found different and put back
};

}  // namespace component_benchmark
