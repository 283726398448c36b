"""Runs: a scene carried out into a folder, with records, checkpoints and resume."""
import inspect
import pickle
import signal

from . import errors
from ._callbacks import Bound, raise_problems
from ._fill import new_options, unknown_option
from ._library import doc, ffi, lib
from ._records import copy_of
from ._types import options_doc, options_head, settable
from .progress import Bar, of_run
from .scene import Scene
from .world import RunWorld, World, says_stop, write_log


def _watcher(progress, every, stop):
    """What the library calls after every step. It also lets Python notice Ctrl-C, so it is there
    even if nobody wants to see the progress."""

    def watch(pointer):
        if progress is None or (every and pointer.last.step % every):
            return
        if says_stop(progress(copy_of(pointer))):
            stop[0] = 1

    def end():
        stop[0] = 1

    watch.takes_raw = True
    bound = Bound(watch)
    bound.on_problem = end
    return bound


def _definition(options, progress, every):
    """The options of a run, and what they need to live on."""
    keep, stop = [], ffi.new("sig_atomic_t*")
    options.setdefault("log", write_log)
    options.update(stop=stop, progress=_watcher(progress, every, stop))
    return new_options("talus_run_def", options, keep), keep


def _carry_out(resumed, options, progress, every, steering):
    bar = Bar() if progress is True else None
    try:
        return _go_through(resumed, options, of_run(bar) if bar else progress, every, steering)
    finally:
        if bar:
            bar.end()


def _go_through(resumed, options, progress, every, steering):
    definition, keep = _definition(options, progress, every)
    if steering:
        return _Steered(definition, keep, resumed, steering).carry_out()
    function = lib.talus_run_resume if resumed else lib.talus_run_start
    summary, report = ffi.new("talus_summary*"), errors.new_report()
    error = ffi.new("talus_error*")
    status = function(definition, summary, report, error)
    raise_problems(keep)
    if status < 0:
        raise errors.failure(status, error, errors.report_lines(report))
    return copy_of(summary)


class _Steering:
    """The user's functions, and the dict that goes into checkpoints."""

    def __init__(self, callback, before_step, after_step, at_frame, keep):
        if callback is not None and after_step is not None:
            raise TypeError("callback is another name of after_step: give one of them")
        self.moments = {"before_step": before_step, "at_frame": at_frame,
                        "after_step": after_step if callback is None else callback}
        for name, function in self.moments.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name}: expected a function, got {type(function).__name__}")
        if keep is not None and not isinstance(keep, dict):
            raise TypeError(f"keep: expected a dict, got {type(keep).__name__}")
        self.keep = keep

    def __bool__(self):
        return self.keep is not None or any(f is not None for f in self.moments.values())


class _LaterInterrupt:
    """Ctrl-C while a run is steered: it waits until a step is complete, with all that the user's
    functions do about it, since checkpoints are made there. A second one comes through at once."""

    def __enter__(self):
        self.pressed, self.before = False, None
        try:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                self.before = signal.signal(signal.SIGINT, self._press)
        except ValueError:
            pass  # not the main thread: Ctrl-C is not heard here
        return self

    def _press(self, number, frame):
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *problem):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


class _Steered:
    """A run that hands its world over."""

    def __init__(self, definition, keep, resumed, steering):
        out, error = ffi.new("talus_run**"), ffi.new("talus_error*")
        report = errors.new_report()
        status = lib.talus_run_open(definition, resumed, out, report, error)
        raise_problems(keep)
        if status < 0:
            raise errors.failure(status, error, errors.report_lines(report))
        self.run, self.steering, self.problems = out[0], steering, keep
        self.world = RunWorld._borrow(lib.talus_run_world(self.run), keep)
        self.error = ffi.new("talus_error*")

    def carry_out(self):
        try:
            self._recall()
            with _LaterInterrupt() as interrupt:
                while not interrupt.pressed and self._step():
                    pass
                summary = self._close()
            if interrupt.pressed:
                raise KeyboardInterrupt
            return summary
        finally:
            self.world._end()
            if self.run is not None:  # an exception: what checkpoints have is what is left
                lib.talus_run_abandon(self.run)

    def _call(self, function, *arguments):
        with self.world._turn.lock():
            self.world._let_go()
            status = function(self.run, *arguments, self.error)
        raise_problems(self.problems)
        if status < 0:
            raise errors.failure(status, self.error)
        return status

    def _hand_over(self, moment):
        """Let the user's function look at the world; True if it ends the run."""
        function = self.steering.moments[moment]
        if function is None:
            return False
        self.world.step_length = lib.talus_run_step_length(self.run)
        return says_stop(function(self.world))

    def _step(self):
        """One step with all that belongs to it; False if the run is over."""
        flag = ffi.new("bool*")
        self._call(lib.talus_run_goes_on, flag)
        if not flag[0]:
            return False
        if self._hand_over("before_step"):
            lib.talus_run_stop(self.run, b"before_step() said so")
            return False
        self._call(lib.talus_run_step, flag)
        if not flag[0]:
            return False
        stops = self._hand_over("after_step")
        if lib.talus_run_checkpoint_due(self.run):
            self._keep()
        self._call(lib.talus_run_record, flag)
        stops = flag[0] and self._hand_over("at_frame") or stops
        if stops:
            lib.talus_run_stop(self.run, b"the user's own rule said so")
        return not stops

    def _keep(self):
        if self.steering.keep is not None:
            kept = pickle.dumps(self.steering.keep)
            self._call(lib.talus_run_keep, ffi.from_buffer(kept), len(kept))

    def _recall(self):
        """Give the dict what the checkpoint has of it."""
        size = ffi.new("int64_t*")
        kept = lib.talus_run_kept(self.run, size)
        if self.steering.keep is not None and size[0] > 0:
            found = pickle.loads(ffi.buffer(kept, size[0])[:])
            self.steering.keep.clear()
            self.steering.keep.update(found)

    def _close(self):
        self._keep()
        summary, run = ffi.new("talus_summary*"), self.run
        with self.world._turn.lock():
            self.world._end()
            self.run = None
            status = lib.talus_run_close(run, summary, self.error)
        raise_problems(self.problems)
        if status < 0:
            raise errors.failure(status, self.error)
        return copy_of(summary)


OPTIONS = {name: field for name, field in settable("talus_run_def").items()
           if name not in ("scene", "directory", "sets", "progress", "stop", "command")}


def _check_options(options):
    for name in options:
        if name not in OPTIONS:
            raise TypeError(unknown_option("run", name, OPTIONS))


def run(scene, directory, sets=(), progress=None, every=0, callback=None, before_step=None,
        after_step=None, at_frame=None, keep=None, **options):
    """Run a scene (a Scene, a path, the name of a ready-made one or a dict) from its beginning into
    a folder.

    progress(p) is called after every step, or every `every` steps; if it returns True, or ends in
    an exception, or with Ctrl-C, the run finishes its step, writes a checkpoint and ends: resume()
    goes on. progress=True draws a bar, in a terminal or in a notebook. Returns the Summary.

    before_step(world), after_step(world) and at_frame(world) are called with the world of the run
    at these moments, and may change it: forces, drives, walls, grains that come or go. `callback`
    is another name of after_step. If one of them returns True the run ends there, as finished. What
    they need from step to step belongs into the dict `keep`: it is pickled into the checkpoints, and
    resume() with the same functions and a dict goes on to the same bits. at_frame() comes after the
    frame and the checkpoint: let it look, not change."""
    _check_options(options)
    steering = _Steering(callback, before_step, after_step, at_frame, keep)
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    with scene._file() as path:
        options.update(scene=path, directory=directory,
                       sets=[*scene._sets, *scene._set_texts(sets)])
        return _carry_out(False, options, progress, every, steering)


def resume(directory, progress=None, every=0, callback=None, before_step=None, after_step=None,
           at_frame=None, keep=None, **options):
    _check_options(options)
    options.update(directory=directory)
    steering = _Steering(callback, before_step, after_step, at_frame, keep)
    return _carry_out(True, options, progress, every, steering)


def load(directory, threads=0, log=write_log, device=None):
    keep, out = [], ffi.new("talus_loaded*")
    error, report = ffi.new("talus_error*"), errors.new_report()
    definition = new_options("talus_run_def",
                             {"directory": directory, "threads": threads, "log": log,
                              "device": device}, keep)
    status = lib.talus_run_load(definition, out, report, error)
    if status < 0:
        raise errors.failure(status, error, errors.report_lines(report))
    return World._from_pointer(out.world, keep, out.step_length)


run.__doc__ = inspect.cleandoc(run.__doc__) + f"\n\n{options_head('Options', 'talus_run_def')}\n" \
    f"{options_doc('talus_run_def', OPTIONS)}"
resume.__doc__ = f"{doc('talus_run_resume')} Options as of run(), `progress`, `every`, the user's " \
    "own functions and `keep` too."
load.__doc__ = f"{doc('talus_run_load')} Returns the World, with its `step_length`."
