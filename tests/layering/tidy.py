"""What clang-tidy 14 says of the headers: of all that do not see torch at once, in each mode that they are for, and, with
`torch`, of the rest in a file that runs a pipeline, so that templates are looked into. Which checks are off, and why,
stands in .clang-tidy.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate
from headers import all_headers, sees_torch

library = gate.root / "include"
config = gate.root / ".clang-tidy"
warned = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:warning|error): (?P<what>.*) \[(?P<check>[^\],]+)")
example = gate.root / "examples" / "02_own_plugins.cpp"


def units_in(folder):
    """The files that are looked at, with their modes; off, the umbrella is off.hpp."""
    if asked.which == "torch":
        return [(example, 1)]
    on = [one for one in all_headers() if not sees_torch(one) and not one.startswith(("off", "hook/libtorch_"))]
    units = [(pathlib.Path(folder) / "on.cpp", 1, on), (pathlib.Path(folder) / "off.cpp", 0, ["component_benchmark.hpp"])]
    for unit, _, headers in units:
        unit.write_text("".join(f"#include <component_benchmark/{name}>\n" for name in headers))
    return [(unit, mode) for unit, mode, _ in units]


def tidied(unit, mode):
    flags = [*gate.flags_of(asked.flags), f"-DCOMPONENT_BENCHMARK_ENABLED={mode}"]
    command = [program, "--quiet", f"--config-file={config}", str(unit), "--", *flags]
    return subprocess.run(command, capture_output=True, text=True)


def check():
    with tempfile.TemporaryDirectory(prefix="component_benchmark_tidy_") as folder:
        for unit, mode in units_in(folder):
            yield from sentences_of(tidied(unit, mode))


def sentences_of(done):
    found = {}
    for line in done.stdout.splitlines():
        if match := warned.match(line):
            file = pathlib.Path(match["file"]).resolve()
            shown = file.relative_to(gate.root) if file.is_relative_to(gate.root) else file
            found[f"{shown}:{match['line']}: clang-tidy, {match['check']}: {match['what']}."] = True
    yield from found
    if not found and done.returncode != 0:
        yield f"clang-tidy did not finish:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


asked = gate.arguments("which")
program = gate.program_14("clang-tidy", "clang-tidy-14", "clang-tidy 14 decides")
gate.run_once(asked, [library, config, example], check, program)
