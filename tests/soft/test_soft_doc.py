"""The page of the soft method: its pictures are what scripts/draw-soft.py writes and are well-formed.

needs TALUS_SOURCE (the source tree) in the environment.
"""
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])


class Soft(unittest.TestCase):
    def test_pictures_are_what_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, SOURCE / "scripts" / "draw-soft.py", folder], check=True)
            for picture in ("soft-convergence.svg", "soft-scheme.svg"):
                drawn = (Path(folder) / picture).read_bytes()
                stored = (SOURCE / "docs" / picture).read_bytes()
                self.assertEqual(drawn, stored, "run scripts/draw-soft.py")
                xml.dom.minidom.parseString(drawn)


if __name__ == "__main__":
    unittest.main()
