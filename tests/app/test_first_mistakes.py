"""Mistakes of somebody's first hour, and what the program says to them: scenes written with the words of
other programs, options and folders that are not there. tests/scene/test_scene_errors.c has every message
of the reader; here are those that a new user gets first."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import FAILURE, OK, SCENE, SCENE_ERRORS, TALUS, USAGE

SCENE_TEXT = """dimension: 2
step: auto
materials: {glass: {density: 2500, friction: 0.3}}
walls: [{name: floor, type: plane, normal: [0, 1]}]
grains: [{type: fill, region: {low: [0, 0], high: [0.2, 0.2]}, count: 20, radius: 0.005}]
until: {time: 0.1}
gravity: [0, -9.81]
"""
FILL = "{type: fill, region: {low: [0, 0], high: [0.2, 0.2]}, count: 20, radius: 0.005}"

# What is changed in that scene, into what, and the line that answers.
SCENES = [
    ("friction: 0.3", "mu: 0.3", "3:36: materials.glass.mu: unknown key; did you mean 'friction'?"),
    ("friction: 0.3", "cohesion: 1",
     "3:36: materials.glass.cohesion: unknown key; did you mean 'cohesion_force'?"),
    ("friction: 0.3", "friction: 0,3",
     "3:48: materials.glass.3: unknown key (numbers are written with a decimal point, 2.5, not a comma)"),
    ("time: 0.1", "time: 0.1 s",
     "6:15: until.time: '0.1 s' is not a number (expected a number > 0); numbers are written without units"
     " (lengths in m, times in s, masses in kg)"),
    ("dimension: 2", "dim: 2", "1:1: dim: unknown key; did you mean 'dimension'?"),
    ("dimension: 2", "dimension: 2D",
     "1:12: dimension: '2D' is not a number (expected 2 or 3); numbers are written without units (lengths"
     " in m, times in s, masses in kg)"),
    ("dimension: 2\n", "", "1:1: dimension: is missing (expected 2 or 3)"),
    ("step: auto", "dt: 1e-3", "2:1: dt: unknown key; did you mean 'step'?"),
    ("step: auto", "step: auto\nseed: random",
     "3:7: seed: 'random' is not a number (expected an integer of at least 0)"),
    ("step: auto", "step: auto\nperiodic: [x]",
     "3:11: periodic: is a list (expected a map of keys: x, y)"),
    ("step: auto", "step: auto\noutput: {directory: out}",
     "3:10: output.directory: unknown key (known here: frames, series, checkpoint, contacts)"),
    ("radius: 0.005", "radius: [0.004, 0.006]",
     "5:83: grains[0].radius: is a list (expected one size, or a map such as {distribution: uniform, min:"
     " 0.01, max: 0.02})"),
    ("radius: 0.005", "radius: {distribution: uniform, low: 0.004, high: 0.006}",
     "5:107: grains[0].radius.low: unknown key; did you mean 'min'?\n"
     "5:119: grains[0].radius.high: unknown key; did you mean 'max'?"),
    ("normal: [0, 1]", "normal: [0, 1], motion: {type: servo, mass: 1, axis: [0, 1], pressure: 9, area: 1}",
     "4:97: walls[0].motion.pressure: unknown key; did you mean 'stress'?"),
    (FILL, "{type: inlet, low: [0, 0], high: [1, 1], radius: 0.1}",
     "5:10: grains[0]: the inlet has no rate (expected either rate in grains/s or mass_rate in kg/s)"),
    ("dimension: 2", "title: Bob's: test\ndimension: 2",
     "1:13: YAML syntax: a ':' is not allowed here (a text with ': ' in it goes in quotes; or is the line"
     " indented too far?)"),
    (SCENE_TEXT, "units lj\natom_style sphere\n",
     "1:1: the file is a single value (expected a scene: lines such as 'dimension: 2')"),
]

# Words of a command line (RUN is the folder of a run, FILE one of its files), status, and the answer.
COMMANDS = [
    (["rnu", "hopper"], USAGE, "there is no command 'rnu'; did you mean 'run'?"),
    (["run", "hoper"], USAGE, "'hoper' is neither a file nor a ready-made scene; did you mean 'hopper'?"),
    (["run", "RUN"], USAGE, "it holds a run, whose scene is RUN/scene.yaml"),
    (["run", SCENE, "-o", "RUN"], FAILURE, "RUN already holds a run; resume it, replace it with --force"),
    (["run", SCENE, "--set", "friction=1"], SCENE_ERRORS,
     "friction: unknown key here; did you mean 'materials.<name>.friction'?"),
    (["resume", "FILE"], FAILURE, "FILE: that is a file (expected the directory of a run)"),
    (["ensemble", "nowhere"], USAGE, "'nowhere' is neither a file nor a ready-made scene"),
    (["export", "nowhere"], FAILURE, "there is no recorded run in nowhere: there is no such directory"),
    (["export", "RUN", "--format", "vtk"], USAGE, "help export` lists its options"),
    (["measure", "FILE"], FAILURE, "FILE: that is a file (expected the directory of a run)"),
    (["measure", "RUN", "stress", "--region", "x=50:60"], OK,
     "has no free grain in what is measured"),
    (["render", "RUN", "--colour", "sped"], FAILURE, "there is no field 'sped'; did you mean 'speed'?"),
    (["plot", "RUN", "enrgy"], USAGE, "there is no plot 'enrgy'; did you mean 'energy'?"),
    (["plot", "RUN", "series", "kinetic"], FAILURE, "no column 'kinetic'; did you mean 'kinetic_energy'?"),
    (["view", "FILE"], FAILURE, "FILE: that is a file (expected the directory of a run)"),
    (["import", SCENE, "-o", "out.yaml"], FAILURE, "the format is not known; expected a LAMMPS dump"),
    (["solve", SCENE], FAILURE, "this is not an HDF5 file"),
    (["new", "first", "-t", "pile"], USAGE, "there is no template 'pile'; templates are: box hopper"),
]


def talus(*words, cwd):
    return subprocess.run([TALUS, *words], cwd=cwd, capture_output=True, text=True, timeout=120)


class FirstMistakes(unittest.TestCase):
    def test_scenes(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = Path(folder, "scene.yaml")
            scene.write_text(SCENE_TEXT)
            self.assertEqual(talus("check", scene.name, cwd=folder).returncode, OK)
            for old, new, expected in SCENES:
                with self.subTest(scene=new):
                    self.assertEqual(SCENE_TEXT.count(old), 1)
                    scene.write_text(SCENE_TEXT.replace(old, new))
                    done = talus("check", scene.name, cwd=folder)
                    lines = [line for line in done.stderr.splitlines() if line.startswith("scene.yaml:")]
                    self.assertEqual("\n".join(line.removeprefix("scene.yaml:") for line in lines), expected)
                    self.assertEqual(done.returncode, SCENE_ERRORS)

    def test_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            done = talus("run", SCENE, "-o", "out", "--steps", "3", "--quiet", cwd=folder)
            self.assertEqual(done.returncode, OK, done.stderr)
            places = {"RUN": "out", "FILE": "out/frames.h5"}
            for words, status, expected in COMMANDS:
                with self.subTest(command=" ".join(words)):
                    done = talus(*(places.get(word, word) for word in words), cwd=folder)
                    for word, place in places.items():
                        expected = expected.replace(word, place)
                    self.assertIn(expected, done.stderr)
                    self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
