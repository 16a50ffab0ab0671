// tests: main() of every test program; compiled once, because Catch2 2 takes ten seconds here
#define CATCH_CONFIG_RUNNER
#include "support/catch2.hpp"

int main(int argc, char* argv[]) {
    return Catch::Session().run(argc, argv);
}
