"""talus measure from outside: numbers against numpy on frames.h5, tables, regions, units, refusals."""
import csv
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

TALUS = os.environ["TALUS"]

# Disks under a heavy lid between smooth walls.
SCENE = """
title: loaded disks
dimension: 2
step: 1.0e-3
gravity: [0, -10]
solver: {tolerance: 1.0e-6, max_sweeps: 1000}
materials:
  bead: {density: 2500, friction: 0.4}
  glide: {friction: 0}
walls:
  - {name: floor, type: plane, point: [0, 0], normal: [0, 1], material: glide}
  - {name: left, type: plane, point: [0, 0], normal: [1, 0], material: glide}
  - {name: right, type: plane, point: [0.08, 0], normal: [-1, 0], material: glide}
  - name: lid
    type: plane
    point: [0, 0.08]
    normal: [0, -1]
    material: glide
    motion: {type: force, mass: 5, force: [0, -400]}
grains:
  - type: fill
    region: {low: [0, 0], high: [0.08, 0.08]}
    solid_fraction: 0.7
    radius: {distribution: uniform, min: 0.003, max: 0.006}
phases:
  - {name: load, until: {time: 0.1}}
output: {frames: 0.02, series: 0.01, checkpoint: 100}
"""
# A disk that falls: contacts are not recorded, units are reduced.
FALL = """
title: fall
dimension: 2
units: reduced
step: 1.0e-2
gravity: [0, -10]
materials: {bead: {density: 1}}
grains:
  - {type: list, items: [{position: [0, 0], radius: 0.5}, {position: [2, 0], radius: 0.5}]}
phases:
  - {name: fall, until: {time: 0.1}}
output: {frames: 0.05, contacts: false}
"""
# Two soft disks that collide, with loss.
SOFT = """
title: collision
dimension: 2
method: soft
step: 1.0e-4
materials: {bead: {density: 1, restitution: 0.5, stiffness: 1.0e+4}}
grains:
  - type: list
    items: [{position: [0, 0], radius: 0.5, velocity: [1, 0]}, {position: [1.01, 0], radius: 0.5}]
phases:
  - {name: collide, until: {time: 0.1}}
output: {frames: 0.05, series: 0.005}
"""


# A disk that drops onto a floor and stays there: no restitution.
DROP = """
title: drop
dimension: 2
step: 1.0e-2
gravity: [0, -10]
materials: {bead: {density: 1}}
walls: [{name: floor, type: plane, point: [0, 0], normal: [0, 1]}]
grains: [{type: list, items: [{position: [0, 1.5], radius: 0.5}]}]
phases: [{name: drop, until: {time: 0.8}}]
output: {frames: 0.1}
"""
# A disk that rests on a floor which lifts it with 0.5 m/s.
LIFT = """
title: lift
dimension: 2
step: 1.0e-2
gravity: [0, -10]
materials: {bead: {density: 1}}
walls:
  - {name: the floor, type: plane, point: [0, 0], normal: [0, 1],
     motion: {type: velocity, velocity: [0, 0.5]}}
  - {name: far away, type: plane, point: [9, 0], normal: [-1, 0]}
grains: [{type: list, items: [{position: [0, 0.5], radius: 0.5}]}]
phases: [{name: lift, until: {time: 0.4}}]
output: {frames: 0.1}
"""
# A piston under a force falls onto a disk that lies on the floor.
PISTON = """
title: piston
dimension: 2
step: 1.0e-3
solver: {tolerance: 1.0e-8, max_sweeps: 1000}
materials: {bead: {density: 1}}
walls:
  - {name: floor, type: plane, point: [0, 0], normal: [0, 1]}
  - {name: piston, type: plane, point: [0, 1.1], normal: [0, -1],
     motion: {type: force, mass: 2, force: [0, -40]}}
grains: [{type: list, items: [{position: [0, 0.5], radius: 0.5}]}]
phases: [{name: press, until: {time: 0.2}}]
output: {frames: 0.1}
"""
# The floor turns instead.
TURN = LIFT.replace("{type: velocity, velocity: [0, 0.5]}", "{type: velocity, spin: 1}")


def talus(*arguments, cwd):
    return subprocess.run([TALUS, *arguments], capture_output=True, text=True, cwd=cwd, timeout=100)


class Frame:
    """The contacts of a recorded frame as numpy has them: forces on b, normals, branch vectors."""

    def __init__(self, path, frame):
        with h5py.File(path) as file:
            group = file[f"frames/{frame:06d}"]
            grains = {name: group["grains"][name][:] for name in ("id", "position", "radius")}
            c = {name: group["contacts"][name][:] for name in ("a", "b", "point", "normal", "force")}
            self.state = group["contacts/state"][:]
            self.time = float(group.attrs["time"])
        self.position, self.radius = grains["position"], grains["radius"]
        self.wall = c["a"] < 0
        row = {i: k for k, i in enumerate(grains["id"])}
        b = np.array([row[i] for i in c["b"]], dtype=int)
        a = np.array([row.get(i, 0) for i in c["a"]], dtype=int)
        start = np.where(self.wall[:, None], c["point"], self.position[a])
        self.branch = self.position[b] - start
        self.point, self.force = c["point"], c["force"]
        self.normal = np.sum(c["force"] * c["normal"], axis=1)
        self.tangential = np.linalg.norm(c["force"] - self.normal[:, None] * c["normal"], axis=1)
        size = np.linalg.norm(c["force"], axis=1)
        active = self.state != 0
        self.counts = active & (size > 1e-6 * size.sum() / max(active.sum(), 1))


class Measure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cwd = Path(cls.folder.name)
        (cls.cwd / "loaded.yaml").write_text(SCENE)
        (cls.cwd / "fall.yaml").write_text(FALL)
        (cls.cwd / "soft.yaml").write_text(SOFT)
        for name, scene in (("drop", DROP), ("lift", LIFT), ("turn", TURN), ("piston", PISTON)):
            (cls.cwd / f"{name}.yaml").write_text(scene)
        for name in ("loaded", "fall", "soft", "drop", "lift", "turn", "piston"):
            run = talus("run", f"{name}.yaml", "-o", name, "--quiet", cwd=cls.cwd)
            assert run.returncode == 0, run.stderr
        cls.frame = Frame(cls.cwd / "loaded/frames.h5", 5)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def measure(self, *arguments):
        result = talus("measure", *arguments, "--json", cwd=self.cwd)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def near(self, value, expected, scale=None):
        # Sums of about a hundred doubles in another order.
        self.assertAlmostEqual(value, expected, delta=1e-12 * (scale or max(1.0, abs(expected))))

    def test_stress_is_what_numpy_sums(self):
        s, f = self.measure("loaded", "stress")["stress"], self.frame
        low = (f.position - f.radius[:, None]).min(axis=0)
        high = (f.position + f.radius[:, None]).max(axis=0)
        volume = np.prod(high - low)
        tensor = f.force.T @ f.branch / volume
        kinetic = np.array([[s[f"kinetic_{x}{y}"]["value"] for y in "xy"] for x in "xy"])
        stress = np.array([[s[f"stress_{x}{y}"]["value"] for y in "xy"] for x in "xy"])
        for i in range(2):
            for j in range(2):
                self.near(stress[i, j] - kinetic[i, j], tensor[i, j], abs(tensor).max())
        self.near(s["volume"]["value"], volume)
        self.assertEqual(s["pressure"]["unit"], "N/m")
        # The principal stresses are those of the whole tensor. Its kinetic part is not nothing:
        # grains creep as fast as the tolerance of the run lets them.
        whole = tensor + kinetic
        values = np.linalg.eigvalsh(0.5 * (whole + whole.T))[::-1]
        for i in range(2):
            self.near(s[f"principal_{i + 1}"]["value"], values[i], abs(whole).max())

    def test_strays_do_not_count_in_stresses(self):
        """Two grains far away, one of them fast: volume, kinetic part and contacts are those of the rest."""
        far = ("  - {type: list, items: [{position: [60, 0.01], radius: 0.005, velocity: [-9, 0]},"
               " {position: [-50, 0.01], radius: 0.005}]}\n")
        scene = SCENE.replace("phases:", far + "phases:").replace("point: [0, 0], normal: [1, 0]", "point: [-99, 0], normal: [1, 0]")
        scene = scene.replace("point: [0.08, 0], normal: [-1, 0]", "point: [99, 0], normal: [-1, 0]")
        (self.cwd / "strays.yaml").write_text(scene)
        run = talus("run", "strays.yaml", "-o", "strays", "--quiet", "--steps", "20", cwd=self.cwd)
        self.assertEqual(run.returncode, 0, run.stderr)
        f = Frame(self.cwd / "strays/frames.h5", 1)
        stay = abs(f.position[:, 0]) < 10
        self.assertEqual((~stay).sum(), 2)
        low = (f.position - f.radius[:, None])[stay].min(axis=0)
        high = (f.position + f.radius[:, None])[stay].max(axis=0)
        whole = self.measure("strays", "stress")["stress"]
        self.near(whole["volume"]["value"], np.prod(high - low))
        region = f"x={float(low[0])!r}:{float(high[0])!r},y={float(low[1])!r}:{float(high[1])!r}"
        self.assertEqual(whole, self.measure("strays", "stress", "--region", region)["stress"])

    def test_region(self):
        s = self.measure("loaded", "stress", "--region", "x=0.02:0.06,y=:0.04")["stress"]
        f = self.frame
        self.assertEqual(
            self.measure("loaded", "stress", "--region", "0.02:0.06,:0.04")["stress"], s
        )
        low = (f.position - f.radius[:, None]).min(axis=0)[1]
        inside = (f.point[:, 0] >= 0.02) & (f.point[:, 0] < 0.06) & (f.point[:, 1] < 0.04)
        self.near(s["volume"]["value"], 0.04 * (0.04 - low))
        tensor = f.force[inside].T @ f.branch[inside] / s["volume"]["value"]
        contact = s["stress_yy"]["value"] - s["kinetic_yy"]["value"]
        self.near(contact, tensor[1, 1], abs(tensor).max())

    def test_forces_and_networks(self):
        m, f = self.measure("loaded"), self.frame
        normal = f.normal[f.counts]
        mean = normal.mean()
        self.near(m["forces"]["mean_normal"]["value"], mean)
        self.near(m["forces"]["largest_normal"]["value"], normal.max())
        self.near(m["networks"]["strong_share"]["value"], np.mean(normal > mean))
        table = m["forces"]["P_fn"]
        edges = np.append(table["from"]["values"], table["to"]["values"][-1])
        counts, _ = np.histogram(normal / mean, edges)
        density = counts / len(normal) / np.diff(edges)
        np.testing.assert_allclose(table["P(f_n/<f_n>)"]["values"], density, atol=1e-12)
        rubbing = f.counts & ~f.wall  # the walls are smooth
        used = f.tangential[rubbing] / (0.4 * f.normal[rubbing])
        self.assertEqual(m["mobility"]["rubbing_contacts"]["value"], rubbing.sum())
        self.near(m["mobility"]["mobilised"]["value"], np.mean(used >= 0.99))
        # Of the contacts with friction: smooth ones slide whenever they can.
        self.near(m["mobility"]["sliding"]["value"], np.mean(f.state[rubbing] == 2))
        self.assertNotAlmostEqual(
            m["mobility"]["sliding"]["value"], np.mean(f.state[f.counts] == 2), delta=0.01
        )
        ends = f.counts.sum() + (f.counts & ~f.wall).sum()
        self.near(m["coordination"]["all_grains"]["value"], ends / len(f.radius))
        fraction = np.pi * np.sum(f.radius**2) / m["packing"]["volume"]["value"]
        # Disks may reach a little through the walls, up to the overlaps that the solver leaves.
        self.assertAlmostEqual(m["packing"]["solid_fraction"]["value"], fraction, delta=1e-4)

    def test_overview_leaves_out_what_would_be_misread(self):
        wide = ("--region", "x=-5:5,y=-5:5")
        for arguments, overview, named in (
                (("fall", *wide), "solid_fraction           most of this space is empty", "packing"),
                (("loaded",), None, "coordination")):
            plain = talus("measure", *arguments, cwd=self.cwd).stdout
            asked = talus("measure", arguments[0], named, *arguments[1:], cwd=self.cwd).stdout
            if overview:
                self.assertIn(overview, plain)
                self.assertRegex(asked, r"solid_fraction +0\.01\d+ of a space that is mostly empty")
            else:  # with friction two contacts hold a disk: who needs three is no headline
                self.assertIn("rattlers_2_contacts", plain)
                self.assertNotIn("rattlers_dim+1_contacts", plain)
                self.assertIn("rattlers_dim+1_contacts", asked)

    def test_several_frames(self):
        one = [self.measure("loaded", "stress", "--frame", str(i))["stress"] for i in (2, 3, 4)]
        m = self.measure("loaded", "stress", "energy", "--frame", "2:4", "--csv", "out.csv")
        self.assertEqual(m["frames"], [2, 3, 4])
        values = [s["pressure"]["value"] for s in one]
        several = m["stress"]["pressure"]
        self.assertEqual(several["values"], values)
        self.near(several["mean"], np.mean(values))
        self.near(several["spread"], np.std(values), abs(np.mean(values)))
        with open(self.cwd / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(r["stress.pressure [N/m]"]) for r in rows], values)
        self.assertEqual([int(r["frame"]) for r in rows], [2, 3, 4])
        energy = m["energy"]
        with h5py.File(self.cwd / "loaded/frames.h5") as file:
            for k, frame in enumerate((2, 3, 4)):
                g = file[f"frames/{frame:06d}/grains"]
                speed2 = np.sum(g["velocity"][:] ** 2, axis=1)
                kinetic = 0.5 * np.sum(g["mass"][:] * speed2)
                potential = 10 * np.sum(g["mass"][:] * g["position"][:, 1])
                self.near(energy["translational"]["values"][k], kinetic)
                self.near(energy["potential"]["values"][k], potential)

    def test_tables_and_csv(self):
        result = talus("measure", "loaded", "fabric", "--bins", "6", "--csv", "f.csv", cwd=self.cwd)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("rose", result.stdout)
        with open(self.cwd / "f-rose.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 6)
        # A density over half a turn.
        self.near(sum(float(r["density"]) for r in rows) * np.pi / 6, 1.0)
        again = talus("measure", "loaded", "fabric", "--csv", "f.csv", cwd=self.cwd)
        self.assertEqual(again.returncode, 1)
        self.assertIn("--force", again.stderr)
        forced = talus("measure", "loaded", "fabric", "--csv", "f.csv", "--force", cwd=self.cwd)
        self.assertEqual(forced.returncode, 0, forced.stderr)

    def test_every_quantity_has_numbers(self):
        m = self.measure("loaded", "--frame", "all")
        help_text = talus("help", "measure", cwd=self.cwd).stdout
        names = [k for k, v in m.items() if isinstance(v, dict)]
        listed = help_text.split("tables:\n\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(names, " ".join(listed[:2]).split())
        for name in " ".join(listed[2:]).split():
            more = ["--gate", "y=0.03", "--column", "0.008", "--slope", "plane"]
            m.update(self.measure("loaded", name, "--frame", "all", *more))
            names.append(name)
        self.assertEqual(len(names), 16)
        for name in names:
            self.assertTrue(any("mean" in entry for entry in m[name].values()), name)
        table = talus("measure", "loaded", cwd=self.cwd)
        self.assertIn("frame 5, t = 0.1 s", table.stdout)
        self.assertIn("N/m", table.stdout)
        self.assertNotIn("rose", table.stdout.split("fabric:")[1].split("\n", 1)[1])

    def test_space_and_flow(self):
        m = self.measure("loaded", "stress", "profile", "--bins", "7")
        table = {k: np.array(v["values"]) for k, v in m["profile"]["profile"].items()}
        # The slices share out the branch vectors; they end at the walls, the box of the stress at
        # the disks, which touch the walls up to the overlaps that the solver leaves.
        whole = m["stress"]["stress_yy"]["value"] * m["stress"]["volume"]["value"]
        slices = np.sum(table["stress_yy"] * table["volume"])
        self.assertAlmostEqual(slices, whole, delta=1e-4 * whole)
        flux = self.measure("loaded", "flux", "--gate", "y=0.03", "--frame", "0:1")["flux"]
        above = [Frame(self.cwd / "loaded/frames.h5", i).position[:, 1] > 0.03 for i in (0, 1)]
        crossed = np.sum(above[0] & ~above[1]) - np.sum(~above[0] & above[1])
        self.assertEqual(flux["crossed"]["values"][1], crossed)
        self.assertNotEqual(crossed, 0)
        field = self.measure("loaded", "field")["field"]
        self.assertEqual(len(field["field"]["x"]["values"]), field["points"]["value"])

    def test_tables_over_several_frames(self):
        """Slices stay where they are, and what is in them adds up: volumes, masses, momenta."""
        m = self.measure("loaded", "profile", "--bins", "9", "--frame", "0:5:5")["profile"]
        table = {k: np.array(v["values"]) for k, v in m["profile"].items()}
        solid = 2 * np.sum(table["solid_fraction"] * table["volume"])
        # The lid comes down; disks may reach a little through the walls.
        self.assertAlmostEqual(solid / (2 * np.pi * np.sum(self.frame.radius**2)), 1, delta=1e-4)
        np.testing.assert_allclose(np.diff(table["position"], 2), 0, atol=1e-15)
        # Disks that fall: at t = 0, 0.05, 0.1 with the velocity 0, -0.5, -1, all in other slices.
        m = self.measure("fall", "profile", "--bins", "40", "--frame", "all")["profile"]
        table = {k: np.array(v["values"], dtype=float) for k, v in m["profile"].items()}
        mass = 3 * table["solid_fraction"] * table["volume"]
        self.near(mass.sum(), 3 * 2 * np.pi / 4)
        self.near(np.nansum(mass * table["velocity_y"]), -2 * np.pi / 4 * 1.5)
        alone = self.measure("fall", "profile", "--frame", "2", "--region", "y=-2:2")["profile"]
        empty = np.array(alone["profile"]["solid_fraction"]["values"]) == 0
        self.assertTrue(empty.any() and not empty.all())
        for value, nothing in zip(alone["profile"]["velocity_y"]["values"], empty):
            self.assertEqual(value is None, nothing)

    def test_fields_over_several_frames(self):
        both = self.measure("loaded", "field", "--frame", "0:5:5")["field"]
        field = {k: np.array(v["values"], dtype=float) for k, v in both["field"].items()}
        point = np.column_stack([field["x"], field["y"]])
        w = both["kernel_width"]["mean"]
        density = np.zeros(len(point))
        for number in (0, 5):
            f = Frame(self.cwd / "loaded/frames.h5", number)
            off2 = ((point[:, None, :] - f.position[None]) ** 2).sum(axis=2)
            kernel = np.where(off2 < 16 * w * w, np.exp(-off2 / (2 * w * w)), 0)
            kernel /= 2 * np.pi * w * w * (1 - np.exp(-8))
            density += 0.5 * kernel @ (2500 * np.pi * f.radius**2)
        np.testing.assert_allclose(field["density"], density, atol=1e-9 * density.max())

    def test_tables_that_have_no_mean(self):
        words = ["measure", "loaded", "slope", "--slope", "plane", "--frame", "0:5:5", "--json"]
        words += ["--column", "0.008"]
        result = talus(*words, cwd=self.cwd)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the table surface is left out", result.stderr)
        self.assertNotIn("surface", json.loads(result.stdout)["slope"])

    def test_shear_in_slices(self):
        """A frame whose disks are given the velocities of a shear flow, v_x = -20 y."""
        shutil.copytree(self.cwd / "loaded", self.cwd / "sheared")
        with h5py.File(self.cwd / "sheared/frames.h5", "r+") as file:
            grains = file["frames/000005/grains"]
            y = grains["position"][:, 1]
            grains["velocity"][:] = np.column_stack([-20 * y, 0 * y])
        m = self.measure("sheared", "profile", "--bins", "8")["profile"]
        t = {k: np.array(v["values"], dtype=float) for k, v in m["profile"].items()}
        gradient = np.gradient(t["velocity_x"], t["position"][1] - t["position"][0])
        np.testing.assert_allclose(t["shear_rate"], abs(gradient), rtol=1e-9)
        # The parts of a disk in two slices have its one velocity: that takes from the gradient.
        np.testing.assert_allclose(t["shear_rate"][1:-1], 20, rtol=0.3)
        pressure = 0.5 * (t["stress_xx"] + t["stress_yy"])
        shear = 0.5 * (t["stress_xy"] + t["stress_yx"])  # v_x falls with y
        np.testing.assert_allclose(t["mu"], shear / pressure, rtol=1e-9)
        diameter = 2 * self.frame.radius.mean()
        inertial = t["shear_rate"] * diameter * np.sqrt(2500 / pressure)
        np.testing.assert_allclose(t["I"], inertial, rtol=1e-9)
        m = self.measure("fall", "profile", "--frame", "0:1")["profile"]["profile"]
        self.assertIn("shear_rate", m)
        self.assertNotIn("mu", m)  # no contacts are recorded

    def test_rotation_has_no_shear(self):
        shutil.copytree(self.cwd / "loaded", self.cwd / "turned")
        with h5py.File(self.cwd / "turned/frames.h5", "r+") as file:
            grains = file["frames/000005/grains"]
            x, y = (grains["position"][:] - [0.04, 0.03]).T
            grains["velocity"][:] = np.column_stack([-3 * y, 3 * x])
        options = ["--radial", "--ends", "0:0.03", "--bins", "3", "--region", "y=0:0.06"]
        m = self.measure("turned", "profile", *options)["profile"]["profile"]
        # About the middle of the space. dv/dr alone is 3; what is left comes from the disks' sizes.
        self.assertLess(m["shear_rate"]["values"][1], 0.3 * 3)

    def test_options_of_space(self):
        f = self.frame
        v = [self.measure("loaded", "voronoi", *o)["voronoi"] for o in ([], ["--inner-cells"])]
        self.assertEqual(v[0]["cells"]["value"], len(f.radius))
        cut = v[0]["cut_by_boundary"]["value"]
        self.assertEqual(v[1]["cells"]["value"], len(f.radius) - cut)
        # Every disk that touches a wall has a cell that ends there.
        self.assertLess(v[1]["cells"]["value"], len(f.radius) - 10)
        self.assertGreater(v[1]["local_fraction"]["value"], v[0]["local_fraction"]["value"])
        space = self.measure("loaded", "packing")["packing"]["volume"]["value"]
        top = space / 0.08  # of the box between the walls
        g = self.measure("loaded", "rdf", "--range", "0.02", "--edge", "inner")["rdf"]
        r = np.array(g["g_of_r"]["r"]["values"])
        self.near(r[-1] + 0.5 * (r[1] - r[0]), 0.02)
        x, y = f.position.T
        inner = (x > 0.02) & (x < 0.06) & (y > 0.02) & (y < top - 0.02)
        self.assertEqual(g["centres"]["value"], inner.sum())
        self.assertEqual(self.measure("loaded", "rdf")["rdf"]["centres"]["value"], len(x))
        p = self.measure("loaded", "profile", "--ends", "0.01:0.03", "--bins", "4")["profile"]
        np.testing.assert_allclose(
            p["profile"]["position"]["values"], [0.0125, 0.0175, 0.0225, 0.0275], atol=1e-15
        )
        options = ["--kernel", "lucy", "--width", "0.02", "--cells", "8,6"]
        field = self.measure("loaded", "field", *options)["field"]["field"]
        point = np.column_stack([field["x"]["values"], field["y"]["values"]])
        self.assertEqual((len(set(point[:, 0])), len(set(point[:, 1]))), (8, 6))
        off = np.sqrt(((point[:, None, :] - f.position[None]) ** 2).sum(axis=2)) / 0.02
        kernel = np.where(off < 1, (1 + 3 * off) * (1 - off) ** 3, 0) * 5 / (np.pi * 0.02**2)
        density = kernel @ (2500 * np.pi * f.radius**2)
        np.testing.assert_allclose(field["density"]["values"], density, rtol=1e-9)
        # Disks without a contact force do not count: as many columns, other tops or the same.
        slope = ["slope", "--slope", "plane", "--column", "0.01"]
        tops = [self.measure("loaded", *slope, *o)["slope"]["surface"]["top"]["values"]
                for o in ([], ["--touching"])]
        self.assertEqual(len(tops[0]), 8)
        self.assertTrue(all(a >= b for a, b in zip(*tops)))

    def test_without_contacts_and_without_units(self):
        everything = talus("measure", "fall", cwd=self.cwd)
        self.assertEqual(everything.returncode, 0, everything.stderr)
        self.assertIn("need contacts", everything.stderr)
        self.assertNotIn(" J", everything.stdout)
        self.assertNotIn("stress:", everything.stdout)
        refused = talus("measure", "fall", "stress", cwd=self.cwd)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("output.contacts", refused.stderr)
        budget = self.measure("fall", "budget", "--frame", "all")["budget"]
        mass = 2 * np.pi * 0.25
        # Ten steps of h = 0.01, implicit: v = g t, and it falls g h^2 (1 + ... + 10).
        self.near(budget["change_of_kinetic"]["values"][-1], 0.5 * mass * 1.0)
        self.near(budget["change_of_potential"]["values"][-1], -mass * 10 * 10 * 1e-4 * 55)

    def test_books_of_soft_grains_close(self):
        b = {k: v["value"] for k, v in self.measure("soft", "budget")["budget"].items()}
        mass = np.pi * 0.25
        # Restitution 0.5 leaves the centre of mass and a quarter of the relative energy; linear
        # springs and dashpots part a little early, which costs some per cent.
        self.assertAlmostEqual(b["dissipated"], 0.25 * mass * 0.75, delta=0.05 * mass)
        closing = b["change_of_kinetic"] + b["change_of_elastic"] + b["dissipated"]
        self.near(closing, b["work_put_in"] + b["change_of_error"])

    def test_budget_of_rigid_grains(self):
        def budget(run, *options):
            found = self.measure(run, "budget", *options)["budget"]
            return {k: v["value"] for k, v in found.items()}

        mass = np.pi / 4
        b = budget("drop")
        # It ends at rest, up to the gap at which the solver takes contacts for closed.
        self.assertAlmostEqual(b["dissipated"], mass * 10 * 1.0, delta=1e-3 * mass)
        self.near(b["dissipated"], -b["change_of_potential"] - b["change_of_kinetic"])
        self.assertEqual(b["wall_work"], 0)
        self.assertEqual(b["steps_between_rows"], 1)
        self.assertEqual(budget("loaded")["steps_between_rows"], 10)
        b = budget("lift")
        v, t = 0.5, 0.4
        # The floor's impulse is what gives the disk its momentum and holds its weight; solver
        # tolerance 1e-6 and above.
        work = v * (mass * v + mass * 10 * t)
        self.assertAlmostEqual(b["wall_work"], work, delta=1e-4 * work)
        self.assertAlmostEqual(b["dissipated"], 0.5 * mass * v * v, delta=1e-4 * work)
        self.assertAlmostEqual(b["change_of_kinetic"], 0.5 * mass * v * v, delta=1e-4 * work)
        # From frame 1 on nothing is lost.
        frames = self.measure("lift", "budget", "--frame", "1:4")["budget"]
        self.assertAlmostEqual(frames["wall_work"]["mean"], 0.3 * v * mass * 10, delta=1e-4 * work)
        self.assertAlmostEqual(frames["dissipated"]["mean"], 0, delta=1e-4 * work)
        plot = talus("plot", "lift", "energy", "--csv", cwd=self.cwd)
        self.assertEqual(plot.returncode, 0, plot.stderr)
        with open(self.cwd / "lift/plots/energy.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(float(rows[0]["wall_work"]), 0)
        self.near(float(rows[-1]["wall_work"]), b["wall_work"])
        self.near(float(rows[-1]["dissipated"]), b["dissipated"])
        # The force of 40 N pushes over 0.1 m, and all comes to rest: about 100 steps of the fall, of
        # which the work of one is in doubt.
        b = budget("piston")
        self.assertAlmostEqual(b["dissipated"], 4.0, delta=0.02 * 4.0)
        # The series has no torques: a wall that turns does work that is not known.
        b = budget("turn")
        self.assertIsNone(b["wall_work"])
        self.assertIsNone(b["dissipated"])

    def test_a_missing_frame(self):
        """The budget cannot read frame 0; what comes after it measures its own frame."""
        shutil.copytree(self.cwd / "loaded", self.cwd / "holed")
        with h5py.File(self.cwd / "holed/frames.h5", "r+") as file:
            del file["frames/000000"]
        result = talus("measure", "holed", "budget", "packing", "--json", cwd=self.cwd)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no budget", result.stderr)
        found = json.loads(result.stdout)
        self.assertNotIn("budget", found)
        self.assertEqual(found["packing"], self.measure("loaded", "packing")["packing"])
        whole = self.measure("loaded", "budget", "packing")
        self.assertEqual(found["packing"], whole["packing"])

    def test_refusals(self):
        for arguments, status, word in (
            (["loaded", "strss"], 2, "did you mean 'stress'"),
            (["loaded", "--frame", "77"], 1, "the last one is 5"),
            (["loaded", "--frame", "x"], 2, "--frame"),
            (["loaded", "--region", "x=2:1"], 2, "--region"),
            (["loaded", "--region", "z=0:1"], 1, "2D"),
            (["loaded", "stress", "--region", "y=100:"], 1, "lies beyond it"),
            (["loaded", "--bins", "0"], 2, "--bins"),
            (["loaded", "--flow", "up"], 2, "linear"),
            (["loaded", "--kernel", "box"], 2, "gauss, lucy or heaviside, not 'box'"),
            (["loaded", "--edge", "outer"], 2, "inner or shell"),
            (["loaded", "--cells", "4;4"], 2, "--cells"),
            (["loaded", "--cells", "1,1,1,1"], 2, "--cells"),
            (["loaded", "--width", "0"], 2, "above 0"),
            (["loaded", "--ends", "3"], 2, "LOW:HIGH"),
            (["loaded", "flux"], 1, "--gate"),
            (["loaded", "flux", "--gate", "w=1"], 2, "--gate"),
            (["loaded", "--axis", "u"], 2, "--axis"),
            (["loaded", "--regin", "x=1:2"], 2, "--region"),
            (["nowhere"], 1, "nowhere"),
            ([], 2, "missing"),
        ):
            result = talus("measure", *arguments, cwd=self.cwd)
            self.assertEqual(result.returncode, status, f"{arguments}: {result.stderr}")
            self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
