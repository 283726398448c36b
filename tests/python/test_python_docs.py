"""The examples and the tutorial of the Python package run as they stand, and the ten lines of
docs/python.md do, too."""
import contextlib
import importlib.util
import io
import logging
import os
import re
import runpy
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
sys.path.insert(0, str(Path(os.environ["TALUS_BUILD"], "python")))
logging.disable()  # warnings of short runs


@contextlib.contextmanager
def elsewhere():
    """A folder of its own, and the printed lines."""
    here, said = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        os.chdir(folder)
        try:
            yield said
        finally:
            os.chdir(here)


class Examples(unittest.TestCase):
    def test_examples_run(self):
        examples = sorted((SOURCE / "python" / "examples").glob("*.py"))
        self.assertGreaterEqual(len(examples), 8)
        for path in examples:
            with self.subTest(path.name), elsewhere() as said:
                runpy.run_path(str(path))  # their asserts know the answers
                self.assertTrue(said.getvalue().strip())

    def test_examples_are_short_and_begin_with_prose(self):
        for path in (SOURCE / "python" / "examples").glob("*.py"):
            head, body = re.match(r'"""(.*?)"""\n(.*)', path.read_text(), re.DOTALL).groups()
            self.assertGreater(len(head.split()), 15, path.name)
            lines = [line for line in body.splitlines() if line.strip()]
            self.assertLess(len(lines), 25, path.name)

    def test_overview(self):
        names, text = {}, (SOURCE / "docs/python.md").read_text(encoding="utf-8")
        with elsewhere():
            for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
                exec(compile(code, "docs/python.md", "exec"), names)


class Reference(unittest.TestCase):
    def test_page(self):
        spec = importlib.util.spec_from_file_location("build", SOURCE / "scripts/docs/build.py")
        build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "python-api.md")
            build.write_python(Path(os.environ["TALUS_BUILD"], "talus"), Path(folder))
            text = page.read_text(encoding="utf-8")
            for head in ("### `World(**options)`", "### `world.add_grains(position, **columns)`",
                         "### `measure.stress(world, **options)`", "### `StepResult`",
                         "### `SceneError`", "### `run(scene, directory, sets=(), "):
                self.assertIn("\n" + head, text)
            build.write_python(Path(folder, "talus"), Path(folder))
            self.assertIn("without the Python package", page.read_text(encoding="utf-8"))


class Tutorial(unittest.TestCase):
    def test_cells_in_order(self):
        spec = importlib.util.spec_from_file_location("tutorial",
                                                      SOURCE / "scripts/draw-tutorial.py")
        tutorial = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tutorial)
        text = tutorial.TUTORIAL.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, elsewhere():
            names = tutorial.run(folder)  # its asserts know the ranges
            made = {p.name for p in Path(folder).glob("*.png")}
        shown = set(re.findall(r"!\[[^]]*\]\(([^)]*)\)", text))
        self.assertEqual(made, shown)
        for name in shown:
            self.assertTrue((SOURCE / "docs" / name).exists(), name)
        self.assertEqual(len(names["points"]), 4)


if __name__ == "__main__":
    unittest.main()
