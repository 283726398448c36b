"""What a notebook shows, bars of progress, animated figures, and studies from Python."""
import html
import io
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(os.environ["TALUS_BUILD"], "python")))

import numpy
import talus
from talus import notebook, progress

SCENE = {"dimension": 2, "step": 1e-3, "gravity": [0, -9.81], "until": {"steps": 40},
         "materials": {"glass": {"friction": 0.3}},
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]}],
         "grains": [{"type": "lattice", "low": [0, 0.01], "high": [0.1, 0.1], "radius": 0.01}],
         "output": {"frames": 0.01}}


def quiet(level, text):
    """A log that nobody reads."""


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def recorded(self):
        talus.run(SCENE, self.folder / "run", log=quiet)
        return talus.open(self.folder / "run")


class Notebook(InFolder):
    def page(self, shown):
        """The page in the cell."""
        return html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)".*</iframe>', shown,
                                          re.DOTALL).group(1))

    def test_viewer_of_a_recording(self):
        run = self.recorded()
        self.assertEqual(self.page(run._repr_html_()), notebook.viewer_page(run.directory))
        one, all_of_them = self.page(run[2]._repr_html_()), self.page(run._repr_html_())
        self.assertLess(len(one), len(all_of_them))  # one frame of five

    def test_viewer_of_a_world(self):
        world = talus.Scene(SCENE).world(log=quiet)
        world.run(steps=5)
        before = world.hash()
        self.assertIn("<html", self.page(world._repr_html_()))
        self.assertEqual(world.hash(), before)
        world.step()  # it still can be

    def test_picture_where_the_viewer_is_not_there(self):
        run = self.recorded()
        with mock.patch.object(notebook, "find_program", lambda: None):
            self.assertIsNone(run._repr_html_())
            self.assertIsNone(talus.World(dim=2, log=quiet)._repr_html_())
        with mock.patch.object(notebook, "LARGEST_PAGE", 1000):
            self.assertIsNone(run._repr_html_())
        self.assertEqual(run._repr_png_()[:4], b"\x89PNG")


class Animated(InFolder):
    def test_animation(self):
        run = self.recorded()
        for value in (None, "speed", "radius", lambda frame: frame.grains.velocity[:, 1]):
            shown = talus.animate(run, value=value, dots=50)
            self.assertEqual(len(shown), 5)
            sizes = {picture[16:24] for picture in shown.pictures}  # width and height in a PNG
            self.assertEqual(len(sizes), 1)
        self.assertEqual(len(run.animate(frames=slice(0, 3), dots=50)), 3)
        self.assertEqual(run.animate(frames=[0, -1], dots=50).times, [run.times[0], run.times[-1]])
        path = self.folder / "fall.html"
        run.animate(path=path, dots=50)
        self.assertEqual(path.read_text().count("iVBOR"), 5)  # how a PNG begins in base64
        with self.assertRaisesRegex(ValueError, "2 numbers for each grain"):
            run.animate(value="velocity")
        with self.assertRaisesRegex(ValueError, r"ends in .html or .gif"):
            run.animate(path="fall.mp4", dots=50)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bars(InFolder):
    def test_in_a_terminal(self):
        file = Terminal()
        with mock.patch.object(sys, "stderr", file):
            talus.Scene(SCENE).world(log=quiet).run(steps=10, progress=True)
            talus.run(SCENE, self.folder / "run", progress=True, log=quiet)
        self.assertRegex(file.getvalue(), r"\[#+ +\]  ?10 %  step 1 of 10")
        self.assertRegex(file.getvalue(), r"%  run  step \d+  t \S+ s")
        self.assertTrue(file.getvalue().endswith("\r\033[K"))

    def test_in_a_file(self):
        file = io.StringIO()
        with mock.patch.object(sys, "stderr", file):
            talus.Scene(SCENE).world(log=quiet).run(steps=10, progress=True)
        self.assertEqual(file.getvalue(), "")

    def test_in_a_notebook(self):
        shown = []

        class Handle:
            def update(self, page):
                shown.append(page)

        def display(page, display_id):
            shown.append(page)
            return Handle()

        module = types.ModuleType("IPython")
        module.get_ipython = lambda: types.SimpleNamespace(kernel=True)
        inner = types.ModuleType("IPython.display")
        inner.HTML, inner.display = str, display
        with mock.patch.dict(sys.modules, {"IPython": module, "IPython.display": inner}):
            bar = progress.Bar()
            bar.show(0.5, "half", 90)
            bar.end("done")
        self.assertIn('value="0.5000"', shown[0])
        self.assertIn("half  ETA 1m30s", shown[0])
        self.assertIn("done", shown[1])


class Studies(InFolder):
    def test_study(self):
        vary = {"materials.glass.friction": [0.1, 0.4], "gravity": [[0, -9], [1, -9]]}
        study = talus.sweep(SCENE, vary, seeds=2, directory=self.folder / "study", pages=False,
                            measure=["coordination.all_grains", "series.kinetic_energy"])
        self.assertEqual(len(study), 8)
        self.assertEqual(study.table["materials.glass.friction"].tolist(), [0.1, 0.1, 0.4, 0.4])
        self.assertEqual(study.table["gravity"][1], "[1,-9]")
        self.assertTrue(numpy.isfinite(study.table["series.kinetic_energy"]).all())
        steps = study.measure(lambda run: run.steps[-1])
        self.assertEqual(steps.tolist(), [40] * 8)
        self.assertEqual(study._repr_png_()[:4], b"\x89PNG")
        again = talus.sweep(SCENE, vary, seeds=2, directory=self.folder / "study", pages=False,
                            measure=["coordination.all_grains", "series.kinetic_energy"])
        self.assertEqual(repr(again), repr(study))

    def test_mistakes(self):
        with self.assertRaisesRegex(talus.SceneError, "did you mean 'glass'"):
            talus.sweep(SCENE, {"materials.glas.friction": [1]}, directory=self.folder / "a")
        with self.assertRaisesRegex(talus.ArgumentError, "is no range"):
            talus.sweep(SCENE, {"step": "1:2"}, directory=self.folder / "a")
        with mock.patch("talus._program.find_program", lambda: None):
            with self.assertRaisesRegex(talus.NotFoundError, "nor on PATH"):
                talus.sweep(SCENE, {"step": [1e-3]}, directory=self.folder / "a")


if __name__ == "__main__":
    unittest.main()
