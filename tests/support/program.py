"""What tests of the talus program share: calling it, its exit statuses, a run to compare with."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from frames_content import frames_of

TALUS = os.environ["TALUS"]
SCENE = str(Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml")
SEED = int(os.environ.get("TALUS_TEST_SEED", "1"))
SCALE = float(os.environ.get("TALUS_TEST_SCALE", "1"))

OK, FAILURE, USAGE, SCENE_ERRORS, NUMERIC, INTERRUPTED = 0, 1, 2, 3, 4, 75

# How exact the steps of a run with the method contact were.
CERTIFICATE = ["certified", "certified_level", "certified_steps", "worst_estimate", "worst_certified",
               "worst_time", "worst_grains", "worst_grain", "worst_place", "frozen_friction",
               "unproved_sliding", "audits", "audits_held", "audits_unanswered", "audit_least",
               "audit_most", "audit_grains", "audit_touching", "audit_largest", "substeps",
               "coarse_steps", "worst_coarseness"]
# Numbers of a summary that must not depend on how often the run was broken off.
SAME = ["outcome", "steps", "time", "grains", "contacts", "active_contacts", "sweeps_total",
        "contact_updates", "residual", "overlap_mean", "overlap_max", "overlap_max_ever",
        "overlap_thickness_max", "overlap_thickness_ever",
        "kinetic_energy", "wall_forces", "phases", "frames", "shapes", "unconverged_steps",
        "yielding_steps", "removed_grains", "state_hash", "seed", "verdict", *CERTIFICATE]


def talus(*arguments, cwd=None, env=None):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, **(env or {})}, timeout=200)


def summary_of(directory):
    return json.loads((Path(directory) / "summary.json").read_text())


class WholeRun(unittest.TestCase):
    """Tests beside an unbroken run of the tiny scene, `self.whole`."""

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="talus-run-"))
        cls.whole = cls.root / "whole"
        began = time.monotonic()
        done = talus("run", SCENE, "-o", cls.whole, "--quiet")
        cls.seconds = time.monotonic() - began
        assert done.returncode == OK, done.stderr
        cls.whole_frames = frames_of(cls.whole)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def assert_same_run(self, directory, note):
        """`directory` holds the same results as the unbroken run, to the last bit."""
        ours, theirs = summary_of(directory), summary_of(self.whole)
        for key in SAME:
            self.assertEqual(ours[key], theirs[key], f"{key}, {note}")
        series = [(Path(d) / "series.csv").read_bytes() for d in (directory, self.whole)]
        self.assertTrue(series[0] == series[1], f"series.csv differs, {note}")
        frames = frames_of(directory)
        self.assertEqual(sorted(frames), sorted(self.whole_frames), note)
        for name, value in frames.items():
            # Bytes, not numbers: a NaN must be the same too.
            self.assertEqual(value.tobytes(), self.whole_frames[name].tobytes(), f"{name}, {note}")
        self.assertFalse((Path(directory) / "frames").exists(), "segments are left")

    def finish(self, directory):
        done = talus("resume", directory, "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)

# Two disks that fall onto each other and a floor: the shortest run that has contacts.
TWO_DISKS = """
dimension: 2
gravity: [0, -9.81]
step: 1.0e-3
materials: {glass: {density: 2500, friction: 0.5, restitution: 0.3}}
walls: [{name: floor, type: plane, normal: [0, 1]}]
grains:
  - {type: list, items: [{position: [0, 0.01], radius: 0.01}, {position: [0.001, 0.031], radius: 0.01}]}
"""
