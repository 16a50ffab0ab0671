"""Off, every plugin, every struct that users fill, and every result has the fields that it has on, in the same order, of
the same plain types and with the same values; classes have the same public functions, and what the docs name is there.

Which ones there are is read from the headers: plugins by their `name`, the others from the off side. Their fields are read
from what clang 14 says of the layout of each, so that aliases and templates are what users see; those that end in _ are
private. The structs and enumerations that such fields are made of must be there, too.
  torch_free   what is declared in headers that do not see torch
  torch        everything, by the umbrella
  functions    not the fields but the functions, and what the docs name
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gate
from declarations import classes_in, classes_of
from headers import all_headers, include, include_folder, library, sees_torch

plugin_name = re.compile(r'^ *(?=.*\bstatic\b)(?=.*\bconst(?:expr|init)?\b)[\w: *&]+\bname\s*(?:=\s*|\{)"(\w+)"',
                         re.MULTILINE)
# By what a class is a plugin, and the folder where such classes ship.
roles = {"write": ("sink", "sink"), "profile": ("profile", "profiler"), "apply": ("preprocess", "preprocessor")}
# What users read may name these of the library; all of it must be there off.
read_by_users = [*sorted((gate.root / "docs").glob("*.md")), gate.root / "README.md",
                 *sorted((gate.root / "examples").rglob("*.?pp"))]
for_plugins = ("concepts.hpp", "result/columns.hpp", "result/document.hpp")  # what a plugin of the user's includes itself
declared = re.compile(r"^(?:struct|class) (\w+)\b(?! *;)|^using (\w+) =", re.MULTILINE)
layout_line = re.compile(r"^\s*[\d:-]+ \| ( *)(.*?)(?: \(empty\))?$")
made_of = re.compile(r"\b(struct|class|enum) component_benchmark::(\w+)(?![\w:<])")
name_line = 'static constexpr char const* name = "{}";'
unit_head = """#include <type_traits>
namespace cb = component_benchmark;
struct no_result {};
template<class T>
auto result_of() {
    if constexpr (requires { typename T::result; })
        return std::type_identity<typename T::result>{};
    else
        return std::type_identity<no_result>{};
}
"""


def text_of(header):
    """Without templates, which have no layout, and without what is in namespaces of its own."""
    text = (library / header).read_text()
    text = re.sub(r"^namespace ((?!component_benchmark \{)[\w:]+) \{$.*?^\}  // namespace \1$", "", text,
                  flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^template<.*?>\n(?:struct|class|using) \w+", "", text, flags=re.MULTILINE | re.DOTALL)


def names_in(headers):
    return {one or other for header in headers for one, other in declared.findall(text_of(header))}


def reached_from(header, seen=None):
    seen = seen if seen is not None else set()
    if header not in seen:
        seen.add(header)
        for name in include.findall((library / header).read_text()):
            if name.startswith("component_benchmark/"):
                reached_from(name.removeprefix("component_benchmark/"), seen)
    return seen


def fields_of(layout):
    """Of what a layout says of `value`: each field's name with its type; bases are part of the whole."""
    found, open_depths = {}, {2}
    for depth, text in layout:
        open_depths = {one for one in open_depths if one <= depth or one == 2}
        if depth not in open_depths:
            continue
        if text.endswith("base)"):
            open_depths.add(depth + 1)
        elif not text.endswith(")"):
            kind, _, name = text.rpartition(" ")
            if not name.endswith("_"):
                found[name] = kind
    return found


def layouts(said):
    """Of each struct of the unit, the lines below it."""
    found, lines = {}, None
    for line in said.splitlines():
        if line.startswith("*** Dumping AST Record Layout"):
            lines = None
        elif matched := layout_line.match(line):
            depth, text = len(matched[1]) // 2, matched[2]
            if depth == 0:
                lines = found.setdefault(text.split()[-1], [])
            elif lines is not None:
                lines.append((depth, text))
    return {name: fields_of(lines) for name, lines in found.items() if name.startswith(("plain_", "result_"))}


def look_at(includes, names, mode):
    unit = "".join(f"#include <component_benchmark/{one}>\n" for one in includes) + unit_head
    for name in names:
        unit += (f"struct plain_{name} {{ cb::{name} value; }};\n"
                 f"struct result_{name} {{ typename decltype(result_of<cb::{name}>())::type value; }};\n"
                 f"static_assert(sizeof(plain_{name}) + sizeof(result_{name}) > 0);\n")
    with tempfile.TemporaryDirectory(prefix="component_benchmark_twins_") as folder:
        file = pathlib.Path(folder) / "unit.cpp"
        file.write_text(unit)
        done = subprocess.run([program, *gate.flags_of(asked.flags), f"-DCOMPONENT_BENCHMARK_ENABLED={mode}", "-fsyntax-only",
                               "-Xclang", "-fdump-record-layouts", str(file)], capture_output=True, text=True)
    return layouts(done.stdout), "" if done.returncode == 0 else done.stderr


def place_of(name, headers):
    for header in headers:
        for number, line in enumerate((library / header).read_text().splitlines(), 1):
            if re.match(rf"(?:struct|class|using) (?:basic_)?{name}\b(?! *;)", line):
                return f"include/component_benchmark/{header}:{number}"
    return "include/component_benchmark"


def enumerators(name, headers):
    for header in headers:
        if found := re.search(rf"^enum class {name}\b[^{{;]*\{{([^}}]*)\}}", (library / header).read_text(), re.MULTILINE):
            return re.sub(r"//.*|\s", "", found[1]).rstrip(",").split(",")
    return None


def check():
    off_headers = sorted(reached_from("off.hpp"))
    on_headers = [one for one in all_headers() if not one.startswith(("off", "hook/libtorch_"))]
    torch_free = [one for one in on_headers if not sees_torch(one)]
    plugins = {name for one in on_headers for name in plugin_name.findall((library / one).read_text())}
    off_only = [one for one in off_headers if one.startswith("off")]
    off_plugins = {name for one in off_only for name in plugin_name.findall((library / one).read_text())}
    for name in sorted(off_plugins - plugins):
        yield f"{place_of(name, on_headers)}: {name} is a plugin off; give it its name: `{name_line.format(name)}`."
    off_names, on_names = names_in(off_headers), names_in(on_headers)
    for name in sorted(plugins - off_names):
        yield (f"include/component_benchmark/off.hpp: has no {name}, which on is a plugin; declare it in "
               f"off/profilers.hpp with the same fields.")
    on_classes, off_classes = classes_in(on_headers), classes_in(off_only)
    if asked.which == "functions":
        yield from check_nameless(on_headers)
        yield from check_functions(on_classes, off_classes)
        yield from check_documented(on_headers)
        return
    if asked.which == "torch_free":
        on_names = names_in(torch_free)
    names = sorted((plugins | names_in(off_only)) & off_names & on_names)
    on, said = look_at(torch_free if asked.which == "torch_free" else ["component_benchmark.hpp"], names, 1)
    off, said_off = look_at(["component_benchmark.hpp"], names, 0)
    for mode, error in ((1, said), (0, said_off)):
        if error:
            yield f"the plugins {names} cannot be looked at with COMPONENT_BENCHMARK_ENABLED={mode}:\n{error[:2000]}"
            return
    for name in names:
        yield from compare(f"cb::{name}", on[f"plain_{name}"], off[f"plain_{name}"])
        yield from compare_values(f"cb::{name}", on[f"plain_{name}"], off[f"plain_{name}"], on_classes.get(name),
                                  off_classes.get(name))
        yield from compare(f"cb::{name}::result", on[f"result_{name}"], off[f"result_{name}"])
        for field, kind in on[f"plain_{name}"].items():
            yield from check_parts(f"cb::{name}::{field}", kind, off_names, on_headers, off_headers)
    fields = sum(len(one) for one in on.values())
    if not names or fields == 0:
        yield "tests/disabled/twins.py finds no plugins, or no fields of them; correct it."
    print(f"{len(names)} plugins and structs with {fields} fields: {', '.join(names)}")


def compare(what, on, off):
    for field in on:
        if field not in off:
            yield (f"{what}: on has the field {field}, and off has not; add it in include/component_benchmark/off.hpp or "
                   f"off/profilers.hpp.")
    for field in off:
        if field not in on:
            yield f"{what}: off has the field {field}, and on has not; a program that uses it builds only off."
    if set(on) == set(off) and list(on) != list(off):
        yield f"{what}: the order of fields differs, on {list(on)}, off {list(off)}; initializers need the same."


def is_plain(kind):
    return not re.search(r"\b(?:struct|class|union)\b|[*&(<]", kind)


def compare_values(what, on, off, on_class, off_class):
    for field in on:
        kinds = [side[field].removeprefix("std::") for side in (on, off) if field in side]
        if len(kinds) == 2 and all(map(is_plain, kinds)) and kinds[0] != kinds[1]:
            yield f"{what}: {field} is {kinds[0]} on, and {kinds[1]} off; write the same type."
    if on_class is None or off_class is None:
        return
    for field, value in on_class.values.items():
        generic = field in on and not (is_plain(on[field]) and is_plain(off.get(field, "")))
        if not generic and field in off_class.values and value != off_class.values[field]:
            yield (f"{what}: {field} is {value or 'nothing'} on, and {off_class.values[field] or 'nothing'} off; write the "
                   f"same value.")


def check_nameless(on_headers):
    for header in on_headers:
        for name, one in classes_of(header).items():
            for function, (folder, role) in roles.items():
                if header.startswith(folder + "/") and function in one.functions and "name" not in one.values:
                    yield (f"{place_of(name, [header])}: {name} is a {role}, by its {function}(); give it its name: "
                           f"`{name_line.format(name)}`.")


def check_functions(on, off, outer="cb"):
    for name, one in off.items():
        twin = on.get(name) or on.get(name.removesuffix("_with"))
        if twin is None:
            continue
        # A pipeline calls what a profiler or preprocessor has, and off there is none.
        called = set() if {"profile", "apply"} & twin.functions else twin.functions
        for function in sorted(called - one.functions):
            yield (f"{outer}::{name}: on has the function {function}(), and off has not; declare it in "
                   f"include/component_benchmark/off.hpp.")
        for function in sorted(one.functions - twin.functions):
            yield (f"{outer}::{name}: off has the function {function}(), and on has not; a program that calls it builds "
                   f"only off.")
        if outer == "cb":
            yield from check_functions(twin.inner, one.inner, f"cb::{name}")


def check_documented(on_headers):
    code = "\n".join((library / one).read_text() for one in on_headers)
    for kind in (".md", "pp"):
        written = "".join(file.read_text() for file in read_by_users if file.name.endswith(kind))
        # A plugin of the user's that includes a profiler itself is one of programs that are on.
        headers = sorted({"component_benchmark.hpp", *for_plugins, *re.findall(
            r"#\s*include <component_benchmark/((?!profile/)[^>]+)>", written)})
        names = sorted(name for name in set(re.findall(r"\bcb::(\w+)", written)) if re.search(
            rf"^(?!\s*(?:return|namespace|//)).*\b(?:basic_)?{name}\b(?: = |\(| \{{|<|;|$)", code, re.MULTILINE)
            and not re.search(rf"^namespace (?:\w+::)*{name} ", code, re.MULTILINE))
        status, said = compile_off(headers, [f"using component_benchmark::{name};" for name in names])
        wrong = sorted({int(one) for one in re.findall(r"unit\.cpp:(\d+):\d+: error:", said)})
        for number in wrong:
            yield (f"cb::{names[number - 1 - len(headers)]}: {'the docs' if kind == '.md' else 'examples/'} name it, and off "
                   f"there is none; declare it in include/component_benchmark/off.hpp.")
        if status != 0 and not wrong:
            yield f"{headers} do not compile together, off:\n{said[:2000]}"
        print(f"{len(names)} names of *{kind} are there off")


def compile_off(headers, lines):
    with tempfile.TemporaryDirectory(prefix="component_benchmark_twins_") as folder:
        file = pathlib.Path(folder) / "unit.cpp"
        file.write_text("\n".join([*(f"#include <component_benchmark/{one}>" for one in headers), *lines, ""]))
        return gate.compile(program, [*gate.flags_of(asked.flags), "-DCOMPONENT_BENCHMARK_ENABLED=0", "-ferror-limit=0",
                                      "-fsyntax-only", str(file)])


def check_parts(where, kind, off_names, on_headers, off_headers):
    for word, name in made_of.findall(kind):
        if "_ptr<" in kind and any(f"\nstruct {name};" in (library / one).read_text() for one in off_headers):
            continue  # what is pointed at need only be declared
        if word != "enum" and name not in off_names:
            yield f"{where}: is made of cb::{name}, which off has not; declare it in include/component_benchmark/off.hpp."
        elif word == "enum" and (on := enumerators(name, on_headers)) != (off := enumerators(name, off_headers)):
            yield f"{where}: cb::{name} has the enumerators {on} on, and {off} off."


asked = gate.arguments("which")
program = gate.program_14("clang++", "clang-14", "layouts are read as clang 14 writes them")
gate.run_once(asked, [include_folder, gate.root / "tests" / "support", *read_by_users], check, program)
