"""Runs of the method soft, broken off anywhere and resumed, end with the bits of an unbroken run: frames,
rows, numbers and the verdict. Batches of steps are as long as the machine is fast, so this also tells that
nothing recorded depends on them. TALUS_TEST_SCALE below 1 breaks off less often."""
import csv
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from test_run_program import INTERRUPTED, OK, SAME, SCALE, TALUS, frames_of, summary_of, talus

SCENES = Path(__file__).resolve().parent / "scenes"
ENERGIES = ["elastic_energy", "dissipated", "input_work", "energy_error", "energy_error_max"]


class ResumeSoft(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="talus-resume-soft-"))
        self.addCleanup(shutil.rmtree, self.root)

    def run_ok(self, *arguments):
        done = talus(*arguments, "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)

    def same(self, broken, whole):
        ours, theirs = summary_of(broken), summary_of(whole)
        for key in [key for key in SAME if key in theirs] + ENERGIES:
            self.assertEqual(ours[key], theirs[key], key)
        self.assertEqual((broken / "series.csv").read_bytes(), (whole / "series.csv").read_bytes())
        self.assertEqual((broken / "scene.yaml").read_text(), (whole / "scene.yaml").read_text())
        ours, theirs = frames_of(broken), frames_of(whole)
        self.assertEqual(sorted(ours), sorted(theirs))
        for name in ours:
            self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)

    def whole(self, scene, *more):
        directory = self.root / f"{scene}-whole"
        self.run_ok("run", SCENES / f"{scene}.yaml", "-o", directory, *more)
        return directory

    def check_broken(self, scene):
        whole, broken = self.whole(scene), self.root / f"{scene}-broken"
        summary = summary_of(whole)
        steps = summary["steps"]
        self.assertGreater(steps, 1000)
        count = max(3, round(7 * min(SCALE, 1)))
        # Odd numbers, so that the stops meet neither rows nor pours nor looks at the energy.
        stops = sorted({1, *(steps * k // count | 1 for k in range(1, count))})
        self.run_ok("run", SCENES / f"{scene}.yaml", "-o", broken, "--steps", stops[0])
        for number, stop in enumerate(stops[1:]):
            self.run_ok("resume", broken, "--steps", stop, "--threads", 1 + number % 2)
        self.run_ok("resume", broken)
        self.same(broken, whole)
        return summary

    def test_disks(self):
        summary = self.check_broken("soft_2d")
        self.assertEqual(summary["method"], "soft")
        self.assertEqual(len(summary["phases"]), 3)
        self.assertEqual(summary["grains"] - 10, len(self.lattice()) + 20)
        with open(self.root / "soft_2d-whole" / "series.csv") as file:
            rows = list(csv.DictReader(file))
        # About a thousand rows for each phase that has as many steps, else one for each step.
        self.assertGreater(len(rows), 1000)
        self.assertLess(len(rows), 6100)
        self.assertGreater(float(rows[-1]["dissipated"]), 0)

    def lattice(self):
        """Rows of grains that the first frame has free."""
        frames = frames_of(self.root / "soft_2d-whole")
        return [g for g in frames["frames/000000/grains/glued_to"] if g == -1]

    def test_spheres(self):
        self.check_broken("soft_3d")

    def test_killed(self):
        """A run that was told to stop while it was working, wherever that was, and resumed."""
        more = ("--set", "phases[2].until={steps: 20000}")
        whole, broken = self.whole("soft_2d", *more), self.root / "killed"
        process = subprocess.Popen([TALUS, "run", str(SCENES / "soft_2d.yaml"), "-o", str(broken),
                                    "--quiet", *more])
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(60), (OK, INTERRUPTED))
        self.run_ok("resume", broken)
        self.same(broken, whole)

    def test_other_method(self):
        """One line changes the method; the state of one is none of the other."""
        whole = self.whole("soft_2d", "--steps", 10)
        text = (whole / "scene.yaml").read_text()
        (whole / "scene.yaml").write_text(text.replace("method: soft", "method: contact"))
        done = talus("resume", whole, "--quiet")
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("method soft, integrator verlet", done.stderr)
        rigid = self.root / "rigid"
        self.run_ok("run", SCENES / "soft_2d.yaml", "-o", rigid, "--steps", 10, "--set", "method=contact",
                    "--set", "step=1e-4")
        self.assertEqual(summary_of(rigid)["method"], "contact")
        self.assertIn("residual", summary_of(rigid))

    def test_nothing_to_dump(self):
        done = talus("run", SCENES / "soft_2d.yaml", "-o", self.root / "dump", "--dump-problems")
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("--dump-problems goes with method: contact", done.stderr)
        self.assertFalse((self.root / "dump" / "scene.yaml").exists())


if __name__ == "__main__":
    unittest.main()
