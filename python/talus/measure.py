"""Numbers read off a world, live or recorded: talus_measure_stress() of the header, for example, is
measure.stress(world, ...). Tensors, of nine numbers in the header, are 3 by 3."""
from ._call import FUNCTIONS, python_function

__all__ = []
for _name, _function in FUNCTIONS.items():
    if _name.startswith("talus_measure_") and not _name.endswith("_default") and _function.usable:
        _short = _name[len("talus_measure_"):]
        globals()[_short] = python_function(_name, _short)
        __all__.append(_short)
