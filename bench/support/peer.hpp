// Runs a peer, a Python script of bench/peers/, and reads the JSON object that it prints.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>

namespace bench {

/// A word of a command line, whatever is in it.
[[nodiscard]] inline std::string quoted(std::string const& word) {
    std::string text = "'";
    for (char const letter : word)
        text += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
    return text + "'";
}

/// Null where the script does not run, as in a Python that lacks what it imports; Python has then
/// said why on the error output.
[[nodiscard]] inline nlohmann::json peer_says(std::string const& python, std::string const& script,
                                              std::initializer_list<std::string> arguments) {
    auto command = quoted(python) + " -B " + quoted(COMPONENT_BENCHMARK_PEERS "/" + script);
    for (auto const& argument : arguments)
        command += " " + quoted(argument);
    struct closing {
        void operator()(std::FILE* pipe) const { ::pclose(pipe); }
    };
    std::unique_ptr<std::FILE, closing> const pipe{::popen(command.c_str(), "r")};
    std::string printed;
    char part[512];
    for (std::size_t length = 1; pipe != nullptr && length > 0;) {
        length = std::fread(part, 1, sizeof part, pipe.get());
        printed.append(part, length);
    }
    auto answer = nlohmann::json::parse(printed, nullptr, /*allow_exceptions=*/false);
    return answer.is_discarded() ? nlohmann::json{} : answer;
}

}  // namespace bench
