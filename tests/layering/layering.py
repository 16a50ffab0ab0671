"""The rules of include/component_benchmark: which folder may include what, and how a header looks.

Each broken rule is a sentence with the file and the line. `layering.py FOLDER` checks another include folder.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "include")
library = folder / "component_benchmark"

# Ours: the folders and top-level headers that a folder (or a top-level header) may include, besides its own.
# Others: what it may include of third parties (a folder ends in /). The standard library, below, is free.
hana, fmt, aten = ("boost/hana/",), ("fmt/",), ("ATen/", "c10/")
crc = ("boost/crc.hpp",)
torch_module = ("torch/nn/module.h", *aten)
table = {
    "core": (("config.hpp", "fwd.hpp"), hana + fmt),
    "result": (("core", "concepts.hpp"), hana + fmt + crc),
    "sink": (("core", "concepts.hpp", "result"), fmt + crc),
    "compare": (("core", "concepts.hpp", "result"), fmt + crc),
    "pipeline": (("core", "concepts.hpp", "result", "version.hpp"), hana),
    "hook": (("core", "config.hpp", "mode_sentinel.hpp"), hana + torch_module),
    "capture": (("core", "concepts.hpp", "hook"), torch_module + ("torch/csrc/autograd/", "torch/version.h")),
    "provider": (("core", "concepts.hpp", "hook", "capture"), torch_module + ("torch/csrc/autograd/",)),
    "preprocess": (("core", "concepts.hpp"), aten),
    "device": (("core",), aten),
    "profile": (("core", "concepts.hpp", "device"), hana + aten),
    "config.hpp": ((), ()),
    "version.hpp": ((), ()),
    "fwd.hpp": ((), ()),
    "mode_sentinel.hpp": (("config.hpp",), ()),
    "concepts.hpp": (("core",), hana),
    "off": (("core",), ()),
    "off.hpp": (("core", "mode_sentinel.hpp", "off"), ()),
    "resume.hpp": (("config.hpp", "off.hpp", "sink"), ()),
}
# What only the headers named here may include, whatever their folder may: the first that needs it is named here.
only_in = {
    "torch/nn.h": ("hook/interpose.hpp",),
    "torch/nn/modules/container/sequential.h": ("capture/sequential.hpp",),
    "torch/nn/modules/embedding.h": ("capture/memory_guard.hpp",),
    "torch/nn/modules/linear.h": ("capture/self_test.hpp",),
    "torch/script.h": (),
    "torch/csrc/jit/*": (),
    "torch/csrc/distributed/*": (),
    "nlohmann/*": ("sink/journal_head.hpp", "sink/json_source.hpp", "sink/read_journal.hpp"),
    "protozero/*": (),
    "zlib.h": (),
    "cupti*": (),
    "nvtx3/*": (),
    "catch2/*": ("catch2.hpp",),
}
# Of those, what is not there for everybody: nothing that the umbrella reaches may include it.
optional = ("nlohmann/*", "protozero/*", "zlib.h", "cupti*", "nvtx3/*", "catch2/*")
one_device = "use c10's device-generic API; the library builds without CUDA"
whole_aten = "it declares every operator; include the header of ATen that you need"
never = {
    "torch/torch.h": "it costs 11 seconds of every compile; include the torch header that you need",
    "torch/all.h": "it costs 11 seconds of every compile; include the torch header that you need",
    "boost/hana.hpp": "include the parts of Hana that you need, from boost/hana/",
    "iostream": "it puts static objects into every file; use <cstdio> or <ostream>",
    "ATen/ATen.h": whole_aten,
    "ATen/Functions.h": whole_aten,
    "ATen/NativeFunctions.h": whole_aten,
    **{f"{of}/{device}/": one_device for of in ("ATen", "c10") for device in ("cuda", "cudnn", "hip", "miopen", "mps", "xpu")},
    "torch/csrc/autograd/python_*": "the library builds without Python",
    "torch/extension.h": "the library builds without Python",
}
# C++20's, as far as clang 14 has it, less <iostream>; C's headers by their names in C++.
standard = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list fstream
functional future initializer_list iomanip ios iosfwd istream iterator latch limits list locale map memory
memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore
set shared_mutex span sstream stack stdexcept stop_token streambuf string string_view syncstream
system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
version
""".split())
# What of the system's own headers, and where; a new one is a line here.
system = {
    "dlfcn.h": ("hook", "capture", "device"),
    "fcntl.h": ("sink",),
    "malloc.h": ("capture",),
    "pthread.h": ("core",),
    "sched.h": ("device", "pipeline"),
    "signal.h": ("core", "pipeline"),
    "sys/*": ("device", "pipeline"),
    "sys/ioctl.h": ("core",),
    "sys/stat.h": ("sink",),
    "unistd.h": ("core", "device", "pipeline", "sink"),
}
umbrella = "component_benchmark.hpp"
# Not for everybody, so not in the umbrella.
opt_in = {"fwd.hpp", "catch2.hpp", "hook/interpose.hpp", "hook/libtorch_forwards.hpp", "hook/libtorch_norms.hpp",
          "resume.hpp", "sink/journal_head.hpp", "sink/json_source.hpp", "sink/read_journal.hpp"}
cap, much = 300, 250
exempt_from_cap = {"hook/libtorch_forwards.hpp"}  # a table
sources = {"hook/interpose.cpp"}  # compiled into the user's program; everything else is a header
directive = re.compile(r"^\s*(?:#|%:)\s*(?:include|include_next|import)\b|^\s*(?:export\s+)?import\s*[<\"]")
include = re.compile(r'\s*#\s*include ([<"])([^>"]+)[>"](?: *//.*)?')
comment_or_text = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)


def files():
    """Headers and sources."""
    return sorted(p.relative_to(library).as_posix() for p in library.rglob("*") if p.is_file())


def headers():
    return [one for one in files() if one.endswith(".hpp")]


def lines_of(header):
    return (library / header).read_text().splitlines()


def place(header, number):
    return f"include/component_benchmark/{header}:{number}"


def directives_of(header):
    """As the compiler sees them, without comments and with spliced lines joined, and the line in which each begins."""
    text = re.sub(r"\\[ \t]*\r?\n", "\0", (library / header).read_text())
    text = comment_or_text.sub(lambda found: " " + re.sub(r"[^\n\0]", "", found[2]) if found[2] else found[0], text)
    number = 1
    for line in text.split("\n"):
        if directive.match(line.replace("\0", "")):
            yield number
        number += 1 + line.count("\0")


def includes_of(header):
    lines = lines_of(header)
    for number in directives_of(header):
        if named := include.fullmatch(lines[number - 1]):
            yield number, named[1], named[2]


def unit_of(header):
    return header.split("/")[0]


def begins(name, beginnings):
    return any(name == one or (one[-1] in "/*" and name.startswith(one.rstrip("*"))) for one in beginnings)


def ours(header, number, name):
    if not (library / name).exists():
        yield f"{place(header, number)}: no header component_benchmark/{name}; correct the name."
        return
    unit, other = unit_of(header), unit_of(name)
    if unit in (umbrella, "catch2.hpp") or unit == other:
        return
    if unit in table and other not in table[unit][0]:
        allowed = ", ".join(table[unit][0]) or "nothing"
        yield (f"{place(header, number)}: layering: {unit} may not include {other}; of ours it may include {allowed}. "
               f"Move what it needs to core/, or take it as a template parameter that meets a concept.")


def theirs(header, number, name):
    if reason := next((why for what, why in never.items() if begins(name, (what,))), None):
        yield f"{place(header, number)}: never in include/: <{name}>; {reason}."
        return
    for what, where in only_in.items():
        if begins(name, (what,)):
            if header not in where:
                yield (f"{place(header, number)}: layering: only {', '.join(where) or 'a header that is named for it'} may "
                       f"include <{name}>; `only_in` in tests/layering/layering.py says so.")
            return
    unit = unit_of(header)
    allowed = table.get(unit, ((), ()))[1]
    if not begins(name, allowed) and name not in standard and not any(
            unit in where for what, where in system.items() if begins(name, (what,))):
        may = ", ".join([*(f"<{one}{'...' if one.endswith('/') else ''}>" for one in allowed),
                         *(f"<{one}>" for one, where in system.items() if unit in where), "the standard library"])
        torch = " Torch is a guest: work on a concept, and let capture/ or provider/ meet it." if re.match(
            "torch/|ATen/|c10/", name) else ""
        yield f"{place(header, number)}: layering: {unit} may not include <{name}>; it may include {may}.{torch}"


def check_files():
    for file in files():
        if not file.endswith(".hpp") and file not in sources:
            yield (f"{place(file, 1)}: no header: one ends in .hpp, and `sources` in tests/layering/layering.py names what "
                   f"is compiled into the user's program.")
        lines = lines_of(file)
        for number in directives_of(file):
            if not include.fullmatch(lines[number - 1]):
                yield (f"{place(file, number)}: `{lines[number - 1].strip()}`: write #include and a name on one line, so that "
                       f"it can be checked.")
    for unit in sorted({unit_of(file) for file in files()} - set(table) - {umbrella, "catch2.hpp"}):
        yield (f"include/component_benchmark/{unit}: no rule for {unit}; add a line to `table` in "
               f"tests/layering/layering.py.")
    for other in sorted(p.name for p in folder.iterdir() if p != library):
        yield f"include/{other}: users' include path has component_benchmark/ only; move it there."


def check_includes():
    for header in files():
        for number, bracket, name in includes_of(header):
            if bracket == '"':
                yield f'{place(header, number)}: includes "{name}"; write <component_benchmark/...> in full.'
            elif set(name.split("/")) & {"", ".", ".."}:
                yield f"{place(header, number)}: includes <{name}>; write the path in full, without `..`, `.` and `//`."
            elif name.startswith("component_benchmark/"):
                yield from ours(header, number, name.removeprefix("component_benchmark/"))
            else:
                yield from theirs(header, number, name)


def check_umbrella():
    reached, open_ones = set(), [umbrella]
    while open_ones:
        header = open_ones.pop()
        if header in reached or not (library / header).exists():
            continue
        reached.add(header)
        open_ones += [name.removeprefix("component_benchmark/") for _, _, name in includes_of(header)
                      if name.startswith("component_benchmark/")]
    for header in sorted(set(headers()) - reached - opt_in):
        yield (f"{place(header, 1)}: the umbrella component_benchmark.hpp does not reach it; include it there, or name it "
               f"in `opt_in` in tests/layering/layering.py.")
    for header in sorted(opt_in & reached):
        yield f"{place(umbrella, 1)}: the umbrella reaches {header}, which is opt-in; do not include it."
    for header in sorted(reached):
        for number, _, name in includes_of(header):
            if begins(name, optional):
                yield (f"{place(header, number)}: the umbrella reaches it, and <{name}> is not there for everybody; include "
                       f"it in a header of `opt_in` in tests/layering/layering.py.")


def stages():
    """What a place in the flow is: a folder, or a header by its name."""
    names = {part for file in files() for part in pathlib.PurePosixPath(file).with_suffix("").parts}
    return {"everywhere", "user's program"} | names | {name.replace("_", " ") for name in names}


def check_looks():
    known = stages()
    for header in files():
        lines = lines_of(header)
        opening = re.match(r"// ([^:]+): \S+ \S+", lines[0] if lines else "")
        if not opening or not known & set(re.split(" -> |, ", opening[1].lower())):
            yield (f"{place(header, 1)}: the first line must be a comment that shows where the header stands in the flow, "
                   f"`// capture -> PROFILE -> result: what it is`: a folder, a header's name, `everywhere` or `user's "
                   f"program`.")
        if header in sources:
            continue
        code = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("//")]
        if not code or code[0][1] != "#pragma once":
            yield f"{place(header, code[0][0] if code else 1)}: after the opening comment comes #pragma once."
        if header not in exempt_from_cap and len(lines) > cap:
            yield f"{place(header, len(lines))}: {len(lines)} lines, the cap is {cap}; find the second idea and move it out."
        elif header not in exempt_from_cap and len(lines) > much:
            print(f"note: {place(header, len(lines))}: {len(lines)} lines; over {much}, look for the second idea in it.")
        for number, line in code:
            text = line.split("//")[0]
            if re.search(r"\busing\s+namespace\b", text):
                yield f"{place(header, number)}: no `using namespace` in a header; write the names in full."
            for word in ("__has_include", "__COUNTER__"):
                if word in text:
                    yield (f"{place(header, number)}: no {word} in a header: it makes one name mean different things in "
                           f"different files; let the build decide, or use __LINE__.")


sentences = [*check_files(), *check_includes(), *check_umbrella(), *check_looks()]
print("\n".join(sentences) if sentences else f"{len(headers())} headers keep the rules")
sys.exit(1 if sentences else 0)
