#!/usr/bin/python3
"""Run the cells of docs/tutorial.md in order, in one namespace, and leave its figures in a folder.

    PYTHONPATH=build/release/python scripts/draw-tutorial.py [FOLDER, default docs]

The run that the tutorial makes goes into a temporary folder. Test: tests/python/test_python_docs.py.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile

TUTORIAL = pathlib.Path(__file__).resolve().parent.parent / "docs" / "tutorial.md"


def cells(text):
    """(line, code) of every Python cell."""
    for found in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        yield text[:found.start(1)].count("\n") + 1, found.group(1)


def run(folder):
    """Run all cells; returns their namespace."""
    names, here = {}, os.getcwd()
    folder = pathlib.Path(folder).resolve()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        try:
            for line, code in cells(TUTORIAL.read_text(encoding="utf-8")):
                # Empty lines before the cell, so that a traceback has the lines of the page.
                exec(compile("\n" * (line - 1) + code, str(TUTORIAL), "exec"), names)
            for figure in pathlib.Path(work).glob("*.png"):
                shutil.copy(figure, folder)
        finally:
            os.chdir(here)
    return names


if __name__ == "__main__":
    run(sys.argv[1] if len(sys.argv) > 1 else TUTORIAL.parent)
