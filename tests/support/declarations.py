"""What a header declares, read from its text: the classes of namespace component_benchmark, what is public in them, and
the values that fields and constants begin with."""
import functools
import re

from headers import library

comments = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
other_namespaces = re.compile(r"^namespace ((?!component_benchmark \{)[\w:]+) \{$.*?^\}  // namespace \1$",
                              re.DOTALL | re.MULTILINE)
class_head = re.compile(r"\b(struct|class) (?:\[\[.*?\]\] ?)*(\w+)(?: final)?(?:<[^{;]*>)?(?:\s*:[^{;]*)?\s*$")
field = re.compile(r"(.*?)\b(\w+)\s*(?:=(.*)|\{(.*)\})?$", re.DOTALL)
access = re.compile(r"(public|private|protected):")
no_functions = {"static_assert", "requires", "decltype", "noexcept", "operator", "explicit"}


class declared_class:
    def __init__(self):
        self.functions, self.values, self.inner = set(), {}, {}

    def add(self, other):
        self.functions |= other.functions
        self.values.update(other.values)
        for name, one in other.inner.items():
            self.inner.setdefault(name, declared_class()).add(one)


def statements(body):
    """Of a class or namespace: each statement, and the text between its outermost braces or None."""
    start = position = 0
    while position < len(body):
        if body[position] == ";":
            yield body[start:position].strip(), None
            start = position + 1
        elif body[position] == "{":
            depth, end = 1, position + 1
            while depth and end < len(body):
                depth += {"{": 1, "}": -1}.get(body[end], 0)
                end += 1
            head = body[start:position].strip()
            # `double x{0};` and `f() : x_{0} {...}` go on; a function's body and a class end here.
            if class_head.search(head) or (body[end:].lstrip()[:1] not in (";", ",", "{") and not head.endswith("=")):
                yield head, body[position + 1:end - 1]
                start = end
            position = end - 1
        elif body[position] == "p" and (match := access.match(body, position)):
            if not body[start:position].strip():
                yield match[0], None
                start = position = match.end()
                continue
        position += 1


def read_class(kind, own, body):
    found, is_public = declared_class(), kind == "struct"
    for head, inside in statements(body):
        if head in ("public:", "private:", "protected:"):
            is_public = head == "public:"
            continue
        if not is_public:
            continue
        if inside is not None and (inner := class_head.search(head)):
            found.inner.setdefault(inner[2], declared_class()).add(read_class(inner[1], inner[2], inside))
            continue
        before, parenthesis, _ = re.sub(r"\[\[.*?\]\]|decltype\(auto\)|\bexplicit\b", "", head).partition("(")
        name = re.search(r"(\w+)\s*$", before)
        if parenthesis and "=" not in before and name:
            if name[1] not in no_functions and "~" not in before:
                found.functions.add(name[1])
        elif "operator" not in head and (value := field.match(head)) and not re.match(r"using|friend|typedef|template|enum|struct|class", head):
            found.values[value[2]] = re.sub(r"\s", "", value[3] or value[4] or "")
    found.functions -= {own, "BOOST_HANA_DEFINE_STRUCT"}
    return found


@functools.lru_cache(maxsize=None)
def classes_of(header):
    """By name, without the `basic_` of those whose users have an alias."""
    text = comments.sub("", other_namespaces.sub("", (library / header).read_text()))
    found = {}
    for opening in re.finditer(r"^(?:struct|class) [^;{]*\{", text, re.MULTILINE):
        if not (head := class_head.search(opening[0][:-1].strip())):
            continue
        depth, end = 1, opening.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        one = read_class(head[1], head[2], text[opening.end():end - 1])
        found.setdefault(head[2].removeprefix("basic_"), declared_class()).add(one)
    return found


def classes_in(headers):
    found = {}
    for header in headers:
        for name, one in classes_of(header).items():
            found.setdefault(name, declared_class()).add(one)
    return found
