"""Off, hooks and pipelines leave nothing: a file compiles to the same bytes as with their lines blanked.

Both are compiled under one path with one line count; with -g, after strip --strip-debug.
  hooks      hooks of every argument shape, -O0 and -O2
  umbrella   the same with the umbrella included, -O2; like its twin it has the sentinel of the mode. At -O0 g++ orders
             code by what was included, <string> is enough, and so only hook/forward.hpp is promised there
  deepfm     the model of the main job, -O0 and -O2; deepfm_with_debug_info with -g
  pipeline   a pipeline from its making to a metric that is read, -O2
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent
models = gate.root / "examples" / "models"
forward = "#include <component_benchmark/hook/forward.hpp>"
umbrella = "#include <component_benchmark/component_benchmark.hpp>"
sentinel = "#include <component_benchmark/mode_sentinel.hpp>"

plain = [["-O0"], ["-O2"]]
with_debug_info = [["-O0", "-g"], ["-O2", "-g"]]
levels = {
    "hooks": plain + with_debug_info,
    "umbrella": [["-O2"]],
    "deepfm": plain,
    "deepfm_with_debug_info": with_debug_info,
    "pipeline": [["-O2"], ["-O2", "-g"]],
}


def blanked(text):
    """The same lines without hooks, without what stands between the marks, without our includes."""
    lines = []
    inside = False
    for line in text.splitlines():
        inside = (inside or "// begin profile" in line) and "// end profile" not in line
        ours = re.match(r"\s*(CB_\w+\(|COMPONENT_BENCHMARK_\w+\(|#include <component_benchmark/|namespace cb =)", line)
        keeps_sentinel = line == umbrella
        lines.append(sentinel if keeps_sentinel else "" if ours or inside else line)
    return "\n".join(lines) + "\n"


def source_of(case):
    return here / ({"umbrella": "hooks"}.get(case, case.split("_")[0]) + ".cpp")


def write(folder, case, change):
    source = source_of(case).read_text()
    if case == "umbrella":
        source = source.replace(forward, umbrella)
    (folder / "unit.cpp").write_text(change(source))
    if case.startswith("deepfm"):
        (folder / "models").mkdir(exist_ok=True)
        for header in models.glob("*.hpp"):
            (folder / "models" / header.name).write_text(change(header.read_text()))


def object_of(folder, asked, flags):
    status, said = gate.compile(asked.compiler, [*flags, "-c", "unit.cpp", "-o", "unit.o"], cwd=folder)
    if status != 0:
        return None, said
    if "-g" in flags:
        subprocess.run(["strip", "--strip-debug", "unit.o"], cwd=folder, check=True)
    return (folder / "unit.o").read_bytes(), said


def sections(content, folder):
    (folder / "one.o").write_bytes(content)
    listed = subprocess.run(["size", "-A", "one.o"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return {tuple(line.split()[:2]) for line in listed.splitlines() if line.startswith(".")}


def compare(folder, asked, level):
    flags = gate.flags_of(asked.flags) + ["-DCOMPONENT_BENCHMARK_ENABLED=0", "-I.", *level]
    source = source_of(asked.case).relative_to(gate.root)
    where = f"{asked.case}, {source}, {pathlib.Path(asked.compiler).name} {' '.join(level)}"
    write(folder, asked.case, str)
    off, said = object_of(folder, asked, flags + gate.warnings)
    if off is None:
        return f"off mode does not compile ({where}):\n{said}"
    write(folder, asked.case, blanked)
    # Without warnings: the twin has parameters that nobody uses.
    twin, said = object_of(folder, asked, flags)
    if twin is None:
        return f"the twin with blanked lines does not compile ({where}):\n{said}"
    if off == twin:
        print(f"{where}: {len(off)} bytes, the same")
        return None
    differing = ", ".join(sorted({name for name, _ in sections(off, folder) ^ sections(twin, folder)}))
    return (f"off mode leaves something behind ({where}): the object is not that of the same file with hooks and "
            f"pipeline blanked; sections of another size: {differing or 'none'}. See tests/disabled/object_identity.py.")


def check(asked):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="component_benchmark_off_"))
    try:
        for level in levels[asked.case]:
            if sentence := compare(folder, asked, level):
                return [sentence]
        return []
    finally:
        shutil.rmtree(folder)


asked = gate.arguments("case")
inputs = [gate.root / "include", here, *([models] if asked.case.startswith("deepfm") else [])]
gate.run_once(asked, inputs, lambda: check(asked))
