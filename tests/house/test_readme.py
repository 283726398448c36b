"""Every file that the README points to exists. (Its commands, its scene and its lines in Python: test_first_hour.)"""
import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])


class Readme(unittest.TestCase):
    def test_links(self):
        targets = re.findall(r'\]\(([^)#]+)\)|src="([^"]+)"', (SOURCE / "README.md").read_text())
        self.assertGreater(len(targets), 10)
        for link, picture in targets:
            with self.subTest(target=link or picture):
                self.assertTrue((SOURCE / (link or picture)).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
