"""Numbers read off a world, live or recorded: every function of the header that takes a world and
belongs to no other object, as measure.coordination(world, ...)."""
from ._call import FUNCTIONS, python_function

__all__ = []
for _name, _function in FUNCTIONS.items():
    if _function.first_object() == "talus_world" and not _name.startswith("talus_world_") and \
            _function.usable:
        _short = _name[len("talus_measure_" if _name.startswith("talus_measure_") else "talus_"):]
        globals()[_short] = python_function(_name, _short)
        __all__.append(_short)
