"""What clang-tidy 14 says of the headers: of all that do not see torch at once, and, with `torch`, of the rest in a file
that runs a pipeline, so that templates are looked into. Which checks are off, and why, stands in .clang-tidy.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

library = gate.root / "include"
config = gate.root / ".clang-tidy"
warned = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:warning|error): (?P<what>.*) \[(?P<check>[^\],]+)")
torch_free = ("core/*.hpp", "result/*.hpp", "sink/*.hpp", "compare/*.hpp", "pipeline/*.hpp", "concepts.hpp", "fwd.hpp")


def unit_in(folder):
    """The file that is looked at."""
    if asked.which == "torch":
        return gate.root / "examples" / "02_own_plugins.cpp"
    headers = sorted(p.relative_to(library).as_posix() for pattern in torch_free
                     for p in (library / "component_benchmark").glob(pattern))
    unit = pathlib.Path(folder) / "unit.cpp"
    unit.write_text("".join(f"#include <{name}>\n" for name in headers))
    return unit


def check():
    with tempfile.TemporaryDirectory(prefix="component_benchmark_tidy_") as folder:
        flags = [*gate.flags_of(asked.flags), "-DCOMPONENT_BENCHMARK_ENABLED=1"]
        command = [program, "--quiet", f"--config-file={config}", str(unit_in(folder)), "--", *flags]
        done = subprocess.run(command, capture_output=True, text=True)
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
program = gate.program_14("clang-tidy")
if program is None:
    print("skipped: clang-tidy 14 decides, and it is not on PATH (Debian: clang-tidy-14)")
    sys.exit(gate.skipped)
gate.run_once(asked, [library, config, gate.root / "examples" / "02_own_plugins.cpp"], check, program)
