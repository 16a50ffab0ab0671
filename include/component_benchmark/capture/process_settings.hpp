// CAPTURE: settings of the whole process, and the stream, that a forward may change
#pragma once

#include <component_benchmark/capture/thread_state.hpp>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>

#include <optional>

namespace component_benchmark::capture {

/// Default dtype, threads, stream and determinism at one moment. (A template on what is captured,
/// so that a file which runs no pipeline does not pay for it.)
template<class Root>
class basic_process_settings {
public:
    void put_back() const {
        if (c10::get_default_dtype() != default_dtype_)
            c10::set_default_dtype(default_dtype_);
        if (at::get_num_threads() != threads_)
            at::set_num_threads(threads_);
        make_current(stream_);
        auto& context = at::globalContext();
        if (context.deterministicAlgorithms() != deterministic_ ||
            context.deterministicAlgorithmsWarnOnly() != deterministic_warn_)
            context.setDeterministicAlgorithms(deterministic_, deterministic_warn_);
        at::autocast::clear_cache();  // its casts of weights may be of another moment
    }

private:
    caffe2::TypeMeta default_dtype_ = c10::get_default_dtype();
    int threads_ = at::get_num_threads();
    std::optional<c10::Stream> stream_ = current_stream();
    bool deterministic_ = at::globalContext().deterministicAlgorithms();
    bool deterministic_warn_ = at::globalContext().deterministicAlgorithmsWarnOnly();
};

}  // namespace component_benchmark::capture
