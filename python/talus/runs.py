"""Runs: a scene carried out into a folder, with records, checkpoints and resume."""
import inspect

from . import errors
from ._callbacks import Bound, raise_problems
from ._fill import new_options, unknown_option
from ._library import doc, ffi, lib
from ._records import copy_of
from ._types import options_doc, options_head, settable
from .scene import Scene
from .world import World, says_stop, write_log


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


def _carry_out(function, options, progress, every):
    keep, stop = [], ffi.new("sig_atomic_t*")
    options.setdefault("log", write_log)
    options.update(stop=stop, progress=_watcher(progress, every, stop))
    definition = new_options("talus_run_def", options, keep)
    summary, report = ffi.new("talus_summary*"), errors.new_report()
    error = ffi.new("talus_error*")
    status = function(definition, summary, report, error)
    raise_problems(keep)
    if status < 0:
        raise errors.failure(status, error, errors.report_lines(report))
    return copy_of(summary)


OPTIONS = {name: field for name, field in settable("talus_run_def").items()
           if name not in ("scene", "directory", "sets", "progress", "stop", "command")}


def _check_options(options):
    for name in options:
        if name not in OPTIONS:
            raise TypeError(unknown_option("run", name, OPTIONS))


def run(scene, directory, sets=(), progress=None, every=0, **options):
    """Run a scene (a Scene, a path, the name of a ready-made one or a dict) from its beginning into
    a folder.

    progress(p) is called after every step, or every `every` steps; if it returns True, or ends in
    an exception, or with Ctrl-C, the run finishes its step, writes a checkpoint and ends: resume()
    goes on. Returns the Summary."""
    _check_options(options)
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    with scene._file() as path:
        options.update(scene=path, directory=directory,
                       sets=[*scene._sets, *scene._set_texts(sets)])
        return _carry_out(lib.talus_run_start, options, progress, every)


def resume(directory, progress=None, every=0, **options):
    _check_options(options)
    options.update(directory=directory)
    return _carry_out(lib.talus_run_resume, options, progress, every)


def load(directory, threads=0, log=write_log):
    keep, out = [], ffi.new("talus_loaded*")
    error, report = ffi.new("talus_error*"), errors.new_report()
    definition = new_options("talus_run_def",
                             {"directory": directory, "threads": threads, "log": log}, keep)
    status = lib.talus_run_load(definition, out, report, error)
    if status < 0:
        raise errors.failure(status, error, errors.report_lines(report))
    return World._from_pointer(out.world, keep, out.step_length)


run.__doc__ = inspect.cleandoc(run.__doc__) + f"\n\n{options_head('Options', 'talus_run_def')}\n" \
    f"{options_doc('talus_run_def', OPTIONS)}"
resume.__doc__ = f"{doc('talus_run_resume')} Options as of run(), `progress` and `every` too."
load.__doc__ = f"{doc('talus_run_load')} Returns the World, with its `step_length`."
