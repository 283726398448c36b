"""What the header says about types: enums as Python's, fields of structs, shapes of arrays."""
import ast
import difflib
import enum
import functools
import operator
import os.path
import re

from ._library import HEADER, camel, doc, ffi, lib, short


# ---- enums -----------------------------------------------------------------------------------

class Named(enum.IntEnum):
    """An enum whose members print as the words that options take: "rigid"."""

    def __str__(self):
        return self.name.lower()


def _make_enum(name):
    """talus_stop_rule becomes StopRule with RIGID, RESIDUAL, ...: without the common prefix."""
    values = dict(sorted(ffi.typeof(name).relements.items(), key=lambda item: item[1]))
    values = {k: v for k, v in values.items() if not k.endswith("_COUNT")}
    common = os.path.commonprefix(list(values)) if len(values) > 1 else "TALUS_"
    common = common[:common.rfind("_") + 1]
    made = Named(camel(name), {k[len(common):]: v for k, v in values.items()})
    members = HEADER["members"].get(name, {})
    lines = [f"    {k[len(common):]}: {members[k]}" for k in values if members.get(k)]
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
    """The fields of a struct by name."""
    return {n: Field(struct, n, f.type) for n, f in STRUCTS[struct].fields}


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


def options_doc(struct):
    """The fields of an options struct as lines of a docstring."""
    lines = []
    for field in settable(struct).values():
        known = ""
        if field.enum:
            known = " (" + ", ".join(m.lower() for m in ENUMS[field.enum].__members__) + ")"
        lines.append(f"    {field.name}: {field.doc or type_words(field.type)}{known}")
    return "\n".join(lines)


def type_words(ctype):
    """A C type in words of Python, for fields without a comment."""
    if ctype.kind == "struct" and struct_name(ctype):
        name = struct_name(ctype)
        return f"as {camel(name)}" if not name.endswith("_def") else f"a dict: {short(name)}"
    return ctype.cname
