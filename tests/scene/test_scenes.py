"""The ready-made scenes: all are valid and listed, and short runs give the stored numbers.

    PYTHONPATH=tests/support /usr/bin/python3 tests/scene/test_scenes.py --update     runs anew and writes tests/data/golden_scenes.json

needs TALUS (the program) in the environment. TALUS_TEST_SCALE below 1 (sanitizer builds) compares
after a few steps only.
"""
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from scene_runs import FOLDER, LONG, carry_out, talus

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "data" / "golden_scenes.json"
SCENES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

# Steps after which a scene is compared: enough for contacts to form and inlets to pour, few enough
# for rounding not to have grown. The first number is for scaled-down runs.
STEPS = {"chain": (20, 300), "pair-collision": (4, 20), "incline": (20, 200), "heap": (20, 160),
         "obstacle": (50, 700), "overlap": (5, 50), "bouncing": (50, 3000),
         "stick-slip": (50, 9000), "bonded-cluster": (20, 271), "rolling-heap": (50, 200),
         "cohesive-compaction": (50, 1000), "dominoes": (20, 600), "two-discs": (50, 2000),
         "two-polygons": (50, 2000), "polygon-shear-soft": (20, 400)}
DEFAULT_STEPS = (5, 50)

# The bits may differ between compilers and C libraries (pow, log and sin in generators and drives),
# by about 1e-16 of each number. How such a difference grows was measured with the step (with an
# inlet: gravity) changed by 1e-13 of itself: over these steps energies changed by 5e-11, forces by
# 7e-8, overlaps by 3e-7 of themselves at most. The tolerances are a hundred times that and still
# below what one sweep more or less would change (1e-4). Only whether a contact that just touches
# carries a force is a matter of the last bit: a few such contacts are counted or not, and with them
# the mean overlap moves. Forces are compared on the scale of the largest wall force.
TOLERANCE = {"time": 1e-9, "active_contacts": 1e-2, "kinetic_energy": 1e-7, "overlap_max": 1e-4,
             "overlap_mean": 1e-2, "wall_forces": 1e-5}
# In the perfect lattice of the bonded block many contacts carry a force of rounding only: with the
# step changed as above 5 % of them were active or not.
COUNTS = {"bonded-cluster": {"active_contacts": 0.2, "overlap_mean": 0.2}}
# Faces that touch exactly and lattices leave to rounding which contacts carry; momentum carries that
# on: with the step changed as above, accelerated sweeps gave energies that differ by 1e-2 after 5
# steps of polygon-shear and at the impact of bonded-cluster, by 2e-6 in masonry. These three are
# compared with plain random sweeps.
def random_sweeps(tolerance, most):
    return ["--set", f"solver={{method: sweeps, stop: residual, tolerance: {tolerance}, "
                     f"max_sweeps: {most}}}"]


SOLVERS = {"bonded-cluster": random_sweeps(1e-4, 500), "polygon-shear": random_sweeps(1e-3, 300),
           "masonry": random_sweeps(1e-5, 1000)}
# Scale, in mean diameters, below which an overlap is rounding and not physics.
OVERLAP_NOISE = 1e-6
# Scale, in J, below which a kinetic energy is rounding: the disks of `overlap` rest.
ENERGY_NOISE = 1e-12


def golden_of(summary):
    keys = ("steps", "time", "grains", "active_contacts", "kinetic_energy", "overlap_mean",
            "overlap_max", "wall_forces")
    return {key: summary[key] for key in keys}


def short_run(scene, long, *options):
    steps = STEPS.get(scene, DEFAULT_STEPS)[1 if long else 0]
    directory = tempfile.mkdtemp(prefix="talus-scene-")
    try:
        summary, _ = carry_out(scene, Path(directory) / "run", "--steps", steps,
                               "--set", "output.frames=0", *SOLVERS.get(scene, []), *options)
    finally:
        shutil.rmtree(directory)
    return golden_of(summary)


def deviations(ours, golden):
    """For each quantity how far it is from the stored number, relative to its own scale."""
    def relative(value, expected, floor=0.0):
        scale = max(abs(expected), floor)
        return abs(value - expected) / scale if scale > 0 else abs(value - expected)

    found = {key: relative(ours[key], golden[key]) for key in ("steps", "time", "grains")}
    found["kinetic_energy"] = relative(ours["kinetic_energy"], golden["kinetic_energy"],
                                       ENERGY_NOISE)
    # One contact that just touches is all the contacts of the pair collision.
    found["active_contacts"] = relative(ours["active_contacts"], golden["active_contacts"], 100)
    for key in ("overlap_mean", "overlap_max"):
        found[key] = relative(ours[key], golden[key], OVERLAP_NOISE)
    forces = [abs(f) for force in golden["wall_forces"].values() for f in force]
    scale = max(forces, default=0.0)
    found["wall_forces"] = max((relative(a, b, scale)
                                for name in golden["wall_forces"]
                                for a, b in zip(ours["wall_forces"][name],
                                                golden["wall_forces"][name])), default=0.0)
    return found


class Collection(unittest.TestCase):
    def test_there_are_all(self):
        wanted = {"chain", "pair-collision", "incline", "heap", "hopper", "silo", "column-collapse",
                  "drum", "piston", "biaxial", "triaxial", "plane-shear", "vibrated-box", "overlap",
                  "rolling-heap", "bonded-cluster", "cohesive-compaction", "bouncing", "haff",
                  "stick-slip", "arch", "masonry", "ballast", "polygon-shear", "mixed-drum",
                  "dominoes", "two-discs", "two-polygons", "polygon-shear-soft"}
        self.assertEqual(wanted - set(SCENES), set())

    def test_each_is_valid(self):
        for scene in SCENES:
            with self.subTest(scene=scene):
                done = talus("check", FOLDER / f"{scene}.yaml")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("warning", done.stdout + done.stderr)

    def test_each_has_a_head_and_a_title(self):
        listed = talus("scenes").stdout.splitlines()
        for scene in SCENES:
            with self.subTest(scene=scene):
                lines = (FOLDER / f"{scene}.yaml").read_text().splitlines()
                self.assertRegex(lines[0], r"^# .*\.$", "the first line is one sentence")
                self.assertEqual(lines[1], "#", "an empty line after the first sentence")
                head = [line for line in lines if line.startswith("#")]
                self.assertGreater(len(head), 5, "a head says what to look for")
                row = next(i for i, line in enumerate(listed) if line.split()[:1] == [scene])
                self.assertGreater(len(listed[row].split()), 1, "a title")
                self.assertEqual(listed[row + 1].strip(), lines[0][2:])

    def test_each_is_in_the_gallery(self):
        gallery = (TESTS.parent / "docs" / "scene-gallery.md").read_text()
        for scene in SCENES:
            self.assertIn(f"## {scene}\n<img ", gallery)
            self.assertIn(f'src="gallery/{scene}.png"', gallery)
        # `make gallery` draws these and no others, small enough to be kept.
        pictures = list((TESTS.parent / "docs" / "gallery").iterdir())
        self.assertEqual({picture.name for picture in pictures}, {f"{scene}.png" for scene in SCENES})
        for picture in pictures:
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n", picture.name)
        self.assertLess(sum(picture.stat().st_size for picture in pictures), 1.5e6)
        script = (TESTS.parent / "scripts" / "draw-gallery.py").read_text()
        for scene in SCENES:
            self.assertIn(f'    "{scene}": (', script)


class Golden(unittest.TestCase):
    def test_stored_numbers(self):
        stored = json.loads(GOLDEN.read_text())
        self.assertEqual(sorted(stored), SCENES, "run tests/scene/test_scenes.py --update")
        for scene in SCENES:
            with self.subTest(scene=scene):
                golden = stored[scene]["long" if LONG else "short"]
                ours = short_run(scene, LONG)
                for key, deviation in deviations(ours, golden).items():
                    tolerance = {**TOLERANCE, **COUNTS.get(scene, {})}.get(key, 0.0)
                    self.assertLessEqual(deviation, tolerance,
                                         f"{key}: {ours[key]} instead of {golden[key]}")


def update():
    stored = {scene: {"short": short_run(scene, False), "long": short_run(scene, True)}
              for scene in SCENES}
    GOLDEN.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
