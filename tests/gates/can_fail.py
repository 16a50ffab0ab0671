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
    ("a header that nobody reaches", ["layering/layering.py"], library + "core/lonely.hpp", None,
     "// nowhere\n#pragma once\n", ["core/lonely.hpp:1", "the umbrella component_benchmark.hpp does not reach it"]),
    ("a header without its place in the flow", ["layering/layering.py"], library + "core/needs.hpp", "// profile", "//",
     ["core/needs.hpp:1", "the first line must be a comment"]),
    ("an unformatted line", ["layering/formatting.py", "{root}/include"], library + "core/needs.hpp", "struct needs {};",
     "struct needs  {};", ["core/needs.hpp:8", "not as clang-format 14 writes it"]),
    ("a null pointer of C", ["layering/tidy.py", compiling, "torch_free"], library + "core/needs.hpp", "struct needs {};",
     "struct needs {};\ninline void* none() {\n    return 0;\n}", ["core/needs.hpp", "clang-tidy, modernize-use-nullptr"]),
    ("a header that needs another", ["layering/headers_alone.py", compiling, "torch_free"], library + "core/metric.hpp",
     "#include <component_benchmark/core/unit.hpp>\n", "", ["core/metric.hpp:1", "does not compile alone"]),
    ("a name that is a macro for others", ["layering/headers_alone.py", compiling, "torch_free"],
     library + "core/needs.hpp", "struct needs {};", "struct needs {};\ninline int small = 0;",
     ["core/needs.hpp:1", "uses a name that is a macro for others"]),
    ("a plugin without a name that is let in", ["compile_fail/check.py", compiling, "sink.cpp"],
     library + "concepts.hpp", "    { Plugin::name } -> std::convertible_to<std::string_view>;\n", "    sizeof(Plugin);\n",
     ["sink.cpp, WITHOUT_NAME", "a sink needs a name"]),
    ("a shipped plugin without a name", ["compile_fail/check.py", compiling, "sink.cpp"], library + "profile/latency.hpp",
     "    static constexpr char const* name = \"latency\";\n", "", ["sink.cpp", "the twin without a mistake must compile"]),
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


def copy_of_sources(folder):
    for name in ("include", "tests", "examples"):
        shutil.copytree(gate.root / name, folder / name, ignore=shutil.ignore_patterns("golden", "oracle"))
    for name in (".clang-format", ".clang-tidy"):
        shutil.copy(gate.root / name, folder / name)


def command_of(copy, wishes):
    script, *rest = wishes
    command = [sys.executable, "-B", str(copy / "tests" / script)]
    for one in rest:
        if one == compiling:
            command += ["--compiler", asked.compiler, "--flags", str(asked.flags.resolve()), "--memory", str(copy / "memory")]
        else:
            command.append(one.replace("{root}", str(copy)))
    return command


def says(copy, wishes):
    done = subprocess.run(command_of(copy, wishes), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check():
    tried = 0
    with tempfile.TemporaryDirectory(prefix="component_benchmark_gates_") as folder:
        copy = pathlib.Path(folder)
        copy_of_sources(copy)
        for name, wishes, file, before, after, expected in torch if asked.which == "torch" else torch_free:
            target = copy / file
            original = target.read_text() if target.exists() else None
            if before is not None and before not in original:
                yield f"{name}: {file} has no {before!r} any more; correct tests/gates/can_fail.py."
                continue
            target.write_text(after if before is None else original.replace(before, after, 1))
            status, said = says(copy, wishes)
            if original is None:
                target.unlink()
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
gate.run_once(asked, [gate.root / name for name in ("include", "tests", ".clang-format", ".clang-tidy")], check)
