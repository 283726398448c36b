"""`make device-check` (scripts/device-check.py) finds out what it is for, with the driver for cards
that are not there (tests/support/fake_cuda.c): scenes that come out the same, scenes that do not, no
card, and a sanitizer that complains."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
CHECK = SOURCE / "scripts" / "device-check.py"
TALUS = os.environ["TALUS"]
MODULES = Path(os.environ["TALUS_BUILD"]) / "card" / "modules.inc"

# A program whose card loses the last digit, but only in the piston.
SPOILT = """#!/usr/bin/python3
import json, sys
card = sys.argv[sys.argv.index("--device") + 1] != "cpu"
print(json.dumps({"state_hash": "12" if card and "piston" in sys.argv[2] else "1",
                  "grains": 1, "active_contacts": 1, "steps": 1, "sweeps_total": 1,
                  "contact_updates": 1, "residual": 0, "kinetic_energy": 0, "version": "0", "threads": 1,
                  "seconds": {"detect": 1, "solve": 1, "advance": 1},
                  "device": "gpu:0 (X)" if card else "cpu", "device_reason": "asked for"}))
"""
# compute-sanitizer as far as this needs it: it finds a race in the drum.
SANITIZER = """#!/bin/bash
tool=$2
shift 4
echo "========= COMPUTE-SANITIZER"
"$@"
if [ "$tool" = racecheck ] && [[ $3 == *drum* ]]; then echo "a race" >&2; exit 99; fi
echo "========= ERROR SUMMARY: 0 errors"
"""


def check(*options, program=TALUS, **environment):
    done = subprocess.run([sys.executable, CHECK, program, *options], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=300)
    return done.returncode, done.stdout, done.stderr


def write_program(folder, name, text):
    path = Path(folder) / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


class DeviceCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "TALUS_FAKE_CUDA" not in os.environ or not MODULES.exists():
            raise unittest.SkipTest("this build has no driver for cards that are not there")

    def test_scenes_are_the_same(self):
        scenes = ["piston", "masonry", "cohesive-compaction", "ballast", "rolling-heap", "two-discs"]
        with tempfile.TemporaryDirectory() as folder:
            status, out, err = check("--scenes", ",".join(scenes), "--steps", "30",
                                     "--output", f"{folder}/tables.md", FAKE_CUDA_ORDER="3")
            self.assertEqual(status, 0, out + err)
            tables = Path(folder, "tables.md").read_text()
        self.assertIn("gpu:0 (Fake card A), Talus", tables)
        for scene in scenes[:-1]:
            self.assertRegex(tables, rf"(?m)^\| {scene} \|.*\| equal( \(the CPU solves .*\))? \|$")
        self.assertRegex(tables, r"(?m)^\| two-discs \|.*\| equal, but by the CPU: the method soft .*\|$")
        self.assertIn("All is the same.", tables)

    def test_method(self):
        status, out, err = check("--scenes", "two-discs,arch", "--steps", "2", "--method", "contact")
        self.assertEqual(status, 0, out + err)
        self.assertRegex(out, r"(?m)^\| two-discs \|.*\| has another method \|$")

    def test_no_card(self):
        status, out, err = check(FAKE_CUDA_CARDS="0")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("Nothing was checked: no graphics card can be used.", err)

    def test_card_that_fails(self):
        status, out, err = check("--scenes", "masonry", "--steps", "3",
                                 FAKE_CUDA_FAIL="cuMemcpyDtoHAsync_v2:20:719:stay")
        self.assertEqual(status, 1, out + err)
        self.assertIn("the graphics card gpu:0 (Fake card A) failed while", out + err)

    def test_difference(self):
        with tempfile.TemporaryDirectory() as folder:
            program = write_program(folder, "talus", SPOILT)
            status, out, _ = check("--scenes", "drum,piston", program=program)
        self.assertEqual(status, 1)
        self.assertRegex(out, r"(?m)^\| drum \|.*\| equal \|$")
        self.assertRegex(out, r"(?m)^\| piston \|.*\| DIFFERENT: state_hash \|$")

    def test_sanitizer(self):
        with tempfile.TemporaryDirectory() as folder:
            write_program(folder, "compute-sanitizer", SANITIZER)
            status, out, err = check("--scenes", "piston,drum", "--steps", "2",
                                     PATH=f"{folder}:{os.environ['PATH']}")
        self.assertEqual(status, 1)
        self.assertIn("| piston | clean | clean |", out)
        self.assertIn("| drum | clean | FAILED |", out)
        self.assertIn("drum, racecheck: a race", err)


if __name__ == "__main__":
    unittest.main()
