"""Component Benchmark for Conan 2: headers, CMake modules, and no torch, which is the project's own."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load


class ComponentBenchmark(ConanFile):
    name = "component_benchmark"
    license = "BSD-3-Clause"
    description = "Profiles a LibTorch model component by component, on the inputs each one was really called with"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    requires = "boost/[>=1.74]", "fmt/[>=9 <13]"
    options = {"resume": [True, False]}  # component_benchmark::resume, which reads JSON
    default_options = {"resume": False, "boost/*:header_only": True, "fmt/*:header_only": True}
    no_copy_source = True

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._checkout, "include", "component_benchmark", "version.hpp"))
        self.version = ".".join(re.findall(r"define COMPONENT_BENCHMARK_VERSION_[A-Z]+ (\d+)", header))

    def requirements(self):
        if self.options.resume:
            self.requires("nlohmann_json/[>=3.9]")

    def export_sources(self):
        for pattern in ("include/*", "cmake/*", "CMakeLists.txt", "LICENSE"):
            copy(self, pattern, self._checkout, self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("WITH_LIBTORCH", "TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"COMPONENT_BENCHMARK_{option}"] = "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        # The package's own CMake files define the targets, component_benchmark::torch included.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "component_benchmark")]
