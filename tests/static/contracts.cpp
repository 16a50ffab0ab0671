// What the library ships meets its own contracts, and what lacks one thing does not.
#include "support/fake_model.hpp"
#include <component_benchmark/concepts.hpp>
#include <component_benchmark/pipeline/checks.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/journal.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

namespace cb = component_benchmark;
namespace requirement = cb::requirement;

static_assert(requirement::named<cb::latency> && requirement::named<cb::table>);
static_assert(requirement::has_result<cb::latency> && requirement::described_result<cb::latency>);
static_assert(requirement::writes<cb::table> && requirement::writes<cb::json>);
static_assert(requirement::checks_early<cb::json> && !requirement::checks_early<cb::table>);
static_assert(requirement::opens<cb::journal> && requirement::follows<cb::journal>);
static_assert(!requirement::opens<cb::json> && !requirement::follows<cb::json>);
static_assert(requirement::captures<fake::provider>);

static_assert(cb::replay<fake::replay>);
static_assert(cb::call_group<fake::call_group>);
static_assert(cb::component<fake::component>);
static_assert(!cb::component<fake::replay>);

struct nameless {
    void write(cb::document const&) {}
};
static_assert(!requirement::named<nameless> && requirement::writes<nameless>);

struct writes_text {
    static constexpr char const* name = "writes_text";
    void write(std::string const&) {}
};
static_assert(!requirement::writes<writes_text>);

struct undescribed {
    struct result {
        cb::metric<cb::count> things;
    };
};
static_assert(requirement::has_result<undescribed> && !requirement::described_result<undescribed>);
static_assert(requirement::is_metric<cb::metric<cb::percent>> && !requirement::is_metric<double>);
