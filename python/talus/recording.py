"""Recorded runs: frames and series of a run's folder as arrays."""
import os

import numpy

from . import errors
from ._call import FUNCTIONS, add_methods
from ._fill import text_of
from ._library import doc, ffi, lib, text
from ._memory import Turn, Windows, look_at
from .world import WorldView


class Recording:
    _kind, _keep, _threads = "talus_recording", (), 1

    def __init__(self, directory):
        keep, out = [], ffi.new("talus_recording**")
        error, report = ffi.new("talus_error*"), errors.new_report()
        self.directory = os.path.abspath(directory)
        status = lib.talus_recording_open(text_of(self.directory, keep, "directory"), out, report,
                                          error)
        if status < 0:
            raise errors.failure(status, error, errors.report_lines(report))
        self._pointer = ffi.gc(out[0], lib.talus_recording_close)
        self._open, self._turn = Windows(), Turn("recording")
        self._shown = self._world = None

    def _ready(self, changes=False, moves=False):
        if changes:
            self._forget()
        return self._pointer

    def _forget(self):
        """Before the shown world changes: arrays still in use keep what they show."""
        if self._world is not None:
            self._open.cut_off(self._world, ("grains", "contacts"))
        self._shown = self._world = None

    def _show(self, frame):
        if self._shown != frame:
            self._forget()
            out, error = ffi.new("talus_world**"), ffi.new("talus_error*")
            status = lib.talus_recording_show(self._pointer, frame, out, error)
            if status < 0:
                raise errors.failure(status, error)
            self._shown, self._world = frame, out[0]
        return self._world

    def _repr_png_(self):
        """What a notebook shows: the last frame."""
        return self[-1]._repr_png_() if len(self) else None

    def _repr_html_(self):
        """What a notebook shows: the viewer with all frames."""
        from .notebook import viewer_html
        return viewer_html(self.directory)

    def animate(self, **options):
        from .notebook import animate
        return animate(self, **options)

    @property
    def title(self):
        return text(lib.talus_recording_title(self._pointer))

    @property
    def times(self):
        """Times of all frames, s."""
        return self._numbers(lib.talus_recording_times)

    @property
    def steps(self):
        """Step numbers of all frames."""
        return self._numbers(lib.talus_recording_steps)

    def _numbers(self, function):
        with self._turn.lock():
            return look_at(function(self._pointer), (len(self),), self, False).copy()

    @property
    def series(self):
        """The rows of series.csv as arrays by the names of the columns."""
        read = FUNCTIONS["talus_series_read"](self.directory)
        return dict(zip(read.name, read.data))

    def __len__(self):
        return lib.talus_recording_frame_count(self._pointer)

    def __getitem__(self, frame):
        if isinstance(frame, slice):
            return [self[i] for i in range(*frame.indices(len(self)))]
        index = frame + len(self) if frame < 0 else frame
        if not 0 <= index < len(self):
            raise IndexError(f"there is no frame {frame}: the run has {len(self)}")
        return Frame(self, index)

    def at(self, time):
        """The frame whose time is nearest."""
        return self[lib.talus_recording_nearest(self._pointer, time)]

    def stack(self, name, table="grains"):
        """A field of all frames as one array [frames][rows]...; each must have as many rows."""
        frames = [getattr(getattr(frame, table), name).copy() for frame in self]
        if len({len(rows) for rows in frames}) > 1:
            raise ValueError(f"the number of {table} changes from frame to frame")
        return numpy.array(frames)

    def __repr__(self):
        return f"<Recording of '{self.title}': {len(self)} frames>"


class Frame(WorldView):
    """A recorded frame, to be looked at like a world."""

    def __init__(self, recording, index):
        self._recording, self.index = recording, index

    @property
    def _turn(self):
        return self._recording._turn

    def _ready(self, changes=False, moves=False):
        if changes:
            raise errors.StateError("a recorded frame cannot be changed")
        return self._recording._show(self.index)

    def _owner(self):
        return self._recording._pointer

    def _windows(self):
        return self._recording._open

    def _repr_html_(self):
        """What a notebook shows: the viewer."""
        from .notebook import viewer_html
        return viewer_html(self._recording.directory, "--frame", str(self.index))

    @property
    def time(self):
        """Time of the frame, s."""
        return float(self._recording.times[self.index])

    @property
    def step(self):
        """Number of steps done."""
        return int(self._recording.steps[self.index])

    def __repr__(self):
        return f"<Frame {self.index} at t = {self.time:.6g} s>"


def open(directory):  # pylint: disable=redefined-builtin
    return Recording(directory)


Recording.__doc__ = f"""{doc('talus_recording_open')}

recording[i] is a Frame, len(recording) their number; negative i count from the end."""
open.__doc__ = Recording.__doc__
add_methods(Recording, "talus_recording")
