"""A program profiles a model out of modules of two shared libraries that hide their symbols.

Everything is compiled once and linked in each way: as it is, with -flto, without the hooks of LibTorch's forwards (as
with a static LibTorch), and with libraries that the program loads while it runs.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate

here = pathlib.Path(__file__).resolve().parent
sources = {"left": here / "side.cpp", "right": here / "side.cpp", "program": here / "program.cpp",
           "interpose": gate.root / "include" / "component_benchmark" / "hook" / "interpose.cpp"}
hidden = ["-O1", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"]


class builder:
    def __init__(self, asked, folder):
        self.asked, self.folder, self.broken = asked, folder, []
        self.is_clang = "clang" in pathlib.Path(asked.compiler).name
        self.libtorch = ["-L" + asked.libtorch, "-Wl,-rpath," + asked.libtorch, "-ltorch_cpu", "-lc10", "-ldl"]

    def run(self, what, *flags):
        status, said = gate.compile(self.asked.compiler, list(flags), cwd=self.folder)
        if status != 0:
            self.broken.append(f"{what}:\n{said}")
        return status == 0

    # Object files for both kinds of linking: g++ puts two things into one, clang 14 makes the one out of the other.
    def compile(self, name):
        lto = ["-flto"] if self.is_clang else ["-flto", "-ffat-lto-objects"]
        done = self.run(f"{sources[name].name} does not compile", *gate.flags_of(self.asked.flags), *gate.warnings, *hidden,
                        *lto, f"-DSIDE={name}_side", "-c", str(sources[name]), "-o", name + ".lto.o")
        if self.is_clang:
            return done and self.run("no object of its bitcode", *hidden, "-c", "-x", "ir", name + ".lto.o", "-o", name + ".o")
        return done and bool(shutil.copy(self.folder / (name + ".lto.o"), self.folder / (name + ".o")))

    def link(self, way, suffix, *flags):
        (self.folder / way).mkdir()
        for name in ("left", "right"):
            if not self.run(f"lib{name}.so does not link {way}", *flags, "-shared", name + suffix, "-o", f"{way}/lib{name}.so",
                            *self.libtorch):
                return
        linked = ["-Wl,--no-as-needed", "-L" + way, "-lleft", "-lright", "-Wl,-rpath,$ORIGIN"]
        for name, parts in {"program": ["program", "interpose"], "not_seen": ["program"]}.items():
            self.run(f"the program does not link {way}", *flags, *[part + suffix for part in parts], "-o", f"{way}/{name}",
                     *linked, *self.libtorch)

    def link_loading(self):
        (self.folder / "loading").mkdir()
        self.run("the program does not link with -rdynamic", "-fno-lto", "-rdynamic", "program.o", "interpose.o",
                 "-o", "loading/program", *self.libtorch)


def runs(make, program, *arguments):
    done = subprocess.run([str(make.folder / program), *arguments], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        yield f"{' '.join([program, *arguments])} ends with {done.returncode}:\n{done.stdout}{done.stderr}"


def ways(make):
    yield "plain", ".o", ["-fno-lto"]
    if not make.is_clang:
        yield "lto", ".lto.o", ["-flto", "-O1"]
    elif shutil.which("ld.lld") or shutil.which("ld.lld-14"):
        yield "lto", ".lto.o", ["-flto", "-O1", "-fuse-ld=lld"]
    else:
        print("not tried: clang's -flto, which needs lld")


def check(asked):
    with tempfile.TemporaryDirectory(prefix="component_benchmark_shared_") as name:
        make = builder(asked, pathlib.Path(name))
        if all([make.compile(part) for part in sources]):
            tried = list(ways(make))
            for way, suffix, flags in tried:
                make.link(way, suffix, *flags)
            make.link_loading()
        yield from make.broken
        if make.broken:
            return
        for way, _, _ in tried:
            yield from runs(make, f"{way}/program")
            yield from runs(make, f"{way}/not_seen", "not_seen")
        yield from runs(make, "loading/program", str(make.folder / "plain/libleft.so"), str(make.folder / "plain/libright.so"))


asked = gate.arguments("libtorch")
gate.run_once(asked, [gate.root / "include", here], lambda: check(asked))
