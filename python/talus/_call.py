"""Functions of the header as functions of Python.

What becomes of a parameter follows from its declaration:

    const T_def* with a default function   keyword arguments (`def`), or a dict under its own name
    talus_world*, talus_figure*, ...       the Python object
    non-const pointer, not first           a result: returned, several as a tuple
    const T* with a count after it         an array; the count is not given
    talus_wall_id, talus_material_id, ...  a whole number, or a name in the world
    talus_error*, talus_report*            the text of an exception
"""
import functools
import inspect
import re

from . import _threads, errors
from ._callbacks import raise_problems
from ._fill import (array_of, default_function, dim_of, id_of, new_options, number_of, text_of,
                    texts_of, vector)
from ._library import HEADER, camel, doc, ffi, is_id, lib, short, text
from ._memory import look_at
from ._records import Record, copy_of, new_result, wrap
from ._types import OPAQUE, from_enum, options_doc, options_head, struct_name, to_enum

# Functions that change a world, but no row of its grains and contacts: arrays stay what they are.
LEAVE_TABLES = {"talus_world_" + name for name in (
    "set_gravity", "set_solver", "add_material", "set_pair", "add_solid", "add_wall", "set_drive",
    "set_wall_velocity", "set_wall_force", "set_grain_force",
    "set_device")}
COUNT = re.compile(r"(^|_)count$")


def opaque_name(ctype):
    """The name of an object type that a pointer points to, None if it is none."""
    if ctype.kind == "pointer" and ctype.item.kind == "struct":
        bare = re.sub(r"^struct ", "", ctype.item.cname)
        return bare if bare in OPAQUE else None
    return None


class Parameter:
    """A parameter of a C function and its part in the call."""

    def __init__(self, said, ctype, first, before):
        self.name, self.type, self.const = said["name"], ctype, said["const"]
        self.sizes = [int(s) for s in said["sizes"] if s and s.isdigit()]
        self.struct = struct_name(ctype.item) if ctype.kind == "pointer" else None
        self.role = self._role(first, before)

    def _role(self, first, before):
        ctype = self.type
        if ctype.kind == "function":
            return "other"
        if ctype.kind != "pointer":
            arrays = before and before.role in ("array", "texts")
            return "count" if arrays and COUNT.search(self.name) else "value"
        item = ctype.item
        if self.struct in ("talus_error", "talus_report"):
            return short(self.struct)
        if opaque_name(ctype):
            return "object"
        if item.kind == "pointer":
            return "texts" if item.item.cname == "char" else "out object"
        if item.cname == "char":
            return "text" if self.const else "other"
        if self.struct:
            if self.const:
                return "options" if default_function(self.struct) else "record"
            return "record" if first else "out"
        if self.const:
            return "vector" if self.sizes else "array"
        return "out"

    @property
    def is_input(self):
        return self.role in ("object", "value", "text", "texts", "array", "vector", "record") or \
            self.role == "options" and self.name != "def"


class Function:
    """A C function with what it takes and gives."""

    def __init__(self, name):
        self.name, self.call = name, getattr(lib, name)
        ctype = ffi.typeof(self.call)
        self.result = ctype.result
        self.parameters, before = [], None
        for index, (said, kind) in enumerate(zip(HEADER["functions"][name], ctype.args)):
            before = Parameter(said, kind, index == 0, before)
            self.parameters.append(before)
        self.inputs = [p for p in self.parameters if p.is_input]
        # Options may be given as keywords if it is clear whose they are.
        optional = [p for p in self.parameters if p.role == "options"]
        named = [p for p in optional if p.name == "def"]
        self.options = named[0] if named else optional[0] if len(optional) == 1 else None

    @property
    def usable(self):
        """Whether Python can call it without a hand-written part: it must know what everything is,
        and how long."""
        roles = [p.role for p in self.parameters]
        counted = "array" not in roles or "count" in roles
        return counted and not any(role in ("other", "out object") for role in roles)

    def first_object(self):
        first = self.parameters[0] if self.parameters else None
        return opaque_name(first.type) if first and first.role == "object" else None

    @functools.cached_property
    def signature(self):
        kinds = inspect.Parameter
        listed = []
        for p in self.inputs:
            may_miss = p.role == "options"
            listed.append(kinds(p.name, kinds.KEYWORD_ONLY if may_miss else
                                kinds.POSITIONAL_OR_KEYWORD,
                                default=None if may_miss else kinds.empty))
        listed.sort(key=lambda p: p.kind)
        if self.options:
            listed.append(kinds("options", kinds.VAR_KEYWORD))
        return inspect.Signature(listed)

    def docstring(self):
        bare = self.name[len(self.first_object() or "talus") + 1:].replace("_", " ")
        parts = [doc(self.name) or bare.capitalize() + "."]
        for p in self.parameters:
            if p.role == "options":
                head = "Options" if p.name == "def" else \
                    f"Options, also as a dict `{p.name}`" if p is self.options else \
                    f"The dict `{p.name}`"
                parts += ["", options_head(head, p.struct), options_doc(p.struct)]
        outs = [p for p in self.parameters
                if p.role == "out" and p.struct and not is_id(p.type.item)]
        for p in outs:
            parts += ["", f"Returns {camel(p.struct)}: {doc(p.struct)}", options_doc(p.struct)]
        return "\n".join(parts)

    def __call__(*given, **options):  # "self" is a name that the header uses, too
        return Call(given[0], given[1:], options).carry_out()


class WorldSizes(dict):
    """Sizes that comments name and a world knows, looked up when one is needed."""

    world = None

    def __missing__(self, name):
        if self.world is None or name not in ("grains", "contacts", "dim"):
            raise KeyError(name)
        if name == "contacts":
            return lib.talus_world_contacts(self.world).count
        if name == "dim":
            return lib.talus_world_options(self.world).dim
        return lib.talus_world_grains(self.world).count

class Call:
    """One call: arguments made, results read, failures raised."""

    def __init__(self, function, given, options):
        self.function, self.keep, self.outs = function, [], []
        self.report, self.names = None, WorldSizes()
        taken = {p.name: options.pop(p.name) for p in function.inputs if p.name in options}
        values = function.signature.bind(*given, **taken).arguments
        if options and not function.options:
            raise TypeError(f"{function.name} takes no option '{next(iter(options))}'")
        self.values, self.given_options = values, options
        self.error = ffi.new("talus_error*")

    def carry_out(self):
        objects = [p for p in self.function.parameters if p.role == "object"]
        for p in objects:
            if getattr(self.values[p.name], "_kind", None) != opaque_name(p.type):
                raise TypeError(f"{p.name}: expected a {short(opaque_name(p.type))} of talus, got "
                                f"{type(self.values[p.name]).__name__}")
        result = self.locked(objects)
        for p in objects:
            raise_problems(self.values[p.name]._keep)  # of the world's log function
        return result

    def locked(self, objects, done=0):
        """Call the function while all its objects are this call's own."""
        if done < len(objects):
            with self.values[objects[done].name]._turn.lock():
                return self.locked(objects, done + 1)
        # Objects first: the sizes of the world's tables are what arrays are checked against.
        ready = {p.name: self.object(p) for p in objects}
        arguments = [ready[p.name] if p.role == "object" else self.argument(p)
                     for p in self.function.parameters]
        result = self.function.call(*arguments)
        raise_problems(self.keep)
        return self.results(result)

    def object(self, p):
        _threads.allowed(self.values[p.name]._threads, given=False)
        moves = not p.const and self.function.name not in LEAVE_TABLES
        pointer = self.values[p.name]._ready(changes=not p.const, moves=moves)
        if opaque_name(p.type) == "talus_world":
            self.names.world = pointer
        return pointer

    def argument(self, p):
        make = getattr(self, "make_" + p.role)
        return make(p)

    def make_error(self, p):
        return self.error

    def make_report(self, p):
        self.report = errors.new_report()
        return self.report

    def make_options(self, p):
        values = self.values.get(p.name) or {}
        if p is self.function.options and self.given_options:
            values = {**values, **self.given_options}
        return new_options(p.struct, values, self.keep, self.names,
                           None if p.name in ("def", "law") else p.name)

    def make_record(self, p):
        value = self.values[p.name]
        if isinstance(value, Record) and value._struct == p.struct:
            self.keep.append(value)
            if "dim" in value.__dir__():
                self.names["dim"] = value.dim
            if value._pointer is not None:
                return value._pointer
        return new_options(p.struct, value, self.keep, self.names, p.name)

    def make_value(self, p):
        value = self.values[p.name]
        if p.type.kind == "enum":
            return to_enum(re.sub(r"^enum ", "", p.type.cname), value, p.name)
        if is_id(p.type):
            return id_of(p.type, value, p.name, self.names.world)
        return number_of(p.type, value, p.name)

    def make_text(self, p):
        value = self.values[p.name]
        return ffi.NULL if value is None else text_of(value, self.keep, p.name)

    def make_texts(self, p):
        texts, self.count = texts_of(self.values[p.name] or [], self.keep, p.name)
        return texts

    def make_array(self, p):
        if self.values[p.name] is None:
            return ffi.NULL
        data, shape = array_of(p.type.item, self.values[p.name], self.keep, p.name)
        self.count = shape[0] if shape else 0
        return data

    def make_count(self, p):
        return self.count

    def make_vector(self, p):
        if self.values[p.name] is None:
            return ffi.NULL
        value = vector(self.values[p.name], p.sizes[0], p.name, p.name, dim_of(self.names))
        self.keep.append(ffi.new(f"{p.type.item.cname}[{p.sizes[0]}]", value))
        return self.keep[-1]

    def make_out(self, p):
        if is_id(p.type.item):
            pointer = ffi.new(p.type)
            self.outs.append(lambda: pointer[0].index)
        elif p.struct:
            pointer, owned = new_result(p.struct)
            self.outs.append(lambda: wrap(pointer, owned, dim=dim_of(self.names)))
        elif p.sizes:
            pointer = ffi.new(p.type.item.cname + "[]", p.sizes[0])
            self.outs.append(lambda: look_at(ffi.cast(p.type, pointer), (p.sizes[0],), pointer,
                                             True))
        else:
            pointer = ffi.new(p.type)
            self.outs.append(lambda: pointer[0])
        return pointer

    def results(self, result):
        kind = self.function.result
        status = kind.cname in ("talus_status", "enum talus_status")
        if status and result < 0:
            lines = errors.report_lines(self.report) if self.report else ()
            raise errors.failure(result, self.error, lines)
        values = [read() for read in self.outs]
        if kind.kind != "void" and not status:
            values.insert(0, returned(kind, result))
        return values[0] if len(values) == 1 else tuple(values) if values else None


def returned(kind, result):
    """The value that a function returns itself."""
    if kind.kind == "enum":
        return from_enum(re.sub(r"^enum ", "", kind.cname), result)
    if kind.kind == "pointer" and kind.item.cname == "char":
        return text(result)
    if kind.kind == "pointer" and struct_name(kind.item):
        return None if result == ffi.NULL else copy_of(result)
    if is_id(kind):
        return result.index
    if kind.kind == "struct" and struct_name(kind):
        return wrap(ffi.new(struct_name(kind) + "*", result))
    return result


FUNCTIONS = {name: Function(name) for name in HEADER["functions"] if hasattr(lib, name)}


def python_function(name, as_name, method=False):
    """A Python function (or method, whose first parameter is `self`) for a C function."""
    function = FUNCTIONS[name]

    def call(*given, **options):
        return function(*given, **options)

    signature = function.signature
    if method:
        listed = list(signature.parameters.values())
        listed[0] = listed[0].replace(name="self")
        signature = signature.replace(parameters=listed)
    call.__name__ = call.__qualname__ = as_name
    call.__doc__ = function.docstring()
    call.__signature__ = signature
    call.__module__ = "talus"
    return call


def add_methods(cls, opaque, wanted=lambda function: True):
    """Give a class the functions of the header that begin with its object, except those that it
    has under the same name."""
    for name, function in FUNCTIONS.items():
        short_name = name[len(opaque) + 1:]
        if name.startswith(opaque + "_") and function.first_object() == opaque and \
                function.usable and wanted(function) and short_name not in HIDDEN and \
                not any(short_name in vars(base) for base in cls.__mro__):
            setattr(cls, short_name, python_function(name, short_name, method=True))


# World has the device as a property.
HIDDEN = {"destroy", "close", "free", "detach", "edit_grains", "device", "device_reason",
          "set_device"}
