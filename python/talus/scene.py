"""Scenes: from a file, from YAML text or from a dict, to a world or to a run in a folder."""
import contextlib
import json
import os
import tempfile

import numpy

from . import errors
from ._call import add_methods
from ._fill import new_options, text_of, texts_of
from ._library import doc, ffi, lib, text
from ._memory import Turn
from .world import World, write_log


def _plain(value):
    """What json does not know: numpy's numbers and arrays, and paths."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    if hasattr(value, "__fspath__"):
        return os.path.abspath(value)
    raise TypeError(f"a scene cannot hold a {type(value).__name__}")


def _whole_paths(value, key=None):
    """A scene's relative file names begin at its own folder; those of a dict at the current one."""
    if isinstance(value, dict):
        return {k: _whole_paths(v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole_paths(v) for v in value]
    return os.path.abspath(value) if key == "file" and isinstance(value, str) else value


def to_yaml(scene):
    """A dict as YAML; JSON is YAML, too."""
    return json.dumps(_whole_paths(scene), indent=1, default=_plain, ensure_ascii=False)


def _set_texts(sets):
    """Overrides as "key.path=value", from such texts or from a dict."""
    if hasattr(sets, "items"):
        return [f"{k}={v if isinstance(v, str) else json.dumps(v, default=_plain)}"
                for k, v in sets.items()]
    return list(sets)


class Scene:
    """A scene: Scene("hopper.yaml"), Scene({...}) or Scene.from_text("title: ...").

    `sets` are overrides, {"key.path": value} or a list of "key.path=value". Mistakes raise
    SceneError with all of them in `lines`.
    """

    _kind, _keep = "talus_scene", ()

    def __init__(self, source, sets=()):
        self._text = to_yaml(source) if isinstance(source, dict) else None
        self._path = None if isinstance(source, dict) else os.fspath(source)
        self._sets = _set_texts(sets)
        self._load()

    @classmethod
    def from_text(cls, yaml, sets=()):
        """A scene from YAML text. Files that it names need whole paths."""
        scene = cls.__new__(cls)
        scene._text, scene._path, scene._sets = yaml, None, _set_texts(sets)
        scene._load()
        return scene

    @contextlib.contextmanager
    def _file(self):
        """The path of the scene; of text, that of a file which exists for the moment. Messages then
        speak of `scene` instead."""
        if self._path is not None:
            yield self._path
            return
        with tempfile.TemporaryDirectory(prefix="talus-scene-") as folder:
            path = os.path.join(folder, "scene")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._text)
            try:
                yield path
            except errors.Error as problem:
                lines = tuple(line.replace(path, "scene") for line in problem.lines)
                problem.args = (str(problem.args[0]).replace(path, "scene"),)
                problem.lines = lines
                raise

    def _load(self):
        keep, out = [], ffi.new("talus_scene**")
        error, report = ffi.new("talus_error*"), errors.new_report()
        with self._file() as path:
            sets, count = texts_of(self._sets, keep, "sets")
            status = lib.talus_scene_load(text_of(path, keep, "scene"), sets, count, out, report,
                                          error)
            if status < 0:
                raise errors.failure(status, error, errors.report_lines(report))
        self._pointer, self._turn = ffi.gc(out[0], lib.talus_scene_destroy), Turn("scene")

    def _ready(self, changes=False, moves=False):
        return self._pointer

    @property
    def title(self):
        return text(lib.talus_scene_title(self._pointer))

    @property
    def step_length(self):
        """The scene's time step, s (of `step: auto`: once the world is made)."""
        return lib.talus_scene_step_length(self._pointer)

    def world(self, threads=0, log=write_log):
        keep, out = [], ffi.new("talus_world**")
        error, report = ffi.new("talus_error*"), errors.new_report()
        options = new_options("talus_world_def", {"log": log, "threads": threads}, keep)
        status = lib.talus_scene_build(self._pointer, options, out, report, error)
        if status < 0:
            raise errors.failure(status, error, errors.report_lines(report))
        return World._from_pointer(out[0], keep, self.step_length)

    def run(self, directory, **options):
        """Carry the scene out into a folder, with its phases, inlets and output: talus.run()."""
        from .runs import run
        return run(self, directory, **options)

    def __repr__(self):
        return f"<Scene '{self.title}'>"


Scene.world.__doc__ = f"""{doc('talus_scene_build')}

The world is at the start of the first phase. Phases, inlets and output belong to runs: run()."""
add_methods(Scene, "talus_scene")
