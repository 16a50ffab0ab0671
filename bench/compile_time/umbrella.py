#!/usr/bin/env python3
"""What including the library adds to a file that includes torch/torch.h: user seconds of the compiler, in turns.

umbrella.py CXX LIBTORCH_FOLDER [ROUNDS]; prints a row of the table that bench/run.sh puts together."""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    compiler, libtorch = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    flags = ["-std=c++20", "-O2", "-DNDEBUG", "-DFMT_HEADER_ONLY", "-c", f"-I{ROOT}/include", f"-isystem{libtorch}/include",
             f"-isystem{libtorch}/include/torch/csrc/api/include"]
    times = {"plain": [], "with": []}
    with tempfile.TemporaryDirectory() as folder:
        sources = {"plain": "#include <torch/torch.h>\n",
                   "with": "#include <torch/torch.h>\n#include <component_benchmark/component_benchmark.hpp>\n"}
        for name, text in sources.items():
            pathlib.Path(folder, name + ".cpp").write_text(text, encoding="utf-8")
        for _ in range(rounds):
            for name, seconds in times.items():
                seconds.append(user_seconds([compiler, *flags, f"{folder}/{name}.cpp", "-o", f"{folder}/{name}.o"]))
    plain, both = (statistics.median(times[name]) for name in ("plain", "with"))
    ratio = both / plain
    print(f"| compile torch.h and the umbrella / torch.h alone, {os.path.basename(compiler)} | {ratio:.3f} x "
          f"({plain:.1f} s, {both:.1f} s) | 1.15 x | {'yes' if ratio <= 1.15 else 'no'} |", flush=True)


main()
