"""Ready-made scenes carried out: their summaries, series and frames."""
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy

TALUS = os.environ["TALUS"]
FOLDER = Path(__file__).resolve().parents[2] / "scenes"
LONG = float(os.environ.get("TALUS_TEST_SCALE", "1")) >= 1


def talus(*arguments, cwd=None):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "TALUS_SCENES": str(FOLDER)}, timeout=250)


def carry_out(scene, directory, *options):
    """Run a scene; its summary and its series."""
    done = talus("run", scene, "-o", directory, "--quiet", "--json", *options)
    if done.returncode != 0:
        raise AssertionError(f"{scene}: exit status {done.returncode}\n{done.stderr}")
    series = numpy.genfromtxt(Path(directory) / "series.csv", names=True, delimiter=",")
    return json.loads(done.stdout), series


def frame_of(directory, number):
    """The fields of the grains in a frame."""
    with h5py.File(Path(directory) / "frames.h5", "r") as file:
        names = sorted(file["frames"])
        return {key: value[()] for key, value in file["frames"][names[number]]["grains"].items()}
