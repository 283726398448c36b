"""One published experiment in its short version: tests/papers/paper_short.py NAME

The program itself asserts the numbers (exit status 4 if one disagrees). Here is checked that it
says and writes what it promises: the table, data without holes, figures with something in them.
"""
import csv
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zlib
from pathlib import Path

TALUS = os.environ["TALUS"]
NAME = sys.argv.pop() if len(sys.argv) > 1 else ""


def png_colours(data):
    """Different colours in a PNG of 8 bits a channel, counted row by row up to a hundred."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    packed, at = b"", 8
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    rows, size, step = zlib.decompress(packed), (3 if kind == 2 else 4), 0
    above, seen = bytes(width * size), set()
    for y in range(height):
        row = bytearray(rows[y * (width * size + 1):(y + 1) * (width * size + 1)])
        unfilter(row, above, size)
        above = bytes(row[1:])
        seen.update(above[i:i + size] for i in range(0, len(above), size))
        if len(seen) > 100:
            break
    return len(seen)


def unfilter(row, above, size):
    """Undo the filter of a row of a PNG in place."""
    kind = row[0]
    for i in range(1, len(row)):
        a = row[i - size] if i > size else 0
        b = above[i - 1]
        c = above[i - 1 - size] if i > size else 0
        if kind == 1:
            row[i] = (row[i] + a) & 255
        elif kind == 2:
            row[i] = (row[i] + b) & 255
        elif kind == 3:
            row[i] = (row[i] + (a + b) // 2) & 255
        elif kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + near) & 255


def shapes(element):
    """The styles of all that is drawn; glyphs of texts are in <defs>."""
    for child in element:
        if child.tag.endswith("defs"):
            continue
        if child.tag.endswith("path"):
            yield child.get("style") or ""
        yield from shapes(child)


def drawn_inside(drawing):
    """Is there more than one shape a panel beside its frame and ticks, three lines 0.8 wide?"""
    styles = list(shapes(drawing))
    axes = sum("stroke-width:0.8;" in style for style in styles)
    assert axes >= 3, "no axes: has src/workshop/picture/axes.c another width of lines now?"
    return len(styles) - axes > axes / 3


class Short(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name) / "out"
        cls.done = subprocess.run([TALUS, "paper", NAME, "--short", "-o", str(cls.out)],
                                  capture_output=True, text=True)
        print(cls.done.stdout, cls.done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_numbers_agree(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertEqual(self.done.stderr, "")

    def test_table(self):
        with open(self.out / f"{NAME}-table.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(any(row["verdict"] == "agrees" for row in rows))
        for row in rows:
            self.assertIn(row["quantity"], self.done.stdout)
            self.assertTrue(row["why"], row["quantity"])
            if row["verdict"] == "agrees":
                self.assertTrue(float(row["low"]) <= float(row["measured"]) <= float(row["high"]))

    def test_data(self):
        tables = [p for p in self.out.glob("*.csv") if not p.name.endswith("-table.csv")]
        self.assertTrue(tables)
        for path in tables:
            with open(path, newline="") as file:
                head, *rows = csv.reader(file)
            self.assertEqual(len(set(head)), len(head), path.name)
            self.assertGreater(len(rows), 1, path.name)
            columns = list(zip(*[[float(cell) for cell in row] for row in rows]))
            self.assertEqual(len(columns), len(head), path.name)
            for name, column in zip(head, columns):
                self.assertTrue(any(x == x and abs(x) != float("inf") for x in column),
                                f"{path.name}: {name} has no number")

    def test_figures(self):
        images = sorted(self.out.glob("*.png"))
        self.assertTrue(images)
        for path in images:
            self.assertTrue(path.name.startswith(NAME))
            self.assertGreater(png_colours(path.read_bytes()), 4, path.name)
            drawing = xml.parse(path.with_suffix(".svg")).getroot()
            self.assertTrue(drawing.tag.endswith("svg"))
            self.assertTrue(drawn_inside(drawing), f"{path.name}: nothing within the axes")

    def test_page(self):
        page = (self.out / "index.html").read_text()
        self.assertEqual(page.count("data:image/png;base64,"), len(list(self.out.glob("*.png"))))
        self.assertNotIn("://", page)  # no address outside; base64 has no colon


if __name__ == "__main__":
    unittest.main()
