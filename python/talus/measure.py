"""Numbers read off a world, live or recorded: talus_measure_stress() of the header, for example, is
measure.stress(world, ...). Tensors, of nine numbers in the header, are 3 by 3."""
from ._call import FUNCTIONS, python_function

__all__ = []
for _name, _function in FUNCTIONS.items():
    _of_world = _function.first_object() == "talus_world" and not _name.startswith("talus_world_")
    if _function.usable and (_of_world or _name.startswith("talus_measure_")) and \
            not _name.endswith("_default"):
        _short = _name[len("talus_measure_" if _name.startswith("talus_measure_") else "talus_"):]
        globals()[_short] = python_function(_name, _short)
        __all__.append(_short)
