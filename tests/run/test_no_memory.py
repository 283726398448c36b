"""Allocations that fail, ours and those of HDF5 and libyaml: an error with a message and exit
status 1, or the results are the same.

tests/support/no_memory.c lets the Nth allocation fail, and all after it or none. A few N are tried
here, others each time TALUS_TEST_SEED is another, and all of `check`; all of all with TALUS_ATTACK=1
(`make attack`)."""
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import FAILURE, OK, SCALE, SEED, TALUS, TWO_DISKS, summary_of, talus

ALL = os.environ.get("TALUS_ATTACK", "") != ""
DATA = Path(__file__).resolve().parents[1] / "data"
SCENE = TWO_DISKS + """until: {steps: 4}
output: {frames: 0.002}
"""


class NoMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "TALUS_NO_MEMORY" not in os.environ:
            raise unittest.SkipTest("not in this build, or it has a malloc() of its own")
        cls.root = Path(tempfile.mkdtemp(prefix="talus-no-memory-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.scene = cls.root / "scene.yaml"
        cls.scene.write_text(SCENE)
        cls.whole, cls.half, cls.made = cls.root / "whole", cls.root / "half", cls.root / "made"
        for folder, more in ((cls.whole, []), (cls.half, ["--steps", 2])):
            done = talus("run", cls.scene, "-o", folder, "--quiet", *more)
            assert done.returncode == OK, done.stderr
        cls.chance = random.Random(SEED)

    def call(self, command, at=None, kept=None):
        """Run talus with that allocation failing; how it ended, and how many allocations there were."""
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir()
        if kept:
            shutil.copytree(kept, self.made / "run")
        counted = self.root / "count"
        env = {**os.environ, "LD_PRELOAD": os.environ["TALUS_NO_MEMORY"], "NO_MEMORY_COUNT": str(counted)}
        if at:
            env["NO_MEMORY_AT"] = at
        done = subprocess.run([TALUS, *map(str, command)], env=env, capture_output=True, text=True, timeout=200)
        # Without memory to write it down, the number may be missing.
        number = counted.read_text() if counted.exists() else ""
        return done, int(number) if number else 0

    def attack(self, command, few, kept=None, check=lambda note: None):
        done, total = self.call(command, kept=kept)
        self.assertEqual(done.returncode, OK, done.stderr)
        few = max(2, int(few * SCALE))
        some = range(1, total + 1) if ALL or few >= total else self.chance.sample(range(1, total + 1), few)
        for number in some:
            at = f"{number}{self.chance.choice(['', '+'])}"
            done, _ = self.call(command, at, kept)
            note = f"{command[0]}, allocation {at} of {total}: {done.stderr}"
            self.assertIn(done.returncode, (OK, FAILURE), note)
            if done.returncode == FAILURE:
                self.assertNotEqual(done.stderr, "", note)
            check(note)

    def test_check(self):
        self.attack(["check", self.scene], 400)

    def test_runs(self):
        def goes_on(note):
            out = self.made / "run"
            if not (out / "scene.yaml").exists():
                return
            done = talus("resume", out, "--quiet")
            self.assertEqual(done.returncode, OK, f"{note}, resumed: {done.stderr}")
            self.assertEqual(summary_of(out)["state_hash"], summary_of(self.whole)["state_hash"], note)
        self.attack(["run", self.scene, "-o", self.made / "run", "--quiet"], 12, check=goes_on)
        self.attack(["resume", self.made / "run", "--quiet"], 12, self.half, goes_on)

    def test_other_commands(self):
        # Not those that draw: fontconfig crashes when it cannot read its settings for want of memory.
        for command in (["measure", self.whole, "stress", "--frame", "0"],
                        ["export", self.whole, "--gsd", self.made / "a.gsd"],
                        ["export", self.whole, "--vtk", self.made / "vtk"],
                        ["import", DATA / "packed.dump", "-o", self.made / "a.yaml"],
                        ["solve", DATA / "fclib" / "FrictionContact3D_1c.hdf5"]):
            self.attack(command, 5)


if __name__ == "__main__":
    unittest.main()
