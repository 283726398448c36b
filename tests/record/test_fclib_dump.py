"""talus run --dump-problems: hard steps become contact problems of FCLIB, and the run keeps its bits."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

from fclib_model import Problem
from frames_content import frames_of

TALUS = os.environ["TALUS"]
TINY = Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml"

# Two balls on top of each other slide over the floor. One sweep from zero never solves them, so that
# every step is hard.
PAIR = """
title: Two balls
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
solver:
  {{method: sweeps, order: forward, stop: residual, tolerance: 1.0e-12, max_sweeps: 1, warm_start: false}}
policies: {{unconverged: accept}}
materials:
  glass: {{density: 2500, friction: 0.5{law}}}
walls:
  - {{name: floor, type: plane, point: [0, 0, 0], normal: [0, 0, 1]}}
grains:
  - type: list
    radius: 0.1
    items:
      - {{position: [0, 0, 0.1], velocity: [1, 0, 0]}}
      - {{position: [0, 0, 0.3], velocity: [1, 0, 0]}}
phases:
  - {{name: slide, until: {{steps: 20}}}}
"""


def talus(*arguments):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True,
                          timeout=200)


class Dump(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def scene(self, law=""):
        path = self.folder / "pair.yaml"
        path.write_text(PAIR.format(law=law))
        return path

    def run_scene(self, scene, name, *arguments):
        done = talus("run", scene, "-o", self.folder / name, "--quiet", *arguments)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return json.loads((self.folder / name / "summary.json").read_text())

    def files(self, name):
        return sorted((self.folder / name / "problems").glob("*"))

    def test_same_bits(self):
        """tiny.yaml has steps that are tried again in smaller parts; all results are the same."""
        plain = self.run_scene(TINY, "plain", "--steps", 450)
        dumped = self.run_scene(TINY, "dumped", "--steps", 450, "--dump-problems")
        self.assertGreaterEqual(dumped["problems_dumped"], 2)
        self.assertEqual(dumped["problems_dumped"], len(self.files("dumped")))
        self.assertNotIn("problems_dumped", plain)
        self.assertIn("problems/", dumped["verdict"])
        for key in ("state_hash", "sweeps_total", "contact_updates", "steps", "residual",
                    "unconverged_steps", "outcome"):
            self.assertEqual(plain[key], dumped[key], key)
        for name in ("series.csv", "scene.yaml"):
            self.assertEqual((self.folder / "plain" / name).read_bytes(),
                             (self.folder / "dumped" / name).read_bytes(), name)
        expected, found = frames_of(self.folder / "plain"), frames_of(self.folder / "dumped")
        self.assertEqual(expected.keys(), found.keys())
        for key, value in expected.items():
            numpy.testing.assert_array_equal(value, found[key], key)

    def test_problems_are_sound(self):
        self.run_scene(TINY, "run", "--steps", 450, "--dump-problems=3")
        files = self.files("run")
        self.assertGreaterEqual(len(files), 1)
        self.assertLessEqual(len(files), 3)
        for path in files:
            problem = Problem(path)
            self.assertEqual(problem.width, 2)
            numpy.testing.assert_array_equal(problem.mu, 0.3)
            # Talus adds the parts of both bodies in one order here and in the other there.
            largest = abs(problem.W).max()
            self.assertLessEqual(abs(problem.W - problem.W.T).max(), 1e-14 * largest)
            self.assertGreaterEqual(numpy.linalg.eigvalsh(problem.W)[0], -1e-12 * largest)
            done = talus("solve", path, "--write", "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with h5py.File(path) as file:
                self.assertLessEqual(problem.error(file["solution/r"][:]), 1e-8)
                info = file["fclib_local/info"]
                self.assertIn(b"Tiny box", info["title"][()])
                self.assertIn(b"u = W r + q", info["description"][()])
                self.assertIn("math_info", info)

    def test_pair(self):
        """W and q of two equal balls, by hand: the lower one on the floor, the upper one on it."""
        self.run_scene(self.scene(), "pair", "--dump-problems", "--steps", 1)
        problem = Problem(self.folder / "pair" / "problems" / "step-000001.hdf5")
        self.assertEqual((problem.count, problem.width), (2, 3))
        m = 2500 * 4 / 3 * numpy.pi * 0.1**3
        floor = int(numpy.argmin(numpy.diag(problem.W)[::3]))
        pair = 1 - floor
        normal = problem.W[numpy.ix_([3 * floor, 3 * pair], [3 * floor, 3 * pair])]
        close = {"rtol": 1e-12, "atol": 1e-12 / m}  # rounding of a handful of operations
        numpy.testing.assert_allclose(normal, numpy.array([[1, -1], [-1, 2]]) / m, **close)
        # Across: 1/m + R^2/I = 3.5/m of every ball; its other point moves the other way by spin.
        floor_t = slice(3 * floor + 1, 3 * floor + 3)
        pair_t = slice(3 * pair + 1, 3 * pair + 3)
        numpy.testing.assert_allclose(problem.W[floor_t, floor_t], 3.5 / m * numpy.eye(2), **close)
        numpy.testing.assert_allclose(problem.W[pair_t, pair_t], 7 / m * numpy.eye(2), **close)
        numpy.testing.assert_allclose(
            numpy.linalg.norm(problem.W[floor_t, pair_t], 2), 1.5 / m, **close)
        q = problem.q.reshape(2, 3)
        self.assertAlmostEqual(q[floor, 0], -9.81e-3, delta=1e-9)  # gaps of 1e-17 over the step
        self.assertAlmostEqual(q[pair, 0], 0, delta=1e-9)
        self.assertAlmostEqual(numpy.linalg.norm(q[floor, 1:]), 1, delta=1e-12)
        self.assertAlmostEqual(numpy.linalg.norm(q[pair, 1:]), 0, delta=1e-12)

    def test_few_of_many(self):
        """Of steps that all fail the 1st, 4th and 16th are dumped, and no more than asked."""
        self.run_scene(self.scene(), "all", "--dump-problems")
        self.assertEqual([p.name for p in self.files("all")],
                         [f"step-{n:06}.hdf5" for n in (1, 4, 16)])
        self.run_scene(self.scene(), "two", "--dump-problems=2")
        self.assertEqual(len(self.files("two")), 2)

    def test_nothing_is_overwritten(self):
        run = self.folder / "part"
        self.run_scene(self.scene(), "part", "--dump-problems", "--steps", 6)
        before = {p.name: p.read_bytes() for p in self.files("part")}
        self.assertEqual(list(before), ["step-000001.hdf5", "step-000004.hdf5"])
        (run / "problems" / "step-000007.hdf5").write_text("mine")
        before["step-000007.hdf5"] = b"mine"
        done = talus("resume", run, "--dump-problems", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, data in before.items():
            self.assertEqual((run / "problems" / name).read_bytes(), data, name)
        # A new run in this place removes what Talus may have written, nothing else.
        (run / "problems" / "notes.txt").write_text("mine")
        self.run_scene(self.scene(), "part", "--force")
        self.assertEqual([p.name for p in self.files("part")], ["notes.txt"])

    def test_other_laws_are_counted(self):
        told = self.run_scene(self.scene(", rolling: 0.01"), "rich", "--dump-problems")
        self.assertEqual(told["problems_dumped"], 0)
        self.assertGreaterEqual(told["problems_skipped"], 1)
        self.assertIn("rolling", told["verdict"])
        self.assertEqual(self.files("rich"), [])

    def test_disk_trouble_does_not_end_the_run(self):
        first = self.run_scene(self.scene(), "first", "--steps", 1)
        run = self.folder / "first"
        (run / "problems").write_text("a file where the folder should be")
        done = talus("resume", run, "--dump-problems")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no more problems are dumped", done.stderr)
        whole = self.run_scene(self.scene(), "whole")
        again = json.loads((run / "summary.json").read_text())
        self.assertEqual(again["state_hash"], whole["state_hash"])
        self.assertNotEqual(first["state_hash"], whole["state_hash"])

    def test_number_must_be_one(self):
        done = talus("run", self.scene(), "--dump-problems=many")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--dump-problems needs a whole number", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
