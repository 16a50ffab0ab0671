"""The recipes of docs/packaging say what the project says: version, names, dependencies, options.

They are looked at as text and, the Conan recipe, run with a stand-in for Conan, so that neither packager has to be there.
The version stands in version.hpp alone; what has to repeat it is compared.  recipes.py [ROOT]
"""
import fnmatch
import json
import pathlib
import re
import sys
import types

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
packaging = root / "docs" / "packaging"
project = (root / "CMakeLists.txt").read_text()
# How the packagers call what CMake finds; of Boost, vcpkg has the parts.
vcpkg_names = {"Boost": "boost-hana", "fmt": "fmt"}
conan_names = {"Boost": "boost", "fmt": "fmt"}


def version():
    header = (root / "include/component_benchmark/version.hpp").read_text()
    numbers = dict(re.findall(r"^#define COMPONENT_BENCHMARK_VERSION_([A-Z]+) (\d+)$", header, re.MULTILINE))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def options_of(text):
    return dict(re.findall(r"-DCOMPONENT_BENCHMARK_([A-Z_]+)=(\w+)", text))


def required():
    """Of what users need: the package with its first version and the first that is too new, or ""."""
    text = (root / "cmake/ComponentBenchmarkDependencies.cmake").read_text()
    lines = re.findall(r'^component_benchmark_require\((\w+) ([\d.]+) "[^"]*" \S+?(?: (\d+))?\)$', text, re.MULTILINE)
    return {package: (minimum, too_new) for package, minimum, too_new in lines}


class recorder:
    """Stands for CMakeToolchain, CMakeDeps and CMake."""
    made = []

    def __init__(self, recipe):
        self.recipe, self.cache_variables, self.called = recipe, {}, []
        recorder.made.append(self)

    def __getattr__(self, name):
        return lambda *arguments, **named: self.called.append(name)


def for_resume():
    """What component_benchmark::resume needs: the package and its first version."""
    text = (root / "cmake/ComponentBenchmarkDependencies.cmake").read_text()
    found = re.search(r'component_benchmark_missing\((\w+) ([\d.]+) "[^"]* for component_benchmark::resume"', text)
    return found[1], found[2]


def with_resume(one, wish):
    """What the recipe requires besides, where its option says so."""
    asked_for = []
    one.options, one.requires = types.SimpleNamespace(resume=wish), asked_for.append
    one.requirements()
    del one.requires
    return asked_for


def recipe():
    """An object of the recipe's class."""
    names = ("conan", "conan.tools", "conan.tools.cmake", "conan.tools.files")
    for name in names:
        sys.modules[name] = types.ModuleType(name)
    sys.modules["conan"].ConanFile = object
    for name in ("CMake", "CMakeDeps", "CMakeToolchain"):
        setattr(sys.modules["conan.tools.cmake"], name, type(name, (recorder,), {}))
    sys.modules["conan.tools.files"].load = lambda _, path: pathlib.Path(path).read_text()
    sys.modules["conan.tools.files"].copy = lambda _, pattern, source, target: copied.append((pattern, source))
    space = {}
    exec(compile((packaging / "conan/conanfile.py").read_text(), "conanfile.py", "exec"), space)
    one = space["ComponentBenchmark"]()
    one.recipe_folder = str(packaging / "conan")
    one.export_sources_folder = "exported"
    return one


def check_conan():
    one = recipe()
    one.set_version()
    if one.version != version():
        yield f"docs/packaging/conan/conanfile.py: its version is {one.version!r}, that of version.hpp is {version()!r}."
    one.generate()
    made = {type(each).__name__: each for each in recorder.made if "generate" in each.called}
    for generator in ("CMakeDeps", "CMakeToolchain"):
        if generator not in made:
            yield f"docs/packaging/conan/conanfile.py: generate() makes no {generator}; CMake would not find what Conan has."
    known = set(re.findall(r"option\(COMPONENT_BENCHMARK_([A-Z_]+) ", project))
    given = {name.removeprefix("COMPONENT_BENCHMARK_"): value
             for name, value in made["CMakeToolchain"].cache_variables.items()} if "CMakeToolchain" in made else {}
    yield from check_options("docs/packaging/conan/conanfile.py", given, known)
    for package, (minimum, too_new) in required().items():
        wish = f"{conan_names[package]}/[>={minimum}{' <' + too_new if too_new else ''}]"
        if wish not in one.requires:
            yield f"docs/packaging/conan/conanfile.py: requires {one.requires}, and CMake needs {wish!r}."
    if len(one.requires) != len(required()):
        yield f"docs/packaging/conan/conanfile.py: requires {one.requires}, and CMake needs {sorted(required())}."
    wish = "{}/[>={}]".format(*for_resume())
    if with_resume(one, True) != [wish] or with_resume(one, False) != []:
        yield (f"docs/packaging/conan/conanfile.py: with its option resume it requires {with_resume(one, True)}, without "
               f"{with_resume(one, False)}, and CMake needs {wish!r} for component_benchmark::resume, and only for that.")
    one.export_sources()
    for pattern, source in copied:
        if not list(pathlib.Path(source).glob(pattern)):
            yield f"docs/packaging/conan/conanfile.py: exports {pattern!r}, and there is none in the checkout."
    needed = ["CMakeLists.txt", "LICENSE", *(path.relative_to(root).as_posix() for part in ("cmake", "include")
                                             for path in (root / part).rglob("*") if path.is_file())]
    for file in needed:
        if not any(fnmatch.fnmatch(file, pattern) for pattern, _ in copied):
            yield f"docs/packaging/conan/conanfile.py: exports no {file}, and CMake needs it."
    for name in conan_names.values():
        if one.default_options.get(f"{name}/*:header_only") is not True:
            yield f"docs/packaging/conan/conanfile.py: {name}/*:header_only must be True; a compiled one would meet LibTorch's."
    one.cpp_info = types.SimpleNamespace(set_property=lambda *_: None)
    one.package_info()
    installed = re.search(r'set\(package_folder "\$\{CMAKE_INSTALL_DATADIR\}/([^"]+)"\)',
                          (root / "cmake/ComponentBenchmarkInstall.cmake").read_text())[1]
    if one.cpp_info.builddirs != [f"share/{installed}"]:
        yield f"docs/packaging/conan/conanfile.py: builddirs {one.cpp_info.builddirs}, and CMake installs share/{installed}."


def number(version):
    return tuple(map(int, re.findall(r"\d+", version)))


def check_options(file, given, known):
    for name, value in given.items():
        if name not in known:
            yield f"{file}: the project has no option COMPONENT_BENCHMARK_{name}."
        elif value != "OFF":
            yield f"{file}: COMPONENT_BENCHMARK_{name} must be OFF in a package, and is {value}."
    for name in sorted({"WITH_LIBTORCH", "TESTS", "EXAMPLES", "BENCH"} - set(given)):
        yield f"{file}: COMPONENT_BENCHMARK_{name} must be OFF in a package, and is not mentioned."


def check_vcpkg():
    manifest = json.loads((packaging / "vcpkg/vcpkg.json").read_text())
    if manifest["version"] != version():
        yield f"docs/packaging/vcpkg/vcpkg.json: version {manifest['version']!r}, that of version.hpp is {version()!r}."
    names = [one if isinstance(one, str) else one["name"] for one in manifest["dependencies"]]
    for package in required():
        if vcpkg_names[package] not in names:
            yield f"docs/packaging/vcpkg/vcpkg.json: dependencies {names}, and CMake needs {vcpkg_names[package]!r}."
    for one in manifest["dependencies"]:
        for package, (minimum, too_new) in required().items():
            least = one.get("version>=", minimum) if isinstance(one, dict) else minimum
            if isinstance(one, dict) and one["name"] == vcpkg_names[package] and (
                    number(least) < number(minimum) or too_new and number(least) >= number(too_new)):
                yield (f"docs/packaging/vcpkg/vcpkg.json: asks for {one['name']} {least}, and CMake takes {minimum} "
                       f"{'and below ' + too_new if too_new else 'or newer'}.")
    package = for_resume()[0].replace("_", "-")
    if package not in manifest.get("features", {}).get("resume", {}).get("dependencies", []):
        yield f"docs/packaging/vcpkg/vcpkg.json: the feature resume must depend on {package!r}."
    port = (packaging / "vcpkg/portfile.cmake").read_text()
    known = set(re.findall(r"option\(COMPONENT_BENCHMARK_([A-Z_]+) ", project))
    yield from check_options("docs/packaging/vcpkg/portfile.cmake", options_of(port), known)
    for helper, needed in (("vcpkg_cmake_configure", "vcpkg-cmake"), ("vcpkg_cmake_config_fixup", "vcpkg-cmake-config")):
        if helper in port and needed not in names:
            yield f"docs/packaging/vcpkg/vcpkg.json: portfile.cmake calls {helper}, and {needed!r} is no dependency."
    up = re.search(r'"\$\{CMAKE_CURRENT_LIST_DIR\}/([./]+)"', port)[1]
    if (packaging / "vcpkg" / up).resolve() != root:
        yield f"docs/packaging/vcpkg/portfile.cmake: {up} is not the checkout."
    licence = "BSD-3-Clause"
    if manifest["license"] != licence or recipe().license != licence:
        yield f"docs/packaging: the licence is {licence}; vcpkg.json or conanfile.py says something else."
    described = re.search(r'DESCRIPTION "([^"]+)"', project)[1]
    if not manifest["description"] == recipe().description == described:
        yield "docs/packaging: vcpkg.json, conanfile.py and CMakeLists.txt must describe the project in the same words."


def check_repeated_version():
    """Where people read the version."""
    major_minor = ".".join(version().split(".")[:2])
    if (heading := re.search(r"^## ([\d.]+)", (root / "docs/changelog.md").read_text(), re.MULTILINE)[1]) != version():
        yield f"docs/changelog.md: its first heading is {heading}, version.hpp has {version()}."
    for file in (*pages(), "tests/package/consumer/CMakeLists.txt"):
        for found in re.findall(r"find_package\(component_benchmark ([\d.]+)", (root / file).read_text()):
            if found != major_minor:
                yield f"{file}: find_package(component_benchmark {found}), and version.hpp has {version()}."
    for file in ("CMakeLists.txt", *(f"cmake/{path.name}" for path in (root / "cmake").iterdir()),
                 "include/component_benchmark/version.hpp", "docs/packaging/conan/conanfile.py",
                 "docs/packaging/vcpkg/portfile.cmake"):
        if version() in (root / file).read_text():
            yield f"{file}: has the version {version()} written out; it stands in numbers in version.hpp, and there only."


def pages():
    """What people read, but for what was once so."""
    return [path.relative_to(root).as_posix() for path in (root / "README.md", *sorted((root / "docs").rglob("*.md")))
            if path.name != "changelog.md" and path.exists()]


def check_ranges():
    """Where people read which versions are taken."""
    (boost, _), (fmt, too_new) = required()["Boost"], required()["fmt"]
    wanted = ((r"fmt (\d+) (?:to|or) (\d+)", (fmt, str(int(too_new) - 1))), (r"Boost[^.;]{0,24}? (\d+\.\d+) or newer", boost),
              (r"nlohmann[_-]json (\d[\d.]*) or newer", for_resume()[1]))
    seen = set()
    for file in pages():
        text = " ".join((root / file).read_text().split())
        for pattern, range_of in wanted:
            for found in re.finditer(pattern, text):
                seen.add(pattern)
                if (found.groups() if isinstance(range_of, tuple) else found[1]) != range_of:
                    yield f"{file}: says {found[0]!r}, and CMake takes {range_of}."
    for pattern, range_of in wanted:
        if pattern not in seen:
            yield f"README.md, docs/: nowhere is said that {range_of} is taken ({pattern}); correct it or recipes.py."


def check_presets():
    known = set(re.findall(r"(?:option|set)\((COMPONENT_BENCHMARK_\w+) [^)]*?(?:ON|OFF|PROJECT_IS_TOP_LEVEL\}|CACHE \w+)",
                           "".join((root / file).read_text() for file in (
                               "CMakeLists.txt", "tests/CMakeLists.txt", "cmake/ComponentBenchmarkLibTorch.cmake"))))
    for one in json.loads((root / "CMakePresets.json").read_text())["configurePresets"]:
        for name in one.get("cacheVariables", {}):
            if name.startswith("COMPONENT_BENCHMARK_") and name not in known:
                yield f"CMakePresets.json: `{one['name']}` sets {name}, and the project has no such option."
    presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"]
    ci = next(one for one in presets if one["name"] == "ci")["cacheVariables"]
    script = (root / "tests/run.sh").read_text()
    asan = next(one for one in presets if one["name"] == "asan")["cacheVariables"]
    flags = re.search(r"^sanitizers='(.*)'$", script, re.MULTILINE)[1]
    if asan.get("CMAKE_CXX_FLAGS") != flags or asan.get("CMAKE_BUILD_TYPE") != "Debug":
        yield f"CMakePresets.json: `asan` is a Debug build with what tests/run.sh calls sanitizers, {flags!r}, and is {asan}."
    first = re.search(r"test_configuration gcc-release (.*)", script)[1]
    wishes = " ".join(re.search(rf"^{name}=\((.*)\)$", script, re.MULTILINE)[1]
                      for name in re.findall(r"\$\{(\w+)\[@\]\}", first))
    wanted = {name: quoted or bare for name, quoted, bare in re.findall(r'-D (\w+)=(?:"([^"]*)"|(\S+))', wishes)}
    if ci != wanted:
        yield f"CMakePresets.json: `ci` is what tests/run.sh builds first, {wanted}, and is {ci}."


copied = []
sentences = [*check_conan(), *check_vcpkg(), *check_repeated_version(), *check_ranges(), *check_presets()]
print("\n".join(sentences) if sentences else f"the recipes and presets agree with the project, {version()}")
sys.exit(1 if sentences else 0)
