"""Every C++ file is as clang-format 14 writes it. Other versions write other things, so only 14 is asked."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

root = gate.root
program = gate.program_14("clang-format")
if program is None:
    print("skipped: clang-format 14 decides, and it is not on PATH (Debian: clang-format-14)")
    sys.exit(gate.skipped)
folders = [pathlib.Path(one) for one in sys.argv[1:]] or [root / one for one in ("include", "examples", "tests", "bench")]
files = sorted(str(p) for folder in folders for p in folder.rglob("*") if p.suffix in (".hpp", ".cpp"))
done = subprocess.run([program, "--dry-run", f"--style=file:{root / '.clang-format'}", "-fno-color-diagnostics", *files],
                      capture_output=True, text=True)
found = {}
for line in done.stderr.splitlines():
    if warned := re.match(r"(.*?):(\d+):\d+: warning: code should be clang-formatted", line):
        found.setdefault(warned[1], warned[2])
for file, line in found.items():
    name = pathlib.Path(file)
    shown = name.relative_to(root) if name.is_relative_to(root) else name
    print(f"{shown}:{line}: not as clang-format 14 writes it; run {pathlib.Path(program).name} -i {shown}")
if not found and done.returncode != 0:
    print(done.stderr)
if not found:
    print(f"{len(files)} files are as clang-format 14 writes them")
sys.exit(1 if found or done.returncode else 0)
