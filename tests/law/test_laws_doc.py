"""The pages of the contact laws: their pictures are what scripts/draw-laws.py writes and are
well-formed, their links lead somewhere, every key of a law is on a page, and each page has a scene.

needs TALUS (the program) and TALUS_SOURCE (the source tree) in the environment.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
LAWS = SOURCE / "docs" / "laws"
PAGES = sorted(LAWS.glob("*.md"))


class Laws(unittest.TestCase):
    def test_pictures_are_what_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            script = SOURCE / "scripts" / "draw-laws.py"
            subprocess.run([sys.executable, script, folder], check=True)
            drawn = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        stored = {path.name: path.read_bytes() for path in LAWS.glob("*.svg")}
        self.assertEqual(sorted(drawn), sorted(stored), "run scripts/draw-laws.py")
        for name, picture in drawn.items():
            self.assertEqual(picture, stored[name], f"{name}: run scripts/draw-laws.py")
            xml.dom.minidom.parseString(picture)

    def test_links(self):
        for page in [*PAGES, SOURCE / "docs" / "theory.md", SOURCE / "docs" / "soft.md"]:
            for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text()):
                with self.subTest(page=page.name, target=target, anchor=anchor):
                    linked = (page.parent / target) if target else page
                    self.assertTrue(linked.exists())
                    headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
                    names = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
                    self.assertIn(anchor, ["", *names])

    def test_every_page_has_a_picture_and_a_scene(self):
        for page in PAGES:
            if page.name == "README.md":
                continue
            with self.subTest(page=page.name):
                text = page.read_text()
                self.assertRegex(text, r"!\[.*\]\(\S+\.svg\)")
                scenes = re.findall(r"`talus run ([a-z-]+)", text)
                self.assertGreater(len(scenes), 0)
                for scene in scenes:
                    self.assertTrue((SOURCE / "scenes" / f"{scene}.yaml").exists(), scene)

    def test_every_key_is_on_a_page(self):
        table = subprocess.run([os.environ["TALUS"], "schema", "--markdown", "pairs[]"], check=True,
                               capture_output=True, text=True).stdout
        keys = set(re.findall(r"^\| `pairs\[\]\.(\w+)`", table, re.MULTILINE)) - {"between"}
        self.assertGreater(len(keys), 7, "the keys of the laws were found")
        pages = "".join(page.read_text() for page in PAGES)
        for key in sorted(keys):
            self.assertIn(f"`{key}`", pages)


if __name__ == "__main__":
    unittest.main(verbosity=2)
