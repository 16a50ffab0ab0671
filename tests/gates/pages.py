"""What README.md and docs/ name is there: links with their headings, scripts, and the tests and targets of commands.

Names of tests and targets are read from the CMake files, where ${...} stands for any text.  pages.py [ROOT]
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
scripts = [root / "CMakeLists.txt", *(path for folder in ("tests", "examples", "bench") if (root / folder).exists()
                                      for path in sorted((root / folder).rglob("CMakeLists.txt")))]
makers = {
    "tests": r"(?:component_benchmark_gate|component_benchmark_test_entry)\(\s*(\S+)|add_test\(NAME (\S+)|"
             r"catch_discover_tests\((\S+)",
    "targets": r"(?:add_executable|add_library|add_custom_target)\(\s*([^\s)]+)",
}


def names_made(kind):
    """As regular expressions; what begins with a variable could be anything, and is left out."""
    found = set()
    for script in scripts:
        for groups in re.findall(makers[kind], script.read_text()):
            for name in [groups] if isinstance(groups, str) else filter(None, groups):
                if not name.startswith("$"):
                    found.add(name)
    return found


def anchors_of(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def check_links(page, number, line):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`(?!\])", "", line)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{shown(page)}:{number}: the link {target} leads to nothing."
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
            yield f"{shown(page)}:{number}: {shown(file)} has no heading {anchor!r}."


def matches(wish, name):
    """Whether a test of this name, ${...} being any text, can be one that `ctest -R wish` runs."""
    literal = re.split(r"\$\{[^}]*\}", name)
    return bool(re.search(wish, name)) or len(literal) > 1 and wish.startswith(literal[0])


def check_commands(page, number, line):
    for command in re.findall(r"`([^`]+)`", line):
        for wish in re.findall(r"ctest\b[^&]* -R '?([\w.^|()$]+)'?", command):
            if not any(matches(wish, name) for name in tests):
                yield f"{shown(page)}:{number}: `ctest -R {wish}` runs nothing; no CMakeLists.txt makes such a test."
        for words in re.findall(r"cmake --build \S+ --target ((?:\w+ ?)+)", command):
            for target in words.split():
                if target not in targets:
                    yield f"{shown(page)}:{number}: `--target {target}`: no CMakeLists.txt makes such a target."
        for script in re.findall(r"(?:^|python3 (?:-B )?)((?:\./)?(?:tests|tools|bench|examples)/[\w/]+\.(?:sh|py))\b", command):
            if not (root / script).exists():
                yield f"{shown(page)}:{number}: there is no {script}."


def shown(path):
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def check():
    for page in pages:
        in_code = False
        for number, line in enumerate(page.read_text().splitlines(), 1):
            in_code ^= line.lstrip().startswith("```")
            if not in_code:
                yield from check_links(page, number, line)
                yield from check_commands(page, number, line)


tests, targets = names_made("tests"), names_made("targets")
sentences = list(check())
print("\n".join(sentences) if sentences else f"{len(pages)} pages name what is there")
sys.exit(1 if sentences else 0)
