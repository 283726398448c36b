"""talus ensemble from outside: a scene, a run's directory, the tables, refusals, the same bits."""
import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]

# Disks of many sizes under a heavy lid between smooth walls; at rest after a quarter of a second.
SCENE = """
title: loaded disks
dimension: 2
step: 1.0e-3
gravity: [0, -10]
solver: {tolerance: 1.0e-6, max_sweeps: 1000}
materials:
  bead: {density: 2500, friction: 0.4}
  glide: {friction: 0}
walls:
  - {name: floor, type: plane, point: [0, 0], normal: [0, 1], material: glide}
  - {name: left, type: plane, point: [0, 0], normal: [1, 0], material: glide}
  - {name: right, type: plane, point: [0.08, 0], normal: [-1, 0], material: glide}
  - name: lid
    type: plane
    point: [0, 0.08]
    normal: [0, -1]
    material: glide
    motion: {type: force, mass: 5, force: [0, -400]}
grains:
  - type: fill
    region: {low: [0, 0], high: [0.08, 0.08]}
    solid_fraction: 0.7
    radius: {distribution: uniform, min: 0.003, max: 0.006}
phases:
  - {name: load, until: {time: 0.25}}
output: {frames: 1, series: 1, checkpoint: 100}
"""
QUICK = ["--samples", "6", "--tolerance", "1e-6"]


def talus(*arguments, cwd):
    return subprocess.run([TALUS, *arguments], capture_output=True, text=True, cwd=cwd, timeout=250)


class Ensemble(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cwd = Path(cls.folder.name)
        (cls.cwd / "loaded.yaml").write_text(SCENE)
        cls.first = talus("ensemble", "loaded.yaml", *QUICK, cwd=cls.cwd)
        cls.run_directory = cls.cwd / "runs/loaded"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def table(self, name, directory="runs/loaded/ensemble"):
        with open(self.cwd / directory / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_scene_is_run_first(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        summary = json.loads((self.run_directory / "summary.json").read_text())
        self.assertEqual(summary["outcome"], "finished")
        self.assertIn("verdict", self.first.stdout)
        self.assertIn("All 6 solutions satisfy the contact laws", self.first.stdout)
        self.assertIn("not determined", self.first.stdout)

    def test_tables_agree(self):
        result = json.loads((self.run_directory / "ensemble/ensemble.json").read_text())
        samples, contacts = self.table("samples.csv"), self.table("contacts.csv")
        self.assertEqual(len(samples), 6)
        self.assertEqual([s["start"] for s in samples[:3]], ["zero", "warm", "random"])
        self.assertEqual(len(contacts), result["contacts"])
        count = result["indeterminacy"]
        self.assertGreater(count["rank"], 0)
        self.assertLessEqual(count["independent_equations"], count["equations"])
        self.assertLessEqual(count["rank"], count["unknowns"] - count["independent_equations"])
        self.assertTrue(result["run_finished"])
        for s in samples:
            self.assertLessEqual(float(s["residual"]), 1e-6)
        mean = sum(float(s["stress_yy"]) for s in samples) / len(samples)
        # Rounding of six-term sums and of the printed digits.
        self.assertAlmostEqual(mean, result["stress_mean"][1][1], delta=1e-12 * mean)
        change2 = sum(float(c["spread"]) ** 2 for c in contacts)
        size2 = sum(float(c["force"]) ** 2 for c in contacts)
        change = (change2 / size2) ** 0.5
        self.assertAlmostEqual(change, result["force_change"], delta=1e-9 * change)

    def test_load_decides_the_stress(self):
        result = json.loads((self.run_directory / "ensemble/ensemble.json").read_text())
        self.assertEqual(result["volume_from"], "box around the loaded grains")
        # sigma_yy: the lid's 400 N and, on average over the height, half the grains' weight of
        # 112 N, over 0.08 m. Weight is not spread evenly, and the box may miss a slit at a wall
        # that a grain without load holds open: 1 % each.
        self.assertAlmostEqual(result["stress_mean"][1][1] * 0.08 / (400 + 112 / 2), 1, delta=0.02)
        self.assertLess(result["stress_spread"][1][1], 0.02 * result["stress_mean"][1][1])

    def test_histogram_is_a_density(self):
        rows = self.table("histogram.csv")
        for column in ["mean"] + [f"sample_{i}" for i in range(6)]:
            # Six printed digits in each of 24 bins of width 1/4.
            self.assertAlmostEqual(sum(float(r[column]) for r in rows) / 4, 1, delta=1e-4)

    def test_directory_again_same_bits(self):
        before = {p: p.stat().st_mtime_ns for p in self.run_directory.iterdir() if p.is_file()}
        done = talus("ensemble", "runs/loaded", *QUICK, "-o", "again", "--json", cwd=self.cwd)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["samples"], 6)
        for name in ("samples.csv", "contacts.csv", "histogram.csv"):
            self.assertEqual((self.cwd / "again" / name).read_bytes(),
                             (self.run_directory / "ensemble" / name).read_bytes(), name)
        after = {p: p.stat().st_mtime_ns for p in self.run_directory.iterdir() if p.is_file()}
        self.assertEqual(before, after, "the run itself must not be touched")

    def test_defaults_end_soon_and_tell_from_the_beginning(self):
        done = talus("ensemble", "runs/loaded", "-o", "plain", cwd=self.cwd)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Asolution 1 of 12  ETA \?\n")
        self.assertIn("All 12 solutions satisfy the contact laws", done.stdout)
        result = json.loads((self.cwd / "plain/ensemble.json").read_text())
        updates = result["contacts"] * sum(int(s["sweeps"]) for s in self.table("samples.csv", "plain"))
        self.assertLessEqual(updates, 5e8)  # a minute at the most

    def test_a_single_solution_has_no_spread(self):
        result = talus("ensemble", "runs/loaded", "--samples", "4", "-o", "few", cwd=self.cwd)
        self.assertRegex(result.stdout, r"from zero +[\d.e-]+ % +[\d.e-]+ %\n  from the last forces +- +-\n")

    def test_seed_matters(self):
        done = talus("ensemble", "runs/loaded", *QUICK, "--seed", "2", "-o", "other", "--quiet",
                     cwd=self.cwd)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertNotEqual(self.table("samples.csv", "other"), self.table("samples.csv"))

    def test_unreached_tolerance_is_status_4(self):
        """One that no sum of doubles reaches: to 1e-12 Newton's method may get even after three sweeps."""
        done = talus("ensemble", "runs/loaded", "--samples", "3", "--tolerance", "1e-18", "--sweeps",
                     "3", "-o", "short", cwd=self.cwd)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("Only 0 of 3 solutions", done.stdout)

    def test_refusals(self):
        cases = [([], "is missing"),
                 (["nowhere.yaml"], "no scene file"),
                 (["runs/loaded", "--samples", "1"], "at least 2"),
                 (["runs/loaded", "--tolerance", "0"], "above 0"),
                 (["runs/loaded", "--tolerance", "2"], "tolerance must be between"),
                 (["runs/loaded", "--sample", "x"], "--samples"),
                 (["runs/loaded", "--set", "step=1"], "is a run"),
                 (["runs/loaded", "--volume", "-1"], "at least 0")]
        for arguments, words in cases:
            with self.subTest(arguments=arguments):
                done = talus("ensemble", *arguments, cwd=self.cwd)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
        (self.cwd / "empty").mkdir(exist_ok=True)
        done = talus("ensemble", "empty", cwd=self.cwd)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no run with a checkpoint in empty: it has no scene.yaml", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
