"""What the header says about types: enums as Python's, fields of structs, shapes of arrays."""
import ast
import difflib
import enum
import functools
import operator
import re

from ._library import HEADER, camel, doc, ffi, has, is_id, lib
from ._words import enum_words, kind_words, member_names, python_words


# ---- enums -----------------------------------------------------------------------------------

class Named(enum.IntEnum):
    """An enum whose members print as the words that options take: "rigid"."""

    def __str__(self):
        return self.name.lower()


def _make_enum(name):
    """talus_stop_rule becomes StopRule with RIGID, RESIDUAL, ...: without the common prefix."""
    values = dict(sorted(ffi.typeof(name).relements.items(), key=lambda item: item[1]))
    names = member_names(values)
    made = Named(camel(name), {short_name: values[k] for k, short_name in names.items()})
    members = HEADER["members"].get(name, {})
    lines = [f"    {short_name}: {python_words(members[k])}" for k, short_name in names.items()
             if members.get(k)]
    head = doc(name) or f"{camel(name)}: {', '.join(made.__members__)}."
    made.__doc__ = "\n".join([head, *lines])
    made.__module__ = "talus"
    return made


def _named(kind):
    """Types of one kind ("struct", "enum") among the names that the headers define."""
    listed = (n for n in ffi.list_types()[0]
              if n.startswith("talus_") and n not in HEADER["callbacks"])
    return {name: ffi.typeof(name) for name in listed if ffi.typeof(name).kind == kind}


ENUMS = {name: _make_enum(name) for name in _named("enum")}
STRUCTS = {name: ctype for name, ctype in _named("struct").items() if ctype.fields is not None}
OPAQUE = {name for name, ctype in _named("struct").items() if ctype.fields is None}
_NAME_OF = {ctype: name for name, ctype in STRUCTS.items()}
CONSTANTS = {name: getattr(lib, name) for name in dir(lib)
             if name.startswith("TALUS_") and isinstance(getattr(lib, name), int)}


def struct_name(ctype):
    return _NAME_OF.get(ctype)


def to_enum(name, value, where):
    """A member from a member, its number, or its name in any case ("rigid", "line-dots")."""
    kind = ENUMS[name]
    if isinstance(value, str):
        wanted = re.sub(r"[\s-]", "_", value).upper()
        if wanted not in kind.__members__:
            known = [n.lower() for n in kind.__members__]
            near = difflib.get_close_matches(value, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ValueError(f"{where}: '{value}' is none of {', '.join(known)}{hint}")
        return kind[wanted].value
    return int(kind(operator.index(value)))


def from_enum(name, value):
    try:
        return ENUMS[name](value)
    except ValueError:
        return value


# ---- fields ----------------------------------------------------------------------------------

class Field:
    """A field of a struct: its C type, whether it points to constant data, its comment, the shape
    that the comment states (of pointers), and the enum that an int stands for."""

    def __init__(self, struct, name, ctype):
        self.name, self.type = name, ctype
        self.doc = HEADER["members"].get(struct, {}).get(name, "")
        said = HEADER["fields"].get(struct, {}).get(name, {})
        self.const = said.get("const", False)
        self.shape = shape_in(self.doc) if ctype.kind == "pointer" else None
        meant = re.search(r"one of (talus_\w+)", self.doc)
        self.enum = meant.group(1) if meant and meant.group(1) in ENUMS else None
        if ctype.kind == "enum":
            self.enum = re.sub(r"^enum ", "", ctype.cname)


@functools.lru_cache(maxsize=None)
def fields(struct):
    """The fields of a struct by name, without those that are between the header and the library."""
    return {n: Field(struct, n, f.type) for n, f in STRUCTS[struct].fields
            if n not in ("mark", "reserve")}


def is_texts(field):
    """Whether a field points to a list of texts."""
    item = field.type.item if field.type.kind == "pointer" else None
    return item is not None and item.kind == "pointer" and item.item.cname == "char"


def text_count(struct, field):
    """The field with the length of a list of texts: set_count of sets. None: the comment of the
    list says how long it is."""
    name = field.name[:-1] + "_count"
    return name if name in fields(struct) else None


@functools.lru_cache(maxsize=None)
def settable(struct):
    """The fields that a user gives: without those that Python sets along with another one, the
    object of a callback and the length of a list of texts."""
    known = fields(struct)
    counts = {text_count(struct, f) for f in known.values() if is_texts(f)}
    return {n: f for n, f in known.items() if not n.endswith("_user") and n not in counts}


_SIZE = r"\[(?:[^\[\]]|\[[^\[\]]*\])+\]"


def shape_in(comment):
    """The sizes that a comment states as [count][dim], None if it states none."""
    for found in re.finditer(rf"(?:{_SIZE})+", comment):
        sizes = [said[1:-1] for said in re.findall(_SIZE, found.group(0))]
        if not re.match(r"default|e\.g\.", sizes[0]):
            return sizes
    return None


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.Div: operator.floordiv, ast.FloorDiv: operator.floordiv}


def size_of(said, names):
    """A size such as "count", "bins + 1", "first[count]" or "1 or 3" (the components of a spin),
    with names from a mapping or the header's constants. KeyError: it names something else."""
    if said == "1 or 3":
        return 1 if names["dim"] == 2 else 3
    try:
        tree = ast.parse(said, mode="eval").body
    except SyntaxError:
        raise KeyError(said) from None

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return int(CONSTANTS[node.id] if node.id in CONSTANTS else names[node.id])
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return int(names[node.value.id][value(node.slice)])
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise KeyError(said)

    return value(tree)


def options_doc(struct, listed=None, indent=4):
    """The fields of an options struct (or those `listed`) as lines of a docstring, with those of
    the dicts in it."""
    lines = []
    for field in (listed or settable(struct)).values():
        lines.append(f"{'':{indent}}{field.name}: {field_words(field)}")
        if is_options(field.type):
            lines.append(options_doc(struct_name(field.type), indent=indent + 4))
    return "\n".join(lines)


def options_head(head, struct):
    """The line above a list of options: "Options of a world." needs no other."""
    said = doc(struct)
    return said if said.startswith(head) else f"{head}: {said}"


def is_options(ctype):
    """Whether a struct is given as a dict."""
    name = struct_name(ctype) if ctype.kind == "struct" else None
    return bool(name) and (name.endswith("_def") or has(name + "_default"))


def field_words(field):
    """What a field is, in words of Python."""
    said = kind_words(python_words(field.doc))
    if field.enum:
        return enum_words(said, ENUMS[field.enum].__members__)
    if is_options(field.type):
        return f"a dict{', ' * bool(said)}{said}:"
    return said or type_words(field.type)


def type_words(ctype):
    """A C type in words of Python, for fields without a comment."""
    if is_id(ctype):
        return "a whole number"
    if ctype.kind == "struct":
        return f"as {camel(struct_name(ctype))}"
    if ctype.kind == "array" and ctype.item.cname != "char":
        return f"{ctype.length} numbers"
    if ctype.kind == "function":
        return "a function"
    if ctype.kind in ("array", "pointer"):
        return "a text" if ctype.item.cname == "char" else "an array"
    return {"_Bool": "true or false", "double": "a number"}.get(ctype.cname, "a whole number")
