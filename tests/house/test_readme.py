"""Every file that the README points to exists. (Its commands, its scene and its lines in Python:
test_first_hour.)"""
import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
README = (SOURCE / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_links(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README):
            with self.subTest(target=target):
                self.assertTrue((SOURCE / target).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
