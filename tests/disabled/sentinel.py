"""Parts that are built on do not link with parts that are built off."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

symbol = "component_benchmark_translation_units_built_with_different_COMPONENT_BENCHMARK_ENABLED"
umbrella = "#include <component_benchmark/component_benchmark.hpp>\n"
sentinel = "#include <component_benchmark/mode_sentinel.hpp>\n"
hook = "#include <component_benchmark/hook/forward.hpp>\n"


class builder:
    def __init__(self, asked, folder):
        self.asked, self.folder = asked, folder

    def build(self, name, text, mode, *flags):
        (self.folder / name).with_suffix(".cpp").write_text(text)
        return gate.compile(self.asked.compiler, [*gate.flags_of(self.asked.flags), "-fPIC", *flags, "-c", name + ".cpp",
                                                  f"-DCOMPONENT_BENCHMARK_ENABLED={mode}", "-o", name + ".o"],
                            cwd=self.folder)

    # A shared library, so that what LibTorch's headers refer to may stay open.
    def link(self, *names, flags=()):
        return gate.compile(self.asked.compiler, ["-shared", *flags, *[name + ".o" for name in names], "-o", "linked.so"],
                            cwd=self.folder)


def links(make, what, *names, flags=()):
    status, said = make.link(*names, flags=flags)
    if status != 0:
        yield f"{what} must link, and the linker says:\n{said}"


def refuses(make, what, *names, flags=()):
    status, said = make.link(*names, flags=flags)
    if status == 0 or "multiple definition" not in said or symbol not in said:
        yield (f"{what} must not link: `multiple definition of ...{symbol[20:]}` is expected from the linker, and it "
               f"says: {said or 'nothing'}")


def check(asked):
    with tempfile.TemporaryDirectory(prefix="component_benchmark_mode_") as name:
        make = builder(asked, pathlib.Path(name))
        # On, a file with hooks brings the sentinel; without LibTorch only the sentinel's own header can be tried.
        on = hook if asked.hooks == "on" else sentinel
        sources = {"on_1": (on, 1), "on_2": (sentinel, 1), "off_1": (umbrella, 0), "off_2": (umbrella, 0), "bare": (hook, 0)}
        for name, (text, mode) in sources.items():
            status, said = make.build(name, text, mode)
            if status != 0:
                yield f"{text.strip()} with COMPONENT_BENCHMARK_ENABLED={mode} does not compile:\n{said}"
                return
        yield from links(make, "two parts built on", "on_1", "on_2")
        yield from links(make, "two parts built off", "off_1", "off_2", "bare")
        yield from refuses(make, "a part built on with a part built off", "on_1", "off_1")
        yield from refuses(make, "a part built off with a part built on", "off_2", "on_2")
        for name, mode in (("on_1", 1), ("on_2", 1), ("off_1", 0)):
            make.build(name, sentinel, mode, "-flto")
        yield from links(make, "two parts built on with -flto", "on_1", "on_2", flags=["-flto"])
        yield from refuses(make, "mixed parts with -flto", "on_1", "off_1", flags=["-flto"])


asked = gate.arguments("hooks")
gate.run_once(asked, [gate.root / "include"], lambda: check(asked))
