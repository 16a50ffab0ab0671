"""Which versions of other packages CMake takes and which it refuses, with stand-ins that are strict about their versions.

    dependencies.py CMAKE GENERATOR MAKE_PROGRAM

fmt and Catch2 call themselves compatible with their own major version only, so that find_package(fmt 9) refuses fmt 12.
"""
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
# Package, version ("" where it does not say), what is said of it ("" where it is taken).
cases = [
    ("fmt", "9.0.0", ""),
    ("fmt", "10.2.1", ""),
    ("fmt", "11.0.2", ""),
    ("fmt", "12.1.0", ""),
    ("fmt", "", ""),
    ("fmt", "8.1.1", "Component Benchmark needs fmt, version 9 to 12, and CMake finds version 8.1.1"),
    ("fmt", "13.0.0", "Component Benchmark needs fmt, version 9 to 12, and CMake finds version 13.0.0"),
    ("fmt", None, "Component Benchmark needs fmt, version 9 to 12, and CMake does not find it (Debian: libfmt-dev)"),
    ("Boost", "1.74.0", ""),
    ("Boost", "1.90.0", ""),
    ("Boost", "1.73.0", "Component Benchmark needs the Boost headers, version 1.74 or newer, and CMake finds version 1.73.0"),
    ("Catch2", "2.13.10", ""),
    ("Catch2", "3.8.0", ""),
    ("Catch2", "2.12.0", "Component Benchmark needs Catch2, version 2.13 or newer, and CMake finds version 2.12.0"),
]
project = """cmake_minimum_required(VERSION 3.24)
project(consumer VERSION 1 LANGUAGES NONE)
include("{root}/cmake/ComponentBenchmarkDependencies.cmake")
component_benchmark_require(Catch2 2.13 "Catch2" catch2)
message(STATUS "all found")
"""
stand_in = """set(PACKAGE_VERSION {version})
if(PACKAGE_FIND_VERSION AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION OR NOT PACKAGE_FIND_VERSION_MAJOR EQUAL {major}))
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def configure(folder, versions):
    """With a package in each version; None: it is not there."""
    for package, version in versions.items():
        home = folder / "prefix" / "lib" / "cmake" / package
        home.mkdir(parents=True)
        if version is not None:
            (home / f"{package}Config.cmake").write_text("")
        if version:
            (home / f"{package}ConfigVersion.cmake").write_text(
                stand_in.format(version=version, major=version.split(".")[0]))
    (folder / "CMakeLists.txt").write_text(project.format(root=root.as_posix()))
    command = [cmake, "-S", folder, "-B", folder / "build", "-G", generator, f"-DCMAKE_MAKE_PROGRAM={make_program}",
               f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}",
               # Only the stand-ins, nothing of this machine.
               "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
               "-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def check():
    for package, version, sentence in cases:
        with tempfile.TemporaryDirectory(prefix="component_benchmark_dependencies_") as folder:
            versions = {"Boost": "1.74.0", "fmt": "9.1.0", "Catch2": "2.13.10", package: version}
            status, said = configure(pathlib.Path(folder), versions)
        name = f"{package} {'that is not there' if version is None else version}"
        if not sentence and (status != 0 or "all found" not in said):
            yield f"{name} must be taken, and CMake says: {said}"
        elif sentence and (status == 0 or sentence not in said):
            yield f"{name} must be refused with {sentence!r}, and CMake says: {said}"


cmake, generator, make_program = sys.argv[1:]
sentences = list(check())
print("\n".join(sentences) if sentences else f"{len(cases)} versions are taken or refused as promised")
sys.exit(1 if sentences else 0)
