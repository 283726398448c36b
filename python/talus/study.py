"""Parameter studies: a scene with many values of its keys, run side by side by `talus sweep`."""
import csv
import json
import os
import re
import signal
import subprocess

import numpy

from . import errors
from ._program import program, surroundings
from .progress import Bar
from .recording import Recording
from .scene import Scene, _plain


def _values_text(key, values):
    """`key=a,b,c` as the program reads it."""
    if isinstance(values, str):
        return f"{key}={values}"
    texts = [v if isinstance(v, str) else json.dumps(v, default=_plain) for v in values]
    return f"{key}={','.join(text.replace(' ', '') for text in texts)}"


def _columns(path):
    """A table as arrays by the names of its columns; texts where not all are numbers."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    table = {}
    for name, column in zip(names, zip(*rows) if rows else [()] * len(names)):
        try:
            table[name] = numpy.array([float(text or "nan") for text in column])
        except ValueError:
            table[name] = list(column)
    return table


class Study:
    """What came out: `table` has a row for each combination of values (measures, "... error", "...
    runs"), `runs` one for each run, both as columns by name."""

    def __init__(self, directory):
        self.directory = os.path.abspath(directory)
        self.table = _columns(os.path.join(self.directory, "table.csv"))
        self.runs = _columns(os.path.join(self.directory, "runs.csv"))

    def __len__(self):
        return len(self.runs["folder"])

    def __getitem__(self, index):
        """The records of a run."""
        return Recording(os.path.join(self.directory, self.runs["folder"][index]))

    def measure(self, function):
        """function(recording) of every run that is done, as an array; NaN for the others."""
        return numpy.array([function(self[i]) if state == "done" else numpy.nan
                            for i, state in enumerate(self.runs["state"])], float)

    def _repr_png_(self):
        path = os.path.join(self.directory, "sweep.png")
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def __repr__(self):
        done = sum(state == "done" for state in self.runs["state"])
        return f"<Study in {self.directory}: {done} of {len(self)} runs done>"


def _watch(child, bar):
    """Draw the bar from what the program says; returns the lines that are not about progress."""
    said = []
    for line in child.stderr:
        found = re.match(r"(\d+) of (\d+) runs done .*ETA about (\S+)", line)
        if found:
            done, total, left = found.groups()
            bar.show(int(done) / int(total), f"{done} of {total} runs  ETA {left}", always=True)
        else:
            said.append(line.rstrip())
    return said


def sweep(scene, vary=None, seeds=None, directory="sweep", measure=None, sets=(), frame=None,
          jobs=None, threads=None, steps=None, pages=True, progress=True, device=None):
    """Run a scene (a Scene, a path, the name of a ready-made one or a dict) with many values of its
    keys, side by side on all cores: `talus sweep`.

    `vary` has the values of each key, {"materials.glass.friction": [0.1, 0.3]} or as the program
    takes them, "0.1:0.9:9"; all are combined with each other, and each combination runs with the
    seeds 1 to `seeds`. `measure` lists what the table has: numbers of `talus measure`, such as
    "coordination.all_grains", and means of the series, such as "series.kinetic_energy". Called again
    with the same folder it runs what is missing, also after Ctrl-C or a kill. Returns the Study."""
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    words = ["--output", os.fspath(directory)]
    for key, values in (vary or {}).items():
        words += ["--vary", _values_text(key, values)]
    for text in [*scene._sets, *scene._set_texts(sets)]:
        words += ["--set", text]
    names = measure if measure is None or isinstance(measure, str) else ",".join(measure)
    for name, value in (("seeds", seeds), ("measure", names), ("frame", frame), ("jobs", jobs),
                        ("threads", threads), ("device", device), ("steps", steps)):
        if value is not None:
            words += ["--" + name, str(value)]
    words += [] if pages else ["--no-pages"]
    bar = Bar() if progress else None
    with scene._file() as path:
        child = subprocess.Popen([program(), "sweep", path, *words], stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, text=True, env=surroundings())
        try:
            said = _watch(child, bar) if bar else child.stderr.read().splitlines()
            status = child.wait()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)  # runs write their checkpoints
            child.wait()
            raise
        finally:
            child.stderr.close()
            if bar:
                bar.end()
    wrong = [line.replace(path, "scene") for line in said if "talus: " in line or "--set" in line]
    if status and not os.path.exists(os.path.join(directory, "runs.csv")):
        kind = errors.SceneError if status == 3 else errors.ArgumentError if status == 2 \
            else errors.Error
        raise kind("\n".join(wrong) or "the study failed")
    if status == 75:
        raise KeyboardInterrupt
    if status:
        raise errors.Error("\n".join(wrong) or "the study failed")
    return Study(directory)
