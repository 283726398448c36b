"""What the method soft chooses by itself keeps what it promises, in all ready-made scenes: with the
stiffness chosen for soft.overlap overlaps stay below it, and with step: auto energies add up.

The scenes run for a number of steps that suits their size. That is a beginning only: chain, haff,
biaxial, obstacle, rolling-heap and the README's disks meet their hard times in it, large scenes do
not. Of those there are smaller versions, with fewer or larger grains, that come to their impacts and
collapses. docs/soft.md has what all of them did in full size and to their end."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
SOURCE = Path(os.environ["TALUS_SOURCE"])
SCALE = float(os.environ.get("TALUS_TEST_SCALE", "1"))
AIM = 0.05
GRAIN_STEPS = 2e6 * SCALE  # of each scene: about a second
OVERLAPS_FROM_THE_START = {"overlap"}  # its grains begin 5 % deep
# Fewer or larger grains, and no longer than it takes: the fall out of the hopper, the flow, the load.
SMALL = {
    "hopper": ["grains.beads.count=60", "phases.settle.until.time=0.15", "phases.discharge.until.time=0.25"],
    "silo": ["grains[0].count=60", "phases[0].until.time=0.3", "phases[1].until.time=0.3"],
    "piston": ["grains.packing.radius={distribution: uniform, min: 0.008, max: 0.016}"],
    "triaxial": ["grains.sample.diameter={distribution: uniform, min: 0.01, max: 0.014}"],
    "drum": ["grains.bed.count=60", "phases.turn.until.time=0.6"],
    "heap": ["grains.tap.limit=40", "phases[0].until.time=0.6"],
    "mixed-drum": ["grains.disks.count=12", "grains.chips.count=12", "phases.turn.until.time=0.3",
                   "grains.disks.diameter={distribution: uniform, min: 0.03, max: 0.04}",
                   "grains.chips.diameter={distribution: uniform, min: 0.04, max: 0.053}"],
}


def readme_scene():
    return re.search(r"^```yaml\n(.*?)^```", (SOURCE / "README.md").read_text(), re.S | re.M)[1]


class Promise(unittest.TestCase):
    def run_soft(self, scene, folder, *more):
        out = Path(folder, "run")
        command = [TALUS, "run", scene, "-o", out, "--force", "--quiet", "--set", "method=soft", "--set",
                   "step=auto", "--set", f"soft.overlap={AIM}", *more]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode == 3 and "the method soft knows balls" in done.stderr:
            return None  # polyhedra need method: contact
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((out / "summary.json").read_text())

    def judge(self, name, summary, aim=AIM):
        verdict = "\n".join(summary["verdict"]) if isinstance(summary["verdict"], list) else summary["verdict"]
        print(f"{name:22} {summary['steps']:7} steps, t = {summary['time']:8.3g}, overlap "
              f"{summary['overlap_max_ever'] / aim:5.2f} of the aim, energy {summary['energy_error_max']:.1e}")
        if name not in OVERLAPS_FROM_THE_START:
            self.assertLessEqual(summary["overlap_max_ever"], aim, name)
        self.assertNotIn("The step is too long", verdict, name)

    def test_readme(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "scene.yaml").write_text(readme_scene())
            self.judge("README", self.run_soft("scene.yaml", folder))

    def test_ready_made_scenes(self):
        judged = 0
        for path in sorted((SOURCE / "scenes").glob("*.yaml")):
            with self.subTest(scene=path.stem), tempfile.TemporaryDirectory() as folder:
                first = self.run_soft(str(path), folder, "--steps", "1")
                if first is None:
                    continue
                steps = int(GRAIN_STEPS / max(first["grains"], 30))
                self.judge(path.stem, self.run_soft(str(path), folder, "--steps", str(steps)))
                judged += 1
        self.assertGreater(judged, 25)

    @unittest.skipIf(SCALE < 1, "skipped: shorter ones would not come to their impacts")
    def test_small_versions_to_their_end(self):
        for name, sets in SMALL.items():
            with self.subTest(scene=name), tempfile.TemporaryDirectory() as folder:
                aim = 0.1  # twice as deep, half as many steps
                more = [word for one in [f"soft.overlap={aim}", *sets] for word in ("--set", one)]
                summary = self.run_soft(str(SOURCE / f"scenes/{name}.yaml"), folder, *more)
                self.assertEqual(summary["outcome"], "finished")
                self.judge(f"{name}, small", summary, aim)


if __name__ == "__main__":
    unittest.main(verbosity=2)
