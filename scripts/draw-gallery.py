#!/usr/bin/python3
"""A small picture of each ready-made scene for docs/scene-gallery.md, made by the program itself.

    scripts/draw-gallery.py PROGRAM [--runs FOLDER] [NAME ...]

writes docs/gallery/NAME.png for the scenes named, or for all (a quarter of an hour). FOLDER keeps the
runs [a temporary one]; a run that is there is drawn as it is.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import PIL.Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, DPI = 400, 95

# Scene: (the moment that shows what it is about, how it is drawn). A moment is a simulated time; the
# drawing is that of `talus render`, or of `talus plot` for scenes that are about a curve.
SPEED = ["--colour", "speed"]
FORCES = ["--forces"]
PICTURES = {
    "chain": (600, ["plot", "energy", "--frame", "300:600"]),
    "pair-collision": (0.004, ["--colour", "velocity:x", "--map", "viridis"]),
    "incline": (1.0, ["--colour", "material", "--view", "y"]),
    "heap": (4.0, ["--colour", "position:z", "--view=-60:15"]),
    "hopper": (1.2, SPEED),
    "silo": (2.0, SPEED + ["--scale", "0:0.6"]),
    "column-collapse": (0.55, SPEED + ["--region", "x=-0.02:0.8,y=-0.02:0.4"]),
    "drum": (9.0, SPEED + ["--scale", "0:0.4"]),
    "piston": (0.6, FORCES),
    "biaxial": (0.9, FORCES),
    "triaxial": (0.35, ["--colour", "displacement"]),
    "plane-shear": (4.0, SPEED),
    "vibrated-box": (9.0, ["--colour", "radius", "--region", "y=:0.3"]),
    "polydisperse": (0.3, ["--colour", "radius", "--no-walls"]),
    "obstacle": (0.8, SPEED + ["--region", "y=-0.2:0.17"]),
    "overlap": (0.5, FORCES),
    "rolling-heap": (1.98, ["--colour", "position:z", "--view=-60:15"]),
    "bonded-cluster": (0.2, FORCES + ["--force-width", "0.25"]),
    "cohesive-compaction": (4.2, FORCES + ["--region", "y=-0.01:0.17"]),
    "bouncing": (0.6, ["--colour", "material", "--view", "y"]),
    "haff": (1.0, SPEED),
    "stick-slip": (4.0, ["--colour", "material"]),
    "arch": (7.0, FORCES),
    "masonry": (11.0, ["--colour", "displacement"]),
    "ballast": (2.26, FORCES + ["--view=-70:25"]),
    "polygon-shear": (4.0, SPEED),
    "mixed-drum": (8.0, FORCES),
    "dominoes": (0.9, SPEED + ["--view=-50:40"]),
    "two-discs": (2000, ["plot", "series", "kinetic_energy"]),
    "two-polygons": (1000, ["plot", "series", "kinetic_energy"]),
    "polygon-shear-soft": (100, FORCES),
}


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"draw-gallery: {' '.join(map(str, command))} failed:\n{result.stderr}")


def draw(talus, name, runs):
    moment, options = PICTURES[name]
    run = runs / name
    if not run.exists():
        call(talus, "run", ROOT / f"scenes/{name}.yaml", "-o", run, "--quiet")
    picture = ROOT / f"docs/gallery/{name}.png"
    size = ["--width", WIDTH, "--dpi", DPI, "--force", "--quiet"]
    if options[0] == "plot":
        call(talus, "plot", run, *options[1:], "-o", picture, *size)
        picture.with_suffix(".csv").unlink()
    else:
        call(talus, "render", run, "--time", moment, "-o", picture, "--no-bar", *options, *size)
    # A palette makes the files three times smaller, and nobody sees it.
    image = PIL.Image.open(picture).convert("RGB")
    image.quantize(128, dither=PIL.Image.Dither.NONE).save(picture, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("talus", type=pathlib.Path)
    parser.add_argument("--runs", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_intermixed_args()
    (ROOT / "docs/gallery").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="talus-gallery-") as temporary:
        for name in asked.names or PICTURES:
            draw(asked.talus.resolve(), name, asked.runs or pathlib.Path(temporary))
            print(name, flush=True)


main()
