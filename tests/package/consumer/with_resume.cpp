// tests: a user's program that does not see torch and goes on with a journal
#include <component_benchmark/resume.hpp>

#include <cstdio>

namespace cb = component_benchmark;

int main() {
    auto const earlier = cb::read_journal("no such journal");
    std::printf("%zu components were measured before\n", earlier->finished.size());
    return earlier->finished.empty() ? 0 : 1;
}
