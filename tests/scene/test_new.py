"""`talus new`: every template makes a scene that the schema and the reader take and that runs, with
remarks from the table of keys, and nothing is overwritten.

needs TALUS (the program) in the environment.
"""
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema
import scene_yaml

TALUS = os.environ["TALUS"]


class New(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def talus(self, *words, status=0):
        run = subprocess.run([TALUS, *words], capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stdout if status == 0 else run.stderr

    def path(self, name):
        return Path(self.folder.name) / name

    def test_every_template_runs(self):
        validator = jsonschema.Draft7Validator(json.loads(self.talus("schema")))
        templates = re.findall(r"^(\w+) ", self.talus("new", "--list"), re.M)
        self.assertGreaterEqual(len(templates), 4)
        for template in templates:
            for dim, flag in ((2, []), (3, ["--3d"])):
                name = f"{template}-{dim}"
                with self.subTest(scene=name):
                    self.talus("new", name, "--template", template, *flag)
                    text = self.path(f"{name}.yaml").read_text()
                    self.assertTrue(text.startswith("# yaml-language-server: $schema="))
                    self.assertNotIn("@", text)
                    self.assertNotRegex(text, r"(?m)^\d\|")
                    self.assertLessEqual(max(map(len, text.splitlines())), 100)
                    self.assertRegex(text, r"friction: \S+ +# Coulomb friction between two grains")
                    scene = scene_yaml.load(text)
                    self.assertEqual((scene["dimension"], scene["title"]), (dim, name))
                    self.assertEqual([e.message for e in validator.iter_errors(scene)], [])
                    self.talus("run", f"{name}.yaml", "--steps", "3", "--quiet", "-o", name)
                    self.assertTrue(self.path(f"{name}/summary.json").exists())

    def test_defaults(self):
        said = self.talus("new", "first")
        self.assertIn("first.yaml", said)
        self.assertIn("talus schema -o talus-scene.json", said)  # none is installed here
        scene = scene_yaml.load(self.path("first.yaml").read_text())
        self.assertEqual((scene["dimension"], len(scene["walls"])), (2, 1))
        self.talus("new", "second.yaml")
        self.assertTrue(self.path("second.yaml").exists())
        self.talus("new", 'odd "name"')
        self.assertEqual(scene_yaml.load(self.path('odd "name".yaml').read_text())["title"],
                         'odd "name"')
        self.talus("check", 'odd "name".yaml')

    def test_commands_can_be_copied(self):
        """What it says to type works in a shell, whatever the name."""
        for name in ("a b", "it's", "$HOME;x", "plain-1.0"):
            said = self.talus("new", name)
            line = said.split(f"Run it with: {TALUS} run ")[1].splitlines()[0]
            self.assertEqual(shlex.split(line), [f"{name}.yaml"])
            remark = re.search(rf"# Check it: {TALUS} check (.*)", self.path(f"{name}.yaml").read_text())[1]
            self.assertEqual(remark, line)
        self.assertIn("run plain-1.0.yaml\n", said)
        self.assertIn("no line breaks", self.talus("new", "a\nstep: 5", status=2))

    def test_remarks_explain_their_defaults(self):
        self.talus("new", "first")
        self.assertIn("default 0: only the first and the last", self.path("first.yaml").read_text())

    def test_nothing_is_overwritten(self):
        self.path("mine.yaml").write_text("mine")
        self.assertIn("exists already", self.talus("new", "mine", status=1))
        self.assertEqual(self.path("mine.yaml").read_text(), "mine")

    def test_mistakes(self):
        self.assertIn("did you mean 'hopper'", self.talus("new", "x", "-t", "hoper", status=2))
        self.assertIn("a name for the scene is missing", self.talus("new", status=2))
        self.assertIn("no name of a scene", self.talus("new", "folder/", status=2))
        self.assertIn("No such file", self.talus("new", "nowhere/x", status=1))
        self.assertIn("'x' is one argument too many", self.talus("new", "--list", "x", status=2))


if __name__ == "__main__":
    unittest.main()
