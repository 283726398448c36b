"""numpy arrays over memory of the library, and what keeps that memory alive.

A `Window` is the base object of every array handed out, of its slices too. It holds whatever owns
the memory, and whoever hands out windows can ask which are still open (`Windows`).
"""
import threading
import weakref

import numpy

from ._library import ffi, is_id, lib
from .errors import StateError

NUMPY_TYPES = {"double": "f8", "float": "f4", "_Bool": "?", "char": "S1", "int": "i4",
               "unsigned int": "u4", "long": "i8", "unsigned long": "u8", "long long": "i8",
               "unsigned long long": "u8", "int8_t": "i1", "uint8_t": "u1", "int16_t": "i2",
               "uint16_t": "u2", "int32_t": "i4", "uint32_t": "u4", "int64_t": "i8",
               "uint64_t": "u8", "size_t": "u8", "signed char": "i1", "unsigned char": "u1"}


def numpy_type(ctype):
    """The dtype of a C type: numbers, ids, enums, fixed arrays, structs by their fields."""
    if ctype.kind == "primitive":
        return numpy.dtype(NUMPY_TYPES[ctype.cname])
    if is_id(ctype):
        return numpy.dtype("i4")
    if ctype.kind == "enum":
        return numpy.dtype(f"i{ffi.sizeof(ctype)}")
    if ctype.kind == "array":
        if ctype.item.cname == "char":
            return numpy.dtype(f"S{ctype.length}")
        return numpy.dtype((numpy_type(ctype.item), (ctype.length,)))
    if ctype.kind == "struct":
        fields = [(n, f) for n, f in ctype.fields if f.type.kind not in ("pointer", "function")]
        return numpy.dtype({"names": [n for n, f in fields],
                            "formats": [numpy_type(f.type) for n, f in fields],
                            "offsets": [f.offset for n, f in fields],
                            "itemsize": ffi.sizeof(ctype)})
    raise TypeError(f"no array of {ctype.cname}")


class Window:
    """Base object of an array that looks at memory of the library."""

    __slots__ = ("__array_interface__", "owner", "array", "__weakref__")


def look_at(pointer, shape, owner, writable):
    """An array of that shape at a pointer, without copying; `owner` lives as long as it does."""
    dtype = numpy_type(ffi.typeof(pointer).item)
    if pointer == ffi.NULL or 0 in shape:
        return numpy.zeros(shape, dtype)
    window = Window()
    window.owner = owner
    window.__array_interface__ = {
        "version": 3, "shape": tuple(shape), "typestr": dtype.str if not dtype.fields else
        f"|V{dtype.itemsize}", "data": (int(ffi.cast("uintptr_t", pointer)), not writable)}
    array = numpy.asarray(window)
    if dtype.fields:
        array = array.view(dtype)
    window.array = weakref.ref(array)
    return array


def window_of(array):
    """The window that an array looks through."""
    while isinstance(array, numpy.ndarray):
        array = array.base
    return array


class Turn:
    """One call at a time: threads wait for each other; a callback in the middle of a call may not
    begin another one. Used as `with turn.lock():`, and only so: the interpreter takes and leaves
    its own lock in one piece, while Ctrl-C may end any function of Python before it lets go."""

    def __init__(self, what):
        self.what, self._lock = what, threading.RLock()

    def lock(self):
        if self._lock._is_owned():
            raise StateError(f"the {self.what} is in the middle of a call: a callback of that call "
                             "cannot use it")
        return self._lock


class Windows:
    """The open windows into the tables of a world, by table: "grains" and "contacts"."""

    def __init__(self):
        self.open = {"grains": weakref.WeakSet(), "contacts": weakref.WeakSet()}

    def hand_out(self, table, array):
        window = window_of(array)
        if window is not None:
            self.open[table].add(window)
        return array

    def writable(self):
        """Whether an array is in use through which the grains can be written."""
        windows = self.open["grains"]
        return len(windows) > 0 and \
            any(not window.__array_interface__["data"][1] for window in windows)

    def cut_off(self, world, tables):
        """Before the world changes: let the arrays of these tables keep what they show now. The
        world goes on with copies; the arrays can no longer be written, for it would not see it."""
        due = [t for t in tables if self.open[t]]
        if not due:
            return
        # Owners first: wherever Ctrl-C falls, no array is without its memory.
        kept, memory = ffi.new("talus_arrays**"), []
        for table in due:
            for window in list(self.open[table]):
                array = window.array()
                window.owner = (memory, window.owner)
                if array is not None:
                    array.flags.writeable = False
        status = lib.talus_world_detach(world, "grains" in due, "contacts" in due, kept, ffi.NULL)
        if status < 0:
            raise MemoryError("no memory to keep arrays that are still in use")
        memory.append(ffi.gc(kept[0], lib.talus_arrays_free))
        for table in due:
            self.open[table] = weakref.WeakSet()
