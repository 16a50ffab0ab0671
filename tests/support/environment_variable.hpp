// tests: an environment variable for the time of a test
#pragma once

#include <cstdlib>
#include <string>

namespace component_benchmark::test {

/// Sets the variable, or takes it away when `value` is null; afterwards it is as it was.
class environment_variable {
public:
    environment_variable(char const* name, char const* value) : name_{name} {
        char const* const before = std::getenv(name);
        had_one_ = before != nullptr;
        before_ = had_one_ ? before : "";
        value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    }
    environment_variable(environment_variable const&) = delete;
    environment_variable& operator=(environment_variable const&) = delete;
    ~environment_variable() { had_one_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

private:
    char const* name_;
    bool had_one_;
    std::string before_;
};

}  // namespace component_benchmark::test
