"""Python functions that the library calls: progress, log, and whatever the header adds.

An exception in one must not be lost: it is kept, the callbacks of the same call are not called
again, and it is raised when the library returns. The same way Ctrl-C ends a run: Python notices it
in a callback.
"""
import re

from ._library import HEADER, ffi, has, lib, text
from ._records import copy_of
from ._types import from_enum, struct_name


class Bound:
    """A Python function with the exception that it may end in."""

    def __init__(self, function):
        self.function, self.problem, self.on_problem = function, None, None

    def __call__(self, values):
        if self.problem is None:
            return self.function(*values)
        return None

    def failed(self, problem):
        self.problem = problem
        if self.on_problem:
            self.on_problem()


def _value(ctype, value):
    if ctype.kind == "pointer" and ctype.item.cname == "char":
        return text(value)
    if ctype.kind == "pointer" and struct_name(ctype.item):
        return copy_of(value)
    if ctype.kind == "enum":
        return from_enum(re.sub(r"^enum ", "", ctype.cname), value)
    return value


def _trampoline(name):
    """Let the C function `name` call the Python function that its first argument stands for."""
    kinds = ffi.typeof(getattr(lib, name)).args[1:]

    def call(user, *values):
        bound = ffi.from_handle(user)
        raw = getattr(bound.function, "takes_raw", False)
        bound(values if raw else [_value(k, v) for k, v in zip(kinds, values)])

    def failed(kind, problem, traceback):
        if traceback is None or "user" not in traceback.tb_frame.f_locals:
            return
        ffi.from_handle(traceback.tb_frame.f_locals["user"]).failed(problem)

    ffi.def_extern(name=name, onerror=failed)(call)
    return getattr(lib, name)


_TRAMPOLINES = {}
for _typedef in HEADER["callbacks"]:
    _name = "talus_python_" + re.sub(r"^talus_|_fn$", "", _typedef)
    if has(_name):
        _TRAMPOLINES[ffi.typeof(_typedef + "*")] = _trampoline(_name)


def bind(ctype, function, keep):
    """The C function and the handle with which the library calls a Python function."""
    if not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")
    bound = function if isinstance(function, Bound) else Bound(function)
    handle = ffi.new_handle(bound)
    keep.extend([handle, bound])
    return _TRAMPOLINES[ctype], handle


def raise_problems(keep):
    """Raise what a callback of this call ended in."""
    for bound in keep:
        if isinstance(bound, Bound) and bound.problem is not None:
            problem, bound.problem = bound.problem, None
            raise problem
