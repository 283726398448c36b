"""Talus: simulation of rigid grains by Contact Dynamics, in Python.

    world = talus.World(dim=2, gravity=[0, -9.81])
    world.add_wall("floor", "plane", normal=[0, 1])
    world.add_grain(radius=0.01, position=[0, 0.5])
    world.run(steps=1000, h=1e-3, every=100, callback=lambda w: print(w.time, w.grains.position))

World, Scene, Figure and open() are where to begin; run() carries a scene out into a folder, the
module measure has what can be measured. Names, options and their texts are those of the C headers;
failures raise talus.Error or a class derived from it, with the library's own words.
"""
import keyword as _keyword

from . import measure
from ._call import FUNCTIONS as _FUNCTIONS, python_function as _python_function
from ._library import HEADER as _HEADER, short as _short
from ._records import CLASSES as _CLASSES
from ._types import CONSTANTS as _CONSTANTS, ENUMS as _ENUMS
from .errors import (ArgumentError, DeviceError, Error, ExistsError, FileError, FormatError,
                     NumericError, NotFoundError, OutOfMemory, SceneError, StateError)
from .figure import Figure
from .notebook import Animation, animate
from .recorder import Recorder
from .recording import Frame, Recording, open
from .runs import load, resume, run
from .scene import Scene
from .study import Study, sweep
from .world import World, WorldView

__version__ = _FUNCTIONS["talus_version"]()


def _add_names():
    """What follows from the headers alone: enums, constants, classes of results, functions that
    belong to no object (advise, export, ...)."""
    names = globals()
    for made in (*_ENUMS.values(), *_CLASSES.values()):
        names.setdefault(made.__name__, made)
    enumerated = {k for name in _ENUMS for k in _HEADER["members"].get(name, {})}
    for name, value in _CONSTANTS.items():
        if name not in enumerated:
            names.setdefault(_short(name), value)
    for name, function in _FUNCTIONS.items():
        bare, first = _short(name), function.first_object()
        belongs = bare.endswith(("_default", "_free", "_clear", "_destroy")) or \
            bare.startswith(("measure_", "record_", "run_", "series_")) or first and name.startswith(first)
        if function.usable and not belongs:
            bare += "_file" * _keyword.iskeyword(bare)  # import_file()
            names.setdefault(bare, _python_function(name, bare))


_add_names()
