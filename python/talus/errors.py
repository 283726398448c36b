"""Exceptions: one class for each kind of failure, all with the library's own words."""
import re

from ._library import ffi, lib, text


class Error(Exception):
    """A call of the library failed. `status` is the name of its code, `lines` (of a scene) lists
    every mistake as "file:line:column: key: what is wrong; what was expected"."""

    status = "TALUS_ERR"
    lines = ()


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""


class ArgumentError(Error, ValueError):
    """An argument or definition makes no sense."""


class SceneError(Error, ValueError):
    """A scene has mistakes; `lines` has all of them."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class NotFoundError(FileError, FileNotFoundError):
    """There is no such file or folder."""


class FormatError(Error, ValueError):
    """A file was read but is not what it should be."""


class ExistsError(Error, FileExistsError):
    """Something is there that would have been overwritten."""


class NumericError(Error, ArithmeticError):
    """A policy stops the run: NaN, escaped grain, no convergence."""


class StateError(Error, RuntimeError):
    """The call does not fit the state of the object."""


class DeviceError(Error, RuntimeError):
    """The graphics card is not there or failed."""


CLASSES = {"TALUS_ERR_MEMORY": OutOfMemory, "TALUS_ERR_ARGUMENT": ArgumentError,
           "TALUS_ERR_SCENE": SceneError, "TALUS_ERR_IO": FileError,
           "TALUS_ERR_FORMAT": FormatError, "TALUS_ERR_EXISTS": ExistsError,
           "TALUS_ERR_NUMERIC": NumericError, "TALUS_ERR_STATE": StateError,
           "TALUS_ERR_DEVICE": DeviceError}


# What the program's user would do, in Python.
_WORDS = ((r"(\S+) already holds a run; resume it", r"\1 already holds a run; resume it with talus.resume('\1')"),
          ("--force", "force=True"), (" with -o", ""))
_MISSING = re.compile("[Nn]o such (file or )?directory$")


def failure(status, error, lines=(), where=None):
    """The exception for a negative status."""
    name = text(lib.talus_status_name(status))
    words = text(error.text) or name
    words = f"{where}: {words}" if where else words
    for said, meant in _WORDS:
        words = re.sub(said, meant, words)
    if lines and lines[0] not in words:
        words = "\n".join([words, *lines])
    missing = name in ("TALUS_ERR_IO", "TALUS_ERR_STATE") and _MISSING.search(words)
    problem = (NotFoundError if missing else CLASSES.get(name, Error))(words)
    problem.status = name
    problem.lines = tuple(lines)
    return problem


def new_report():
    return ffi.gc(ffi.new("talus_report*"), lib.talus_report_clear)


def report_lines(report):
    return [text(report.lines[i]) for i in range(report.count)]
