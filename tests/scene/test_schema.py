"""`talus schema`: the JSON Schema takes every scene that the reader takes, and refuses what the
reader refuses because of a key, a type, a range or a missing key.

    TALUS_TEST_TRIES=5000 /usr/bin/python3 tests/scene/test_schema.py     more of the bad values

needs TALUS (the program) and TALUS_SOURCE in the environment. TALUS_TEST_SCALE below 1 (sanitizer
builds) tries fewer of the bad values.
"""
import copy
import json
import os
import random
import re
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import scene_yaml

TALUS = os.environ["TALUS"]
SOURCE = Path(os.environ["TALUS_SOURCE"])
SCALE = float(os.environ.get("TALUS_TEST_SCALE", "1"))
TRIES = int(os.environ.get("TALUS_TEST_TRIES", max(100 * min(SCALE, 1), 20)))

# What the reader says about keys, types, ranges and missing keys; anything else (names, geometry,
# combinations) is more than a schema knows.
STRUCTURE = re.compile(
    r"unknown key|does not go with the 'type'|is not a number|out of range|is not known"
    r"|not a truth value|does not fit|\(expected a map of keys|\(expected a list of"
    r"|\(expected a text\)|\(expected a map of names\)|\(expected a number|: is missing"
    r"|has \d+ entries|makes no sense here|is too deep|incompressible|more than a circle"
    r"|must be at least 1|must be above 0 \(|must be whole numbers|exists? only in dimension"
    r"|has no size along|needs two names|is empty \(|no regular body|how many grains"
    r"|how fast|how large|has no form|given in several ways|no end condition|given twice"
    r"|have no size|besides|needs its middle|needs \d pairs? of walls|is not a pair")

# What depends on values elsewhere: the axis of a cone exists only if its ends coincide, low must be
# below high, and grains of a list may have their size from their source.
BEYOND = re.compile(r"walls\[\d+\]\.axis: |\.high: the box has no size"
                    r"|items\[\d+\]\.radius: is missing")

# Replacements: each is wrong for most keys, and right for some.
VALUES = [-1.0, 0.0, 0.5, 2.0, 1e12, "zzz", "", True, None, [], [1.0], [-1.0, -1.0], [1.0, 1.0, 1.0],
          ["zzz"], [[1.0]], {}, {"zzz": 1.0}]
REMOVE, ADD = object(), object()


def schema():
    run = subprocess.run([TALUS, "schema"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def paths(value, path=()):
    """Every place of a tree."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in items:
        if isinstance(child, (dict, list)):
            yield from paths(child, path + (key,))
        else:
            yield path + (key,)


def mutate(scene, path, value):
    scene = copy.deepcopy(scene)
    inner = scene
    for key in path[:-1]:
        inner = inner[key]
    if value is REMOVE:
        del inner[path[-1]]
    elif value is ADD:
        inner[path[-1]]["zzz"] = 1.0
    else:
        inner[path[-1]] = value
    return scene


def read(scene, folder, name):
    """What the reader says: its lines, empty if the scene is right."""
    path = Path(folder) / f"{name}.yaml"
    path.write_text(scene_yaml.dump(scene))
    run = subprocess.run([TALUS, "check", path], capture_output=True, text=True)
    path.unlink()
    assert run.returncode in (0, 3), (run.returncode, run.stderr, scene)
    return run.stderr.splitlines() if run.returncode == 3 else []


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = schema()
        jsonschema.Draft7Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft7Validator(cls.schema)
        cls.folder = tempfile.TemporaryDirectory()
        cls.scenes = {}
        for path in sorted((SOURCE / "tests" / "scenes").glob("every_*.yaml")):
            scene = scene_yaml.load(path.read_text())
            for source in scene["grains"]:
                # Files stand beside the scene; grains there are few, so that reading is quick.
                if "file" in source:
                    source["file"] = str(path.parent / source["file"])
            for shape in scene.get("shapes", {}).values():
                for body in [shape, *(shape["parts"] if isinstance(shape.get("parts"), list)
                                      else [])]:
                    if "file" in body:
                        body["file"] = str(path.parent / body["file"])
            for wall in scene.get("walls", []):
                if "file" in wall:
                    wall["file"] = str(path.parent / wall["file"])
            cls.scenes[path.stem] = scene

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_valid(self, scene):
        error = jsonschema.exceptions.best_match(self.validator.iter_errors(scene))
        self.assertIsNone(error, error and f"{list(error.absolute_path)}: {error.message}")

    def test_ready_made_scenes(self):
        scenes = [*(SOURCE / "scenes").glob("*.yaml"), *(SOURCE / "tests/scenes").glob("*.yaml")]
        self.assertGreater(len(scenes), 30)
        for path in scenes:
            with self.subTest(scene=path.name):
                self.check_valid(scene_yaml.load(path.read_text()))

    def test_examples_in_the_documentation(self):
        """Whole scenes as they are, sections put into a scene of the dimension they fit."""
        count = 0
        for page in sorted((SOURCE / "docs").rglob("*.md")):
            for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S):
                # Several lines with the same key are alternatives.
                keys = re.findall(r"^(\w+):", block, re.M)
                parts = [block] if len(set(keys)) == len(keys) else block.splitlines()
                for part in parts:
                    found = scene_yaml.load(part)
                    if isinstance(found, dict):
                        self.check_example(page.name, found)
                        count += 1
        self.assertGreater(count, 10)

    def check_example(self, page, found):
        if list(found) == ["motion"]:
            found = {"walls": [{"type": "plane", "normal": [0.0, 1.0], **found}]}
        best = None
        for dim in (2.0, 3.0):
            scene = {"dimension": dim, "step": 1.0, **found}
            if "until" not in scene and "phases" not in scene:
                scene["until"] = {"time": 1.0}
            error = jsonschema.exceptions.best_match(self.validator.iter_errors(scene))
            if error is None:
                return
            best = best or error
        # Examples of a section may show the forms of both dimensions side by side.
        if "dimension" not in found and any(isinstance(v, (list, dict)) and len(v) > 1
                                            for v in found.values()):
            for key, items in found.items():
                pieces = [[v] for v in items] if isinstance(items, list) else \
                         [{k: v} for k, v in items.items()] if isinstance(items, dict) else []
                for piece in pieces if len(pieces) > 1 else []:
                    self.check_example(page, {key: piece})
            return
        self.fail(f"{page}: {found}: {list(best.absolute_path)}: {best.message}")

    def test_bad_values(self):
        """The reader and the schema agree about what is wrong with a key."""
        places = {}  # by what the key is, so that every row of the table gets its turn
        for name, scene in self.scenes.items():
            for path in paths(scene):
                kind = (name, *(k for k in path if isinstance(k, str)))
                places.setdefault(kind, []).append((name, path))
        chance = random.Random(8)
        cases = []
        while len(cases) < TRIES:
            for group in chance.sample(list(places.values()), len(places)):
                name, path = chance.choice(group)
                inner = self.scenes[name]
                for key in path:
                    inner = inner[key]
                values = [*VALUES, REMOVE, *([ADD] if isinstance(inner, dict) else [])]
                cases.append((name, path, chance.choice(values)))
        del cases[TRIES:]
        scenes = [mutate(self.scenes[name], path, value) for name, path, value in cases]
        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(lambda i: read(scenes[i], self.folder.name, i), range(len(cases))))
        refused, both = 0, 0
        for (name, path, value), scene, lines in zip(cases, scenes, said):
            what = "removed" if value is REMOVE else "with a key 'zzz'" if value is ADD else value
            valid = self.validator.is_valid(scene)
            with self.subTest(scene=name, path=path, value=what):
                if not lines:
                    both += 1
                    self.check_valid(scene)
                elif any(STRUCTURE.search(line) and not BEYOND.search(line) for line in lines):
                    refused += 1
                    self.assertFalse(valid, f"the reader says {lines}")
        self.assertGreater(refused, len(cases) // 2)
        self.assertGreater(both, 0)
        print(f"bad values: {len(cases)} tried, {refused} refused for their form, {both} accepted")

    def test_edges(self):
        """Values at the edge of what a key takes: reader and schema say the same of all."""
        soft = ("method: soft\nmaterials: {a: {stiffness: 1e4}}\n"
                "grains: [{type: chain, radius: 0.1, direction: [1, 0], count: 2}]\n")
        ball = "grains: [{type: chain, radius: 0.1, direction: [1, 0], count: 1}]\n"
        cases = {
            "step: auto\n" + soft: True,
            "step: auto\ngravity: [0, -1]\n" + ball: True,
            "step: auto\nmethod: contact\ngravity: [0, -1]\n" + ball: True,
            "step: autom\n": False,
            "step: 1e-3\nphases: [{until: {steps: 1}, step: auto}]\n" + soft: True,
            "step: 1e-3\ngravity: [0, -1]\nphases: [{until: {steps: 1}, step: auto}]\n" + ball: True,
            "step: 1e-3\nphases: [{until: {steps: 1}, step: 1e-4}]\n": True,
            "step: 1e400\n": False,
            "step: 1\ngravity: [0, -1e400]\n": False,
            "step: 1\nseed: 9007199254740991\n": True,
            "step: 1\nseed: 9007199254740993\n": False,
        }
        for word in ("true", "True", "TRUE", "false", "False", "FALSE"):
            cases[f"step: 1\nstrict: {word}\n"] = True
        for word in ("tRUE", "yes", "'true'", "Null", "~"):
            cases[f"step: 1\nstrict: {word}\n"] = False
        for name, good in (("''", False), ("a", True), ("1", True), ("true", True)):
            cases[f"step: 1\nwalls: [{{name: {name}, type: plane, normal: [0, 1]}}]\n"] = good
        path = Path(self.folder.name) / "edge.yaml"
        for text, good in cases.items():
            text = "dimension: 2\n" + text
            if "phases" not in text:
                text += "until: {steps: 1}\n"
            with self.subTest(scene=text):
                path.write_text(text)
                run = subprocess.run([TALUS, "check", path], capture_output=True, text=True)
                self.assertEqual(run.returncode, 0 if good else 3, run.stderr)
                self.assertEqual(self.validator.is_valid(scene_yaml.load(text)), good)

    def test_output(self):
        path = Path(self.folder.name) / "schema.json"
        command = [TALUS, "schema", "--output", path]
        subprocess.run(command, check=True)
        self.assertEqual(json.loads(path.read_text()), self.schema)
        path.write_text("mine")
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((run.returncode, path.read_text()), (1, "mine"))
        self.assertIn("is there already; --force", run.stderr)
        subprocess.run([*command, "--force"], check=True)
        self.assertEqual(json.loads(path.read_text()), self.schema)
        run = subprocess.run([TALUS, "schema", "--output", "/nowhere/x"], capture_output=True)
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
