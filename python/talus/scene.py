"""Scenes: from a file, from YAML text or from a dict, to a world or to a run in a folder."""
import contextlib
import difflib
import json
import os
import pathlib
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


def _set_texts(sets, whole=False):
    """Overrides as "key.path=value", from one or more such texts or from a dict, in which a text is
    a text whatever YAML would make of it. File names are made `whole` for a scene without file."""
    if hasattr(sets, "items"):
        texts = []
        for key, value in sets.items():
            value = _whole_paths(value, _last_key(key)) if whole else value
            texts.append(f"{key}={json.dumps(value, default=_plain, ensure_ascii=False)}")
        return texts
    texts = [] if sets is None else [sets] if isinstance(sets, str) else list(sets)
    return [_whole_set(text) if whole else text for text in texts]


def _last_key(path):
    return path.rpartition(".")[2]


def _whole_set(text):
    key, equals, value = text.partition("=") if isinstance(text, str) else (text, "", "")
    if equals and _last_key(key.strip()) == "file" and value.strip()[:1] not in ("'", '"'):
        return f"{key}={json.dumps(os.path.abspath(value.strip()), ensure_ascii=False)}"
    return text


def _scene_folders():
    """Where ready-made scenes are: $TALUS_SCENES, below the package's prefix, or where the build
    has noted them."""
    here = pathlib.Path(__file__).resolve()
    noted, wished = here.with_name("scenes.txt"), os.environ.get("TALUS_SCENES")
    listed = [wished] if wished else []
    listed += [root / "share/talus/scenes" for root in here.parents]
    listed += [noted.read_text(encoding="utf-8").strip()] if noted.exists() else []
    return [folder for folder in map(pathlib.Path, listed) if folder.is_dir()]


def _locate(source):
    """The path of a scene: itself, or that of a ready-made one, as the program finds it."""
    if not isinstance(source, str) or os.sep in source or source.endswith((".yaml", ".yml")):
        return os.fspath(source)
    found = [path for folder in _scene_folders() for path in sorted(folder.glob("*.yaml"))]
    names = [path.stem for path in found]
    if source in names:
        return str(found[names.index(source)])
    if os.path.exists(source):
        return source
    near = difflib.get_close_matches(source, names, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise errors.NotFoundError(f"'{source}' is neither a file nor a ready-made scene{hint}")


class Scene:
    """A scene: Scene("hopper.yaml"), the ready-made Scene("hopper"), Scene({...}) or
    Scene.from_text("title: ...").

    `sets` are overrides, {"key.path": value} or a list of "key.path=value". Mistakes raise
    SceneError with all of them in `lines`.
    """

    _kind, _keep, _threads = "talus_scene", (), 1

    def __init__(self, source, sets=()):
        if not isinstance(source, dict) and not isinstance(source, (str, os.PathLike)):
            raise TypeError("a scene is a path, the name of a ready-made one or a dict, not "
                            f"{type(source).__name__}")
        self._text = to_yaml(source) if isinstance(source, dict) else None
        self._path = None if isinstance(source, dict) else _locate(source)
        self._sets = self._set_texts(sets)
        self._load()

    def _set_texts(self, sets):
        return _set_texts(sets, whole=self._path is None)

    @classmethod
    def from_text(cls, yaml, sets=()):
        """A scene from YAML text. Files that it names need whole paths."""
        scene = cls.__new__(cls)
        scene._text, scene._path, scene._sets = yaml, None, _set_texts(sets, whole=True)
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

    def world(self, threads=0, log=write_log, device=None):
        keep, out = [], ffi.new("talus_world**")
        error, report = ffi.new("talus_error*"), errors.new_report()
        options = new_options("talus_world_def", {"log": log, "threads": threads, "device": device},
                              keep)
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
