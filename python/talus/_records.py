"""Results of the library as Python objects: a class for each struct, made from the header."""
import functools

import numpy

from ._library import camel, doc, ffi, has, is_id, lib, text
from ._memory import look_at, numpy_type
from ._types import STRUCTS, field_words, fields, from_enum, size_of, struct_name


class Record:
    """A struct of the library. Fields are read as attributes: numbers, texts, enums, arrays."""

    _struct = None

    def __init__(self, pointer, owned=False, parent=None, dim=None):
        """`pointer` is kept, and with it the record that it lies in. Unless the arrays that it
        points to are `owned`, they are copied at once, since they may be gone later. What lies in
        the struct itself is made into objects of Python when it is asked for."""
        vars(self).update(_pointer=pointer, _owned=owned, _parent=parent, _dim=dim)
        if not owned:
            for name in _fields_that_point(self._struct):
                getattr(self, name)

    def __getattr__(self, name):
        known = fields(self._struct) if self._struct else {}
        if name not in known:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'")
        value = vars(self)[name] = self._read(known[name])
        return value

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__} is a result and cannot be changed")

    def _read(self, field):
        value, ctype = getattr(self._pointer, field.name), field.type
        if field.enum and ctype.kind in ("enum", "primitive"):
            return from_enum(field.enum, value)
        if ctype.kind == "primitive" or ctype.kind == "enum":
            return value
        if is_id(ctype):
            return value.index
        if ctype.kind == "struct":
            return wrap(ffi.addressof(self._pointer[0], field.name), self._owned, self, self._dim)
        if ctype.kind == "array":
            return self._read_array(value, ctype)
        if ctype.kind == "pointer":
            return self._read_pointer(field, value)
        return None

    def _read_array(self, value, ctype):
        if ctype.item.cname == "char":
            return text(value)
        if ctype.item.kind == "struct" and not is_id(ctype.item):
            return [wrap(ffi.addressof(value, i), self._owned, self, self._dim)
                    for i in range(ctype.length)]
        base, shape = ctype, []
        while base.kind == "array":
            shape.append(base.length)
            base = base.item
        if shape[-1] == 9:  # a tensor
            shape[-1:] = [3, 3]
        return numpy.frombuffer(ffi.buffer(value), numpy_type(base)).reshape(shape).copy()

    def _read_pointer(self, field, value):
        item = field.type.item
        if item.kind == "void" or value == ffi.NULL:
            return None
        if field.shape is None:
            if item.cname == "char":
                return text(value)
            return copy_of(value) if struct_name(item) else None
        try:
            shape = [size_of(said, _Sizes(self)) for said in field.shape]
        except KeyError:
            return None
        if field.shape[-1] == "9":  # tensors
            shape[-1:] = [3, 3]
        return self._array_at(value, item, shape, field.const)

    def _array_at(self, value, item, shape, const):
        if item.kind == "pointer" and item.item.cname == "char":
            return [text(value[i]) for i in range(shape[0])]
        if item.kind == "pointer":
            return [self._array_at(value[i], item.item, shape[1:], const) for i in range(shape[0])]
        array = look_at(value, shape, self, not const)
        return array if self._owned else array.copy()

    def __dir__(self):
        return [n for n, f in fields(self._struct).items()
                if f.type.kind != "function" and f.type.cname != "void *"]

    def __repr__(self):
        inside = ", ".join(f"{n}={_brief(getattr(self, n))}" for n in self.__dir__())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self):
        """For pickle and copy: the values, without the library's memory."""
        return _restored, (self._struct, {n: getattr(self, n) for n in self.__dir__()}, self._dim)

    def as_dict(self):
        """All fields as a dict, results within it as dicts too."""
        return {n: _plain(getattr(self, n)) for n in self.__dir__()}


def _points(ctype):
    """Whether a value of that type leads to memory outside itself."""
    if ctype.kind == "struct":
        return any(_points(field.type) for _, field in ctype.fields)
    return _points(ctype.item) if ctype.kind == "array" else ctype.kind == "pointer"


@functools.lru_cache(maxsize=None)
def _fields_that_point(struct):
    return [name for name, field in fields(struct).items() if _points(field.type)]


class _Sizes:
    """Sizes of a struct's arrays by the names of its own fields; `dim` may be the world's."""

    def __init__(self, record):
        self.record = record

    def __getitem__(self, name):
        if name in fields(self.record._struct):
            return getattr(self.record._pointer, name)
        if name == "dim" and self.record._dim:
            return self.record._dim
        raise KeyError(name)


def _brief(value):
    if isinstance(value, numpy.ndarray) and value.size > 9:
        return f"<{value.dtype} array {list(value.shape)}>"
    if isinstance(value, numpy.ndarray):
        return str(value.tolist())
    return repr(value)


def _plain(value):
    if isinstance(value, Record):
        return value.as_dict()
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _make_class(name):
    lines = [f"    {f.name}: {field_words(f)}" for f in fields(name).values()
             if f.type.kind != "function" and f.type.cname != "void *"]
    return type(camel(name), (Record,), {
        "_struct": name, "__module__": "talus",
        "__doc__": "\n".join([doc(name) or camel(name), "", *lines])})


CLASSES = {name: _make_class(name) for name, ctype in STRUCTS.items()
           if not name.endswith(("_def", "_mark")) and not is_id(ctype)}
_DEFS = {name: _make_class(name) for name in STRUCTS if name.endswith("_def")}


def _restored(struct, values, dim):
    """A result from its values, in another process perhaps."""
    made = object.__new__((_DEFS if struct in _DEFS else CLASSES)[struct])
    vars(made).update(values, _pointer=None, _owned=True, _parent=None, _dim=dim)
    return made


def wrap(pointer, owned=False, parent=None, dim=None):
    """The record of a struct that a pointer points to."""
    name = struct_name(ffi.typeof(pointer).item)
    return (_DEFS if name in _DEFS else CLASSES)[name](pointer, owned, parent, dim)


def copy_of(pointer):
    """The record of a copy of a struct that belongs to somebody else."""
    return wrap(ffi.new(ffi.typeof(pointer), pointer[0]))


def new_result(name):
    """Zeroed memory for a result, which the library's own function frees if it has one."""
    pointer = ffi.new(name + "*")
    if has(name[:-4] + "_default"):  # a definition that the library fills
        pointer[0] = getattr(lib, name[:-4] + "_default")()
    free = getattr(lib, name + "_free", None)
    return (ffi.gc(pointer, free), True) if free else (pointer, False)
