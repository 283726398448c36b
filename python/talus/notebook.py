"""Worlds and runs in a notebook: the viewer itself, and animated figures."""
import base64
import html
import io
import os
import pathlib
import tempfile

import numpy

from . import errors
from ._call import FUNCTIONS
from ._program import call, find_program
from .figure import Figure

LARGEST_PAGE = 30e6  # bytes of a viewer that a notebook gets; beyond that it gets a picture


def viewer_page(directory, *options):
    """The page of `talus view` with these records in it, as text."""
    with tempfile.TemporaryDirectory(prefix="talus-page-") as folder:
        path = os.path.join(folder, "page.html")
        call("view", directory, "--export", path, *options)
        return pathlib.Path(path).read_text(encoding="utf-8")


def viewer_html(directory, *options, height=520):
    """The viewer for a cell of a notebook; None if there is no program or it would be too large."""
    if find_program() is None:
        return None
    try:
        page = viewer_page(directory, *options)
    except errors.Error:
        return None
    if len(page) > LARGEST_PAGE:
        return None
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0">' \
        "</iframe>"


def world_html(world):
    """The same for a world, recorded for this moment."""
    if find_program() is None:
        return None
    with tempfile.TemporaryDirectory(prefix="talus-world-") as folder:
        copy = world.copy()
        copy.record(os.path.join(folder, "world"), step_length=1.0, log=lambda level, text: None,
                    title=repr(world)).close()
        return viewer_html(os.path.join(folder, "world"))


class Animation:
    """Pictures one after the other, to be shown in a notebook or written into a file."""

    def __init__(self, pictures, times, fps):
        self.pictures, self.times, self.fps = pictures, times, fps

    def __len__(self):
        return len(self.pictures)

    def _repr_html_(self):
        shots = ",".join(f'"{base64.b64encode(p).decode()}"' for p in self.pictures)
        times = ",".join(f"{t:.6g}" for t in self.times)
        return (
            '<div class="talus-animation"><img style="max-width:100%"><br><button>pause</button> '
            f'<input type="range" min="0" max="{len(self) - 1}" value="0" style="width:20em"> '
            "<span></span><script>(() => {"
            "const box = document.currentScript.parentElement, image = box.querySelector('img'),"
            "slider = box.querySelector('input'), words = box.querySelector('span'),"
            "button = box.querySelector('button');"
            f"const shots = [{shots}], times = [{times}]; let playing = true;"
            "const show = i => { slider.value = i; image.src = 'data:image/png;base64,' + shots[i];"
            "words.textContent = 't = ' + times[i]; };"
            "slider.oninput = () => { playing = false; button.textContent = 'play';"
            "show(+slider.value); };"
            "button.onclick = () => { playing = !playing;"
            "button.textContent = playing ? 'pause' : 'play'; };"
            "show(0); setInterval(() => { if (playing) show((+slider.value + 1) % shots.length); },"
            f"{1000 / self.fps:.0f}); }})();</script></div>")

    def write(self, path):
        """Write an .html page, which any browser plays, or (with Pillow) a .gif."""
        kind = os.path.splitext(os.fspath(path))[1]
        if kind == ".html":
            page = f"<!doctype html><meta charset=utf-8><title>{html.escape(str(path))}</title>"
            pathlib.Path(path).write_text(page + self._repr_html_(), encoding="utf-8")
        elif kind == ".gif":
            try:
                from PIL import Image
            except ImportError:
                raise errors.Error("a .gif needs Pillow; write an .html instead") from None
            shots = [Image.open(io.BytesIO(p)).convert("P", palette=1) for p in self.pictures]
            shots[0].save(path, save_all=True, append_images=shots[1:], loop=0,
                          duration=1000 / self.fps)
        else:
            raise ValueError(f"'{path}': expected a name that ends in .html or .gif; `talus render "
                             "--movie` makes an .mp4")


def animate(recording, value=None, frames=None, path=None, fps=10, dots=100, width=400, **options):
    """An animated figure of a recording, with one extent and one scale of colours for all frames.

    `value` colours the grains: the name of a field, "speed", or a function of a frame that returns a
    number for each grain. `frames` says which ones, as a slice or list [default: all]; options are
    those of Figure.world(). With `path` it is written there, too (.html or .gif). Returns the
    Animation, which a notebook plays."""
    chosen = recording[frames] if isinstance(frames, slice) else \
        [recording[i] for i in (range(len(recording)) if frames is None else frames)]
    if not chosen:
        raise ValueError("there is no frame to be shown")
    values = [_values(frame, value) for frame in chosen]
    known = [v[numpy.isfinite(v)] for v in values if v is not None]
    if known and "value_low" not in options and sum(map(len, known)):
        everything = numpy.concatenate(known)
        options.update(value_low=float(everything.min()), value_high=float(everything.max()))
    if isinstance(value, str):
        options.setdefault("value_label", value)
    low, high = _extent(chosen, options)
    pictures = []
    for frame, numbers in zip(chosen, values):
        figure = Figure(panel_width=width)
        shown = {} if numbers is None else {"value": numbers}
        figure.axes(title=f"t = {frame.time:.4g}", x_low=low[0], x_high=high[0], y_low=low[1],
                    y_high=high[1])
        figure.world(frame, **shown, **options)
        FUNCTIONS["talus_figure_fit"](figure, 1.5 * width, 2)
        pictures.append(figure._repr_png_(dots))
    made = Animation(pictures, [frame.time for frame in chosen], fps)
    if path is not None:
        made.write(path)
    return made


def _values(frame, value):
    if value is None:
        return None
    if callable(value):
        return numpy.asarray(value(frame), float)
    if value == "speed":
        return numpy.linalg.norm(frame.grains.velocity, axis=1)
    field = numpy.array(getattr(frame.grains, value), float)
    if field.ndim > 1:
        raise ValueError(f"value: '{value}' has {field.shape[1]} numbers for each grain; give a "
                         "function that makes one of them")
    return field


def _extent(frames, options):
    """Of all frames together."""
    plain = {k: v for k, v in options.items() if k not in ("value_low", "value_high")}
    ends = [FUNCTIONS["talus_picture_extent"](frame, **plain) for frame in frames]
    low = numpy.min([numpy.asarray(end[0]) for end in ends], axis=0)
    high = numpy.max([numpy.asarray(end[1]) for end in ends], axis=0)
    room = 0.02 * max(high - low)
    return low - room, high + room
