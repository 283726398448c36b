"""Every ready-made scene, stopped and resumed, ends with the bits of an unbroken run: servo and mobile
walls, glued grains, inlets, 2D and 3D, drives, removed walls. TALUS_TEST_SCALE below 1 takes fewer
steps, never fewer scenes."""
import csv
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from program import CERTIFICATE, OK, SAME, SCALE, frames_of, summary_of, talus

FOLDER = Path(__file__).resolve().parents[2] / "scenes"
SCENES = sorted(FOLDER.glob("*.yaml"))
STOP = max(4, round(25 * min(SCALE, 1)))  # the step at which the run is stopped, half of all

# Of the summary of a run with method contact only, and with method soft only.
OF_CONTACT = {"overlap_thickness_ever", "sweeps_total", "contact_updates", "residual", "unconverged_steps", "yielding_steps",
              *CERTIFICATE}
OF_SOFT = ["elastic_energy", "dissipated", "input_work", "energy_error", "energy_error_max"]


def same_keys(summary):
    """What a resumed run must have in common with an unbroken one."""
    if summary.get("method") != "soft":
        return SAME
    return [key for key in SAME if key not in OF_CONTACT] + OF_SOFT


def settings(path, phase_end):
    """Overrides: a row every step, a frame every third, and a first phase of `phase_end` steps. A
    run of one phase must not end there: resuming what is finished with more steps extends it."""
    text = path.read_text()
    step = float(re.search(r"^step: *([^ #\n]+)", text, re.M)[1])
    sets = ["output.series=0", f"output.frames={3 * step}"]
    phases = re.search(r"^phases:\n((?: .*\n|\n|#.*\n)*)", text, re.M)
    count = len(re.findall(r"^  - ", phases[1], re.M)) if phases else 0
    if count > 1:
        sets.append(f"phases[0].until={{steps: {phase_end}}}")
    elif count == 1:
        sets.append("phases[0].until={steps: 1000}")  # beyond the steps taken here
    else:
        sets.append("until={steps: 1000}")  # beyond the steps taken here
    return [word for one in sets for word in ("--set", one)]


class ResumeScenes(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="talus-resume-"))
        self.addCleanup(shutil.rmtree, self.root)

    def run_ok(self, *arguments):
        done = talus(*arguments, "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)

    def compare(self, path, phase_end, threads=(), sets=None):
        whole, broken = self.root / f"{path.stem}-whole", self.root / f"{path.stem}-broken"
        sets = settings(path, phase_end) if sets is None else sets
        self.run_ok("run", path, "-o", whole, "--steps", 2 * STOP, *sets)
        self.run_ok("run", path, "-o", broken, "--steps", STOP, *sets, *threads)
        self.run_ok("resume", broken, "--steps", 2 * STOP, *threads)
        for key in same_keys(summary_of(whole)):
            self.assertEqual(summary_of(broken)[key], summary_of(whole)[key], key)
        self.assertEqual((broken / "series.csv").read_bytes(), (whole / "series.csv").read_bytes())
        ours, theirs = frames_of(broken), frames_of(whole)
        self.assertEqual(sorted(ours), sorted(theirs))
        for name in ours:
            self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)
        return summary_of(whole)

    def test_every_scene(self):
        self.assertGreaterEqual(len(SCENES), 12)
        crossed = 0
        for number, path in enumerate(SCENES):
            # The first phase ends before, at and after the stop, in turn.
            with self.subTest(scene=path.stem):
                summary = self.compare(path, STOP + (-2, 0, 2)[number % 3])
                crossed += len(summary["phases"]) > 1
        self.assertGreater(crossed, 5)

    def test_with_two_threads(self):
        """The number of threads may change too: the whole run has one, the broken one two."""
        self.compare(FOLDER / "hopper.yaml", STOP + 1, ("--threads", "2"))

    def test_steps_that_are_halved(self):
        """With step: auto, in the midst of the steps that are taken in parts."""
        scene = self.root / "auto.yaml"
        scene.write_text("""
dimension: 2
step: auto
gravity: [0, -9.81]
materials: {glass: {friction: 0.4}}
walls: [{name: box, type: box, low: [0, 0], high: [0.1, 0.3], open: [top]}]
grains:
  - {name: bed, type: fill, region: {low: [0, 0], high: [0.1, 0.05]}, count: 40, radius: 0.004}
  - {name: rain, type: inlet, low: [0, 0.06], high: [0.1, 0.16], radius: 0.004, rate: 2000,
     velocity: [0.5, -2], limit: 40}
until: {time: 1}
output: {series: 0, frames: 0.005}
""")
        summary = self.compare(scene, 0, ("--threads", "2"), ())
        self.assertEqual(summary["coarse_steps"], 0)
        if SCALE < 1:
            return  # nothing has landed before the stop
        with open(self.root / "auto-whole" / "series.csv") as file:
            parts = [int(row["substeps"]) for row in csv.DictReader(file)]
        # Some before the stop, some after it.
        self.assertGreater(max(parts[:STOP]), 1)
        self.assertGreater(max(parts[STOP:]), 1)


if __name__ == "__main__":
    unittest.main()
