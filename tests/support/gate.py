"""What the gates share: they compile by themselves, and remember what has passed.

A gate is a python3 program that CTest runs; it prints one sentence a broken rule and returns 1.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
skipped = 77  # how a gate ends that cannot be run here; Gates.cmake tells CTest
warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def arguments(*positional):
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True, type=pathlib.Path, help="include folders and definitions of a target")
    parser.add_argument("--memory", required=True, type=pathlib.Path, help="where to keep what has passed")
    for name in positional:
        parser.add_argument(name)
    return parser.parse_args()


def flags_of(file):
    """Of what Gates.cmake wrote: each include folder of others as -isystem, each definition but the mode."""
    flags = ["-std=c++20", "-I" + str(root / "include")]
    for line in file.read_text().splitlines():
        kind, _, value = line.partition(" ")
        if kind == "include" and value not in (str(root / "include"), "/usr/include"):
            flags += ["-isystem", value]
        elif kind == "define" and not value.startswith("COMPONENT_BENCHMARK_ENABLED"):
            flags.append("-D" + value)
    return flags


def program_14(name, package, what):
    """A program of clang 14: other versions say other things. Where it is not there, the gate ends as skipped and says
    `what` it decides.
    """
    for candidate in (name + "-14", name):
        if program := shutil.which(candidate):
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            if "version 14." in version:
                return program
    print(f"skipped: {what}, and it is not on PATH (Debian: {package})")
    sys.exit(skipped)


def files_below(paths):
    for path in paths:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def run_once(asked, inputs, gate, program=None):
    """Runs `gate`, a function that gives sentences, unless it has passed with the same inputs, files and flags, and the
    same `program`: the compiler, unless the gate uses another, which then says the same under every compiler.
    """
    unasked = ("flags", "memory", *(["compiler"] if program else []))
    version = subprocess.run([program or asked.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    wishes = [value for name, value in vars(asked).items() if name not in unasked]
    digest = hashlib.sha256(repr([version, wishes, flags_of(asked.flags)]).encode())
    for file in files_below([pathlib.Path(__file__), pathlib.Path(sys.argv[0]).resolve(), *inputs]):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    passed = asked.memory / digest.hexdigest()
    if passed.exists():
        print("unchanged since it passed")
        sys.exit(0)
    sentences = list(gate())
    for sentence in sentences:
        print(sentence)
    if not sentences:
        asked.memory.mkdir(parents=True, exist_ok=True)
        passed.touch()
    sys.exit(1 if sentences else 0)


def compile(compiler, flags, cwd=None):
    """The exit status and what the compiler said, in English and without colours or wrapping."""
    command = [compiler, "-fdiagnostics-color=never", *flags]
    if "clang" not in pathlib.Path(compiler).name:
        command.insert(1, "-fmessage-length=0")
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stdout + done.stderr
