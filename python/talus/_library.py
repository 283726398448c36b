"""The compiled library: `ffi`, `lib`, and what the headers say (`HEADER`)."""
import sys

try:
    from ._talus import ffi, lib
except ModuleNotFoundError as problem:
    raise ImportError(
        f"{problem}: this package was built for another Python than {sys.executable}. It is "
        "Debian's /usr/bin/python3, unless the build was told otherwise (TALUS_PYTHON_EXECUTABLE)."
    ) from problem

from ._header import HEADER


def text(pointer):
    """Python's text for a C string, None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def short(name):
    """talus_step_result without its prefix."""
    for prefix in ("talus_", "TALUS_"):
        if name.startswith(prefix):
            return name[len(prefix):]
    return name


def camel(name):
    """The Python name of a type: talus_step_result is StepResult."""
    return "".join(word.capitalize() for word in short(name).split("_"))


def doc(name):
    """The comment that stands above a function or type in its header."""
    return HEADER["docs"].get(name, "")


def has(name):
    return hasattr(lib, name)
