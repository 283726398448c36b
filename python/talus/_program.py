"""The program `talus`, for what Python leaves to it: studies, and pages of the viewer."""
import os
import pathlib
import shutil
import subprocess

from . import errors


def find_program():
    """Its path: beside the package (a wheel), below the package's prefix, in the build tree, or on
    PATH. None if there is none."""
    here = pathlib.Path(__file__).resolve()
    places = [here.with_name("bin") / "talus", here.parents[2] / "talus"]
    places += [root / "bin/talus" for root in here.parents]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    return shutil.which("talus")


def program():
    found = find_program()
    if found is None:
        raise errors.NotFoundError("the program talus is neither beside this package nor on PATH")
    return found


def surroundings():
    """The environment for the program: that of a wheel finds its libraries there."""
    libraries = pathlib.Path(__file__).resolve().with_name("libraries")
    if not libraries.is_dir():
        return None
    paths = [str(libraries), os.environ.get("LD_LIBRARY_PATH", "")]
    return dict(os.environ, LD_LIBRARY_PATH=":".join(filter(None, paths)))


def call(*words):
    """Run the program to its end; what it said when it fails."""
    done = subprocess.run([program(), *map(os.fspath, words)], capture_output=True, text=True,
                          check=False, env=surroundings())
    if done.returncode:
        raise errors.Error((done.stderr or done.stdout).strip() or f"talus {words[0]} failed")
    return done.stdout
