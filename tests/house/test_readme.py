"""The README's examples work as printed: the scene runs, the Python lines read its result, and every file
that it points to exists."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
README = (SOURCE / "README.md").read_text()


def example(language):
    """The one code block of the README in this language."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return block


class Readme(unittest.TestCase):
    def run_in(self, folder, *command, **options):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)
        self.assertEqual(done.returncode, 0, f"{command} said:\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_scene_and_python(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "scene.yaml").write_text(example("yaml"))
            os.mkdir(Path(folder, "runs"))
            # Under the name that the Python lines use.
            self.run_in(folder, os.environ["TALUS"], "run", "scene.yaml", "-o", "runs/hopper-1")
            out = self.run_in(folder, sys.executable, "-c", example("python"))
            self.assertEqual(len(re.findall(r"\[\s*[-0-9]", out)), 5, f"rows of five disks in {out}")

    def test_links(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README):
            with self.subTest(target=target):
                self.assertTrue((SOURCE / target).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
