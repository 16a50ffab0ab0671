"""The headers of the library, and which of them see torch."""
import re

import gate

include_folder = gate.root / "include"
library = include_folder / "component_benchmark"
include = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def all_headers():
    return sorted(p.relative_to(library).as_posix() for p in library.rglob("*.hpp"))


def others_of(header, seen=None):
    """What a header includes, directly or not, of others."""
    seen = seen if seen is not None else set()
    found = set()
    for name in include.findall((library / header).read_text()):
        ours = name.removeprefix("component_benchmark/")
        if ours == name:
            found.add(name)
        elif ours not in seen:
            seen.add(ours)
            found |= others_of(ours, seen)
    return found


def sees_torch(header):
    return any(name.startswith(("torch/", "ATen/", "c10/")) for name in others_of(header))
