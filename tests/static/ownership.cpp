// Which arguments can be given back at a replay is known when a forward is compiled.
#include <component_benchmark/hook/argument.hpp>

#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace hook = component_benchmark::hook;

static_assert(hook::can_be_kept<at::Tensor const&>);
static_assert(hook::can_be_kept<std::vector<std::tuple<at::Tensor, int>>>);
static_assert(hook::can_be_kept<at::IntArrayRef>);
static_assert(hook::can_be_kept<std::queue<at::Tensor>&>);
static_assert(!hook::can_be_kept<at::Tensor*>);
static_assert(!hook::can_be_kept<std::vector<at::IntArrayRef>>);
static_assert(!hook::can_be_kept<std::tuple<at::Tensor&>>);
static_assert(!hook::can_be_kept<std::unique_ptr<int>>);

static_assert(std::is_same_v<hook::kept<at::IntArrayRef>, std::vector<std::int64_t>>);
static_assert(std::is_same_v<hook::kept<std::string_view>, std::string>);
static_assert(std::is_same_v<hook::kept<at::Tensor const&>, at::Tensor>);

static_assert(hook::may_be_written<at::Tensor&> && !hook::may_be_written<at::Tensor const&>);
static_assert(hook::may_be_written<at::Generator>);
