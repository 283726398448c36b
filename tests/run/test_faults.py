"""Calls of the system that fail, a program killed at any of them, and power that is lost after any: a
run goes on to the same bits, and every command ends in order.

tests/support/faults.c counts the calls that touch the files of a run and meddles with one of them. A
few are tried here, others each time TALUS_TEST_SEED is another; all of them with TALUS_ATTACK=1
(`make attack`)."""
import errno
import os
import random
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import powerless
from frames_content import frames_of
from program import FAILURE, OK, SAME, SCALE, SEED, TALUS, TWO_DISKS, summary_of, talus

FAULTS = os.environ.get("TALUS_FAULTS")  # not where only the program is tested
ALL = os.environ.get("TALUS_ATTACK", "") != ""
KINDS = "open,write,sync,rename,remove,make,cut"
KILLS = 1000  # at least, with TALUS_ATTACK
POWER_LOSSES = 500
# What a call fails with: a full disk, a broken one, a table of files that is full.
REASONS = {"write": errno.ENOSPC, "cut": errno.ENOSPC, "make": errno.ENOSPC, "sync": errno.EIO,
           "rename": errno.EIO, "remove": errno.EIO, "open": errno.EMFILE}
SCENE = TWO_DISKS + """title: Two
until: {steps: 12}
output: {frames: 0.003}
"""


def meddle(how, kinds, folder, *command):
    """Run talus so; what it said, and what is in the result of tests/support/faults.c."""
    with tempfile.NamedTemporaryFile() as result:
        done = subprocess.run([FAULTS, *how, kinds, folder, result.name, TALUS, *map(str, command)],
                              capture_output=True, text=True, timeout=300,
                              # A leak cannot be looked for while somebody else traces.
                              env={**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                                   ":detect_leaks=0"})
        return done, Path(result.name).read_bytes()


def count(kinds, folder, *command):
    done, result = meddle(["--count"], kinds, folder, *command)
    assert done.returncode == OK, done.stderr
    return int(result)


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not FAULTS or subprocess.run([FAULTS], check=False).returncode == 77:
            raise unittest.SkipTest("not in this build, or not on x86-64")
        cls.root = Path(tempfile.mkdtemp(prefix="talus-faults-")).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.place = cls.root / "place"  # of what is meddled with
        cls.place.mkdir()
        cls.out = cls.place / "run"
        cls.scene = cls.root / "scene.yaml"
        cls.scene.write_text(SCENE)
        cls.whole, cls.half = cls.root / "whole", cls.root / "half"
        for folder, more in ((cls.whole, []), (cls.half, ["--steps", 6])):
            done = talus("run", cls.scene, "-o", folder, "--quiet", *more)
            assert done.returncode == OK, done.stderr
        cls.whole_frames = frames_of(cls.whole)
        cls.chance = random.Random(SEED)

    def some(self, total, few):
        """Which of 1 .. total are tried."""
        few = max(1, int(few * SCALE))
        return range(1, total + 1) if ALL else sorted(self.chance.sample(range(1, total + 1), min(few, total)))

    def begin(self, kept=None):
        shutil.rmtree(self.out, ignore_errors=True)
        if kept:
            shutil.copytree(kept, self.out)

    def run_command(self):
        return ["run", self.scene, "--quiet", "--checkpoint", 0, "-o", self.out]

    def resume_command(self):
        return ["resume", self.out, "--quiet", "--checkpoint", 0]

    def assert_goes_on(self, note):
        """Whatever is in the folder, it leads to the results of the whole run."""
        has_scene = (self.out / "scene.yaml").exists()
        done = talus(*(["resume", self.out, "--quiet"] if has_scene else self.run_command()))
        self.assertEqual(done.returncode, OK, f"{note}: {done.stderr}")
        ours, theirs = summary_of(self.out), summary_of(self.whole)
        for key in SAME:
            self.assertEqual(ours[key], theirs[key], f"{key}, {note}")
        self.assertTrue((self.out / "series.csv").read_bytes() == (self.whole / "series.csv").read_bytes(), note)
        frames = frames_of(self.out)
        self.assertEqual(sorted(frames), sorted(self.whole_frames), note)
        for name, value in frames.items():
            self.assertEqual(value.tobytes(), self.whole_frames[name].tobytes(), f"{name}, {note}")
        self.assertFalse((self.out / "frames").exists(), note)
        self.assertFalse((self.out / "frames.damaged").exists(), note)

    def commands_of_runs(self):
        return (("run", self.run_command(), None), ("resume", self.resume_command(), self.half))

    def test_calls_that_fail_in_runs(self):
        tried = 0
        for name, command, kept in self.commands_of_runs():
            for kind, reason in REASONS.items():
                self.begin(kept)
                total = count(kind, self.place, *command)
                for number in self.some(total, 1):
                    note = f"{name}, {kind} {number} of {total}"
                    self.begin(kept)
                    done, _ = meddle(["--fail", f"{number}:{reason}"], kind, self.place, *command)
                    self.assertIn(done.returncode, (OK, FAILURE), f"{note}: {done.stderr}")
                    if done.returncode == FAILURE:
                        # Where one way to rename fails another is tried, which may fail for its own reason.
                        why = "" if kind == "rename" else os.strerror(reason)
                        self.assertRegex(done.stderr, "talus: .*" + why, note)
                    self.assert_goes_on(note)
                    tried += 1
        print(f"{tried} calls of runs have failed")

    def test_calls_that_fail_in_other_commands(self):
        made = self.place / "made"
        tried = 0
        for command in (["export", self.whole, "--vtk", made], ["export", self.whole, "--gsd", made / "a.gsd"],
                        ["export", self.whole, "--lammps", made / "a.dump"],
                        ["export", self.whole, "--vtkhdf", made / "a.vtkhdf"],
                        ["view", self.whole, "--export", made / "a.html"],
                        ["new", made / "a.yaml"], ["schema", "--output", made / "schema.json"]):
            def begin():
                shutil.rmtree(made, ignore_errors=True)
                made.mkdir()
            begin()
            probe = talus(*command)
            if "without the viewer" in probe.stderr:
                continue
            self.assertEqual(probe.returncode, OK, probe.stderr)
            good = content(made)
            for kind, reason in REASONS.items() if ALL else self.chance.sample(sorted(REASONS.items()), 2):
                begin()
                total = count(kind, self.place, *command)
                for number in self.some(total, 1):
                    begin()
                    done, _ = meddle(["--fail", f"{number}:{reason}"], kind, self.place, *command)
                    note = f"{command[:3]}, {kind} {number} of {total}: {done.stderr}"
                    self.assertIn(done.returncode, (OK, FAILURE), note)
                    if done.returncode == OK:  # it did without, or did it once more
                        self.assertEqual(content(made), good, note)
                    if done.returncode == FAILURE:
                        self.assertRegex(done.stderr, "talus: ", note)
                        self.assertEqual(talus(*command, *(["--force"] if command[0] == "view" else []))
                                         .returncode, OK, note)
                    tried += 1
        print(f"{tried} calls of other commands have failed")

    def test_kills_at_any_call(self):
        kills = 0
        while kills == 0 or (ALL and kills < KILLS):
            for name, command, kept in self.commands_of_runs():
                self.begin(kept)
                total = count(KINDS, self.place, *command)
                for number in self.some(total, 6):
                    note = f"{name}, killed at call {number} of {total}"
                    self.begin(kept)
                    done, _ = meddle(["--kill", str(number)], KINDS, self.place, *command)
                    self.assertIn(done.returncode, (128 + signal.SIGKILL, OK), f"{note}: {done.stderr}")
                    self.assert_goes_on(note)
                    kills += 1
        print(f"{kills} kills")

    def test_power_loss(self):
        """What was not synced may be lost, in part, and names may go back to older files."""
        losses = 0
        for name, command, kept in self.commands_of_runs():
            self.begin(kept)
            done, log = meddle(["--log"], KINDS, self.place, *command)
            self.assertEqual(done.returncode, OK, done.stderr)
            calls = powerless.read_log(log)
            self.assertGreater(len(calls), 50)
            for _ in range(POWER_LOSSES // 2 if ALL else max(2, int(6 * SCALE))):
                after = self.chance.randrange(len(calls) + 1)
                seed = self.chance.randrange(10**9)
                self.begin(kept)
                disk = powerless.Disk(self.place)
                disk.do(calls[:after])
                disk.lose_power(random.Random(seed))
                disk.write(self.place)
                self.assert_goes_on(f"{name}, power lost after call {after} of {len(calls)}, seed {seed}")
                losses += 1
        print(f"{losses} losses of power")


if __name__ == "__main__":
    unittest.main()
