"""Which lines of include/ the tests run, from a build with --coverage whose tests have run: coverage.py BUILD_FOLDER

Prints the share, and the files that are least covered. A line counts once, however often its template was instantiated.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

root = pathlib.Path(__file__).resolve().parents[2]
library = root / "include" / "component_benchmark"
goal = 95.0


def lines_of(data):
    """(file, line, was it run) of what one object file tells."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--object-directory", str(data.parent), str(data)],
                          capture_output=True, text=True)
    found = []
    for text in done.stdout.splitlines():
        for file in json.loads(text).get("files", []):
            path = pathlib.Path(file["file"])
            path = (path if path.is_absolute() else data.parent / path).resolve()
            if path.is_relative_to(library):
                found += [(path, line["line_number"], line["count"] > 0) for line in file["lines"]]
    return found


def main(folder):
    data = sorted(pathlib.Path(folder).rglob("*.gcda"))
    if not data:
        sys.exit(f"no .gcda below {folder}: build with --coverage and run the tests first")
    run = collections.defaultdict(dict)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lines_of, data):
            for path, line, was_run in found:
                run[path][line] = run[path].get(line, False) or was_run
    shares = {path: 100.0 * sum(lines.values()) / len(lines) for path, lines in run.items() if lines}
    for path in sorted(shares, key=shares.get)[:10]:
        missed = sorted(line for line, was_run in run[path].items() if not was_run)
        print(f"{shares[path]:6.1f} %  {path.relative_to(root)}  not run: {', '.join(map(str, missed[:20]))}")
    total = 100.0 * sum(sum(lines.values()) for lines in run.values()) / sum(len(lines) for lines in run.values())
    print(f"{total:.1f} % of the lines of include/ are run by the tests; the goal is {goal:.0f} %")
    return 0 if total >= goal else 1


sys.exit(main(sys.argv[1]))
