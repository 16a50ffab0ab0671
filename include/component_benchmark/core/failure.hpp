// everywhere: what was thrown, as one sentence for a row of the report
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace component_benchmark {

inline constexpr std::string_view out_of_memory = "out of memory";

/// The text of the exception that is being handled, without a stack trace. Call it in a `catch`.
[[nodiscard]] inline std::string current_failure() {
    try {
        throw;
    } catch (std::bad_alloc const&) {
        return std::string{out_of_memory} + " (std::bad_alloc)";
    } catch (std::exception const& failure) {
        std::string text = failure.what();
        if (auto const trace = text.find("\nException raised from"); trace != std::string::npos)
            text.resize(trace);  // how a c10::Error begins its stack trace
        // LibTorch has no class of its own for it on the CPU, where the text names the allocator
        if (text.find("DefaultCPUAllocator: can't allocate memory") != std::string::npos)
            return std::string{out_of_memory} + ": " + text;
        return text;
    } catch (...) {
        return "something that is not a std::exception was thrown";
    }
}

}  // namespace component_benchmark
