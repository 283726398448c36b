"""Every block of code in the documentation is run, compiled or checked by a test, or it says why it is not.

A block of `text` shows output, or the code of another program. A block of code that cannot be run
has a comment before it: <!-- not run: why -->. All others are here, or in the tests that OTHERS names.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
TALUS = os.environ["TALUS"]
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(<!-- not run: (?P<why>[^>]*) -->\n)?^ *```(?P<language>\w*)\n(?P<code>.*?)^ *```", re.S | re.M)

# Blocks that other tests run, by page and language.
OTHERS = {
    ("README.md", "sh"): "test_first_hour",
    ("README.md", "yaml"): "test_first_hour",
    ("README.md", "python"): "test_first_hour",
    ("docs/first-run.md", "sh"): "test_first_hour",
    ("docs/first-run.md", "python"): "test_first_hour",
    ("docs/adding.md", "c"): "test_docs",
    ("docs/interface.md", "c"): "test_docs",
    ("docs/python.md", "python"): "test_python_docs",
    ("docs/tutorial.md", "python"): "test_python_docs",
}


def blocks(*languages):
    """(page, code) of all blocks in one of the languages that this test has to look after."""
    for page in PAGES:
        name = str(page.relative_to(SOURCE))
        for found in BLOCK.finditer(page.read_text()):
            language = found["language"]
            if language in languages and not found["why"] and (name, language) not in OTHERS:
                yield name, found["code"]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command} said:\n{done.stdout}{done.stderr}"


class Examples(unittest.TestCase):
    def test_languages_are_known(self):
        for page in PAGES:
            for found in BLOCK.finditer(page.read_text()):
                if not found["why"]:
                    self.assertIn(found["language"], ("text", "sh", "yaml", "python", "c"), f"{page}: {found['code']}")

    def test_other_tests_exist(self):
        for (name, language), test in OTHERS.items():
            self.assertTrue(list((SOURCE / "tests").glob(f"*/{test}.py")), test)
            self.assertTrue([f for f in BLOCK.finditer((SOURCE / name).read_text()) if f["language"] == language], name)

    def test_whole_scenes_run(self):
        """A few steps of each; sections of scenes are checked by test_schema."""
        count = 0
        for page, code in blocks("yaml"):
            if not re.search(r"^dimension:", code, re.M):
                continue
            with self.subTest(page=page, scene=code.splitlines()[0]), tempfile.TemporaryDirectory() as folder:
                Path(folder, "scene.yaml").write_text(code)
                run(TALUS, "run", "scene.yaml", "-o", "run", "--steps", "3", cwd=folder)
                count += 1
        self.assertGreaterEqual(count, 5)

    def test_commands(self):
        """Every line, in a folder that has the runs and files it names; runs are broken off after a few steps."""
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder)
            data = SOURCE / "tests" / "data"
            shutil.copy(data / "packed.dump", made / "packing.dump")
            shutil.copytree(data / "lmgc90-2d", made / "DATBOX")
            shutil.copy(sorted((data / "fclib").glob("*.hdf5"))[0], made / "problem.hdf5")
            count = 0
            for page, code in blocks("sh"):
                for line in code.replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True)
                    if not words:
                        continue
                    with self.subTest(page=page, line=line):
                        self.assertIn(words[0], ("talus", "make", "PYTHONPATH=build/release/python"))
                        if words[0] == "talus":
                            self.command(made, words[1:])
                        elif words[0] == "make":
                            makefile = (SOURCE / "Makefile").read_text()
                            self.assertRegex(makefile, rf"(?m)^{re.escape(words[1])}:")
                        count += 1
            self.assertGreater(count, 20)

    def command(self, folder, words):
        for word in words:
            found = re.fullmatch(r"runs/([a-z-]+)", word)
            if found and not (folder / word).exists():
                run(TALUS, "run", found[1], "-o", word, "--steps", "21", "--set", "output.frames=1e-6", cwd=folder)
        if words[0] in ("run", "resume"):
            words += ["--steps", "3"]
        if words[0] in ("run", "new") and "-o" in words:
            shutil.rmtree(folder / words[words.index("-o") + 1], ignore_errors=True)
        if words[0] == "view" and "--export" not in words:
            words += ["--export", "page.html", "--force"]  # a server would not end
        if "--movie" in words and not shutil.which("ffmpeg"):
            words.remove("--movie")
        if words[0] in ("export", "measure", "render", "plot") and "--force" not in words:
            words += ["--force"]
        if words[0] == "ensemble":
            words += ["--samples", "3", "--tolerance", "1e-2", "--quiet"]
        if words[0] == "advise":
            words += ["--seconds", "0.1"]
        run(TALUS, *words, cwd=folder)

    def test_python(self):
        with tempfile.TemporaryDirectory() as folder:
            run(TALUS, "run", SOURCE / "scenes" / "mixed-drum.yaml", "-o", "runs/hopper", "--steps", "3",
                "--set", "output.frames=0.001", cwd=folder)
            shutil.copy(Path(folder, "runs/hopper/series.csv"), folder)
            for page, code in blocks("python"):
                if page == "docs/files.md":
                    code = "import h5py, numpy\n" + code.replace("000010", "000001").replace("plt.plot(", "print(")
                    if code.count("def faces"):
                        code += "\nfile = h5py.File('runs/hopper/frames.h5')\n" \
                                "solid = int(numpy.argmax(file['frames/000001/grains/solid'][:]))\n" \
                                "assert faces(file, 1, solid)[0].shape[1] == 2\n"
                with self.subTest(page=page, code=code):
                    run(sys.executable, "-c", code, cwd=folder)

    def test_c(self):
        """Lines that stand for themselves, as the body of a function that has a world."""
        for page, code in blocks("c"):
            unit = "#include <math.h>\n#include <stdio.h>\n#include <talus/talus.h>\n#include \"base/vec.h\"\n"
            unit += code if "static double" in code else \
                f"void example(talus_world* world);\nvoid example(talus_world* world)\n{{\n{code}\n}}\n"
            with self.subTest(page=page, code=code):
                run(os.environ["CC"], "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror",
                    "-Iinclude", "-Isrc/engine", "-fsyntax-only", "-x", "c", "-", cwd=SOURCE, input=unit)


if __name__ == "__main__":
    unittest.main(verbosity=2)
