"""New tests are found by themselves, and a gate cannot lose an argument: tried in a copy of the sources.

    found.py ... CMAKE GENERATOR MAKE_PROGRAM
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

# New files of tests/, and the test of CTest that each makes, or the program that it belongs to.
new_files = {
    "brand_new/one.cpp": "unit_tests.dir",
    "core/two.cpp": "unit_tests.dir",
    "compile_fail/three.cpp": "compile_fail.three",
    "with_script/CMakeLists.txt": "with_script",
}
# What nothing would compile, so that CMake must refuse it.
lost_files = ("brand_new/sub/one.cpp", "toplevel.cpp", "brand_new/three.cc")
# Two of one name in folders of torch/, with a folder that CMake takes for LibTorch.
namesakes = ("core/torch/namesake.cpp", "device/torch/namesake.cpp")
script = 'add_test(NAME with_script COMMAND true)\n'
empty = ('include(${CMAKE_CURRENT_SOURCE_DIR}/../support/Gates.cmake)\n'
         'component_benchmark_gate(loses gate_flags gates/found.py one "" three)\n')


def configure(copy, build, *flags):
    command = [asked.cmake, "-S", copy, "-B", build, "-G", asked.generator, f"-DCMAKE_MAKE_PROGRAM={asked.make_program}",
               f"-DCMAKE_CXX_COMPILER={asked.compiler}", "-DCOMPONENT_BENCHMARK_WITH_LIBTORCH=OFF", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def check():
    with tempfile.TemporaryDirectory(prefix="component_benchmark_found_") as folder:
        copy, build = pathlib.Path(folder) / "sources", pathlib.Path(folder) / "build"
        ignored = shutil.ignore_patterns("golden", "oracle")
        for name in ("cmake", "include", "tests"):
            shutil.copytree(gate.root / name, copy / name, ignore=ignored)
        for name in ("CMakeLists.txt", "LICENSE"):
            shutil.copy(gate.root / name, copy / name)
        for name in new_files:
            (copy / "tests" / name).parent.mkdir(exist_ok=True)
            (copy / "tests" / name).write_text(script if name.endswith(".txt") else "")
        status, said = configure(copy, build)
        if status != 0:
            yield f"a copy with new tests cannot be configured: {said[-2000:]}"
            return
        listed = subprocess.run([pathlib.Path(asked.cmake).with_name("ctest"), "--test-dir", build, "-N"],
                                capture_output=True, text=True).stdout.split()
        compiled = {one["file"]: one["command"] for one in json.loads((build / "compile_commands.json").read_text())}
        for name, where in new_files.items():
            command = compiled.get(str(copy / "tests" / name), "")
            if where not in listed and where not in command:
                yield f"tests/CMakeLists.txt: a new file tests/{name} must be found by itself ({where}), and is not."
        yield from check_namesakes(copy, pathlib.Path(folder))
        for name in lost_files:
            lost = copy / "tests" / name
            lost.parent.mkdir(exist_ok=True)
            lost.write_text("")
            status, said = configure(copy, build)
            if status == 0 or f"tests/{name}: a test is a file" not in said:
                yield f"tests/CMakeLists.txt: tests/{name} is compiled by nothing and must be refused; CMake says: {said[-500:]}"
            lost.unlink()
        (copy / "tests/with_script/CMakeLists.txt").write_text(empty)
        status, said = configure(copy, build)
        if status == 0 or "component_benchmark_gate(loses): an argument is empty" not in said:
            yield f"tests/support/Gates.cmake: an empty argument of a gate must be refused, and CMake says: {said[-1000:]}"


def check_namesakes(copy, folder):
    for name, text in (("lib/libc10.so", ""), ("lib/libtorch_cpu.so", ""), ("include/torch/csrc/api/include/torch/torch.h", ""),
                       ("include/torch/headeronly/version.h",
                        "".join(f"#define TORCH_VERSION_{part} 9\n" for part in ("MAJOR", "MINOR", "PATCH")))):
        (folder / "libtorch" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "libtorch" / name).write_text(text)
    for name in namesakes:
        (copy / "tests" / name).parent.mkdir(exist_ok=True)
        (copy / "tests" / name).write_text("")
    status, said = configure(copy, folder / "namesakes", "-DCOMPONENT_BENCHMARK_WITH_LIBTORCH=ON", "-DCMAKE_CXX_FLAGS=",
                             f"-DCOMPONENT_BENCHMARK_LIBTORCH_ROOT={folder / 'libtorch'}",
                             "-DCOMPONENT_BENCHMARK_EXAMPLES=OFF", "-DCOMPONENT_BENCHMARK_BENCH=OFF",
                             f"-DCOMPONENT_BENCHMARK_TORCH_TEST_FILES={';'.join(namesakes)}")
    if status != 0:
        yield f"tests/CMakeLists.txt: two tests of one name, {namesakes}, must be configured, and CMake says: {said[-1000:]}"
    for name in namesakes:
        (copy / "tests" / name).unlink()


asked = gate.arguments("cmake", "generator", "make_program")
gate.run_once(asked, [gate.root / name for name in ("cmake", "tests", "CMakeLists.txt")], check)
