"""A wrong use does not compile, and the message is the promised sentence; the twin without the mistake compiles.

A source begins with its cases: `// MACRO` makes one mistake, and the indented line below is how the sentence begins.
The sentence must be among the first two errors, and no other sentence of the library may stand beside it.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent
tests = here.parent
fewest_words = 5


def sentences_of(said):
    """Of each error, its number and what the library says in it, if anything."""
    errors = [line for line in said.splitlines() if re.search(r"\berror:", line)]
    for number, line in enumerate(errors, 1):
        if found := re.search(r"error: static.*(component_benchmark: .*)", line.replace('\\"', '"')):
            yield number, found[1].removeprefix("component_benchmark: ").rstrip('"')


def check_cases(text, named):
    """Nothing that looks like a case is passed over in silence."""
    used = set()
    for line in re.findall(r"^\s*#\s*(?:el)?if(?:n?def)?\b(.*)$", text, re.MULTILINE):
        used |= set(re.findall(r"\b[A-Za-z_]\w*\b", line)) - {"defined"}
    if not named:
        yield f"{asked.source}: no cases: at the top, `// MACRO`, and below it, indented, how the sentence begins."
    for macro in sorted(used - named):
        yield f"{asked.source}, {macro}: the macro is used, and no case at the top of the file says what is expected of it."
    for macro in sorted(named - used):
        yield f"{asked.source}, {macro}: a case, and the file does not use the macro."


def check(asked):
    source = here / asked.source
    cases = re.findall(r"^// ([A-Z][A-Z0-9_]*)\n//     (.*)$", source.read_text(), re.MULTILINE)
    yield from check_cases(source.read_text(), {macro for macro, _ in cases})
    flags = gate.flags_of(asked.flags) + ["-I" + str(tests), "-fsyntax-only", str(source)]
    status, said = gate.compile(asked.compiler, flags + gate.warnings)
    if status != 0:
        yield f"{asked.source}: the twin without a mistake must compile, and the compiler says:\n{said}"
        return
    for macro, sentence in cases:
        if len(sentence.split()) < fewest_words:
            yield (f"{asked.source}, {macro}: {sentence!r} is not a sentence: promise {fewest_words} words or more of what "
                   f"the library says.")
            continue
        status, said = gate.compile(asked.compiler, flags + ["-D" + macro])
        found = list(sentences_of(said))
        if status == 0:
            yield f"{asked.source}, {macro}: must not compile, and does; expected is: {sentence}"
        elif len({text for _, text in found}) != 1 or not found[0][1].startswith(sentence) or found[0][0] > 2:
            given = "; ".join(f"error {number}: {text}" for number, text in found) or "no sentence of the library"
            yield f"{asked.source}, {macro}: expected among the first two errors, and alone: {sentence}\n    given: {given}"
            if not found:
                yield said[:3000]
        else:
            print(f"{asked.source}, {macro}: {found[0][1]}")


asked = gate.arguments("source")
gate.run_once(asked, [gate.root / "include", here, tests / "support"], lambda: check(asked))
