"""Numbers read off a world, live or recorded: measure.stress(world, ...), for example. Tensors are
3 by 3, in 2D with a third row and column of zeros."""
import numpy as _numpy

from ._call import FUNCTIONS as _FUNCTIONS, python_function as _python_function
from ._library import doc as _doc


def principal(tensor, dim=None):
    tensor = _numpy.asarray(tensor, float)
    if tensor.shape == (2, 2):
        dim, tensor = 2, _numpy.pad(tensor, (0, 1))
    return _FUNCTIONS["talus_measure_principal"](3 if dim is None else dim, tensor)


principal.__doc__ = f"""{_doc('talus_measure_principal')} It is 2 by 2, or 3 by 3 and then of three
dimensions, unless dim=2 says that it was measured in a world of two.

{_doc('talus_principal')}"""

__all__ = ["principal"]
for _name, _function in _FUNCTIONS.items():
    _short = _name[len("talus_measure_"):]
    if _name.startswith("talus_measure_") and not _name.endswith("_default") and \
            _function.usable and _short not in __all__:
        globals()[_short] = _python_function(_name, _short)
        __all__.append(_short)
