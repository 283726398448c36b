#!/usr/bin/env python3
"""Friction problems of 400 to 7000 contacts in the layout of FCLIB, made from seeds by Talus itself.

    problems.py FOLDER [NAME...]        TALUS names the program [build/release/talus]

Each is a step of a scene below, cut out by `talus run --dump-problems`. The scenes ask for more than
their few sweeps can give, so that every step counts as hard and the 1st, 4th, 16th, ... of them are
written; of these the last `keep` are taken. So the forces are those of a pile at rest or in motion,
and the contacts are those that Talus found.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TALUS = os.environ.get("TALUS", "build/release/talus")

HEAD = """
title: {name}
dimension: {dim}
seed: {seed}
step: {step}
gravity: {gravity}
solver: {{method: accelerated, tolerance: 1.0e-12, max_sweeps: {sweeps}}}
policies: {{unconverged: accept, escape: accept}}
materials:
  m: {{density: 2500, friction: {mu}}}
  glide: {{friction: 0}}
"""


def scene(name, body, dim=3, steps=20, keep=1, mu=0.5, seed=1, step=1e-3, gravity=None, sweeps=60):
    """A scene's text and what to take of its run."""
    if gravity is None:
        gravity = [0, -9.81] if dim == 2 else [0, 0, -9.81]
    return dict(name=name, steps=steps, keep=keep,
                text=HEAD.format(name=name, dim=dim, seed=seed, step=step, gravity=gravity, mu=mu,
                                 sweeps=sweeps) + body + f"until: {{steps: {steps}}}\n")


FLOOR = {2: "  - {name: floor, type: plane, normal: [0, 1]}\n",
         3: "  - {name: floor, type: plane, normal: [0, 0, 1]}\n"}


def boxes(counts, size, name, **more):
    """Boxes stacked face to face: each face four contacts."""
    dim = len(counts)
    body = ("shapes:\n"
            f"  b: {{box: {size}}}\n"
            "walls:\n" + FLOOR[dim] +
            "grains:\n"
            f"  - {{type: lattice, shape: b, low: {[0.0] * dim}, counts: {counts}, "
            f"spacing: {size}}}\n")
    return scene(name, body, dim=dim, **more)


def masonry(brick, bricks, courses, name, extra="", **more):
    dim = len(brick)
    body = ("walls:\n" + FLOOR[dim] +
            "grains:\n"
            f"  - {{type: masonry, brick: {brick}, bricks: {bricks}, courses: {courses}{extra}}}\n")
    return scene(name, body, dim=dim, **more)


def pile(shape, count, width, height, name, radius=0.05, **more):
    """Solids or balls that fell into a bin."""
    dim = len(width) + 1
    shapes = f"shapes:\n  s: {shape}\n" if shape else ""
    what = "shape: s, rotation: random, " if shape else ""
    low, high = [0.0] * dim, [*width, height]
    body = (shapes + "walls:\n"
            f"  - {{name: bin, type: box, low: {low}, high: {[*width, 3 * height]}, open: [top]}}\n"
            "grains:\n"
            f"  - {{type: fill, {what}region: {{low: {low}, high: {high}}}, count: {count},\n"
            f"     radius: {{distribution: uniform, min: {0.8 * radius}, max: {1.2 * radius}}}}}\n")
    return scene(name, body, dim=dim, **more)


def lid(count, width, height, force, name, radius=0.05, shape=None, **more):
    """A packing pressed by a lid, without gravity."""
    dim = len(width) + 1
    axis = [0] * (dim - 1) + [1]
    shapes = f"shapes:\n  s: {shape}\n" if shape else ""
    what = "shape: s, rotation: random, " if shape else ""
    low, high = [0.0] * dim, [*width, height]
    down = [-a for a in axis]
    body = (shapes + "walls:\n"
            f"  - {{name: bin, type: box, low: {low}, high: {[*width, 3 * height]}, open: [top]}}\n"
            f"  - {{name: lid, type: plane, point: {[0.0] * (dim - 1) + [height]}, normal: {down},\n"
            f"     motion: {{type: force, mass: 50, force: {[force * d for d in down]}}}}}\n"
            "grains:\n"
            f"  - {{type: fill, {what}region: {{low: {low}, high: {high}}}, count: {count},\n"
            f"     radius: {{distribution: uniform, min: {0.7 * radius}, max: {1.3 * radius}}}}}\n")
    return scene(name, body, dim=dim, gravity=[0] * dim, **more)


def drum(count, radius, name, grain=0.05, length=0.5, dim=3, shape=None, **more):
    shapes = f"shapes:\n  s: {shape}\n" if shape else ""
    what = "shape: s, rotation: random, " if shape else ""
    if dim == 3:
        walls = (f"  - {{name: drum, type: cylinder, axis: [0, 1, 0], center: [0, {length / 2}, 0], "
                 f"radius: {radius}, motion: {{type: velocity, spin: [0, 1, 0]}}}}\n"
                 "  - {name: front, type: plane, normal: [0, 1, 0], material: glide}\n"
                 f"  - {{name: back, type: plane, point: [0, {length}, 0], normal: [0, -1, 0], "
                 "material: glide}\n")
        region = f"{{low: [{-radius}, 0, {-radius}], high: [{radius}, {length}, {0.3 * radius}]}}"
    else:
        walls = (f"  - {{name: drum, type: cylinder, radius: {radius}, "
                 "motion: {type: velocity, spin: 1}}\n")
        region = f"{{low: [{-radius}, {-radius}], high: [{radius}, {0.3 * radius}]}}"
    body = (shapes + "walls:\n" + walls + "grains:\n"
            f"  - {{type: fill, {what}region: {region}, count: {count},\n"
            f"     radius: {{distribution: uniform, min: {0.8 * grain}, max: {1.2 * grain}}}}}\n")
    return scene(name, body, dim=dim, **more)


def collapse(lattice, counts, name, radius=0.05, **more):
    """A column of balls whose walls are gone."""
    dim = len(counts)
    body = ("walls:\n" + FLOOR[dim] + "grains:\n"
            f"  - {{type: lattice, lattice: {lattice}, low: {[0.0] * dim}, counts: {counts}, "
            f"radius: {radius}, jitter: 0.5, factor: 1.01}}\n")
    return scene(name, body, dim=dim, **more)


ROCK = "{random: {vertices: 14, aspect: [1, 0.85, 0.7], count: 40}}"
STONE = "{random: {vertices: 7, count: 40}}"
CUBE = "{box: [1, 1, 1]}"
PLATE = "{box: [3, 2, 0.5]}"

PROBLEMS = [
    # towers, walls and blocks of boxes at rest: hyperstatic, everything or most sticks
    boxes([1, 1, 100], [0.3, 0.3, 0.1], "tower-100", mu=0.5, steps=4),
    boxes([2, 2, 60], [0.2, 0.2, 0.1], "towers-2x2x60", mu=0.3, steps=16),
    boxes([5, 5, 5], [0.1, 0.1, 0.1], "cubes-5", mu=0.1, steps=4),
    boxes([6, 6, 5], [0.1, 0.1, 0.1], "cubes-6-rough", mu=1.0, steps=4),
    boxes([6, 6, 6], [0.1, 0.1, 0.1], "cubes-6-tilted", mu=0.5, steps=16, gravity=[3, 2, -9]),
    boxes([7, 7, 4], [0.1, 0.1, 0.1], "cubes-7-tipping", mu=0.3, steps=16, gravity=[5, 0, -9]),
    boxes([30, 30], [0.1, 0.05], "boxes-2d", mu=0.4, steps=16),
    boxes([40, 25], [0.1, 0.05], "boxes-2d-tilted", mu=0.6, steps=16, gravity=[4, -9]),
    masonry([0.25, 0.12, 0.1], 10, 14, "wall-3d", mu=0.7, steps=4),
    masonry([0.25, 0.12, 0.1], 16, 20, "wall-3d-tilted", mu=0.5, steps=64, gravity=[3, 0, -9]),
    masonry([0.25, 0.1], 20, 30, "wall-2d", mu=0.6, steps=16),
    masonry([0.25, 0.1], 16, 30, "wall-2d-door", mu=0.6, steps=64, gravity=[2, -9.5],
            extra=", opening: {from: 1.5, to: 2.25, courses: 15, bearing: 0.25}"),
    # stones and boxes that fell
    pile(ROCK, 300, [0.7, 0.7], 1.2, "rocks-300", mu=0.5, steps=300, step=2e-3),
    pile(ROCK, 700, [1.0, 1.0], 1.4, "rocks-700", mu=0.3, steps=300, step=2e-3),
    pile(CUBE, 250, [0.7, 0.7], 1.2, "cubes-fallen", mu=0.4, steps=300, step=2e-3),
    pile(PLATE, 400, [0.8, 0.8], 1.2, "plates-fallen", mu=0.6, steps=300, step=2e-3),
    pile(STONE, 500, [2.2], 3.0, "polygons-fallen", mu=0.5, steps=300, step=2e-3),
    pile(None, 1000, [1.0, 1.0], 1.4, "balls-fallen", mu=0.5, steps=300, step=2e-3),
    pile(None, 1200, [3.0], 4.5, "disks-fallen", mu=0.3, steps=300, step=2e-3),
    # pressed by a lid
    lid(700, [0.9, 0.9], 1.1, 2e4, "lid-balls-700", mu=0.3, steps=300, step=1e-3),
    lid(1800, [1.2, 1.2], 1.6, 1e5, "lid-balls-1800", mu=0.1, steps=280, step=1e-3),
    lid(1500, [3.4], 4.6, 1e5, "lid-disks-1500", mu=0.3, steps=300, step=1e-3),
    lid(3000, [5.0], 6.4, 1e5, "lid-disks-3000", mu=0.6, steps=300, step=1e-3),
    lid(300, [0.8, 0.8], 1.1, 2e4, "lid-rocks", mu=0.5, shape=ROCK, steps=300, step=1e-3),
    lid(400, [2.0], 2.6, 1e5, "lid-polygons", mu=0.8, shape=STONE, steps=300, step=1e-3),
    # in motion
    drum(900, 0.8, "drum-balls", mu=0.5, steps=300, step=2e-3),
    drum(900, 2.0, "drum-disks", dim=2, mu=0.5, steps=300, step=2e-3),
    drum(250, 0.7, "drum-rocks", mu=0.4, shape=ROCK, steps=300, step=2e-3),
    drum(400, 1.6, "drum-polygons", dim=2, mu=0.4, shape=STONE, steps=300, step=2e-3),
    collapse("hcp", [12, 12, 14], "collapse-balls", mu=0.5, steps=70, step=2e-3),
    collapse("triangular", [30, 60], "collapse-disks", mu=0.3, steps=260, step=2e-3),
    collapse("hcp", [8, 8, 24], "collapse-smooth", mu=0.1, steps=70, step=2e-3),
]


def make(problem, folder):
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "scene.yaml"
        text.write_text(problem["text"])
        done = subprocess.run([TALUS, "run", text, "-o", Path(scratch) / "run", "--quiet",
                               "--dump-problems=20"], capture_output=True, text=True)
        files = sorted((Path(scratch) / "run" / "problems").glob("*.hdf5"))
        if done.returncode not in (0, 4) or not files:
            sys.exit(f"{problem['name']}: {done.stderr or 'no problem was written'}")
        for number, file in enumerate(files[-problem["keep"]:]):
            end = "" if problem["keep"] == 1 else f"-{number + 1}"
            shutil.copy(file, folder / f"{problem['name']}{end}.hdf5")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for problem in PROBLEMS:
        if len(sys.argv) > 2 and problem["name"] not in sys.argv[2:]:
            continue
        make(problem, folder)


if __name__ == "__main__":
    main()
