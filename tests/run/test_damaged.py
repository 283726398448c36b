"""frames.h5 that was damaged or made to deceive: who reads it says so and ends in order, and a run
with a good checkpoint goes on.

Each file claims something impossible about one thing. The commands must end with 1 and a message, or
with 0 where they do not need that thing; a signal, a hang or gigabytes of memory are failures."""
import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

TALUS = os.environ["TALUS"]
SCENE = """
title: Stones
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
materials: {stone: {density: 2500, friction: 0.5}}
shapes: {brick: {box: [1, 1.5, 0.8]}}
walls: [{name: floor, type: plane, normal: [0, 0, 1]}]
grains:
  - {type: lattice, counts: [2, 1, 1], low: [0, 0, 0.03], spacing: 0.12, radius: 0.04, shape: brick}
until: {steps: 2}
output: {frames: 0.001}
"""
FRAME = "frames/000001/"
VIEW, GSD, MEASURE = ["view", "--export"], ["export", "--gsd"], ["measure", "stress", "--frame", "all"]
EVERYTHING = [VIEW, GSD, MEASURE]


def replaced(path, shape, dtype="<f8", **more):
    def change(file):
        del file[path]
        file.create_dataset(path, shape, dtype, **more)
    return change


def attribute(name, value, where="/"):
    return lambda file: file[where].attrs.modify(name, value)


def number(path, at, value):
    return lambda file: file[path].__setitem__(at, value)


# What is done to the file, and who must refuse it; the others may do without.
DAMAGE = {
    "no width": (replaced(FRAME + "grains/velocity", (2, 0)), [GSD, MEASURE]),
    "width past int": (replaced(FRAME + "grains/velocity", (2, 2**32 + 3), chunks=(1, 1024)), [GSD, MEASURE]),
    "rows past size": (replaced(FRAME + "grains/radius", (2**61,), chunks=(1024,)), EVERYTHING),
    "rows past memory": (replaced(FRAME + "grains/radius", (2**40,), chunks=(1024,)), EVERYTHING),
    "too few rows": (replaced(FRAME + "grains/position", (1, 3)), EVERYTHING),
    "other type": (replaced(FRAME + "grains/radius", (2,), "<i4"), EVERYTHING),
    "frame count": (attribute("frame_count", numpy.int64(2**61)), EVERYTHING),
    "negative frame count": (attribute("frame_count", numpy.int64(-5)), EVERYTHING),
    "dimension": (attribute("dimension", numpy.int32(7)), EVERYTHING),
    "grains": (attribute("grains", numpy.int64(2**40), FRAME), EVERYTHING),
    "negative walls": (attribute("walls", numpy.int64(-3), FRAME), EVERYTHING),
    "no offsets": (replaced("shapes/solids/vertex_first", (0,), "<i4"), [VIEW, GSD]),
    "corner": (number("shapes/solids/loop", 1, 100000), [VIEW, GSD]),
    "shape": (number(FRAME + "grains/solid", 0, 1000), [GSD, MEASURE]),
}


def run(*arguments):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True, timeout=100)


class Damaged(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="talus-damaged-"))
        self.addCleanup(shutil.rmtree, self.root)
        scene, self.folder = self.root / "scene.yaml", self.root / "run"
        scene.write_text(SCENE)
        done = run("run", scene, "-o", self.folder, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)

    def ask(self, command, name):
        output = [] if command == MEASURE else [self.root / f"{name}-{command[0]}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        done = run(command[0], self.folder, *command[1:], *output)
        grown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before
        self.assertLess(grown, 1 << 20, f"kilobytes more in {name}: {command}")
        return done

    def test_every_reader(self):
        good = (self.folder / "frames.h5").read_bytes()
        for command in EVERYTHING:
            self.assertEqual(self.ask(command, "good").returncode, 0, command)
        for name, (change, refusing) in DAMAGE.items():
            (self.folder / "frames.h5").write_bytes(good)
            with h5py.File(self.folder / "frames.h5", "r+") as file:
                change(file)
            for command in EVERYTHING:
                with self.subTest(name, command=command[0]):
                    done = self.ask(command, name.replace(" ", "-"))
                    self.assertIn(done.returncode, [1] if command in refusing else [0, 1], done.stderr)
                    if done.returncode:
                        self.assertRegex(done.stderr, r"talus: .*(frames\.h5|a grain|a frame)")


class Resumed(unittest.TestCase):
    """A finished run goes on for some steps after something has happened to its frames."""
    STEPS, MORE = 100, 105

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="talus-damaged-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.done, cls.folder = cls.root / "done", cls.root / "run"
        tiny = Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml"
        whole = cls.root / "whole"
        for folder, steps in ((cls.done, cls.STEPS), (whole, cls.MORE)):
            done = run("run", tiny, "-o", folder, "--quiet", "--steps", steps)
            assert done.returncode == 0, done.stderr
        cls.whole = json.loads((whole / "summary.json").read_text())
        cls.frames = (cls.done / "frames.h5").read_bytes()

    def resume(self, change, note):
        """Go on with a copy of the run whose folder was changed; what it says of that in its log."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.done, self.folder)
        change(self.folder)
        done = run("resume", self.folder, "--quiet", "--steps", self.MORE)
        self.assertEqual(done.returncode, 0, f"{note}: {done.stderr}")
        summary = json.loads((self.folder / "summary.json").read_text())
        for key in ("steps", "state_hash", "verdict"):
            self.assertEqual(summary[key], self.whole[key], f"{key}, {note}")
        with h5py.File(self.folder / "frames.h5") as file:  # the new frames are there, whatever the old are
            last = file["frames"][f"{file.attrs['frame_count'] - 1:06}"]
            self.assertEqual(last.attrs["step"], self.MORE, note)
            self.assertTrue(numpy.isfinite(last["grains/position"][:]).all(), note)
        return (self.folder / "log.txt").read_text()

    def assert_set_aside(self, log):
        """No frame is left of the old, and their file is kept as it was."""
        self.assertRegex(log, r"warning: the frames from 0 to \d+ of .* cannot be read: .*frames\.h5: .*; what")
        kept = list((self.folder / "frames.damaged").iterdir())
        self.assertEqual(len(kept), 1)
        return kept[0]

    def test_sound(self):
        log = self.resume(lambda folder: None, "nothing has happened")
        self.assertNotIn("warning", log)
        self.assertFalse((self.folder / "frames.damaged").exists())

    def test_bits(self):
        """HDF5 1.10 crashes on some of these."""
        chance = random.Random(int(os.environ.get("TALUS_TEST_SEED", "1")))
        scale = float(os.environ.get("TALUS_TEST_SCALE", "1"))
        for trial in range(max(2, int(12 * scale))):
            damaged = bytearray(self.frames)
            at = [chance.randrange(min(len(damaged), chance.choice([512, 30000, 10**9]))) for _ in range(4)]
            for byte in at:
                damaged[byte] ^= 1 << chance.randrange(8)
            log = self.resume(lambda folder: (folder / "frames.h5").write_bytes(damaged), f"bytes {at}")
            if (self.folder / "frames.damaged").exists():
                self.assertIn("what there is of them is kept in", log)

    def test_cut_off(self):
        half = self.frames[:len(self.frames) // 2]
        log = self.resume(lambda folder: (folder / "frames.h5").write_bytes(half), "cut off")
        self.assertEqual(self.assert_set_aside(log).read_bytes(), half)
        # A run in a good state again: nothing more is lost, and all is gathered.
        again = run("resume", self.folder, "--quiet", "--steps", self.MORE + 5)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertFalse((self.folder / "frames").exists())
        self.assertFalse((self.folder / "frames.damaged-2").exists())

    def test_missing(self):
        log = self.resume(lambda folder: (folder / "frames.h5").unlink(), "missing")
        self.assertIn("nowhere: the files are missing", log)
        self.assertFalse((self.folder / "frames.damaged").exists())


if __name__ == "__main__":
    unittest.main()
