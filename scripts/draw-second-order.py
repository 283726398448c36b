#!/usr/bin/env python3
"""Draws how deep disks sink into a drum that turns, docs/second-order.svg, from docs/second-order.csv.

    scripts/draw-second-order.py [FOLDER]     where the picture goes; default: docs

The data are rows `way;time;overlap`: `overlap_max` of series.csv, the larger of two rows 0.05 s apart,
for a drum of R = 0.1 m with 400 disks of 3 to 6 mm, friction 0.5, h = 0.5 ms, which turns with
1.5 rad/s from 0.3 s on.
"""
import csv
import math
import sys
from pathlib import Path

from svg import INK, LAW, SECOND, Picture

DOCS = Path(__file__).resolve().parent.parent / "docs"
STYLES = [(SECOND, None), (LAW, "5 4"), (LAW, None)]
LEFT, TOP, RIGHT, BOTTOM = 90, 60, 640, 340  # of the graph, pixels
TIMES, POWERS = (0, 6.5), (-5, -1)


def at(time, overlap):
    return (LEFT + time / TIMES[1] * (RIGHT - LEFT),
            BOTTOM - (math.log10(overlap) - POWERS[0]) / (POWERS[1] - POWERS[0]) * (BOTTOM - TOP))


def draw(curves):
    p = Picture(680, 400, "Largest overlap in a drum that turns")
    for k in range(POWERS[0], POWERS[1] + 1):
        y = at(0, 10.0 ** k)[1]
        p.line([(LEFT, y), (RIGHT, y)], "#dddddd", 1)
        p.text(LEFT - 8, y + 5, f"10^{{{k}}}".replace("-", "\u2212"), "end", size=13)
    for t in range(0, 7):
        p.text(at(t, 1e-5)[0], BOTTOM + 20, str(t), size=13)
    p.line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], INK)
    p.text((LEFT + RIGHT) / 2, BOTTOM + 44, "time / s")
    p.text(LEFT, TOP - 36, "largest overlap / mean diameter", "start")
    for row, ((name, points), (color, dash)) in enumerate(zip(curves.items(), STYLES)):
        p.line([at(*point) for point in points], color, 1.6, dash)
        y = TOP + 4 + 20 * row
        p.line([(RIGHT - 290, y), (RIGHT - 255, y)], color, 1.6, dash)
        p.text(RIGHT - 248, y + 5, name, "start", size=13)
    return p


curves = {}
with open(DOCS / "second-order.csv", newline="", encoding="utf-8") as file:
    for line in csv.DictReader(file, delimiter=";"):
        curves.setdefault(line["way"], []).append((float(line["time"]), float(line["overlap"])))
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
draw(curves).write(folder / "second-order.svg")
