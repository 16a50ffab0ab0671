"""A program built off runs, prints nothing and writes nothing."""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent


def check(asked):
    with tempfile.TemporaryDirectory(prefix="component_benchmark_off_") as name:
        built, empty = pathlib.Path(name) / "program", pathlib.Path(name) / "empty"
        empty.mkdir()
        flags = gate.flags_of(asked.flags) + gate.warnings + ["-DCOMPONENT_BENCHMARK_ENABLED=0"]
        status, said = gate.compile(asked.compiler, [*flags, str(here / "program.cpp"), "-o", str(built)])
        if status != 0:
            yield "tests/disabled/program.cpp does not compile with COMPONENT_BENCHMARK_ENABLED=0:\n" + said
            return
        done = subprocess.run([built], cwd=empty, capture_output=True, text=True)
        if done.returncode != 0:
            yield f"a program built off must find every metric unavailable; it returned {done.returncode}."
        if done.stdout + done.stderr:
            yield "a program built off must print nothing; it printed:\n" + done.stdout + done.stderr
        for left in empty.iterdir():
            yield f"a program built off must write no file; it wrote {left.name}."


asked = gate.arguments()
gate.run_once(asked, [gate.root / "include", here], lambda: check(asked))
