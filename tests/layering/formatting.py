"""Every C++ file is as clang-format 14 writes it. Other versions write other things, so only 14 is asked."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

root = gate.root
program = gate.program_14("clang-format", "clang-format-14", "clang-format 14 decides")
# Where it is told to look away, and why.
unformatted = {
    "include/component_benchmark/device/datasheet.hpp": "a table; its columns are compared with their sources",
    "include/component_benchmark/device/derived.hpp": "a table; its columns are compared with their sources",
    "include/component_benchmark/hook/libtorch_forwards.hpp": "a table, one line a forward",
}
suffixes = (".hpp", ".cpp", ".h", ".hh", ".hxx", ".cc", ".cxx", ".cu", ".cuh", ".inc")
folders = [pathlib.Path(one) for one in sys.argv[1:]] or [root / one for one in ("include", "examples", "tests", "bench")]
files = sorted(str(p) for folder in folders for p in folder.rglob("*") if p.suffix in suffixes)
done = subprocess.run([program, "--dry-run", f"--style=file:{root / '.clang-format'}", "-fno-color-diagnostics", *files],
                      capture_output=True, text=True)


def shown(file):
    """As people name it: below the root of the sources, or of the folder that was asked for."""
    path = pathlib.Path(file).resolve()
    for base in (root, *(folder.resolve().parent for folder in folders)):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return str(path)


def sentences():
    warned = {}
    for line in done.stderr.splitlines():
        if found := re.match(r"(.*?):(\d+):\d+: warning: code should be clang-formatted", line):
            warned.setdefault(found[1], found[2])
    for file, line in warned.items():
        name = shown(file)
        yield f"{name}:{line}: not as clang-format 14 writes it; run {pathlib.Path(program).name} -i {name}"
    if not warned and done.returncode != 0:
        yield done.stderr
    for file in files:
        content = pathlib.Path(file).read_bytes()
        if b"\r" in content:
            number = content[:content.index(b"\r")].count(b"\n") + 1
            yield f"{shown(file)}:{number}: a line ends in a carriage return; lines end in a line feed alone."
        if content and not content.endswith(b"\n"):
            yield f"{shown(file)}:{content.count(10) + 1}: the last line has no end; add a line feed."
        for number, line in enumerate(content.decode().splitlines(), 1):
            if re.search(r"//\s*clang-format\s+off|/\*\s*clang-format\s+off", line) and shown(file) not in unformatted:
                yield (f"{shown(file)}:{number}: `clang-format off` needs a reason: write it as clang-format 14 does, or "
                       f"name the file with the reason in `unformatted` in tests/layering/formatting.py.")


found = list(sentences())
print("\n".join(found) if found else f"{len(files)} files are as clang-format 14 writes them")
sys.exit(1 if found else 0)
