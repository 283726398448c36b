"""Recording a world that Python steps: frames, series, checkpoints and a summary, as of a run."""
import weakref

from . import errors
from ._callbacks import raise_problems
from ._fill import new_options, unknown_option
from ._library import doc, ffi, lib
from ._records import copy_of
from ._types import options_doc, options_head, settable
from .world import World, write_log

OPTIONS = {name: field for name, field in settable("talus_record_def").items()
           if name not in ("directory", "command")}


class Recorder:
    """A recording that is open: whatever steps the world records it. Used with `with`, or ended by
    close(); what is left open is ended with the program."""

    def __init__(self, world, directory, resume, options):
        if world._recorder is not None:
            raise errors.StateError("the world is being recorded already: close() that first")
        for name in options:
            if name not in OPTIONS:
                raise TypeError(unknown_option("record", name, OPTIONS))
        keep, out, error = [], ffi.new("talus_run**"), ffi.new("talus_error*")
        options.setdefault("log", write_log)
        if world.step_length is not None:
            options.setdefault("step_length", world.step_length)
        definition = new_options("talus_record_def", {"directory": directory, **options}, keep)
        with world._turn.lock():
            if world._open.writable():
                world._edit()
            status = lib.talus_record_open(world._pointer, definition, resume, out, error)
        raise_problems(keep)
        if status < 0:
            raise errors.failure(status, error)
        self.directory, self.summary = directory, None
        self._world, self._run, self._kept = world, out[0], (keep, definition)
        world._recorder = self
        # Not by way of this object, which must be free to go.
        self._end = weakref.finalize(self, _close, out[0], self._kept, (world._pointer, world._keep))

    def frame(self):
        """Record a frame now, beside those that come by themselves."""
        error = ffi.new("talus_error*")
        with self._world._turn.lock():
            status = lib.talus_record_frame(self._open(), error)
        if status < 0:
            raise errors.failure(status, error)

    def _open(self):
        if self._run is None:
            raise errors.StateError("the recording has ended")
        return self._run

    def close(self):
        """Write the last frame, checkpoint and summary. Returns the Summary; a second time it does
        nothing else."""
        if self._run is not None:
            self._world._recorder = self._run = None
            self.summary = self._end()
        return self.summary

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()

    def __repr__(self):
        state = "ended" if self._run is None else "open"
        return f"<Recording in {self.directory}, {state}>"


def _close(run, kept, world):
    summary, error = ffi.new("talus_summary*"), ffi.new("talus_error*")
    status = lib.talus_run_close(run, summary, error)
    del kept, world  # both had to live on until now
    if status < 0:
        raise errors.failure(status, error)
    return copy_of(summary)


World.record.__doc__ = f"""Record the world into a folder from now on, whatever steps it:

    with world.record("out", frame_interval=0.01):
        world.run(steps=1000, h=1e-3)

The folder then has all that a run has: frames, series, checkpoints, log and a summary. talus.open(),
talus.load(), `talus view`, measure, plot, render and export take it. With `resume` the records in the
folder are gone on with; the world must be that of their last checkpoint, as talus.load(folder) gives
it. Checkpoints hold the world as it was right after a step. Returns the Recorder.

{options_head('Options', 'talus_record_def')}
{options_doc('talus_record_def', OPTIONS)}"""
