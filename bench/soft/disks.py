#!/usr/bin/python3
"""Disks in the plane: Talus's soft method against LAMMPS, time a particle and step.

    disks.py TALUS [--work DIR] [--repeats N] [--sizes 10000,100000] [--steps N]

A hexagonal lattice on a floor, 100 disks high and periodic along x, whose disks move a little. Law,
units and clocks are those of compare.py; a disk has mass one in both codes.
"""
import argparse
import json
import math
import os
import re
import shutil
from pathlib import Path

import numpy

import compare

SPACING = 0.9999
HEIGHT = 100
SCENE = """\
title: disks, soft
units: reduced
dimension: 2
method: soft
soft: {{integrator: verlet, elongation: cundall, law: linear, bound: total}}
step: {step:.17e}
gravity: [0, -1]
periodic: {{x: [0, {length:.17g}]}}
materials:
  grain: {{density: {density:.17e}, friction: {friction}, restitution: {restitution},
          stiffness: {stiffness:.17e}, stiffness_ratio: {ratio:.17e}, damping_ratio: {damping}}}
walls:
  - {{name: floor, type: plane, point: [0, 0], normal: [0, 1]}}
grains:
  - {{type: csv, file: {csv}, allow_overlap: true}}
until: {{steps: {steps}}}
output: {{series: 1.0e6, checkpoint: 1.0e6, contacts: false}}
"""


def lattice(work, count):
    """Files for Talus and LAMMPS, and the length of the cell."""
    across = count // HEIGHT
    row, column = numpy.divmod(numpy.arange(count), across)
    x = (column + 0.5 * (row % 2) + 0.25) * SPACING
    y = 0.5 * SPACING + row * SPACING * math.sqrt(0.75)
    v = numpy.random.default_rng(1).uniform(-1e-4, 1e-4, (2, count))
    csv, data = work / f"disks-{count}.csv", work / f"disks-{count}.data"
    numpy.savetxt(csv, numpy.transpose([x, y, 0 * x + 0.5, *v]), fmt="%.17g", delimiter=",",
                  header="x,y,radius,vx,vy", comments="")
    with open(data, "w") as file:
        file.write(f"disks\n\n{count} atoms\n1 atom types\n0 {across * SPACING:.17g} xlo xhi\n"
                   f"0 {HEIGHT + 5} ylo yhi\n-0.5 0.5 zlo zhi\n\nAtoms # sphere\n\n")
        for number, place in enumerate(zip(x, y), 1):
            file.write(f"{number} 1 1 {compare.DENSITY:.17g} {place[0]:.17g} {place[1]:.17g} 0\n")
        file.write("\nVelocities\n\n")
        for number, (u, w) in enumerate(v.T, 1):
            file.write(f"{number} {u:.17g} {w:.17g} 0 0 0 0\n")
    return csv, data, across * SPACING


def run_lammps(data, skin, warm, steps):
    """CPU seconds of the steps."""
    text = compare.call(compare.lammps_command("disks.lmp", {
        "start": str(data), "kn": compare.STIFFNESS, "mu": compare.FRICTION, "skin": skin,
        "kt": compare.STIFFNESS_RATIO * compare.STIFFNESS, "gn": compare.PAIR_RATE,
        "gt": compare.DAMPING_RATIO * compare.PAIR_RATE, "gw": compare.FLOOR_RATE,
        "gs": compare.DAMPING_RATIO * compare.FLOOR_RATE, "dt": compare.STEP, "warm": warm,
        "steps": steps}))
    share = float(re.findall(r"([\d.]+)% CPU use", text)[-1]) / 100
    return float(re.findall(r"Loop time of (\S+)", text)[-1]) * share


def run_talus(talus, work, csv, length, steps):
    scene, folder = work / "disks.yaml", work / "disks-run"
    scene.write_text(SCENE.format(
        step=compare.STEP, length=length, density=4 / math.pi, friction=compare.FRICTION,
        restitution=compare.RESTITUTION, stiffness=compare.STIFFNESS,
        ratio=compare.STIFFNESS_RATIO, damping=compare.DAMPING_RATIO, csv=csv, steps=steps))
    shutil.rmtree(folder, ignore_errors=True)
    before = os.times()
    compare.call([talus, "run", scene, "-o", folder, "--threads", 1, "--quiet"])
    json.loads((folder / "summary.json").read_text())  # the run has ended well
    return os.times().children_user - before.children_user


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("talus", help="the program")
    parser.add_argument("--work", type=Path, default=Path("build/bench-soft"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=compare.numbers(int), default=[10_000, 100_000])
    parser.add_argument("--steps", type=int, default=0, help="timed steps [10^7 / size]")
    arguments = parser.parse_args()
    work, talus = arguments.work.resolve(), Path(arguments.talus).resolve()
    work.mkdir(parents=True, exist_ok=True)
    for count in arguments.sizes:
        steps = arguments.steps or max(10**7 // count, 50)
        warm = steps // 5
        csv, data, length = lattice(work, count)
        best = {}
        for _ in range(arguments.repeats):
            times = {f"LAMMPS, skin {skin}": run_lammps(data, skin, warm, steps)
                     for skin in (0.02, 0.005)}
            times["Talus"] = (run_talus(talus, work, csv, length, warm + steps)
                              - run_talus(talus, work, csv, length, warm))
            for name, seconds in times.items():
                best[name] = min(best.get(name, math.inf), 1e9 * seconds / steps / count)
        print(f"{count} disks, CPU time a particle and step, one core:")
        for name, time in best.items():
            print(f"  {name:20s} {time:7.1f} ns  {time / best['Talus']:5.2f} of Talus")


if __name__ == "__main__":
    main()
