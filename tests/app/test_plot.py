"""talus plot: the CSV behind every figure against numpy on frames.h5 and series.csv, and the figures."""
import csv
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

import png

TALUS = os.environ["TALUS"]
SCENE = str(Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml")
GRAVITY = 9.81
EVERY = ["energy", "stress", "coordination", "forces", "friction", "fabric", "anisotropy", "packing",
         "voronoi", "gr", "profile", "walls", "convergence"]


def talus(*arguments):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True, timeout=100)


def table(path):
    """Columns of a CSV; empty fields are NaN."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: numpy.array([float(r[k]) if r[k] else numpy.nan for r in rows[1:]])
            for k, name in enumerate(rows[0])}


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="talus-plot-")
        cls.run_2d = str(Path(cls.folder) / "tiny")
        result = talus("run", SCENE, "-o", cls.run_2d, "--steps", 300, "--quiet")
        assert result.returncode == 0, result.stderr
        cls.all = talus("plot", cls.run_2d, "all", "--dpi", 72)
        assert cls.all.returncode == 0, cls.all.stderr
        with h5py.File(Path(cls.run_2d) / "frames.h5", "r") as file:
            cls.time = file["time"][:]
            cls.frames = [{name: {k: v[()] for k, v in group[name].items()} for name in group}
                          for group in (file[f"frames/{i:06d}"] for i in range(cls.time.size))]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return str(Path(self.folder) / name)

    def csv_of(self, what, *options):
        path = self.path(f"{what}-{len(os.listdir(self.folder))}.csv")
        result = talus("plot", self.run_2d, what, "--csv", "-o", path, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return table(path)

    def near(self, seen, expected, tolerance=1e-12):
        """Equal but for the rounding of sums."""
        expected = numpy.asarray(expected, dtype=float)
        scale = numpy.nanmax(numpy.abs(expected)) or 1.0
        numpy.testing.assert_allclose(numpy.asarray(seen) / scale, expected / scale, atol=tolerance, rtol=0)

    # ---- figures -------------------------------------------------------------------------------

    def test_all_figures(self):
        folder = Path(self.run_2d) / "plots"
        for name in EVERY:
            image = png.read(folder / f"{name}.png")
            border = numpy.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
            self.assertTrue((border == 1).all(), name)
            self.assertGreater((image.min(axis=2) < 0.5).sum(), 500, name)
            columns = table(folder / f"{name}.csv")
            self.assertGreater(len(next(iter(columns.values()))), 1, name)

    def test_rounding_does_not_stretch_the_axis(self):
        """Overlaps of 1e-15 while nothing touches are drawn as if they were 0, which has no place there."""
        made = []
        for value in ("0", "1.0e-15"):
            run = Path(self.path(f"rounding-{value}"))
            shutil.copytree(self.run_2d, run)
            with open(run / "series.csv", newline="") as file:
                rows = list(csv.reader(file))
            column = rows[0].index("overlap_max")
            for row in rows[1:len(rows) // 2]:
                row[column] = value
            with open(run / "series.csv", "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            result = talus("plot", run, "convergence", "--dpi", 72, "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            made.append((run / "plots" / "convergence.png").read_bytes())
        self.assertEqual(made[0], made[1])

    def test_list(self):
        result = talus("plot", self.run_2d)
        self.assertEqual(result.returncode, 0)
        for name in EVERY + ["series", "kinetic_energy", "box_force_y"]:
            self.assertIn(name, result.stdout)

    def test_series_figure(self):
        """The only curve of a figure goes where its numbers say."""
        path = self.path("one.png")
        self.assertEqual(talus("plot", self.run_2d, "series", "grains", "-o", path).returncode, 0)
        data = table(self.path("one.csv"))
        image = png.read(path)
        dark = image.sum(axis=2) < 1.0
        columns = numpy.flatnonzero(dark.mean(axis=0) > 0.6)
        rows = numpy.flatnonzero(dark.mean(axis=1) > 0.6)
        left, right, top, bottom = columns[0], columns[-1], rows[0], rows[-1]
        x, y = data["time"], data["grains"]
        # The axes go on beyond the data by 4 % of their range on both sides.
        for i in range(20, len(x), 15):
            part = (x[i] - x.min()) / numpy.ptp(x)
            column = left + (right - left) * (0.04 + part) / 1.08
            height = (y[i] - y.min()) / numpy.ptp(y)
            row = bottom - (bottom - top) * (0.04 + height) / 1.08
            around = dark[int(row) - 3:int(row) + 5, int(column) - 2:int(column) + 4]
            self.assertTrue(around.any(), i)

    def test_formats_and_places(self):
        for name, begin in (("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
            path = self.path(name)
            made = talus("plot", self.run_2d, "energy", "-o", path, "--force")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertTrue(Path(path).read_bytes().startswith(begin))
        folder = self.path("two")
        self.assertEqual(talus("plot", self.run_2d, "gr", "walls", "-o", folder).returncode, 0)
        self.assertEqual(sorted(os.listdir(folder)), ["gr.csv", "gr.png", "walls.csv", "walls.png"])
        again = talus("plot", self.run_2d, "energy")
        self.assertEqual(again.returncode, 1)
        self.assertIn("--force", again.stderr)

    # ---- numbers -------------------------------------------------------------------------------

    def test_energy(self):
        data = self.csv_of("energy")
        self.near(data["time"], self.time)
        kinetic, potential = [], []
        for f in self.frames:
            g = f["grains"]
            inertia = 0.5 * g["mass"] * g["radius"]**2
            kinetic.append(0.5 * (g["mass"] * (g["velocity"]**2).sum(axis=1)).sum() +
                           0.5 * (inertia * g["spin"]**2).sum())
            potential.append((g["mass"] * GRAVITY * g["position"][:, 1]).sum())
        self.near(data["kinetic"], kinetic)
        self.near(data["potential"], potential)

    def test_stress(self):
        low, high = numpy.array([0.01, 0.005]), numpy.array([0.11, 0.05])
        data = self.csv_of("stress", "--region", "x=0.01:0.11,y=0.005:0.05", "--frame", "10:last")
        for row, number in enumerate(range(10, len(self.frames))):
            g, c = self.frames[number]["grains"], self.frames[number]["contacts"]
            place = {int(i): p for i, p in zip(g["id"], g["position"])}
            stress = numpy.zeros((2, 2))
            for a, b, point, force in zip(c["a"], c["b"], c["point"], c["force"]):
                if ((point >= low) & (point <= high)).all():
                    start = place[int(a)] if a >= 0 else point
                    stress += numpy.outer(force, place[int(b)] - start)
            inside = ((g["position"] >= low) & (g["position"] <= high)).all(axis=1)
            mass, velocity = g["mass"][inside], g["velocity"][inside]
            mean = (mass[:, None] * velocity).sum(axis=0) / mass.sum()
            stress += numpy.einsum("i,ij,ik->jk", mass, velocity - mean, velocity - mean)
            stress /= numpy.prod(high - low)
            self.near([data["volume"][row]], [numpy.prod(high - low)])
            self.near([data[k][row] for k in ("stress_xx", "stress_yy", "stress_xy", "pressure")],
                      [stress[0, 0], stress[1, 1], stress[0, 1], numpy.trace(stress) / 2], 1e-10)

    def loaded(self, number):
        """Contacts with a force: normal forces, normals, and which."""
        c = self.frames[number]["contacts"]
        size = numpy.linalg.norm(c["force"], axis=1)
        mask = size > 1e-6 * size[size > 0].mean()
        return (c["force"][mask] * c["normal"][mask]).sum(axis=1), c["normal"][mask], mask

    def test_coordination(self):
        data = self.csv_of("coordination", "--frame", "20:last")
        for row, number in enumerate(range(20, len(self.frames))):
            c = self.frames[number]["contacts"]
            mask = self.loaded(number)[2]
            between = (c["a"][mask] >= 0).sum()
            expected = (2 * between + (mask.sum() - between)) / len(self.frames[number]["grains"]["id"])
            self.near([data["all"][row]], [expected])
            ids = list(self.frames[number]["grains"]["id"])
            pairs = list(zip(c["a"][mask], c["b"][mask]))
            for needed, ending in ((3, ""), (2, "_2")):
                mean, rattlers = self.backbone(ids, pairs, needed)
                if rattlers == len(ids):  # nothing holds, so nothing rattles in it
                    self.assertTrue(numpy.isnan(data["rattlers" + ending][row]))
                    self.assertTrue(numpy.isnan(data["backbone" + ending][row]))
                    continue
                self.assertEqual(data["rattlers" + ending][row], rattlers)
                self.near([data["backbone" + ending][row]], [mean])

    def backbone(self, ids, pairs, needed):
        """Take out grains with fewer contacts than needed until none is left that has: the mean number of
        contacts of the others, and how many were taken out."""
        kept = set(ids)
        while True:
            count = dict.fromkeys(kept, 0)
            for a, b in pairs:
                if b in kept and (a < 0 or a in kept):
                    for end in (a, b):
                        if end >= 0:
                            count[end] += 1
            loose = {i for i in kept if count[i] < needed}
            if not loose:
                return (sum(count.values()) / len(kept) if kept else 0.0), len(ids) - len(kept)
            kept -= loose

    def test_friction(self):
        data = self.csv_of("friction", "--bins", 8)
        c = self.frames[-1]["contacts"]
        normal, direction, mask = self.loaded(len(self.frames) - 1)
        tangential = numpy.linalg.norm(c["force"][mask] - normal[:, None] * direction, axis=1)
        edges = numpy.append(data["low"], data["high"][-1])
        self.near(edges, numpy.linspace(0, 1, 9))
        # Friction is 0.3 everywhere. Ratios at the bound may be above it by rounding.
        count, _ = numpy.histogram(numpy.minimum(tangential / (0.3 * normal), 1), bins=edges)
        self.near(data["density"], count / len(normal) * 8)

    def test_anisotropy(self):
        """rho(n) ~ 1 + a cos 2(t - t_c): the main values of the fabric tensor differ by a/2."""
        data = self.csv_of("anisotropy", "--frame", "last")
        normal = self.loaded(len(self.frames) - 1)[1]
        value, vector = numpy.linalg.eigh(normal.T @ normal / len(normal))
        self.near(data["contacts"], [2 * (value[1] - value[0])])
        angle = numpy.degrees(numpy.arctan2(vector[1, 1], vector[0, 1]))
        self.near([(data["contact_angle"][0] - angle + 90) % 180 - 90], [0], 1e-9)

    def test_packing(self):
        data = self.csv_of("packing", "--region", "x=0:0.12,y=0:0.3", "--frame", "20:25")
        solid = [(numpy.pi * f["grains"]["radius"]**2).sum() for f in self.frames[20:26]]
        # Contact dynamics lets grains overlap the walls by 1e-4 diameters at most.
        self.near(data["solid_volume"], solid, 1e-4)
        self.near(data["volume"], [0.12 * 0.3] * 6)
        self.near(data["fraction"], data["solid_volume"] / data["volume"])

    def test_inertial(self):
        """I and mu follow from the other columns; the pressure is that of the stress."""
        options = ("--region", "x=0.01:0.11,y=0.005:0.05", "--frame", "20:last")
        data, g = self.csv_of("inertial", *options), self.frames[-1]["grains"]
        self.near(data["friction"] * data["pressure"], data["shear_stress"])
        inside = ((g["position"] >= [0.01, 0.005]) & (g["position"] <= [0.11, 0.05])).all(axis=1)
        density = g["mass"][0] / (numpy.pi * g["radius"][0]**2)
        for mask in (inside, slice(None)):
            diameter = 2 * g["radius"][mask].mean()
            expected = data["shear_rate"][-1] * diameter * numpy.sqrt(density / data["pressure"][-1])
            if abs(data["inertial_number"][-1] / expected - 1) < 1e-9:
                return
        self.fail(f"I = {data['inertial_number'][-1]}, not {expected}")

    def test_voronoi(self):
        data = self.csv_of("voronoi", "--frame", "24:last")
        self.near([(data["density"] * (data["high"] - data["low"])).sum()], [1])
        # Disks fill at most 0.9069 of a plane; unequal ones and overlaps of 1e-3 do not add 0.02.
        self.assertTrue((data["density"][data["low"] > 0.93] == 0).all())

    def test_forces(self):
        data = self.csv_of("forces", "--frame", "last", "--bins", 12)
        normal = self.loaded(len(self.frames) - 1)[0]
        edges = numpy.append(data["low"], data["high"][-1])
        count, _ = numpy.histogram(normal / normal.mean(), bins=edges)
        self.assertEqual(len(data["low"]), 12)
        self.near(data["normal"], count / len(normal) / numpy.diff(edges))

    def test_forces_of_several_frames(self):
        """The mean over frames counts every contact alike, in units of its frame's mean force."""
        data = self.csv_of("forces", "--frame", "25:last")
        edges = numpy.append(data["low"], data["high"][-1])
        total = numpy.zeros(len(edges) - 1)
        contacts = 0
        for number in range(25, len(self.frames)):
            normal = self.loaded(number)[0]
            total += numpy.histogram(normal / normal.mean(), bins=edges)[0]
            contacts += len(normal)
        self.near(data["normal"], total / contacts / numpy.diff(edges))

    def test_fabric(self):
        data = self.csv_of("fabric", "--bins", 10)
        force, normal, _ = self.loaded(len(self.frames) - 1)
        angle = numpy.arctan2(normal[:, 1], normal[:, 0]) % numpy.pi
        edges = numpy.append(data["low"], data["high"][-1])
        self.near(edges, numpy.linspace(0, numpy.pi, 11))
        count, _ = numpy.histogram(angle, bins=edges)
        # Normals along an axis may fall on either side of an end, by rounding.
        self.near(data["contacts"].sum(), count.sum() / len(angle) / (numpy.pi / 10))
        inner = slice(1, -1)
        self.near(data["contacts"][inner], (count / len(angle) / (numpy.pi / 10))[inner])
        mean = numpy.histogram(angle, bins=edges, weights=force)[0][inner] / numpy.maximum(count[inner], 1)
        filled = count[inner] > 0
        self.near(data["mean_normal_force"][inner][filled], mean[filled])
        self.assertTrue(numpy.isnan(data["mean_normal_force"][inner][~filled]).all())

    def test_fabric_of_several_frames(self):
        """The mean normal force of a direction is over all contacts that it has in the frames."""
        data = self.csv_of("fabric", "--bins", 10, "--frame", "15:25:5")
        total, count = numpy.zeros(10), numpy.zeros(10)
        for number in (15, 20, 25):
            force, normal, _ = self.loaded(number)
            angle = numpy.arctan2(normal[:, 1], normal[:, 0]) % numpy.pi
            total += numpy.histogram(angle, bins=10, range=(0, numpy.pi), weights=force)[0]
            count += numpy.histogram(angle, bins=10, range=(0, numpy.pi))[0]
        self.near(data["mean_normal_force"][1:-1], (total / count)[1:-1], 1e-10)

    def test_without_contacts(self):
        """Frames of free fall have no directions of contacts."""
        data = self.csv_of("anisotropy")
        bare = numpy.array([(numpy.abs(f["contacts"]["force"]) > 0).sum() == 0 for f in self.frames])
        self.assertTrue(bare.any())
        for name in ("contacts", "normal_forces", "contact_angle"):
            self.assertTrue(numpy.isnan(data[name][bare]).all(), name)
            self.assertTrue(numpy.isfinite(data["contacts"][~bare]).all())
        result = talus("plot", self.run_2d, "anisotropy", "--frame", 0, "-o", self.path("bare.png"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no plot of anisotropy: no contact", result.stderr)
        self.assertFalse(Path(self.path("bare.png")).exists())

    def test_walls_and_series(self):
        series = table(Path(self.run_2d) / "series.csv")
        data = self.csv_of("walls")
        self.assertEqual(set(data), {"time"} | {k for k in series if k.endswith(("force_x", "force_y"))})
        for name in data:
            self.near(data[name], series[name])
        data = table(Path(self.run_2d) / "plots" / "convergence.csv")
        for name in ("residual", "sweeps", "overlap_max", "certified", "velocity_error"):
            self.near(data[name], series[name])

    def test_profile(self):
        """All the solid volume, and all the momentum, is in the slices."""
        data = self.csv_of("profile", "--region", "x=0:0.12,y=0:0.3", "--frame", 25)
        g = self.frames[25]["grains"]
        width = data["position"][1] - data["position"][0]
        solid = (data["fraction"] * 0.12 * width).sum()
        # Contact dynamics lets grains overlap the walls by 1e-4 diameters at most.
        self.near([solid], [(numpy.pi * g["radius"]**2).sum()], 1e-4)
        # All grains are of one material: mass is the solid volume times the density.
        density = g["mass"][0] / (numpy.pi * g["radius"][0]**2)
        mass = density * data["fraction"] * 0.12 * width
        self.near(mass.sum(), g["mass"].sum(), 1e-4)
        for k, name in enumerate(("velocity_x", "velocity_y")):
            self.near([numpy.nansum(mass * data[name])], [(g["mass"] * g["velocity"][:, k]).sum()], 1e-3)
        # Above the highest grain there is nothing, which is not 0.
        empty = data["position"] - width / 2 > (g["position"][:, 1] + g["radius"]).max()
        self.assertTrue(empty.any())
        self.assertTrue((data["fraction"][empty] == 0).all())
        for name in ("velocity_x", "velocity_y", "temperature", "pressure"):
            self.assertTrue(numpy.isnan(data[name][empty]).all(), name)
            self.assertTrue(numpy.isfinite(data[name][data["fraction"] > 0]).all(), name)

    def test_profile_of_several_frames(self):
        """The velocity of a slice is that of all mass that the frames have there."""
        region = ("--region", "x=0:0.12,y=0:0.3")
        each = [self.csv_of("profile", *region, "--frame", n) for n in (5, 10, 15)]
        data = self.csv_of("profile", *region, "--frame", "5:15:5")
        mass = numpy.array([e["fraction"] for e in each])
        moving = numpy.array([numpy.nan_to_num(e["velocity_y"]) for e in each]) * mass
        filled = mass.sum(axis=0) > 0
        self.assertGreater(numpy.ptp(mass, axis=0).max(), 0.1)
        self.near(data["velocity_y"][filled], moving.sum(axis=0)[filled] / mass.sum(axis=0)[filled])

    def test_flow(self):
        """Grains that are above a line in one frame and below it in the next."""
        data = self.csv_of("flow", "--at", 0.1)
        total = 0
        for row, (before, after) in enumerate(zip(self.frames, self.frames[1:])):
            old = dict(zip(before["grains"]["id"], before["grains"]["position"][:, 1]))
            g = after["grains"]
            down = sum(m for i, m, y in zip(g["id"], g["mass"], g["position"][:, 1])
                       if i in old and old[i] > 0.1 >= y)
            up = sum(m for i, m, y in zip(g["id"], g["mass"], g["position"][:, 1])
                     if i in old and old[i] <= 0.1 < y)
            total += down - up
            self.near([data["mass"][row]], [total], 1e-9)
        self.assertGreater(total, 0)
        self.near([(data["mass_rate"] * numpy.diff(self.time)).sum()], [total], 1e-9)

    def test_slope(self):
        surface = self.csv_of("repose", "--slope", "plane")
        angles = self.csv_of("slope", "--slope", "plane")
        fitted = surface["fitted"] == 1
        rise = numpy.polyfit(surface["distance"][fitted], surface["height"][fitted], 1)[0]
        self.near([angles["angle"][-1]], [numpy.degrees(numpy.arctan(abs(rise)))], 1e-9)

    # ---- refusals ------------------------------------------------------------------------------

    def test_refusals(self):
        for arguments, status, words in (
                (("enrgy",), 2, "did you mean 'energy'"),
                (("series", "kinetic"), 1, "no column 'kinetic'"),
                (("series",), 1, "needs names"),
                (("stress", "--frame", "1000"), 1, "there is no frame 1000"),
                (("profile", "--axis", "z"), 1, "no axis z"),
                (("profile", "--axis", "w"), 2, "--axis"),
                (("flow", "--at", "here"), 2, "--at"),
                (("repose", "--slope", "cone"), 2, "heap or plane"),
                (("gr", "--format", "jpg"), 2, "png, svg or pdf"),
                (("gr", "energy", "-o", self.path("both.png")), 2, "give a directory"),
                (("all", "-o", self.path("both.csv")), 2, "give a directory"),
                (("series", "grains", "-o", self.path("both.jpg")), 2, "png, svg or pdf"),
                (("forces", "--frame", "0", "--force"), 1, "no plot of forces")):
            result = talus("plot", self.run_2d, *arguments)
            self.assertEqual(result.returncode, status, (arguments, result.stderr))
            self.assertIn(words, result.stderr, arguments)
        self.assertEqual(talus("plot").returncode, 2)
        self.assertIn("no recorded run", talus("plot", self.path("nowhere")).stderr)


if __name__ == "__main__":
    unittest.main()
