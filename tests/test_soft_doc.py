"""The page of the soft method: its picture is what scripts/draw-soft.py writes and is well-formed.

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
    def test_picture_is_what_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "drawn.svg"
            subprocess.run([sys.executable, SOURCE / "scripts" / "draw-soft.py", output], check=True)
            drawn = output.read_bytes()
        stored = (SOURCE / "docs" / "soft-convergence.svg").read_bytes()
        self.assertEqual(drawn, stored, "run scripts/draw-soft.py")
        xml.dom.minidom.parseString(drawn)


if __name__ == "__main__":
    unittest.main()
