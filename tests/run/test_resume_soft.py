"""Runs of the method soft, broken off anywhere and resumed, end with the bits of an unbroken run: frames,
rows, numbers and the verdict. Batches of steps are as long as the machine is fast, so this also tells that
nothing recorded depends on them. TALUS_TEST_SCALE below 1 breaks off less often."""
import csv
import json
import math
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from program import INTERRUPTED, OK, SAME, SCALE, TALUS, frames_of, summary_of, talus

SCENES = Path(__file__).resolve().parents[1] / "scenes"
ENERGIES = ["elastic_energy", "dissipated", "input_work", "energy_error", "energy_error_max"]


# A disk that falls on a spring and loses nothing. Two such disks would swing with omega = sqrt(1e4/(2/2)) = 100, so
# that t_c = pi/100, and twice as fast in a packing: velocity Verlet is stable up to 2/(2 omega).
BOUNCE = """
dimension: 2
method: soft
soft: {integrator: verlet}
gravity: [0, -10]
step: 0.001
until: {time: 0.5}
materials: {default: {stiffness: 1e4, restitution: 1, friction: 0}}
walls: [{type: plane, normal: [0, 1]}]
grains: [{type: list, items: [{position: [0, 0.6], radius: 0.5, mass: 2}]}]
output: {series: 0}
"""


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
        self.assertNotIn("frames/000000/grains/error", frames)  # nothing was solved
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
        self.assertIn("method soft, integrator gear5", done.stderr)
        rigid = self.root / "rigid"
        self.run_ok("run", SCENES / "soft_2d.yaml", "-o", rigid, "--steps", 10, "--set", "method=contact",
                    "--set", "step=1e-4")
        self.assertEqual(summary_of(rigid)["method"], "contact")
        self.assertIn("residual", summary_of(rigid))

    def bounce(self, step):
        scene, out = self.root / "bounce.yaml", self.root / f"bounce-{step}"
        scene.write_text(BOUNCE)
        done = talus("run", scene, "-o", out, "--set", f"step={step}")
        self.assertEqual(done.returncode, OK, done.stderr)
        return done, out

    def test_verdict_on_energy(self):
        """Books that are off are a warning in verdict, log and terminal, and no failure."""
        done, out = self.bounce(0.001)
        self.assertLess(summary_of(out)["energy_error_max"], 0.01)
        self.assertIn("Energy: kinetic, elastic and dissipated", summary_of(out)["verdict"])
        self.assertNotIn("arning", done.stderr + done.stdout + (out / "log.txt").read_text())
        done, out = self.bounce(0.009)
        error = summary_of(out)["energy_error_max"]
        self.assertGreater(error, 0.01)
        words = f"energy is off by {100 * error:.2g} %"
        self.assertIn(f"Warning: {words}", summary_of(out)["verdict"])
        self.assertNotIn("Energy: ", summary_of(out)["verdict"])
        self.assertIn(f"warning: {words}", (out / "log.txt").read_text())
        self.assertIn(f"warning: {words}", done.stderr)

    def test_step_of_rigid_grains(self):
        """A step that is far too long is replaced, and the run can be resumed with the one that was used."""
        done, out = self.bounce(0.05)
        words = "step 0.05 s is too long for soft grains (stable up to 0.02 s): 0.00157 s is used"
        self.assertIn(f"warning: {words}", done.stderr)
        self.assertIn(f"warning: {words}", (out / "log.txt").read_text())
        used = summary_of(out)["step_length"]
        self.assertAlmostEqual(used, 0.05 * math.pi / 100, delta=1e-9)  # t_c/20
        self.assertEqual(json.loads((out / "run.json").read_text())["soft"]["step"], used)
        checked = talus("check", self.root / "bounce.yaml", "--set", "step=0.05")
        self.assertEqual(checked.returncode, OK)
        self.assertIn(f"warning: {words}", checked.stderr)
        broken = self.root / "bounce-broken"
        self.run_ok("run", self.root / "bounce.yaml", "-o", broken, "--set", "step=0.05", "--steps", 17)
        again = talus("resume", broken)
        self.assertEqual(again.returncode, OK, again.stderr)
        self.assertNotIn("too long", again.stderr)
        self.same(broken, out)

    def test_nothing_to_dump(self):
        done = talus("run", SCENES / "soft_2d.yaml", "-o", self.root / "dump", "--dump-problems")
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("--dump-problems goes with method: contact", done.stderr)
        self.assertFalse((self.root / "dump" / "scene.yaml").exists())


if __name__ == "__main__":
    unittest.main()
