"""talus advise from outside: ready-made scenes, a scene for soft particles, JSON, mistakes. Which
method wins is only asked where the number of steps leaves no doubt."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
QUICK = ["--seconds", "0.05"]

# A few fast balls of jelly: a collision lasts two seconds, while the steps that the scene states
# for the method contact are a thousand times shorter than soft ones need be.
JELLY = """
title: jelly
dimension: 2
step: 2.0e-5
materials: {jelly: {stiffness: 1, restitution: 0.8}}
grains:
  - {type: chain, start: [0, 0], direction: [1, 0], count: 4, radius: 0.5, mass: 1, velocity: [3, 0]}
until: {time: 100}
"""


def talus(*arguments, cwd):
    return subprocess.run([TALUS, *arguments], capture_output=True, text=True, cwd=cwd, timeout=250)


class Advise(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cwd = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def advise(self, *arguments):
        """The JSON object of an advice that must succeed and write nothing."""
        before = sorted(p.name for p in self.cwd.iterdir())
        done = talus("advise", *arguments, *QUICK, "--json", cwd=self.cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in self.cwd.iterdir()), before)
        return json.loads(done.stdout)

    def refuse(self, status, words, *arguments):
        done = talus("advise", *arguments, cwd=self.cwd)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_ready_made(self):
        # These need more than a thousand times as many soft steps as steps of contact dynamics.
        for name in ("hopper", "column-collapse", "rolling-heap"):
            with self.subTest(scene=name):
                a = self.advise(name)
                self.assertEqual((a["method"], a["use"], a["close"]), ("contact", "contact", False))
                self.assertGreater(a["soft"]["steps"], 200 * a["contact"]["steps"])
                self.assertTrue(a["advice"].startswith("use method: contact."))
                self.assertTrue(a["stiffness_chosen"])
                d = a["dimension"]
                buw = a["grains"] ** (2 / d) * a["speed"] / a["radius"]
                buw *= (a["mass"] / a["stiffness"]) ** 0.5
                self.assertAlmostEqual(a["ratio_papers"] / buw, 1, delta=1e-12)  # 17 digits printed

    def test_soft_wins(self):
        (self.cwd / "jelly.yaml").write_text(JELLY)
        a = self.advise("jelly.yaml")
        self.assertEqual((a["method"], a["use"], a["close"]), ("contact", "soft", False))
        self.assertLess(a["soft"]["steps"], a["contact"]["steps"] / 100)
        self.assertTrue(a["advice"].startswith("use method: soft."))
        self.assertEqual(a["stiffness"], 1)
        # The same scene written for the method soft gives contact dynamics a sensible step.
        a = self.advise("jelly.yaml", "--set", "method=soft", "--set", "step=auto")
        self.assertEqual(a["method"], "soft")
        self.assertAlmostEqual(a["contact"]["step"], 0.1 * 0.5 / 3, delta=1e-7)  # six digits

    def test_table(self):
        done = talus("advise", "hopper", *QUICK, cwd=self.cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("grains N               2000, in 3D", "BUW 1.37", "whole scene",
                      "\n  contact ", "\n  soft ", "use method: contact.", "Time is not everything"):
            self.assertIn(words, done.stdout)
        self.assertEqual(list(self.cwd.iterdir()), [])

    def test_only_contact(self):
        a = self.advise("dominoes")
        self.assertEqual((a["use"], a["soft"]["possible"]), ("contact", False))
        self.assertRegex(a["soft"]["reason"], r"dominoes\.yaml:\d+:\d+: grains\[0\]: the method soft")
        self.assertNotIn("ratio", a)
        done = talus("advise", "dominoes", *QUICK, cwd=self.cwd)
        self.assertIn("soft     cannot run this scene", done.stdout)

    def test_threads(self):
        self.assertEqual(self.advise("column-collapse", "--threads", "2")["threads"], 2)

    def test_mistakes(self):
        (self.cwd / "bad.yaml").write_text(JELLY.replace("until: {time: 100}", "until: {tim: 100}"))
        self.refuse(3, "bad.yaml:8:9: until.tim: unknown key", "bad.yaml")
        self.refuse(3, "--set step=-1", "hopper", "--set", "step=-1")
        self.refuse(2, "there is no scene file none.yaml", "none.yaml")
        self.refuse(2, "did you mean 'hopper'", "hoper")
        self.refuse(2, "a scene is missing")
        self.refuse(2, "one argument too many", "hopper", "drum")
        self.refuse(2, "--seconds needs a number of at least 0", "hopper", "--seconds", "-1")
        self.refuse(2, "--threads needs a whole number of at least 1", "hopper", "--threads", "0")
        self.refuse(2, "--set needs key.path=value", "hopper", "--set", "seed")
        self.refuse(2, "did you mean '--seconds'", "hopper", "--second=1", "--secnds", "1")

    def test_help(self):
        done = talus("advise", "--help", cwd=self.cwd)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--seconds S", done.stdout)
        self.assertIn("advise", talus("help", cwd=self.cwd).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
