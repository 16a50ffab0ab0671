"""Breaks one rule at a time in a copy of the sources; the gate of that rule must fail and say which rule, and where."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

library = "include/component_benchmark/"
once = "#pragma once\n"
compiling = "compiling"  # the gate takes --compiler, --flags and --memory

# Name; gate and its arguments; file, what stands there, what is put in its place; what the gate must say.
torch_free = [
    ("a torch include in a sink", ["layering/layering.py"], library + "sink/json.hpp", once,
     once + "#include <ATen/core/Tensor.h>\n", ["sink/json.hpp:3", "layering: sink may not include <ATen/core/Tensor.h>"]),
    ("a torch include behind a space", ["layering/layering.py"], library + "sink/json.hpp", once,
     once + " #  include <ATen/core/Tensor.h>\n", ["sink/json.hpp:3", "layering: sink may not include <ATen/core/Tensor.h>"]),
    ("a header of CUDA", ["layering/layering.py"], library + "core/needs.hpp", once, once + "#include <cuda_runtime.h>\n",
     ["core/needs.hpp:3", "layering: core may not include <cuda_runtime.h>"]),
    ("a header of the system where none is needed", ["layering/layering.py"], library + "result/document.hpp", once,
     once + "#include <sys/mman.h>\n", ["result/document.hpp:3", "layering: result may not include <sys/mman.h>"]),
    ("an include in the source file", ["layering/layering.py"], library + "hook/interpose.cpp",
     "#include <component_benchmark/hook/interpose.hpp>\n", "#include <component_benchmark/sink/json.hpp>\n",
     ["hook/interpose.cpp:3", "layering: hook may not include sink"]),
    ("an include by a macro", ["layering/layering.py"], library + "core/needs.hpp", once, once + "#include JSON_HEADER\n",
     ["core/needs.hpp:3", "so that it can be checked"]),
    ("an include by another path", ["layering/layering.py"], library + "core/needs.hpp", once,
     once + "#include <component_benchmark/core/../sink/json.hpp>\n", ["core/needs.hpp:3", "without `..`"]),
    ("an include behind a comment", ["layering/layering.py"], library + "core/needs.hpp", once,
     once + "/* C */ #include <component_benchmark/sink/json.hpp>\n", ["core/needs.hpp:3", "so that it can be checked"]),
    ("an include behind a comment of two lines", ["layering/layering.py"], library + "core/needs.hpp", once,
     once + "/*\n*/ #include <component_benchmark/sink/json.hpp>\n", ["core/needs.hpp:4", "so that it can be checked"]),
    ("an include on two lines", ["layering/layering.py"], library + "core/needs.hpp", once,
     once + "#inc\\\nlude <component_benchmark/sink/json.hpp>\n", ["core/needs.hpp:3", "so that it can be checked"]),
    ("an include without a #", ["layering/layering.py"], library + "core/needs.hpp", once,
     once + "%:include <component_benchmark/sink/json.hpp>\n", ["core/needs.hpp:3", "so that it can be checked"]),
    ("another folder of include/", ["layering/layering.py"], "include/other.hpp", None, "// core: another\n#pragma once\n",
     ["include/other.hpp: users' include path has component_benchmark/ only"]),
    ("a folder without a rule", ["layering/layering.py"], library + "brand_new/one.hpp", None,
     "// brand new: a folder\n#pragma once\n", ["no rule for brand_new"]),
    ("JSON for everybody", ["layering/layering.py"], library + "result/document.hpp", once,
     once + "#include <nlohmann/json.hpp>\n",
     ["result/document.hpp:3", "layering: only sink/journal_head.hpp", "is not there for everybody"]),
    ("NVTX for everybody", ["layering/layering.py"], library + "profile/latency.hpp", once,
     once + "#include <nvtx3/nvToolsExt.h>\n", ["profile/latency.hpp:3", "layering: only a header that is named for it"]),
    ("TorchScript where it is not named", ["layering/layering.py"], library + "capture/shapes.hpp", once,
     once + "#include <torch/script.h>\n", ["capture/shapes.hpp:3", "layering: only a header that is named for it"]),
    ("CUDA by ATen", ["layering/layering.py"], library + "device/noise.hpp", once,
     once + "#include <ATen/cuda/CUDAContext.h>\n", ["device/noise.hpp:3", "never in include/: <ATen/cuda/CUDAContext.h>"]),
    ("all of ATen", ["layering/layering.py"], library + "device/noise.hpp", once, once + "#include <ATen/ATen.h>\n",
     ["device/noise.hpp:3", "never in include/: <ATen/ATen.h>; it declares every operator"]),
    ("Python by autograd", ["layering/layering.py"], library + "capture/shapes.hpp", once,
     once + "#include <torch/csrc/autograd/python_variable.h>\n", ["capture/shapes.hpp:3", "builds without Python"]),
    ("a header by another name", ["layering/layering.py"], library + "core/needs.h", None, "// core: a header of C\n",
     ["core/needs.h:1", "no header"]),
    ("a header that nobody reaches", ["layering/layering.py"], library + "core/lonely.hpp", None,
     "// nowhere\n#pragma once\n", ["core/lonely.hpp:1", "the umbrella component_benchmark.hpp does not reach it"]),
    ("a header without its place in the flow", ["layering/layering.py"], library + "core/needs.hpp", "// profile", "//",
     ["core/needs.hpp:1", "the first line must be a comment"]),
    ("a header whose place is nowhere", ["layering/layering.py"], library + "core/needs.hpp", "// profile, sink -> pipeline:",
     "// somewhere:", ["core/needs.hpp:1", "the first line must be a comment"]),
    ("an unformatted line", ["layering/formatting.py", "{root}/include"], library + "core/needs.hpp", "struct needs {};",
     "struct needs  {};", ["core/needs.hpp:8", "not as clang-format 14 writes it"]),
    ("a format of one's own", ["layering/formatting.py", "{root}/include"], library + "core/needs.hpp", "struct needs {};",
     "// clang-format off\nstruct needs  {};", ["core/needs.hpp:8", "`clang-format off` needs a reason"]),
    ("a last line without an end", ["layering/formatting.py", "{root}/include"], library + "core/needs.hpp",
     "}  // namespace component_benchmark\n", "}  // namespace component_benchmark",
     ["core/needs.hpp:", "the last line has no end"]),
    ("a carriage return", ["layering/formatting.py", "{root}/include"], library + "core/needs.hpp", once,
     "#pragma once\r\n", ["core/needs.hpp:2", "a line ends in a carriage return"]),
    ("a null pointer of C, off", ["layering/tidy.py", compiling, "torch_free"], library + "off.hpp", "enum class colour ",
     "inline void* none() {\n    return 0;\n}\nenum class colour ", ["off.hpp", "clang-tidy, modernize-use-nullptr"]),
    ("a header that needs another", ["layering/headers_alone.py", compiling, "core/metric.hpp"], library + "core/metric.hpp",
     "#include <component_benchmark/core/unit.hpp>\n", "", ["core/metric.hpp:1", "does not compile alone"]),
    ("a header with a warning", ["layering/headers_alone.py", compiling, "core/needs.hpp"], library + "core/needs.hpp",
     "struct needs {};", "struct needs {};\ninline int whole(double part) {\n    return part;\n}",
     ["core/needs.hpp:1", "compiles alone, with a warning", "conversion"]),
    ("a name that is a macro for others", ["layering/headers_alone.py", compiling, "core/needs.hpp"],
     library + "core/needs.hpp", "struct needs {};", "struct needs {};\ninline int small = 0;",
     ["core/needs.hpp:1", "uses a name that is a macro for others"]),
    ("a plugin without a name that is let in", ["compile_fail/check.py", compiling, "sink.cpp"],
     library + "concepts.hpp", "    { Plugin::name } -> std::convertible_to<std::string_view>;\n", "    sizeof(Plugin);\n",
     ["sink.cpp, WITHOUT_NAME", "a sink needs a name"]),
    ("a shipped plugin without a name", ["compile_fail/check.py", compiling, "sink.cpp"], library + "profile/latency.hpp",
     "    static constexpr char const* name = \"latency\";\n", "", ["sink.cpp", "the twin without a mistake must compile"]),
    ("a test of sentences without one", ["compile_fail/check.py", compiling, "hollow.cpp"], "tests/compile_fail/hollow.cpp",
     None, "// Nothing is refused.\nint nothing();\n", ["hollow.cpp: no cases"]),
    ("a case with a number that compiles", ["compile_fail/check.py", compiling, "hollow.cpp"],
     "tests/compile_fail/hollow.cpp", None, "// Nothing is refused.\n// CASE_2\n//     a sentence that is never said\n#ifdef CASE_2\n#endif\n"
     "int nothing();\n", ["hollow.cpp, CASE_2: must not compile, and does"]),
    ("a sentence of one letter", ["compile_fail/check.py", compiling, "sink.cpp"], "tests/compile_fail/sink.cpp",
     "// WITHOUT_NAME\n//     a sink ", "// WITHOUT_NAME\n//     a\n// sink ", ["sink.cpp, WITHOUT_NAME: 'a' is not a sentence"]),
    ("a mistake that no case names", ["compile_fail/check.py", compiling, "sink.cpp"], "tests/compile_fail/sink.cpp",
     "// WITHOUT_WRITE\n", "// without a write\n", ["sink.cpp, WITHOUT_WRITE: the macro is used, and no case"]),
    ("a field that off has not", ["disabled/twins.py", compiling, "torch_free"], library + "off/profilers.hpp",
     "    int warmup = 2;\n", "", ["cb::latency: on has the field warmup, and off has not"]),
    ("a shipped sink without a name", ["disabled/twins.py", compiling, "functions"], library + "sink/json.hpp",
     "    static constexpr char const* name = \"json\";\n", "", ["sink/json.hpp:", "json is a plugin off; give it its name"]),
    ("a sink without a name, on and off", ["disabled/twins.py", compiling, "functions"], library + "sink/echo.hpp", None,
     "// result -> SINK: an echo\n#pragma once\nnamespace component_benchmark {\nstruct echo {\n    void write(int) {}\n};\n"
     "}  // namespace component_benchmark\n", ["sink/echo.hpp:4: echo is a sink, by its write(); give it its name"]),
    ("a field of another type and value off", ["disabled/twins.py", compiling, "torch_free"],
     library + "off/profilers.hpp", "    double target_pct = 1;", "    int target_pct = 2;", ["cb::latency: target_pct is double on, and int off", "target_pct is 1 on, and 2 off"]),
    ("a function that off has not", ["disabled/twins.py", compiling, "functions"], library + "off.hpp",
     "result_of<Work> zero_grad(", "result_of<Work> no_grad(",
     ["cb::step_ledger: on has the function zero_grad()", "cb::step_ledger: off has the function no_grad()"]),
    ("a function of a row that off has not", ["disabled/twins.py", compiling, "functions"], library + "off.hpp",
     "std::string reason() const", "std::string why() const",
     ["cb::report::row: on has the function reason()"]),
    ("a free function that off has not", ["disabled/twins.py", compiling, "functions"], library + "off.hpp",
     "bool interrupted() noexcept", "bool stopped() noexcept",
     ["cb::interrupted: the docs name it, and off there is none"]),
    ("a metric that only off has", ["disabled/twins.py", compiling, "torch_free"], library + "off/profilers.hpp",
     "        off::metric<std::int64_t> samples;\n", "        off::metric<std::int64_t> samples, lost;\n",
     ["cb::latency::result: off has the field lost, and on has not"]),
    ("an enumerator that off has not", ["disabled/twins.py", compiling, "torch_free"], library + "off.hpp",
     "enum class when_busy { wait, refuse };", "enum class when_busy { wait };",
     ["cb::options::busy: cb::when_busy has the enumerators ['wait', 'refuse'] on, and ['wait'] off"]),
    ("a version of its own", ["package/recipes.py"], "docs/packaging/vcpkg/vcpkg.json", '"version": "', '"version": "9.',
     ["docs/packaging/vcpkg/vcpkg.json: version '9."]),
    ("a recipe that finds nothing", ["package/recipes.py"], "docs/packaging/conan/conanfile.py",
     "        CMakeDeps(self).generate()\n", "", ["conanfile.py: generate() makes no CMakeDeps"]),
    ("a recipe that forgets JSON", ["package/recipes.py"], "docs/packaging/conan/conanfile.py", "nlohmann_json/[>=3.9]",
     "nlohmann_json/[>=3.8]", ["conanfile.py: with its option resume", "nlohmann_json/[>=3.9]"]),
    ("a recipe without CMake's modules", ["package/recipes.py"], "docs/packaging/conan/conanfile.py", '"cmake/*", ', "",
     ["conanfile.py: exports no cmake/ComponentBenchmarkDependencies.cmake"]),
    ("a recipe with a compiled fmt", ["package/recipes.py"], "docs/packaging/conan/conanfile.py", '"fmt/*:header_only": True',
     '"fmt/*:header_only": False', ["conanfile.py: fmt/*:header_only must be True"]),
    ("a port that asks for a newer fmt", ["package/recipes.py"], "docs/packaging/vcpkg/vcpkg.json", '    "fmt",\n',
     '    {"name": "fmt", "version>=": "99"},\n', ["vcpkg.json: asks for fmt 99"]),
    ("a preset without sanitizers", ["package/recipes.py"], "CMakePresets.json", "-fsanitize=address,undefined ", "",
     ["CMakePresets.json: `asan` is a Debug build"]),
    ("a preset with a misspelt option", ["package/recipes.py"], "CMakePresets.json", "WITH_LIBTORCH", "WITH_TORCH",
     ["CMakePresets.json: `asan` sets COMPONENT_BENCHMARK_WITH_TORCH"]),
    ("a page with another version", ["package/recipes.py"], "docs/quick_start.md", "find_package(component_benchmark)",
     "find_package(component_benchmark 0.7)", ["docs/quick_start.md: find_package(component_benchmark 0.7)"]),
    ("a page with other versions of others", ["package/recipes.py"], "README.md", "fmt 9 to 12", "fmt 9 to 13",
     ["README.md: says 'fmt 9 to 13'"]),
    ("a preset that is another build", ["package/recipes.py"], "CMakePresets.json", "-O1 -DNDEBUG", "-O3 -DNDEBUG",
     ["CMakePresets.json: `ci` is what tests/run.sh builds first"]),
    ("a link to nothing", ["gates/pages.py"], "docs/contributing.md", "](changelog.md)", "](changes.md)",
     ["docs/contributing.md:", "the link changes.md leads to nothing"]),
    ("a link to no heading", ["gates/pages.py"], "docs/reading_the_report.md", "live_training.md#a-run", "live_training.md#no-run",
     ["docs/reading_the_report.md:", "has no heading 'no-run"]),
    ("a command that runs nothing", ["gates/pages.py"], "docs/contributing.md", "-R shared_libraries", "-R shared_modules",
     ["docs/contributing.md:", "`ctest -R shared_modules` runs nothing"]),
    ("a target that nobody makes", ["gates/pages.py"], "docs/contributing.md", "--target static_tests", "--target static_facts",
     ["docs/contributing.md:", "`--target static_facts`"]),
    ("a pipeline that leaves code behind", ["disabled/object_identity.py", compiling, "pipeline"], library + "off.hpp",
     "namespace component_benchmark {\n", "namespace component_benchmark {\ninline int volatile left_behind = 0;\n"
     "inline int const touched = left_behind;\n",
     ["off mode leaves something behind", "tests/disabled/pipeline.cpp", "-O2"]),
    ("more templates than were looked at", ["instantiations/count.py", compiling, "torch_free"],
     "tests/instantiations/baseline.json", '"pipeline.cpp": {\n        "classes": ',
     '"pipeline.cpp": {\n        "classes": 0.', ["pipeline.cpp", "instantiations of classes"]),
]
torch = [
    ("a hook that leaves code behind", ["disabled/object_identity.py", compiling, "hooks"], library + "hook/forward.hpp",
     "discard(__VA_ARGS__)))\n", "discard(__VA_ARGS__))), static_cast<void>(::component_benchmark::hook::discard())\n",
     ["off mode leaves something behind", "tests/disabled/hooks.cpp", "-O0", ".text"]),
]


folders = ("include", "tests", "examples", "docs", "cmake")
files = (".clang-format", ".clang-tidy", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md")


def copy_of_sources(folder):
    for name in folders:
        shutil.copytree(gate.root / name, folder / name, ignore=shutil.ignore_patterns("golden", "oracle"))
    for name in files:
        shutil.copy(gate.root / name, folder / name)


def command_of(root, memory, wishes):
    script, *rest = wishes
    command = [sys.executable, "-B", str(root / "tests" / script)]
    for one in rest:
        if one == compiling:
            command += ["--compiler", asked.compiler, "--flags", str(asked.flags.resolve()), "--memory", str(memory)]
        else:
            command.append(one.replace("{root}", str(root)))
    return command


def says(root, memory, wishes):
    done = subprocess.run(command_of(root, memory, wishes), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check_before(cases):
    """A gate that fails anyway proves nothing. They remember: each passes, or has passed, in this run by itself."""
    for wishes in {tuple(wishes): None for _, wishes, file, before, *_ in cases
                   if before is not None or pathlib.Path(file).name not in wishes}:
        status, said = says(gate.root, asked.memory, wishes)
        if status not in (0, gate.skipped):
            yield f"{' '.join(wishes)}: must pass before a rule is broken; it ended with {status} and said:\n{said[-1500:]}"


def check():
    cases = torch if asked.which == "torch" else torch_free
    tried = 0
    yield from check_before(cases)
    with tempfile.TemporaryDirectory(prefix="component_benchmark_gates_") as folder:
        copy = pathlib.Path(folder)
        copy_of_sources(copy)
        for name, wishes, file, before, after, expected in cases:
            target = copy / file
            original = target.read_text() if target.exists() else None
            if before is not None and before not in original:
                yield f"{name}: {file} has no {before!r} any more; correct tests/gates/can_fail.py."
                continue
            new_folder = not target.parent.exists()
            target.parent.mkdir(exist_ok=True)
            target.write_text(after if before is None else original.replace(before, after, 1))
            status, said = says(copy, copy / "memory", wishes)
            if original is None:
                target.unlink()
                if new_folder:
                    target.parent.rmdir()
            else:
                target.write_text(original)
            if status == gate.skipped:
                print(f"{name}: {said.strip()}")
            elif status == 0 or not all(part in said for part in expected):
                yield f"{name}: {wishes[0]} must fail and say {expected}; it ended with {status} and said:\n{said[-1500:]}"
            else:
                tried += 1
    print(f"{tried} rules were broken, and their gates said so")


asked = gate.arguments("which")
gate.run_once(asked, [gate.root / name for name in (*folders, *files)], check)
