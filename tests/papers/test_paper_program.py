"""talus paper from outside: the list, wrong names, folders that are taken, the page of several."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
SOURCE = Path(os.environ["TALUS_SOURCE"])


def talus(*arguments, cwd=None):
    return subprocess.run([TALUS, "paper", *arguments], capture_output=True, text=True, cwd=cwd)


class Paper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_list_has_every_file(self):
        """Each file in papers/ is an experiment of that name."""
        files = {p.stem.replace("_", "-") for p in (SOURCE / "papers").glob("*.c")}
        listed = re.findall(r"^([a-z0-9-]+) ", talus().stdout, re.MULTILINE)
        self.assertEqual(files, set(listed))
        self.assertEqual(len(listed), len(files))
        told = re.findall(r"^\| `([a-z0-9-]+)` \|", (SOURCE / "docs/papers.md").read_text(),
                          re.MULTILINE)
        self.assertEqual(told, listed, "docs/papers.md has a row for each, in the same order")

    def test_unknown_name(self):
        done = talus("relaxtion", "-o", str(self.folder / "x"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'relaxation'?", done.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_folder_is_taken(self):
        (self.folder / "mine").write_text("keep")
        done = talus("relaxation", "--short", "-o", str(self.folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not empty", done.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["mine"])

    def test_folder_cannot_be_made(self):
        done = talus("relaxation", "--short", "-o", str(self.folder / "a" / "b"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)

    def test_several_on_one_page(self):
        done = talus("shock-law", "relaxation", "shock-law", "--short", "--quiet",
                     cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        out = self.folder / "runs" / "paper-all"
        page = (out / "index.html").read_text()
        self.assertEqual(re.findall(r'<h2 id="([^"]*)"', page), ["shock-law", "relaxation"])
        again = talus("relaxation", "--short", "--quiet", "--threads", "2", cwd=self.folder)
        self.assertEqual(again.returncode, 0)
        for name in ("relaxation-modes.csv", "relaxation-table.csv"):
            self.assertEqual((out / name).read_text(),
                             (self.folder / "runs" / "paper-relaxation" / name).read_text(),
                             "threads change nothing")

    def test_seed_matters(self):
        for seed in ("1", "2"):
            talus("relaxation", "--short", "--quiet", "--seed", seed, "-o",
                  str(self.folder / seed))
        self.assertNotEqual((self.folder / "1/relaxation-modes.csv").read_text(),
                            (self.folder / "2/relaxation-modes.csv").read_text())


if __name__ == "__main__":
    unittest.main()
