"""Runs a script of this folder as the other gates run: not again while nothing that it takes in has changed.

once.py --compiler C --flags F --memory M CMAKE GENERATOR MAKE_PROGRAM LIBTORCH BUILD_FOLDER SCRIPT [WAY]
"""
import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent


def run():
    command = [str(here / asked.script), *asked.way, asked.cmake, asked.generator, asked.make_program, asked.compiler,
               asked.libtorch, asked.build]
    status = subprocess.run(command).returncode
    if status == gate.skipped:
        sys.exit(gate.skipped)
    if status != 0:
        yield f"{asked.script} {' '.join(asked.way)} ended with {status}"


parser = argparse.ArgumentParser()
parser.add_argument("--compiler", required=True)
parser.add_argument("--flags", required=True, type=pathlib.Path)
parser.add_argument("--memory", required=True, type=pathlib.Path)
for name in ("cmake", "generator", "make_program", "libtorch", "build", "script"):
    parser.add_argument(name)
parser.add_argument("way", nargs="*")
asked = parser.parse_args()
gate.run_once(asked, [gate.root / name for name in ("include", "cmake", "CMakeLists.txt", "tests/package")], run)
