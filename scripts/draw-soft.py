#!/usr/bin/env python3
"""Draws the convergence of the soft method: of its integrators, docs/soft-convergence.svg, and of the
full scheme with both elongations, docs/soft-scheme.svg.

    scripts/draw-soft.py [FOLDER]     where the pictures go; default: docs

The data are in docs/soft-convergence.csv and docs/soft-scheme.csv: rows `scheme;step over contact
time;error`, a curve for each scheme in the order of its first row. They are written by
`test_soft_integrators docs/soft-convergence.csv` and `test_soft_order docs/soft-scheme.csv`.
tests/soft/test_soft_doc.py checks that the committed pictures are what this writes.
"""
import csv
import math
import sys
from pathlib import Path

from svg import INK, LAW, SECOND, Picture

DOCS = Path(__file__).resolve().parent.parent / "docs"
STYLES = [(LAW, None), (LAW, "3 4"), (SECOND, None), ("#3a7d34", None), ("#111111", "9 5"),
          ("#7b3fa0", None), ("#7b3fa0", "3 4"), ("#a08400", None), ("#a08400", "3 4")]
PICTURES = {  # name: title, what is drawn
    "soft-convergence": ("Convergence of the soft method's integrators",
                         "error at the end of an impact / velocity of the impact"),
    "soft-scheme": ("Convergence of the soft method with friction",
                    "error of two discs after 10 contact times / push"),
}
GRID = "#dddddd"
LEFT, TOP, RIGHT, BOTTOM = 80, 50, 520, 470  # of the graph in the picture, pixels


def read_curves(path):
    """[(scheme, [(step, error), ...] from small to large steps), ...]"""
    curves = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter=";"):
            point = float(row["step over contact time"]), float(row["error"])
            curves.setdefault(row["scheme"], []).append(point)
    return [(scheme, sorted(points)) for scheme, points in curves.items()]


def slope(points):
    """Order of the error: least squares through the logarithms of the four smallest steps."""
    x = [math.log(h) for h, _ in points[:4]]
    y = [math.log(e) for _, e in points[:4]]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - mx) * (b - my) for a, b in zip(x, y))
            / sum((a - mx) ** 2 for a in x))


class Graph:
    """Both axes logarithmic, over whole decades in the error."""

    def __init__(self, picture, curves):
        steps = [h for _, points in curves for h, _ in points]
        errors = [e for _, points in curves for _, e in points]
        self.p = picture
        self.x = math.log10(min(steps)) - 0.1, math.log10(max(steps)) + 0.1
        self.y = math.floor(math.log10(min(errors))), math.ceil(math.log10(max(errors)))

    def at(self, h, error):
        (x0, x1), (y0, y1) = self.x, self.y
        return (LEFT + (math.log10(h) - x0) / (x1 - x0) * (RIGHT - LEFT),
                BOTTOM - (math.log10(error) - y0) / (y1 - y0) * (BOTTOM - TOP))

    def axes(self, what):
        p = self.p
        for k in range(self.y[0], self.y[1] + 1):
            y = self.at(1.0, 10.0 ** k)[1]
            p.line([(LEFT, y), (RIGHT, y)], GRID, 1)
            if k % 2 == 0:
                p.text(LEFT - 8, y + 5, f"10^{{{k}}}".replace("-", "−"), "end", size=13)
        for decade in range(math.floor(self.x[0]), math.ceil(self.x[1])):
            for digit in (1, 2, 5):
                h = digit * 10.0 ** decade
                if self.x[0] <= math.log10(h) <= self.x[1]:
                    x = self.at(h, 1.0)[0]
                    p.line([(x, TOP), (x, BOTTOM)], GRID, 1)
                    p.text(x, BOTTOM + 20, f"{h:g}", size=13)
        p.line([(LEFT, TOP), (RIGHT, TOP), (RIGHT, BOTTOM), (LEFT, BOTTOM)], INK, 1.2, close=True)
        p.text((LEFT + RIGHT) / 2, BOTTOM + 44, "step / contact time")
        p.text(LEFT, TOP - 14, what, "start")

    def curve(self, number, scheme, points):
        color, dash = STYLES[number % len(STYLES)]
        self.p.line([self.at(h, e) for h, e in points], color, 2.5, dash)
        y = TOP + 20 + 42 * number
        self.p.line([(RIGHT + 16, y - 5), (RIGHT + 46, y - 5)], color, 2.5, dash)
        self.p.text(RIGHT + 54, y, scheme, "start", color, 14)
        self.p.text(RIGHT + 54, y + 17, f"order {slope(points):.2f}", "start", color, 13)


def draw(name):
    title, what = PICTURES[name]
    curves = read_curves(DOCS / f"{name}.csv")
    picture = Picture(850, 530, title)
    graph = Graph(picture, curves)
    graph.axes(what)
    for number, (scheme, points) in enumerate(curves):
        graph.curve(number, scheme, points)
    return picture


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    for name in PICTURES:
        draw(name).write(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
