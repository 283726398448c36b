"""The compiled library: `ffi`, `lib`, and what the headers say (`HEADER`)."""
import os
import sys

# As the program does (base/short_waits.h): threads without work give up their core soon. OpenMP
# reads this when the library is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

try:
    from ._talus import ffi, lib
except ModuleNotFoundError as problem:
    raise ImportError(
        f"{problem}: this package was built for another Python than {sys.executable}. It is "
        "Debian's /usr/bin/python3, unless the build was told otherwise (TALUS_PYTHON_EXECUTABLE)."
    ) from problem

from ._header import HEADER
from ._words import camel, python_words, short  # noqa: F401  short and camel are used from here


def text(pointer):
    """Python's text for a C string, None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def doc(name):
    """The comment that stands above a function or type in its header, in words of Python."""
    return python_words(HEADER["docs"].get(name, ""))


def is_id(ctype):
    """Whether a C type is an id, which in Python is its number."""
    return ctype.kind == "struct" and ctype.cname.endswith("_id")


def has(name):
    return hasattr(lib, name)
