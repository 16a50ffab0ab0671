// everywhere: what was thrown, as one sentence for a row of the report
#pragma once

#include <exception>
#include <new>
#include <string>

namespace component_benchmark {

/// The text of the exception that is being handled, without a stack trace. Call it in a `catch`.
[[nodiscard]] inline std::string current_failure() {
    try {
        throw;
    } catch (std::bad_alloc const&) {
        return "out of memory (std::bad_alloc)";
    } catch (std::exception const& failure) {
        std::string text = failure.what();
        if (auto const trace = text.find("\nException raised from"); trace != std::string::npos)
            text.resize(trace);  // how a c10::Error begins its stack trace
        return text;
    } catch (...) {
        return "something that is not a std::exception was thrown";
    }
}

}  // namespace component_benchmark
