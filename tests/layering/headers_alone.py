"""Every header compiles alone, in each mode it is for, and where a user's macros bear common names.

What the headers include of others comes first, since nobody's headers stand those macros: `I` is <complex.h>'s, `min`
and `max` are everybody's, `small` is that of Windows.
  torch_free   each header that does not see torch
  torch        each header that does
  umbrella     all of them at once
  HEADER       this one
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate
from headers import all_headers, include_folder, others_of, sees_torch

# No use of them compiles, declarations included.
clashing = """#define I @component_benchmark_must_not_use_I
#define small @component_benchmark_must_not_use_small
#define min(a, b) @component_benchmark_must_write_parentheses_around_std_min
#define max(a, b) @component_benchmark_must_write_parentheses_around_std_max
"""
off_side = ("component_benchmark.hpp", "off.hpp", "hook/forward.hpp", "mode_sentinel.hpp", "resume.hpp")


def what_is_wrong(said):
    errors = [line for line in said.splitlines() if " error: " in line]
    if "component_benchmark_must" in said:
        return "uses a name that is a macro for others (I, small, min, max); rename it, or write (std::min)(a, b)"
    if errors and all("[-Werror" in line for line in errors):
        return "compiles alone, with a warning; " + errors[0].split(" error: ")[1]
    return "does not compile alone; include what it uses"


def compiles(asked, header, mode, folder):
    unit = pathlib.Path(folder) / "unit.cpp"
    first = "".join(f"#include <{name}>\n" for name in sorted(others_of(header))) if mode == 1 else ""
    unit.write_text(first + clashing * (mode == 1) + f"#include <component_benchmark/{header}>\n" * 2)
    flags = [*gate.flags_of(asked.flags), *gate.warnings, f"-DCOMPONENT_BENCHMARK_ENABLED={mode}", "-fsyntax-only"]
    return gate.compile(asked.compiler, [*flags, str(unit)])


def check(asked):
    headers = all_headers()
    if asked.which.endswith(".hpp"):
        headers = [asked.which]
    elif asked.which == "umbrella":
        headers = ["component_benchmark.hpp"]
    elif asked.which == "torch":
        headers = [one for one in headers if sees_torch(one)]
    else:
        headers = [one for one in headers if not sees_torch(one)]
    # off.hpp stands for a library that is off, and libtorch_*.hpp for the inside of interpose.hpp.
    pairs = [(one, 1) for one in headers if one != "off.hpp" and not one.startswith("hook/libtorch_")]
    pairs += [(one, 0) for one in off_side if asked.which == "torch_free"]
    with tempfile.TemporaryDirectory(prefix="component_benchmark_header_") as folder:
        for header, mode in pairs:
            status, said = compiles(asked, header, mode, folder)
            if status != 0:
                yield (f"include/component_benchmark/{header}:1: {what_is_wrong(said)} (COMPONENT_BENCHMARK_ENABLED={mode}):\n"
                       f"{said[:2000]}")
        print(f"{len(pairs)} headers")


asked = gate.arguments("which")
gate.run_once(asked, [include_folder], lambda: check(asked))
