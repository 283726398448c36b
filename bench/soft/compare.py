#!/usr/bin/python3
"""Talus's soft method against LAMMPS (gran/hooke/history) and YADE: time a particle and step.

    compare.py TALUS [--work DIR] [--repeats N] [--sizes 10000,100000] [--cores 1,2] [--skins D,D]
               [--only CODE,CODE] [--steps N]

All read the same packing: equal spheres that LAMMPS settled on a floor, periodic in x and y, 20 by
20 diameters wide and about 21 deep; 10^5 are ten copies of it side by side. It is made once and
kept in DIR. Equal, because LAMMPS has one damping rate for all pairs and Talus one restitution: the
two are the same law only where all pairs have one mass.

Units: a sphere has diameter and mass one, and so has gravity. The spring is 10^5, so the mean
overlap is about 10^-4; tangentially 2/7 of it; restitution 1/2; tangential damping half the normal
one; friction 1/2. A step is a fiftieth of the contact time of two spheres.

Each code is timed by itself, over the steps after a few that warm it up: LAMMPS by its "Loop time",
YADE by clocks around O.run(), Talus by the difference of a long and a short run. Repeats go round
all codes, so that a busy minute hits all of them. CPU time is that of all cores together; an MPI
rank that waits works. Beforehand all follow the packing under tilted gravity, contacts sticking and
sliding, and positions are compared: that tells whether it is the same law.
"""
import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent

STIFFNESS = 1e5
STIFFNESS_RATIO = 2 / 7
DAMPING_RATIO = 1 / 2
RESTITUTION = 1 / 2
FRICTION = 1 / 2
DENSITY = 6 / math.pi  # mass one
STEPS_PER_CONTACT = 50
TILE = 10_000
WIDTH = 20.0  # of a tile
TILT = math.radians(30)
FOLLOW_STEPS = 1000
LIMIT = 600  # seconds a run
COLUMNS = "x,y,z,radius,vx,vy,vz,wx,wy,wz"


def damping_rate(mass):
    """LAMMPS's gamma_n: delta'' + gamma delta' + (k/m) delta = 0 gives back RESTITUTION."""
    loss = -math.log(RESTITUTION)
    return 2 * loss * math.sqrt(STIFFNESS / mass) / math.hypot(math.pi, loss)


PAIR_RATE = damping_rate(0.5)
FLOOR_RATE = damping_rate(1)
CONTACT_TIME = math.pi / math.sqrt(STIFFNESS / 0.5 - PAIR_RATE**2 / 4)
STEP = CONTACT_TIME / STEPS_PER_CONTACT


@dataclass
class Packing:
    table: numpy.ndarray  # a row of COLUMNS for each sphere
    cell: tuple  # periodic lengths
    csv: Path
    data: Path  # for LAMMPS

    @property
    def count(self):
        return len(self.table)


@dataclass
class Motion:
    """What a code is to do with a packing."""
    step: float = STEP
    warm: int = 0
    steps: int = FOLLOW_STEPS
    tilt: float = 0.0
    skin: float = 0.1
    cores: int = 1
    stiffness: float = STIFFNESS
    friction: float = FRICTION
    newton: str = "on"
    out: Path = None  # where positions go at the end

    @property
    def gravity(self):
        return [math.sin(self.tilt), 0.0, -math.cos(self.tilt)]


class Failure(Exception):
    """A code did not do it; the text says why."""


def call(command, **more):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL, timeout=LIMIT, **more)
    except subprocess.TimeoutExpired:
        raise Failure(f"took more than {LIMIT} s") from None
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Failure(words[-1] if words else f"status {done.returncode}")
    return done.stdout


# The packing

def write_data(path, table, cell):
    """A LAMMPS data file."""
    with open(path, "w") as file:
        file.write(f"spheres\n\n{len(table)} atoms\n1 atom types\n0 {cell[0]:.17g} xlo xhi\n"
                   f"0 {cell[1]:.17g} ylo yhi\n0 {table[:, 2].max() + 1:.17g} zlo zhi\n\n"
                   "Atoms # sphere\n\n")
        for number, row in enumerate(table, 1):
            place = " ".join(f"{x:.17g}" for x in row[:3])
            file.write(f"{number} 1 {2 * row[3]:.17g} {DENSITY:.17g} {place}\n")
        file.write("\nVelocities\n\n")
        for number, row in enumerate(table, 1):
            file.write(f"{number} " + " ".join(f"{v:.17g}" for v in row[4:10]) + "\n")


def lammps_command(script, variables, cores=1):
    command = ["mpirun", "--allow-run-as-root", "-np", cores] if cores > 1 else []
    command += ["lmp", "-log", "none", "-in", HERE / script]
    for name, value in variables.items():
        command += ["-var", name, value if isinstance(value, str) else f"{value:.17g}"]
    return command


def settle(work):
    """Let a jittered lattice fall, by LAMMPS; rows of COLUMNS."""
    side = 15
    layers = -(-TILE // side**2)
    lattice = numpy.indices((layers, side, side)).reshape(3, -1).T[:TILE, ::-1]
    place = (lattice + 0.5) * (WIDTH / side)
    place += numpy.random.default_rng(1).uniform(-0.16, 0.16, place.shape)
    table = numpy.zeros((TILE, 10))
    table[:, :3], table[:, 3] = place, 0.5
    write_data(work / "fall.data", table, (WIDTH, WIDTH))
    call(lammps_command("settle.lmp", {
        "start": str(work / "fall.data"), "out": str(work / "settled.txt"), "kn": STIFFNESS,
        "dt": STEP, "gn": PAIR_RATE, "gw": FLOOR_RATE}))
    settled = numpy.loadtxt(work / "settled.txt", skiprows=9)
    table[:, :3], table[:, 4:] = settled[:, 1:4], settled[:, 4:]
    table[:, :2] %= WIDTH
    return table


def packing(work, count):
    """The packing of so many spheres, made or found in the folder."""
    tile = work / f"packing-{TILE}.csv"
    if not tile.exists():
        print("making the packing (two minutes) ...", file=sys.stderr)
        numpy.savetxt(tile, settle(work), fmt="%.17g", delimiter=",", header=COLUMNS, comments="")
    table = numpy.loadtxt(tile, delimiter=",", skiprows=1)
    copies = count // TILE
    wide = next(a for a in range(math.isqrt(copies), 0, -1) if copies % a == 0)
    shifts = [(WIDTH * i, WIDTH * j) for i in range(copies // wide) for j in range(wide)]
    table = numpy.concatenate([table + [*shift, *[0] * 8] for shift in shifts])
    result = Packing(table, (WIDTH * (copies // wide), WIDTH * wide),
                     work / f"packing-{count}.csv", work / f"packing-{count}.data")
    if not result.csv.exists():
        numpy.savetxt(result.csv, table, fmt="%.17g", delimiter=",", header=COLUMNS, comments="")
    write_data(result.data, table, result.cell)
    return result


# Each of the codes: (seconds, CPU seconds) of the steps, and positions where they are asked for

def run_lammps(_work, pack, motion):
    text = call(lammps_command("lammps.lmp", {
        "start": str(pack.data), "write": 1 if motion.out else 0, "out": str(motion.out),
        "kn": motion.stiffness, "kt": STIFFNESS_RATIO * motion.stiffness, "gn": PAIR_RATE,
        "gt": DAMPING_RATIO * PAIR_RATE, "gw": FLOOR_RATE, "gs": DAMPING_RATIO * FLOOR_RATE,
        "mu": motion.friction,
        "skin": motion.skin, "newton": motion.newton, "dt": motion.step, "warm": motion.warm,
        "steps": motion.steps, "gx": motion.gravity[0], "gz": motion.gravity[2]}, motion.cores))
    # The last loop, of no steps, only reports.
    seconds = float(re.findall(r"Loop time of (\S+)", text)[-2])
    share = float(re.findall(r"([\d.]+)% CPU use", text)[-2]) / 100
    return seconds, seconds * share * motion.cores


def read_lammps(path):
    return numpy.loadtxt(path, skiprows=9)[:, 1:4]


def lammps_state(pack):
    """Contacts a sphere, mean overlap and kinetic energy a sphere of the packing as it is read."""
    text = call(lammps_command("lammps.lmp", {
        "start": str(pack.data), "write": 0, "out": "", "kn": STIFFNESS, "kt": 0, "gn": 0,
        "gt": 0, "gw": 0, "gs": 0, "mu": 0, "skin": 0.1, "newton": "on", "dt": STEP, "warm": 0,
        "steps": 0, "gx": 0, "gz": -1}))
    energy, touching, near = re.findall(r"c_near *\n *\d+ +(\S+) +(\S+) +(\S+)", text)[-1]
    return float(touching), 1 - float(near), float(energy)


def run_yade(work, pack, motion):
    settings = {
        "packing": str(pack.csv), "cell": [*pack.cell, 3 * pack.table[:, 2].max()],
        "kn": motion.stiffness, "kt": STIFFNESS_RATIO * motion.stiffness, "cn": 0.5 * PAIR_RATE,
        "floor_cn": FLOOR_RATE, "damping_ratio": DAMPING_RATIO, "mu": motion.friction,
        "density": DENSITY, "dt": motion.step, "skin": motion.skin, "gravity": motion.gravity,
        "warm": motion.warm, "steps": motion.steps, "out": str(motion.out) if motion.out else None}
    file = work / "yade.json"
    file.write_text(json.dumps(settings))
    text = call(["yade", "-n", "-x", f"-j{motion.cores}", HERE / "yade_packing.py", file], cwd=work)
    found = re.search(r"RESULT (.*)", text)
    if not found:
        raise Failure("YADE ended without a result")
    result = json.loads(found[1])
    return result["wall"], result["cpu"]


SCENE = """\
title: a settled packing, soft
units: reduced
dimension: 3
method: soft
soft: {{integrator: verlet, elongation: cundall, law: linear, bound: total}}
step: {step:.17e}
gravity: [{gravity[0]:.17e}, 0, {gravity[2]:.17e}]
periodic: {{x: [0, {cell[0]}], y: [0, {cell[1]}]}}
materials:
  grain: {{density: {density:.17e}, friction: {friction}, restitution: {restitution},
          stiffness: {stiffness:.17e}, stiffness_ratio: {stiffness_ratio:.17e},
          damping_ratio: {damping_ratio}}}
walls:
  - {{name: floor, type: plane, point: [0, 0, 0], normal: [0, 0, 1]}}
grains:
  - {{type: csv, file: {csv}, allow_overlap: true}}
until: {{steps: {steps}}}
output: {{series: 1.0e6, checkpoint: 1.0e6, contacts: false}}
"""


def talus_once(talus, work, pack, motion, steps):
    scene, folder = work / "soft.yaml", work / "soft-run"
    scene.write_text(SCENE.format(
        step=motion.step, gravity=motion.gravity, cell=pack.cell, density=DENSITY,
        friction=motion.friction, restitution=RESTITUTION, stiffness=motion.stiffness,
        stiffness_ratio=STIFFNESS_RATIO, damping_ratio=DAMPING_RATIO, csv=pack.csv, steps=steps))
    shutil.rmtree(folder, ignore_errors=True)
    before = os.times()
    try:
        call([talus, "run", scene, "-o", folder, "--threads", motion.cores, "--quiet"])
    except Failure as failure:
        raise Failure(f"does not run this scene ({failure})") from None
    after = os.times()
    seconds = json.loads((folder / "summary.json").read_text())["seconds"]
    cpu = after.children_user - before.children_user
    return seconds["total"] - seconds["record"], cpu


def run_talus(talus, work, pack, motion):
    """Reading, writing and the first steps are in both runs and drop out."""
    first = talus_once(talus, work, pack, motion, motion.warm) if motion.warm else (0, 0)
    last = talus_once(talus, work, pack, motion, motion.warm + motion.steps)
    if motion.out:
        import h5py
        with h5py.File(work / "soft-run" / "frames.h5") as file:
            grains = file["frames"][max(file["frames"])]["grains"]
            numpy.savetxt(motion.out, grains["position"][:], fmt="%.17g")
    return last[0] - first[0], last[1] - first[1]


# Is it the same law?

def displacement(pack, place):
    moved = place - pack.table[:, :3]
    for axis, length in enumerate(pack.cell):
        moved[:, axis] -= length * numpy.round(moved[:, axis] / length)
    return moved


def rms(vectors):
    return math.sqrt((vectors**2).sum(axis=1).mean())


def follow(codes, work, pack, overlap):
    """Positions after FOLLOW_STEPS under tilted gravity, of all codes and of LAMMPS changed."""
    trials = [("lammps", "LAMMPS", {}),
              ("lammps", "LAMMPS, half the step", {"step": STEP / 2, "steps": 2 * FOLLOW_STEPS}),
              ("lammps", "LAMMPS, spring 1 % stiffer", {"stiffness": 1.01 * STIFFNESS}),
              ("lammps", "LAMMPS, friction 1 % larger", {"friction": 1.01 * FRICTION}),
              ("talus", "Talus", {}), ("yade", "YADE", {})]
    if "lammps" not in codes:
        return
    reference = None
    print(f"\n{pack.count} spheres, gravity tilted by {math.degrees(TILT):.0f} degrees, "
          f"{FOLLOW_STEPS} steps: distance from LAMMPS's positions")
    print(f"{'':28s} {'rms, d':>10s} {'of the way moved':>17s} {'of the mean overlap':>20s}")
    for code, name, change in trials:
        if code not in codes:
            continue
        motion = Motion(tilt=TILT, out=work / f"end-{code}.txt", **change)
        try:
            codes[code](work, pack, motion)
        except Failure as failure:
            print(f"{name:28s} {failure}")
            continue
        read = read_lammps if code == "lammps" else numpy.loadtxt
        moved = displacement(pack, read(motion.out))
        if reference is None:
            reference = moved
            print(f"{'LAMMPS itself moved':28s} {rms(moved):10.3e} {'':17s} "
                  f"{rms(moved) / overlap:20.3g}")
            continue
        off = rms(moved - reference)
        print(f"{name:28s} {off:10.3e} {off / rms(reference):17.2e} {off / overlap:20.2e}",
              flush=True)


# How fast is it?

NAMES = {"talus": "Talus", "lammps": "LAMMPS", "yade": "YADE"}


def rows(codes, cores, skins):
    """(code, cores, skin); Talus chooses its skin itself, YADE needs the largest."""
    choices = {"talus": [None], "lammps": skins, "yade": [max(skins)]}
    for number in cores:
        for code in codes:
            for skin in choices[code]:
                yield code, number, skin


def measure(codes, work, pack, arguments):
    """Row -> list of (wall, CPU) nanoseconds a particle and step; or why there is none."""
    steps = arguments.steps or max(10**7 // pack.count, 50)
    found = {row: [] for row in rows(codes, arguments.cores, arguments.skins)}
    for _ in range(arguments.repeats):
        for row, times in found.items():
            code, cores, skin = row
            if isinstance(times, str):
                continue
            motion = Motion(warm=max(steps // 10, 1), steps=steps, cores=cores, skin=skin or 0.1,
                            newton=arguments.newton)
            try:
                wall, cpu = codes[code](work, pack, motion)
                times.append((1e9 * wall / steps / pack.count, 1e9 * cpu / steps / pack.count))
            except Failure as failure:
                found[row] = f"{code}: {failure}"
    return found


def show(pack, found):
    print(f"\n{pack.count} spheres: ns a particle and step")
    print(f"{'code':8s} {'cores':>5s} {'skin':>6s} {'wall best':>10s} {'median':>8s} "
          f"{'CPU best':>9s} {'median':>8s} {'M/s':>7s} {'of Talus':>9s} {'by CPU':>7s}")
    own = {cores: times for (code, cores, _), times in found.items()
           if code == "talus" and not isinstance(times, str)}
    for (code, cores, skin), times in found.items():
        head = f"{NAMES[code]:8s} {cores:5d} {skin if skin else 'own':>6}"
        if isinstance(times, str):
            print(head, times)
            continue
        wall, cpu = zip(*times)
        ratios = ""
        if cores in own:
            ours = [min(column) for column in zip(*own[cores])]
            ratios = f" {min(wall) / ours[0]:9.2f} {min(cpu) / ours[1]:7.2f}"
        print(f"{head} {min(wall):10.1f} {statistics.median(wall):8.1f} {min(cpu):9.1f} "
              f"{statistics.median(cpu):8.1f} {1e3 / min(wall):7.2f}{ratios}", flush=True)


def numbers(kind):
    return lambda text: [kind(float(word)) for word in text.split(",")]


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("talus", help="the program")
    parser.add_argument("--work", type=Path, default=Path("build/bench-soft"),
                        help="folder for the packing and the runs [build/bench-soft]")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", type=numbers(int), default=[TILE, 10 * TILE],
                        help=f"multiples of {TILE} [{TILE},{10 * TILE}]")
    parser.add_argument("--cores", type=numbers(int), default=[1, 2], help="[1,2]")
    parser.add_argument("--skins", type=numbers(float), default=[0.1, 0.02, 0.005],
                        help="of LAMMPS, in diameters; YADE has the largest [0.1,0.02,0.005]")
    parser.add_argument("--newton", default="on", help="LAMMPS's setting, on or off [on]")
    parser.add_argument("--steps", type=int, default=0, help="timed steps [10^7 / size]")
    parser.add_argument("--only", default="talus,lammps,yade", help="codes [talus,lammps,yade]")
    return parser.parse_args()


def find_codes(arguments):
    talus = Path(arguments.talus).resolve()
    codes = {"talus": lambda *rest: run_talus(talus, *rest), "lammps": run_lammps,
             "yade": run_yade}
    missing = [name for name, program in (("lammps", "lmp"), ("openmpi-bin", "mpirun"),
                                          ("yade", "yade")) if not shutil.which(program)]
    if missing:
        print("Not installed, so left out: apt-get install --no-install-recommends "
              + " ".join(missing))
    if "lammps" in missing or "openmpi-bin" in missing:
        print("Without LAMMPS there is no packing: no comparison")
        sys.exit(0)
    wanted = arguments.only.split(",")
    return {code: run for code, run in codes.items() if code in wanted and code not in missing}


def main():
    arguments = options()
    codes = find_codes(arguments)
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(f"spring {STIFFNESS:g}, step {STEP:.4g} = contact time / {STEPS_PER_CONTACT}, "
          f"restitution {RESTITUTION:g}: LAMMPS's gamma_n {PAIR_RATE:.5g}, "
          f"with the floor {FLOOR_RATE:.5g}")
    for size in arguments.sizes:
        pack = packing(work, size)
        touching, overlap, energy = lammps_state(pack)
        print(f"\n{pack.count} spheres, cell {pack.cell[0]:g} x {pack.cell[1]:g}: {touching:.2f} "
              f"contacts a sphere, mean overlap {overlap:.2g} d, kinetic energy {energy:.1g} a "
              "sphere")
        if size == TILE:
            follow(codes, work, pack, overlap)
        show(pack, measure(codes, work, pack, arguments))


if __name__ == "__main__":
    main()
