"""Options as keyword arguments: Python values into the structs of the library.

A struct starts as its talus_*_default() says. Vectors of three take two numbers in 2D; spins,
rotations and torques take one. Texts and arrays that a struct points to are kept in `keep` for the
length of the call. The sizes that the header's comments state for arrays are checked, and counts
that are not given follow from them.
"""
import collections
import difflib

import numpy

from . import _threads
from ._callbacks import bind
from ._library import HEADER, ffi, has, is_id, lib, short
from ._memory import NUMPY_TYPES, numpy_type
from ._records import Record
from .errors import ArgumentError
from ._types import (fields, is_texts, settable, size_of, struct_name, text_count, to_enum)

AXIAL = ("spin", "rotation", "torque", "external_torque", "spin_amplitude")  # in 2D one number: that about z


def default_function(struct):
    """Name of the function that fills a struct with its defaults, None if it has none."""
    base = struct[:-4] if struct.endswith("_def") else struct
    return base + "_default" if has(base + "_default") else None


def default_of(struct, names):
    """The defaults of a struct; some depend on the dimension of the world."""
    default = default_function(struct)
    if default is None:
        return ffi.new(struct + "*")[0]
    try:
        return getattr(lib, default)(*[names[p["name"]] for p in HEADER["functions"][default]])
    except KeyError as missing:
        raise TypeError(f"{short(struct)}: its defaults need to know {missing}") from None


def new_options(struct, values, keep, names=None, where=None):
    """A struct with its defaults and the given values over them."""
    names = {} if names is None else names
    pointer = ffi.new(struct + "*", default_of(struct, names))
    where = where or (short(struct)[:-4] if struct.endswith("_def") else short(struct))
    fill(pointer, struct, values, keep, names, where)
    if "threads" in fields(struct):
        pointer.threads = _threads.allowed(pointer.threads)
    keep.append(pointer)
    return pointer


def fill(pointer, struct, values, keep, names, where):
    known, arrays = settable(struct), {}
    if isinstance(values, Record):
        values = {n: v for n, v in values.as_dict().items() if n in known}
    if not hasattr(values, "items"):
        raise TypeError(f"{where}: expected a dict of options, got {type(values).__name__}")
    for name, value in values.items():
        if name not in known:
            raise TypeError(unknown_option(where, name, known))
        if value is not None:
            set_field(pointer, struct, known[name], value, keep, names, f"{where}.{name}", arrays)
    check_shapes(pointer, struct, arrays, values, names, where)


def unknown_option(where, name, known):
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(known)}"
    return f"{where} has no option '{name}'{hint}"


def set_field(pointer, struct, field, value, keep, names, where, arrays):
    ctype = field.type
    if isinstance(value, ffi.CData):
        keep.append(value)
        setattr(pointer, field.name, value)
    elif field.enum and ctype.kind in ("enum", "primitive"):
        number = value if field.enum and ctype.kind == "primitive" and value == -1 else \
            to_enum(field.enum, value, where)
        setattr(pointer, field.name, number)
    elif ctype.kind == "primitive":
        setattr(pointer, field.name, number_of(ctype, value, where))
    elif is_id(ctype):
        setattr(pointer, field.name, id_of(ctype, value, where, getattr(names, "world", None)))
    elif ctype.kind == "struct":
        inner = ffi.addressof(pointer[0], field.name)
        fill(inner, struct_name(ctype), value, keep, names, where)
    elif ctype.kind == "array":
        set_fixed(getattr(pointer, field.name), field, value, where, dim_of(names))
    elif ctype.kind == "function":
        function, user = bind(ctype, value, keep)
        setattr(pointer, field.name, function)
        setattr(pointer, field.name + "_user", user)
    elif ctype.kind == "pointer":
        data = set_texts(pointer, struct, field, value, keep, where) if is_texts(field) else \
            pointed(field, value, keep, where, arrays)
        setattr(pointer, field.name, data)
    else:
        raise TypeError(f"{where}: cannot be set from Python")


def number_of(ctype, value, where):
    """A Python number for a C one; a text or None is a mistake, said with its place."""
    if ctype.cname == "_Bool" and isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    if isinstance(value, (str, bytes)) or numpy.ndim(value) != 0:
        raise TypeError(f"{where}: expected a number, got {value!r}")
    kind = NUMPY_TYPES[ctype.cname]
    try:
        number = float(value) if kind.startswith("f") else int(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{where}: expected a number, got {value!r}") from None
    if number != value and not kind.startswith("f"):
        raise TypeError(f"{where}: expected a whole number, got {value!r}")
    return bool(number) if kind == "?" else number


def id_of(ctype, value, where, world=None):
    """The id with a number, or with a name in that world."""
    if not isinstance(value, str) or world is None:
        return ffi.new(ctype.cname + "*", [number_of(ffi.typeof("int"), value, where)])[0]
    kind = short(ctype.cname.split()[-1])[:-len("_id")]
    found = getattr(lib, "talus_world_find_" + kind)(world, value.encode())
    if found.index < 0:
        raise ArgumentError(f"there is no {kind} '{value}'")
    return found


def dim_of(names):
    """The dimension of the world that a call is about, None if that is not known."""
    try:
        return names["dim"]
    except KeyError:
        return None


def real_array(value, dtype, where):
    """A contiguous array; numpy would drop the imaginary parts of complex numbers with a mere warning."""
    if numpy.iscomplexobj(value):
        raise TypeError(f"{where}: expected real numbers, got complex ones")
    return numpy.ascontiguousarray(value, dtype)


def shape_words(value):
    return "one number" if value.ndim == 0 else f"an array of shape {list(value.shape)}"


def vector(value, size, name, where, dim=None):
    """The components of a vector field: as many as it has, or those of a plane."""
    value = numpy.asarray(value)
    if size == 3 and name in AXIAL:
        return axial(value, where, dim)
    if size == 9 and value.shape == (3, 3):
        return value.ravel().tolist()
    planar = size == 3 and value.shape == (2,)
    if value.shape != (size,) and not planar or planar and dim == 3:
        raise ValueError(f"{where}: expected {2 if size == 3 and dim == 2 else size} numbers, got "
                         f"{shape_words(value)}")
    if size == 3 and dim == 2 and value.dtype.kind != "b":
        check_plane(value, name, where)
    return value.tolist()


def check_plane(value, name, where):
    """In 2D nothing may have a component along z, as a row or in a table; limits may."""
    if value.shape[-1] == 3 and numpy.any(value[..., 2]) and \
            not name.endswith(("low", "high", "axis", "cells", "axes")):
        raise ValueError(f"{where}: expected 2 numbers in 2D, got a component along z")


def axial(value, where, dim):
    """A spin, rotation or torque: about z if it is one number, in 2D it can only be that."""
    if value.ndim == 0 and dim != 3:
        return [0, 0, value.item()]
    if value.shape != (3,) or dim == 2 and numpy.any(value[:2]):
        raise ValueError(f"{where}: expected {'one number (about z)' if dim == 2 else '3 numbers'},"
                         f" got {value.tolist() if value.shape == (3,) else shape_words(value)}")
    return value.tolist()


def set_fixed(target, field, value, where, dim):
    ctype = field.type
    if ctype.item.cname == "char":
        raw = str(value).encode()
        if len(raw) >= ctype.length:
            raise ValueError(f"{where}: longer than {ctype.length - 1} bytes")
        ffi.memmove(target, raw + b"\0", len(raw) + 1)
        return
    if ctype.item.kind == "array":
        flat = real_array(value, numpy_type(ctype.item.item), where)
        if flat.nbytes != ffi.sizeof(ctype):
            raise ValueError(f"{where}: expected {ctype.length} by {ctype.item.length} numbers")
        ffi.memmove(target, ffi.from_buffer(flat), flat.nbytes)
        return
    for i, v in enumerate(vector(value, ctype.length, field.name, where, dim)):
        target[i] = number_of(ctype.item, v, f"{where}[{i}]")


def text_of(value, keep, where):
    """A C string; paths are texts too."""
    value = value.__fspath__() if hasattr(value, "__fspath__") else value
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{where}: expected a text, got {type(value).__name__}")
    raw = value.encode() if isinstance(value, str) else value
    if b"\0" in raw:
        raise ValueError(f"{where}: a text with a zero byte")
    keep.append(ffi.new("char[]", raw))
    return keep[-1]


def texts_of(values, keep, where, size=None):
    """A list of texts and its length. One of a fixed size may have gaps and be shorter."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{where}: expected a list of texts, got one text")
    pointers = [ffi.NULL if v is None and size else text_of(v, keep, f"{where}[{i}]")
                for i, v in enumerate(values)]
    if size and len(pointers) > size:
        raise ValueError(f"{where}: expected at most {size} texts, got {len(pointers)}")
    pointers += [ffi.NULL] * (size - len(pointers) if size else 0)
    keep.append(ffi.new("char*[]", pointers))
    return keep[-1], len(pointers)


def array_of(item, value, keep, where):
    """A contiguous array of the C type; no copy if it is one already."""
    try:
        array = real_array(value, numpy_type(item), where)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{where}: {problem}") from None
    keep.append(array)
    return ffi.cast(item.cname + "*", array.ctypes.data), array.shape


def set_texts(pointer, struct, field, values, keep, where):
    """A list of texts, with its length where the struct has a field for that."""
    count_field = text_count(struct, field)
    size = None if count_field else size_of(field.shape[0], {})
    texts, count = texts_of(values, keep, where, size)
    if count_field:
        setattr(pointer, count_field, count)
    return texts


def pointed(field, value, keep, where, arrays):
    item = field.type.item
    if item.cname == "char":
        return text_of(value, keep, where)
    if item.kind in ("primitive", "enum"):
        if field.enum:
            value = [to_enum(field.enum, v, f"{where}[{i}]") for i, v in enumerate(value)]
        data, arrays[field.name] = array_of(item, value, keep, where)
        return data
    raise TypeError(f"{where}: cannot be set from Python")


def check_shapes(pointer, struct, arrays, values, names, where):
    """Every array must be as long as the library will read: by its count in the struct, set from it
    unless it was given, or by the `names` of the call (grains, contacts, dim)."""
    known, counted = fields(struct), {}
    for name, shape in arrays.items():
        said = known[name].shape
        if said is None:
            raise TypeError(f"{where}.{name}: the header does not say how long it is")
        total = int(numpy.prod(shape))
        given = list(said)
        if said[0] in known and said[0] not in values:
            rest = int(numpy.prod([size_of(s, names) for s in given[1:]]))
            count = total // rest if rest else 0
            if count * rest != total:
                raise ValueError(f"{where}.{name}: expected rows of {rest} numbers, got "
                                 f"{' by '.join(map(str, shape))}")
            if counted.setdefault(said[0], (count, name))[0] != count:
                raise ValueError(f"{where}.{name}: {count} rows, but {where}."
                                 f"{counted[said[0]][1]} has {counted[said[0]][0]}")
            setattr(pointer, said[0], count)
        lengths = collections.ChainMap(
            {f: getattr(pointer, f) for f in known if known[f].type.kind == "primitive"}, names)
        try:
            wanted = [size_of(s, lengths) for s in given]
        except KeyError as unknown:
            raise TypeError(f"{where}.{name}: cannot tell its size {unknown}") from None
        if int(numpy.prod(wanted)) != total:
            raise ValueError(f"{where}.{name}: expected {' by '.join(map(str, wanted))} numbers "
                             f"({', '.join(given)}), got {' by '.join(map(str, shape))}")
