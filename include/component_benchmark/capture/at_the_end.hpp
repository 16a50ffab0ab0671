// CAPTURE: what is done on every way out of a block
#pragma once

namespace component_benchmark::capture {

/// Calls `act` when it dies.
template<class Act>
struct at_the_end {
    Act act;
    ~at_the_end() { act(); }
};
template<class Act>
at_the_end(Act) -> at_the_end<Act>;

}  // namespace component_benchmark::capture
