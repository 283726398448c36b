#!/usr/bin/python3
"""Squares in the plane: Talus's soft method against LAMMPS's body/rounded/polygon, time a grain and
step.

    polygons.py TALUS [--work DIR] [--repeats N] [--side N] [--steps N]

A square lattice, periodic both ways, whose squares overlap by 10^-4 of their side and move a little:
each has four neighbours at sides and four at corners. The laws differ: Talus has areas of overlap
with springs of friction, LAMMPS rounded corners and sides with a bound of friction and no history.
So this compares the work of a step, not results. CPU time of one core, best of all.
"""
import argparse
import re
import subprocess
from pathlib import Path

import numpy

import compare

SPACING = 0.9999
ROUND = 0.05
LAMMPS = """\
units lj
dimension 2
boundary p p p
newton on
atom_style body rounded/polygon 4 4
read_data {data}
comm_modify vel yes
pair_style body/rounded/polygon 10.0 5.0 0.5 1.0 0.1
pair_coeff * * 100000.0 0.0
neighbor 0.1 bin
timestep 1.44e-4
fix 1 all nve/body
fix 2 all enforce2d
run 20
run {steps}
"""
TALUS = """\
title: squares
units: reduced
dimension: 2
method: soft
soft: {{integrator: verlet}}
step: 1.44e-4
gravity: [0, 0]
periodic: {{x: [0, {length:.17g}], y: [0, {length:.17g}]}}
materials:
  grain: {{density: 1, friction: 0.5, restitution: 0.5, stiffness: 1.0e5}}
shapes:
  square: {{points: [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]}}
grains:
  - type: list
    allow_overlap: true
    items:
{items}until: {{steps: 1000000}}
output: {{series: 1.0e6, checkpoint: 1.0e6, contacts: false}}
"""


def write(work, side, steps):
    place = (numpy.indices((side, side)).reshape(2, -1).T + 0.5) * SPACING
    speed = numpy.random.default_rng(1).uniform(-1e-3, 1e-3, place.shape)
    items = "".join(f"      - {{position: [{x[0]:.17g}, {x[1]:.17g}], shape: square, "
                    f"velocity: [{v[0]:.17g}, {v[1]:.17g}]}}\n" for x, v in zip(place, speed))
    scene, data, script = work / "squares.yaml", work / "squares.data", work / "squares.lmp"
    scene.write_text(TALUS.format(length=side * SPACING, items=items))
    script.write_text(LAMMPS.format(data=data, steps=steps))
    half = 0.5 - ROUND
    body = (f"1 19\n4\n0.0833 0.0833 0.1667 0 0 0\n{-half} {-half} 0\n{half} {-half} 0\n"
            f"{half} {half} 0\n{-half} {half} 0\n{2 * ROUND}\n")
    with open(data, "w") as file:
        file.write(f"squares\n\n{len(place)} atoms\n{len(place)} bodies\n1 atom types\n"
                   f"0 {side * SPACING:.17g} xlo xhi\n0 {side * SPACING:.17g} ylo yhi\n"
                   "-0.5 0.5 zlo zhi\n\nAtoms\n\n")
        for number, x in enumerate(place, 1):
            file.write(f"{number} 1 1 1.0 {x[0]:.17g} {x[1]:.17g} 0\n")
        file.write("\nVelocities\n\n")
        for number, v in enumerate(speed, 1):
            file.write(f"{number} {v[0]:.17g} {v[1]:.17g} 0 0 0 0\n")
        file.write("\nBodies\n\n" + "".join(f"{n} {body}" for n in range(1, len(place) + 1)))
    return scene, script


def cpu_of(command):
    before = compare.os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return compare.os.times().children_user - before.children_user


def talus_seconds(talus, work, scene, steps):
    """A long run less a short one."""
    runs = [cpu_of([talus, "run", scene, "-o", work / "squares", "--force", "--quiet",
                    "--threads", "1", "--steps", str(n)]) for n in (20, 20 + steps)]
    return runs[1] - runs[0]


def lammps_seconds(script):
    text = compare.call(["lmp", "-log", "none", "-in", script])
    seconds = float(re.findall(r"Loop time of (\S+)", text)[-1])
    return seconds * float(re.findall(r"([\d.]+)% CPU use", text)[-1]) / 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("talus", type=Path, help="the program")
    parser.add_argument("--work", type=Path, default=Path("build/bench-soft"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--side", type=int, default=50, help="squares in a row [50]")
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    scene, script = write(work, arguments.side, arguments.steps)
    unit = 1e9 / arguments.side**2 / arguments.steps
    found = [(talus_seconds(arguments.talus.resolve(), work, scene, arguments.steps),
              lammps_seconds(script)) for _ in range(arguments.repeats)]
    ours, theirs = (unit * min(column) for column in zip(*found))
    print(f"{arguments.side**2} squares, ns of CPU time a grain and step: Talus {ours:.0f}, LAMMPS "
          f"{theirs:.0f}, {theirs / ours:.2f} times")


if __name__ == "__main__":
    main()
