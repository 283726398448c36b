"""The README's lines in C compile, and every file that it points to exists. (Its commands, its scene
and its lines in Python: test_first_hour.)"""
import os
import re
import subprocess
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

    def test_c_lines_compile(self):
        include, body = example("c").split("\n", 1)
        unit = f"#include <stdio.h>\n{include}\nint main(void)\n{{\n{body}\nreturn grains.dim;\n}}\n"
        for language in ("c", "c++"):
            self.run_in(SOURCE, os.environ["CC"], "-Wall", "-Wextra", "-Werror", "-Iinclude",
                        "-fsyntax-only", "-x", language, "-", input=unit)

    def test_links(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README):
            with self.subTest(target=target):
                self.assertTrue((SOURCE / target).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
