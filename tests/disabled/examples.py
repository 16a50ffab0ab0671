"""Every example compiles with COMPONENT_BENCHMARK_ENABLED=0."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

examples = gate.root / "examples"


def check(asked):
    flags = gate.flags_of(asked.flags) + gate.warnings + ["-DCOMPONENT_BENCHMARK_ENABLED=0", "-I" + str(examples)]
    status, said = gate.compile(asked.compiler, [*flags, "-fsyntax-only", str(examples / asked.example)])
    if status != 0:
        yield (f"examples/{asked.example} does not compile with COMPONENT_BENCHMARK_ENABLED=0; what it uses has to have "
               f"an off side in include/component_benchmark/off.hpp:\n{said}")


asked = gate.arguments("example")
gate.run_once(asked, [gate.root / "include", examples], lambda: check(asked))
