"""Figures: panels with curves or pictures of worlds, as PNG, SVG or PDF."""
import os
import tempfile

from . import errors
from ._call import FUNCTIONS, add_methods
from ._fill import new_options
from ._library import doc, ffi, lib
from ._memory import Turn
from ._types import options_doc, options_head


class Figure:
    _kind, _keep, _threads = "talus_figure", (), 1

    def __init__(self, **options):
        keep, out, error = [], ffi.new("talus_figure**"), ffi.new("talus_error*")
        definition = new_options("talus_figure_def", options, keep)
        status = lib.talus_figure_create(definition, out, error)
        if status < 0:
            raise errors.failure(status, error)
        self._pointer = ffi.gc(out[0], lib.talus_figure_destroy)
        self._turn = Turn("figure")

    def _ready(self, changes=False, moves=False):
        return self._pointer

    def axes(self, panel=0, **options):
        FUNCTIONS["talus_figure_axes"](self, panel, **options)
        return self

    def curve(self, x, y, label=None, panel=0, **options):
        FUNCTIONS["talus_figure_curve"](self, panel, x=x, y=y, label=label, **options)
        return self

    def world(self, world, panel=0, **options):
        FUNCTIONS["talus_figure_world"](self, panel, world, **options)
        return self

    def mark(self, at, label=None, vertical=False, panel=0):
        FUNCTIONS["talus_figure_mark"](self, panel, vertical, at, label)
        return self

    def text(self, x, y, text, panel=0):
        FUNCTIONS["talus_figure_text"](self, panel, x, y, text)
        return self

    def write(self, path, dots=144):
        FUNCTIONS["talus_figure_write"](self, path, dots)

    def _repr_png_(self, dots=144):
        """What a notebook shows."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figure.png")
            self.write(path, dots)
            with open(path, "rb") as file:
                return file.read()


def _describe():
    Figure.__doc__ = f"{doc('talus_figure_create')}\n\n" \
        f"{options_head('Options', 'talus_figure_def')}\n" \
        f"{options_doc('talus_figure_def')}\n\nEvery method returns the figure."
    for name, struct in (("axes", "talus_axes_def"), ("curve", "talus_curve_def"),
                         ("world", "talus_picture_def"), ("mark", None), ("text", None),
                         ("write", None)):
        words = doc("talus_figure_" + name) or doc(struct)
        if struct:
            words += f"\n\n{options_head('Options', struct)}\n{options_doc(struct)}"
        getattr(Figure, name).__doc__ = words


_describe()
add_methods(Figure, "talus_figure")
