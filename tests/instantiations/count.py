"""Counts the templates of ours, or over types of ours, that clang 14 instantiates in files as users write them.

The numbers stand in baseline.json, with a tolerance of 3 %. More than that is a change that says why, and fewer are to be
kept: `COMPONENT_BENCHMARK_APPROVE=1` writes them anew. clang counts in every build alike, so seconds do not matter.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent
baseline = here / "baseline.json"
sources = {
    "torch_free": [here / "pipeline.cpp"],
    "torch": [here / "umbrella.cpp", here / "module.cpp", gate.root / "examples" / "01_first_profile.cpp"],
}
tolerance = 0.03


def count(source):
    """Instantiations of classes and of functions."""
    with tempfile.TemporaryDirectory(prefix="component_benchmark_instantiations_") as folder:
        written = pathlib.Path(folder) / "unit.o"
        flags = [*gate.flags_of(asked.flags), "-DCOMPONENT_BENCHMARK_ENABLED=1", f"-I{gate.root / 'tests'}", "-ftime-trace",
                 "-ftime-trace-granularity=0", "-c", str(source), "-o", str(written)]
        status, said = gate.compile(asked.compiler, flags)
        if status != 0:
            sys.exit(f"{source} does not compile:\n{said[:2000]}")
        events = json.loads(written.with_suffix(".json").read_text())["traceEvents"]
    found = {"classes": 0, "functions": 0}
    kinds = {"InstantiateClass": "classes", "InstantiateFunction": "functions"}
    for event in events:
        if event["name"] in kinds and "component_benchmark" in event["args"]["detail"]:
            found[kinds[event["name"]]] += 1
    return found


def check():
    known = json.loads(baseline.read_text()) if baseline.exists() else {}
    now = {source.name: count(source) for source in sources[asked.which]}
    if os.environ.get("COMPONENT_BENCHMARK_APPROVE") == "1":
        baseline.write_text(json.dumps({**known, **now}, indent=4, sort_keys=True) + "\n")
        return
    for name, counts in now.items():
        for kind, number in counts.items():
            expected = known.get(name, {}).get(kind)
            if expected is None:
                yield f"{name}: no number of {kind} in tests/instantiations/baseline.json."
            elif abs(number - expected) > max(tolerance * expected, 1):
                yield (f"{name}: {number} instantiations of {kind}, and {expected} in tests/instantiations/baseline.json; "
                       f"find what makes them, or, if the change is worth it, say why in the commit and run this again "
                       f"with COMPONENT_BENCHMARK_APPROVE=1.")
    print(json.dumps(now))


asked = gate.arguments("which")
version = subprocess.run([asked.compiler, "--version"], capture_output=True, text=True, check=True).stdout
if "clang version 14." not in version:
    print("skipped: the numbers are those of clang 14")
    sys.exit(gate.skipped)
inputs = [gate.root / "include", baseline, *sources[asked.which], gate.root / "tests" / "support" / "fake_model.hpp"]
gate.run_once(asked, [one for one in inputs if one.exists()], check)
