#!/usr/bin/python3
"""How exactly must the steps of a flow be solved? Macroscopic results, forces, fabric and overlaps
against the tolerance of a step.

    flow_accuracy.py [--seeds N] [--only FLOW,FLOW] [--results FILE]

Five flows of a few hundred grains are followed with tolerances from 1 to 100 %, each from several
random fills: the collapse of a column (2D and 3D), a silo that empties, a drum, plane shear. Flows
are chaotic: two runs from one fill soon differ grain by grain, so it is means over fills that are
compared. Printed, as Markdown: mean and standard error for each tolerance; a value whose difference
from that at 1 %, fill by fill, has a t above the 1 % point is marked with *. Of a hundred numbers
one is marked by chance.

Results of single runs are kept in FILE, a line each, and not computed again.

needs the Python package of the build tree: PYTHONPATH=build/release/python
"""
import argparse
import json
import logging
import math
import time
from pathlib import Path

import numpy

import talus

TOLERANCES = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
DIAMETER = 0.01
GRAVITY = 9.81
SIZES = {"distribution": "uniform", "min": 0.9 * DIAMETER, "max": 1.1 * DIAMETER}
EVERY = 10  # steps between samples
# Two-sided 1 % points of Student's t, by degrees of freedom.
STUDENT = {2: 9.92, 3: 5.84, 4: 4.60, 5: 4.03, 6: 3.71, 7: 3.50, 8: 3.36, 9: 3.25, 10: 3.17, 11: 3.11}


def scene(dimension, tolerance, seed, step, **keys):
    return talus.Scene({
        "dimension": dimension, "step": step, "seed": seed, "until": {"time": 1},
        "gravity": [0] * (dimension - 1) + [-GRAVITY],
        "solver": {"tolerance": tolerance, "max_sweeps": 20000},
        "materials": {"bead": {"density": 2500, "friction": 0.5}, "liner": {"friction": 0.9}},
        "pairs": [{"between": ["bead", "liner"], "friction": 0.9}], **keys})


def planes(**walls):
    return [{"name": name, "type": "plane", "point": point, "normal": normal}
            for name, (point, normal) in walls.items()]


# ---- what is read off a state ------------------------------------------------------------------

class Samples:
    """Contacts of a flow, sampled now and then; all numbers are means over the samples."""

    def __init__(self):
        self.rows = []
        self.largest = 0.0

    def take(self, world):
        contacts, grains, last = world.contacts, world.grains, world.last
        normal = numpy.array(contacts.normal)
        push = numpy.einsum("ij,ij->i", contacts.force, normal)
        inner = (numpy.array(contacts.a) >= 0) & (push > 1e-9 * push.max(initial=1e-300))
        force, normal = push[inner], normal[inner]
        mean = force.mean()
        f = force / mean
        tail = f[f > 2]
        fabric = numpy.linalg.eigvalsh(normal.T @ normal / len(normal))
        ids = numpy.array(grains.id)
        a = numpy.searchsorted(ids, numpy.array(contacts.a)[inner])
        b = numpy.searchsorted(ids, numpy.array(contacts.b)[inner])
        radius = numpy.array(grains.radius)
        branch = normal * (radius[a] + radius[b])[:, None]
        stress = branch.T @ numpy.array(contacts.force)[inner]  # times the volume
        deviator = numpy.linalg.eigvalsh((stress + stress.T) / 2)
        dim = normal.shape[1]
        weight = numpy.array(grains.mass).mean() * GRAVITY
        self.rows.append({
            "mean normal force / weight": mean / weight,
            "stress ratio": (deviator[-1] - deviator[0]) / (deviator[-1] + deviator[0]),
            "second moment of P(f)": (f**2).mean(),
            "share of f > 2": len(tail) / len(f),
            "tail of P(f), beta": 1 / (tail.mean() - 2) if len(tail) else math.nan,
            "coordination number": 2 * len(f) / len(ids),
            "anisotropy of fabric": dim * (fabric[-1] - fabric[0]),
            "sliding contacts": sliding_share(contacts, inner, push),
            "mean overlap / d, 1e-6": 1e6 * last.overlap_mean,
            "sweeps per step": last.sweeps,
            "estimated error, %": 100 * last.rigidity.velocity_error,
        })
        self.largest = max(self.largest, last.overlap_max)

    def means(self):
        out = {name: float(numpy.mean([row[name] for row in self.rows])) for name in self.rows[0]}
        out["largest overlap / d, 1e-6"] = 1e6 * self.largest
        return out


def sliding_share(contacts, inner, push):
    force, normal = numpy.array(contacts.force)[inner], numpy.array(contacts.normal)[inner]
    side = numpy.linalg.norm(force - push[inner, None] * normal, axis=1)
    return float(numpy.mean(side > 0.999 * 0.5 * push[inner]))


def follow(world, samples, step, time, since=0.0, also=None):
    """Step on for `time`, sampling from `since` on."""
    end = world.time + time

    def look(w):
        if w.time > since - 1e-9:
            samples.take(w)
            if also:
                also(w)
    world.run(steps=round((end - world.time) / step), h=step, every=EVERY, callback=look)


# ---- the flows ---------------------------------------------------------------------------------

def collapse(tolerance, seed, dimension=2):
    """A column twice as high as wide, without its gate. Contacts while it falls."""
    step, width = 1e-3, 0.17 if dimension == 2 else 0.09
    high = [width, 2 * width] if dimension == 2 else [width, 0.08, 2 * width]
    up = dimension - 1
    keys = {} if dimension == 2 else {"periodic": {"y": [0, 0.08]}}
    axis = numpy.eye(dimension)
    world = scene(
        dimension, tolerance, seed, step,
        walls=planes(floor=([0] * dimension, list(axis[up])), left=([0] * dimension, list(axis[0]))),
        grains=[{"type": "fill", "region": {"low": [0] * dimension, "high": high},
                 "solid_fraction": 0.68 if dimension == 2 else 0.5, "diameter": SIZES}],
        **keys).world()
    samples = Samples()
    follow(world, samples, step, 0.3, since=0.1)
    out = samples.means()
    world.run(steps=400, h=step)
    x = numpy.array(world.grains.position)
    # A few grains roll away alone: the front is where 98 % of them are.
    out["run-out (98 %), d"] = float(numpy.quantile(x[:, 0], 0.98)) / DIAMETER
    out["height (98 %), d"] = float(numpy.quantile(x[:, up], 0.98)) / DIAMETER
    out["centre of mass, height, d"] = float(x[:, up].mean()) / DIAMETER
    return out


def collapse_3d(tolerance, seed):
    """The same in 3D, periodic across."""
    return collapse(tolerance, seed, 3)


def hopper(tolerance, seed):
    """A silo of 20 diameters with a slot of 7; grains that left are taken out."""
    step = 1e-3
    floors = [{"name": name, "type": "segment", "from": [side * 0.1, 0], "to": [side * 0.035, 0]}
              for name, side in (("l", -1), ("r", 1))]
    world = scene(
        2, tolerance, seed, step, domain={"low": [-0.2, -0.05], "high": [0.2, 1]},
        policies={"escape": "remove"},
        walls=planes(left=([-0.1, 0], [1, 0]), right=([0.1, 0], [-1, 0])) + floors,
        grains=[{"type": "fill", "region": {"low": [-0.1, 0], "high": [0.1, 0.36]}, "count": 640,
                 "diameter": SIZES}]).world()
    samples, counts = Samples(), []
    world.run(steps=200, h=step)
    follow(world, samples, step, 0.4, also=lambda w: counts.append((w.time, w.last.grains)))
    t, n = numpy.array(counts).T
    out = samples.means()
    out["discharge, grains/s"] = -float(numpy.polyfit(t, n, 1)[0])
    return out


def drum(tolerance, seed):
    """A drum half full at 2 rad/s: the surface flows steadily."""
    step = 2e-3
    world = scene(
        2, tolerance, seed, step,
        walls=[{"name": "drum", "type": "cylinder", "radius": 0.14, "material": "liner",
                "motion": {"type": "velocity", "spin": 2}}],
        grains=[{"type": "fill", "region": {"type": "ball", "center": [0, 0], "radius": 0.14},
                 "count": 320, "diameter": SIZES}]).world()
    angles = []

    def angle(w):
        x = numpy.array(w.grains.position)
        edges = numpy.linspace(-0.08, 0.08, 9)
        tops = [(x[inside, 0].mean(), x[inside, 1].max())
                for low, high in zip(edges[:-1], edges[1:])
                if (inside := (x[:, 0] >= low) & (x[:, 0] < high)).any()]
        angles.append(math.degrees(math.atan(numpy.polyfit(*numpy.array(tops).T, 1)[0])))
    samples = Samples()
    world.run(steps=400, h=step)
    follow(world, samples, step, 1.6, also=angle)
    out = samples.means()
    out["angle of the surface, degrees"] = float(numpy.mean(angles))
    return out


def shear(tolerance, seed, now_and_then=None):
    """A layer between bumpy walls, sheared by 2/s under 1000 N/m, without gravity."""
    step, width, height, spacing = 1e-3, 0.168, 0.168, 0.014
    bumps = [{"name": f"bumps_{wall}", "type": "lattice", "low": [0, y - 0.005],
              "counts": [12, 1], "spacing": spacing, "radius": 0.005, "glue": wall, "tag": 1}
             for wall, y in (("bottom", 0.0), ("top", height))]
    world = scene(
        2, tolerance, seed, step, gravity=[0, 0], periodic={"x": [0, width]},
        walls=[{"name": "bottom", "type": "plane", "point": [0, -0.005], "normal": [0, 1],
                "motion": {"type": "velocity", "velocity": [2 * height, 0]}},
               {"name": "top", "type": "plane", "point": [0, height + 0.005], "normal": [0, -1],
                "motion": {"type": "servo", "mass": 25 * width, "axis": [0, -1], "stress": 1000,
                           "area": width, "damping": 500 * width}}],
        grains=bumps + [{"type": "fill", "region": {"low": [0, 0.005], "high": [width, height - 0.005]},
                         "solid_fraction": 0.74, "diameter": SIZES}]).world()
    grains = world.grains
    free = numpy.array(grains.tag) == 0
    velocity = numpy.array(grains.velocity)
    velocity[free, 0] = 2 * (height - numpy.array(grains.position)[free, 1])
    grains.velocity[:] = velocity
    walls = []

    def look(w):
        fx, fy = w.wall("top").force[:2]
        area = width * (numpy.array(w.grains.position)[~free, 1].max())
        contacts = w.contacts
        # Where the layer ends a contact has no second grain; bumps are grains too.
        inner = numpy.array(contacts.a) >= 0
        radius, ids = numpy.array(w.grains.radius), numpy.array(w.grains.id)
        a = numpy.searchsorted(ids, numpy.array(contacts.a)[inner])
        b = numpy.searchsorted(ids, numpy.array(contacts.b)[inner])
        branch = numpy.array(contacts.normal)[inner] * (radius[a] + radius[b])[:, None]
        stress = branch.T @ numpy.array(contacts.force)[inner] / area
        walls.append((fx / fy, stress[1, 1], (stress[0, 0] + stress[1, 1]) / 2,
                      abs(stress[0, 1] + stress[1, 0]) / (2 * stress[1, 1]), area / width / DIAMETER))
    samples = Samples()
    world.run(steps=300, h=step)
    if now_and_then:
        world.run(steps=400, h=step, every=100, callback=now_and_then)
        return None
    follow(world, samples, step, 0.8, also=look)
    out = samples.means()
    names = ("shear / normal force, wall", "normal stress, N/m", "mean stress, N/m",
             "shear / normal stress, layer", "height of the layer, d")
    out.update(zip(names, (float(abs(v)) for v in numpy.mean(walls, axis=0))))
    return out


FLOWS = {f.__name__: f for f in (collapse, hopper, drum, shear, collapse_3d)}


# ---- single steps ------------------------------------------------------------------------------

def forces_of_step(world, tolerance, step):
    """Normal forces of the next step from a state, by the pair of bodies."""
    twin = world.copy()
    twin.set_solver(tolerance=tolerance, max_sweeps=200000)
    twin.step(step)
    contacts = twin.contacts
    push = numpy.einsum("ij,ij->i", contacts.force, contacts.normal)
    return dict(zip(zip(map(int, contacts.a), map(int, contacts.b)), push))


def single_steps(seeds):
    """The same states of plane shear, each solved to every tolerance: how far single forces are off.

    Returns for each tolerance |f - f_ref| / |f_ref| over all contacts and the share of contacts
    whose force is off by more than the mean force; f_ref is solved to 0.01 %.
    """
    rows = {t: [] for t in TOLERANCES}

    def look(world):
        exact = forces_of_step(world, 1e-4, 1e-3)
        keys = list(exact)
        reference = numpy.array([exact[k] for k in keys])
        mean = reference[reference > 1e-9 * reference.max()].mean()
        for tolerance in TOLERANCES:
            found = forces_of_step(world, tolerance, 1e-3)
            change = numpy.array([found.get(k, 0.0) for k in keys]) - reference
            rows[tolerance].append((numpy.linalg.norm(change) / numpy.linalg.norm(reference),
                                    numpy.mean(abs(change) > mean)))
    for seed in range(1, seeds + 1):
        shear(0.05, seed, look)
    return {t: numpy.array(r) for t, r in rows.items()}


# ---- runs and tables ---------------------------------------------------------------------------

def run_all(flows, seeds, path):
    kept = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            kept[row["flow"], row["tolerance"], row["seed"]] = row["numbers"]
    for seed in range(1, seeds + 1):
        for name in flows:
            for tolerance in TOLERANCES:
                if (name, tolerance, seed) in kept:
                    continue
                begin = time.process_time()
                numbers = FLOWS[name](tolerance, seed)
                numbers["CPU seconds"] = time.process_time() - begin
                kept[name, tolerance, seed] = numbers
                with path.open("a") as file:
                    json.dump({"flow": name, "tolerance": tolerance, "seed": seed,
                               "numbers": numbers}, file)
                    file.write("\n")
    return kept


def entry(values, reference):
    """Mean and standard error, with a mark where it is not that at the smallest tolerance."""
    values, reference = numpy.array(values), numpy.array(reference)
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    change = values - reference
    spread = change.std(ddof=1) / math.sqrt(len(change))
    marked = spread > 0 and abs(change.mean()) > STUDENT.get(len(change) - 1, 3.0) * spread
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 3
    return f"{mean:.{digits}f} ± {error:.{digits}f}{' *' if marked else ''}"


def rank(quantity):
    """What is asked of the flow comes first, then contacts, and last what they cost."""
    order = ("mean normal force / weight", "stress ratio", "second moment of P(f)", "share of f > 2",
             "tail of P(f), beta", "coordination number", "anisotropy of fabric", "sliding contacts",
             "mean overlap / d, 1e-6", "largest overlap / d, 1e-6", "estimated error, %",
             "sweeps per step", "CPU seconds")
    return order.index(quantity) if quantity in order else -1


def print_tables(flows, kept):
    for name in flows:
        done = [s for s in range(1, 100) if all((name, t, s) in kept for t in TOLERANCES)]
        if len(done) < 3:
            print(f"\n{name}: fewer than three fills are complete")
            continue
        print(f"\n**{name}**: {FLOWS[name].__doc__.split('.')[0]}; {len(done)} fills\n")
        print("| tolerance | " + " | ".join(f"{100 * t:g} %" for t in TOLERANCES) + " |")
        print("|---" * (len(TOLERANCES) + 1) + "|")
        for quantity in sorted(kept[name, TOLERANCES[0], done[0]], key=rank):
            columns = [[kept[name, t, s][quantity] for s in done] for t in TOLERANCES]
            print(f"| {quantity} | " + " | ".join(entry(c, columns[0]) for c in columns) + " |")


def print_single_steps(rows):
    print("\n**single steps**: states of plane shear, each solved to every tolerance; "
          f"{len(rows[TOLERANCES[0]])} states\n")
    print("| tolerance | " + " | ".join(f"{100 * t:g} %" for t in TOLERANCES) + " |")
    print("|---" * (len(TOLERANCES) + 1) + "|")
    names = ("error of normal forces, median", "largest", "contacts off by more than the mean force")
    columns = [(numpy.median(r[:, 0]), r[:, 0].max(), r[:, 1].mean()) for r in rows.values()]
    for name, values in zip(names, zip(*columns)):
        print(f"| {name} | " + " | ".join(f"{100 * v:.2g} %" for v in values) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--only", default=",".join(FLOWS))
    parser.add_argument("--results", type=Path, default=Path("flow_accuracy.jsonl"))
    options = parser.parse_args()
    flows = options.only.split(",")
    logging.getLogger("talus").setLevel(logging.ERROR)  # grains that leave a silo are no news
    print_tables(flows, run_all(flows, options.seeds, options.results))
    if "shear" in flows:
        print_single_steps(single_steps(options.seeds))


if __name__ == "__main__":
    main()
