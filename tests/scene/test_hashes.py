"""The state hash of every ready-made scene, by each method, is the stored one, bit for bit.

A hash covers positions, velocities, angles and spins of all grains and walls. It is to stay what it
is when code is moved, renamed or rewritten; a commit that means to change it says why, and stores
the new ones:

    TALUS=build/release/talus /usr/bin/python3 tests/scene/test_hashes.py --update

The hashes are those of every build, by gcc or clang, optimised or not, for any number of threads and
any vector width: nothing that a state depends on comes from the C library's sine, power and the like
(base/portable.h). .ci/run compares the short ones with a clang build, too.

needs TALUS (the program) in the environment. TALUS_TEST_SCALE below 1 (sanitizer builds) takes a
tenth of the steps, for which hashes are stored too.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS.parent / "scenes"
STORED = TESTS / "data" / "golden_hashes.json"
SCENES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
LONG = float(os.environ.get("TALUS_TEST_SCALE", "1")) >= 1

# Each way to step a scene: overrides, steps. Contacts have formed and inlets have poured by then.
WAYS = {
    "contact": (["method=contact"], 150),
    "sweeps": (["method=contact",
                "solver={method: sweeps, stop: sweeps, max_sweeps: 20}"], 100),
    "soft": (["method=soft"], 1000),
}


def state_hash(scene, way, steps, threads):
    """Hash after so many steps, or the error that says why the scene has no such method."""
    sets, _ = WAYS[way]
    with tempfile.TemporaryDirectory(prefix="talus-hash-") as directory:
        command = [TALUS, "run", str(FOLDER / f"{scene}.yaml"), "-o", f"{directory}/run", "--quiet",
                   "--json", "--steps", str(steps), "--threads", str(threads),
                   "--set", "output.frames=0"]
        for one in sets:
            command += ["--set", one]
        done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    if done.returncode == 0:
        return json.loads(done.stdout)["state_hash"]
    if done.returncode == 3 and "the method soft" in done.stderr:
        return "refused"
    raise AssertionError(f"{scene}, {way}: exit status {done.returncode}\n{done.stderr}")


def steps_of(way, long):
    return WAYS[way][1] // (1 if long else 10)


class Hashes(unittest.TestCase):
    def test_all_scenes_are_stored(self):
        self.assertEqual(sorted(json.loads(STORED.read_text())), SCENES)

    def test_hashes_are_the_stored_ones(self):
        stored = json.loads(STORED.read_text())
        for scene in SCENES:
            for number, way in enumerate(WAYS):
                with self.subTest(scene=scene, way=way):
                    # The number of threads does not matter: two of the ways use two.
                    found = state_hash(scene, way, steps_of(way, LONG), 1 + number % 2)
                    self.assertEqual(found, stored[scene][way]["long" if LONG else "short"])


def update():
    stored = {scene: {way: {name: state_hash(scene, way, steps_of(way, long), 1)
                            for name, long in (("short", False), ("long", True))}
                      for way in WAYS}
              for scene in SCENES}
    STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
