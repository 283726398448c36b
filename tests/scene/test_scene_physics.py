"""Whole ready-made scenes: where a formula exists, the result obeys it.

needs TALUS (the program) in the environment. TALUS_TEST_SCALE below 1 (sanitizer builds) leaves out
the longer ones.
"""
import json
import math
import shutil
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy
from scene_runs import LONG, carry_out, frame_of


class Physics(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="talus-scene-"))

    def tearDown(self):
        shutil.rmtree(self.directory)

    def test_chain_falls_freely_and_then_rings(self):
        """Until it meets the wall the chain's momentum is F t, whatever the sweeps left undone;
        then the force on the wall is a damped oscillation with the papers' omega and tau."""
        options = ["--set", "output.frames=0"]
        steps = 30
        carry_out("chain", self.directory / "fall", "--steps", steps, *options)
        first, last = (frame_of(self.directory / "fall", k) for k in (0, -1))
        # F t and the implicit Euler position; 50 numbers of order 50 round to 1e-14 each.
        self.assertAlmostEqual(last["velocity"][:, 0].sum(), -0.05 * steps, delta=1e-12)
        travelled = (last["position"] - first["position"])[:, 0].sum()
        self.assertAlmostEqual(travelled, -0.05 * steps * (steps + 1) / 2, delta=1e-11)

        _, series = carry_out("chain", self.directory / "ring", *options)
        late = (series["time"] >= 300) & (series["time"] <= 550)
        omega, tau = fit_ringing(series["time"][late], series["wall_force_x"][late])
        # Over 12 seeds omega was 0.0007 above the formula with a scatter of 0.0005, tau 0.002 above
        # with a scatter of 0.004, all relative; the continuum limit neglects (k d)^2/24 = 4e-5.
        k, q, sweeps = math.pi / 100, (4 * math.sqrt(math.e) - 5) / 2, 40
        c, d = math.sqrt(q * sweeps), q * sweeps
        self.assertAlmostEqual(omega, k * math.sqrt(c**2 - d**2 * k**2 / 4), delta=0.004 * omega)
        self.assertAlmostEqual(tau, 2 / (d * k**2), delta=0.025 * tau)

    def test_pair_collides_in_two_steps(self):
        carry_out("pair-collision", self.directory / "run")
        relative, momenta = [], []
        for number in range(21):
            grains = frame_of(self.directory / "run", number)
            relative.append(grains["velocity"][0, 0] - grains["velocity"][1, 0])
            momenta.append(float(grains["mass"] @ grains["velocity"][:, 0]))
        # A gap of 3.7 mm at 1 mm a step: three free steps, one that closes 0.7 mm, then none.
        expected = [1, 1, 1, 1, 0.7] + [0] * 16
        for number, (u, wanted) in enumerate(zip(relative, expected)):
            self.assertAlmostEqual(u, wanted, delta=1e-12, msg=f"step {number}")
        self.assertLess(max(momenta) - min(momenta), 1e-14 * momenta[0] * 10)

    def test_incline_accelerations(self):
        summary, _ = carry_out("incline", self.directory / "run")
        grains = frame_of(self.directory / "run", -1)
        speed = numpy.linalg.norm(grains["velocity"], axis=1) / summary["time"]
        g, tilt = 9.81, math.radians(30)
        wanted = [g * math.sin(tilt), g * (math.sin(tilt) - 0.1 * math.cos(tilt)),
                  5 / 7 * g * math.sin(tilt)]
        # Constant forces: every step is exact, 1000 of them round to 1e-13.
        numpy.testing.assert_allclose(speed, wanted, rtol=1e-11)
        spin = grains["spin"][:, 1] / summary["time"]
        numpy.testing.assert_allclose(
            spin, [0, 2.5 * 0.1 * g * math.cos(tilt) / 0.02, wanted[2] / 0.02], atol=1e-9)

    def test_overlaps_are_frozen_or_pushed_out(self):
        options = ["--steps", 1]
        frozen, _ = carry_out("overlap", self.directory / "frozen", *options)
        pushed, _ = carry_out("overlap", self.directory / "pushed", *options, "--set",
                              "solver.law=g")
        # The solver's tolerance is 1e-10 of the impulses, which overlap/h or g h stand for.
        self.assertLess(frozen["kinetic_energy"], 1e-20)
        self.assertAlmostEqual(frozen["overlap_max"] * 0.02, 1e-3, delta=1e-12)
        mass, speeds = 5000 * math.pi * 0.01**2, (0.25, 0.5, 1, 1)
        gained = 0.5 * mass * sum(speed**2 for speed in speeds)
        self.assertAlmostEqual(pushed["kinetic_energy"], gained, delta=1e-8 * gained)
        self.assertLess(pushed["overlap_max"], 1e-9)

    def test_two_discs_relax(self):
        """Relaxation times of the kinetic energy, in contact times, against those of the damped
        oscillators (tests/support/soft_discs.h): with Cundall's elongation the step of t_c/20 damps too."""
        t_c = 1.968717
        for name, wanted, sets in (
                ("geometric", 238.50, []), ("cundall", 69.10, ["soft.elongation=cundall"]),
                ("locked", 119.25, ["grains.pair.items[1].lock_rotation=true"])):
            _, series = carry_out("two-discs", self.directory / name,
                                  *(word for one in sets for word in ("--set", one)))
            found = relaxation_time(series, 2.5 * wanted * t_c, 5.5 * wanted * t_c) / t_c
            # The faster oscillation leaves exp(-2.5) of an oscillating 4e-2 in the first maxima.
            self.assertAlmostEqual(found, wanted, delta=3e-3 * wanted, msg=name)

    @unittest.skipUnless(LONG, "takes long")
    def test_bouncing_heights_and_zeno_times(self):
        carry_out("bouncing", self.directory / "run")
        with h5py.File(self.directory / "run" / "frames.h5", "r") as file:
            time = file["time"][()]
            frames = [file["frames"][name]["grains"] for name in sorted(file["frames"])]
            height = numpy.stack([grains["position"][:, 2] for grains in frames]) - 0.02
            speed = numpy.stack([grains["velocity"][:, 2] for grains in frames])
            thrown = [frames[k]["velocity"][6, 0] for k in (100, 160, 230)]  # bounces 1, 2 and 3
        fall = math.sqrt(2 / 9.81)
        for ball, e in enumerate((0, 0.3, 0.5, 0.7, 0.8, 0.9)):
            zeno = fall * (1 + e) / (1 - e)
            last = time[numpy.abs(speed[:, ball]) > 1e-3].max()
            # A bounce happens up to a step of 2e-4 s before the contact and frames are 0.01 s
            # apart; as the time is a sum of all bounces the first error counts 1/(1 - e) times.
            self.assertAlmostEqual(last, zeno, delta=0.011 + 2e-4 * 2 / (1 - e), msg=f"e = {e}")
            self.assertLess(abs(height[-1, ball]), 1e-12, "at rest on the floor")
            if e == 0:
                continue
            first = (time > fall) & (time < fall * (1 + 2 * e))
            # h v = 0.9 mm of the fall and g (0.005 s)^2/2 = 0.12 mm for the peak between frames.
            self.assertAlmostEqual(height[first, ball].max(), e * e, delta=1.1e-3)
        # The rubber ball turns back at every bounce with 0.9 of its speed; one contact is solved
        # exactly.
        numpy.testing.assert_allclose(thrown, [-0.9, 0.81, -0.729], rtol=1e-12)

    @unittest.skipUnless(LONG, "takes long")
    def test_gas_cools_by_haffs_law(self):
        _, series = carry_out("haff", self.directory / "run", "--steps", 6000,
                              "--set", "output.frames=0")
        count, mass, density = 1020, 2500 * math.pi / 6 * 0.01**3, 1020 / 0.22**3
        cool = series[series["time"] > 0.2]
        start = series[series["time"] <= 0.2][-1]["kinetic_energy"]
        # Elastic collisions conserve the energy.
        self.assertAlmostEqual(start, count * mass / 2, delta=1e-12 * start)
        phi = density * math.pi / 6 * 0.01**3
        rate = 4 * math.sqrt(math.pi) * density * 0.01**2 * (1 - phi / 2) / (1 - phi)**3
        tau = 6 / ((1 - 0.9**2) * rate * math.sqrt(2 * start / (3 * count) / mass))
        x = cool["time"] - 0.2
        y = numpy.sqrt(start / cool["kinetic_energy"]) - 1
        # A fit over a second, 25 collisions of each sphere or 13000 in all: noise of 1 %; and
        # kinetic theory's chi is good to 1 % at this density. Seen: 1 %.
        self.assertAlmostEqual((x @ x) / (x @ y), tau, delta=0.03 * tau)

    @unittest.skipUnless(LONG, "takes long")
    def test_sliders_stick_and_slip(self):
        carry_out("stick-slip", self.directory / "run", "--set", "until.time=17")
        # Steps in which a slider breaks loose are audited, too. At its bound it may as well hold:
        # an audit must not take the other answer for an error.
        summary = json.loads((self.directory / "run" / "summary.json").read_text())
        self.assertGreater(summary["audits_held"], 100)
        self.assertEqual(summary["audits_held"] + summary["audits_unanswered"], summary["audits"])
        with h5py.File(self.directory / "run" / "frames.h5", "r") as file:
            position = numpy.stack([file["frames"][name]["grains"]["position"][()]
                                    for name in sorted(file["frames"])])
        angle = numpy.degrees(numpy.arctan2(-position[:, :, 0], -position[:, :, 2]))
        for slider, dynamic in ((1, 0.4), (2, 0.3)):
            late = angle[180:, slider]  # after it broke loose for the first time, at 8.9 s
            highest, lowest = slide_back(0.5, dynamic, 0.48, 0.5 * 0.05)
            # The drum turns by 0.15 degrees between two frames.
            self.assertAlmostEqual(late.max(), highest, delta=0.2)
            self.assertAlmostEqual(late.min(), lowest, delta=0.2)

    @unittest.skipUnless(LONG, "takes long")
    def test_bonds_hold_in_free_fall_and_break_at_the_anvil(self):
        """The bonds that are left hardly depend on the step; without an energy none hold."""
        def bonds(name, *options):
            carry_out("bonded-cluster", self.directory / name, *options)
            with h5py.File(self.directory / name / "frames.h5", "r") as file:
                contacts = file["frames"][sorted(file["frames"])[-1]]["contacts"]
                return int(contacts["bonded"][()][contacts["a"][()] >= 0].sum())
        self.assertEqual(bonds("fall", "--steps", 150), 261)
        coarse = bonds("coarse", "--set", "until.time=0.1")
        fine = bonds("fine", "--set", "until.time=0.1", "--set", "step=2.5e-5")
        dust = bonds("dust", "--set", "until.time=0.1", "--set",
                     "materials.grit.cohesion_energy=0")
        # About 50 bonds break; which ones is chaotic in detail. Over five steps from 0.2 to
        # 0.0125 ms the number left was 204 to 212.
        self.assertTrue(190 < coarse < 235, coarse)
        self.assertTrue(190 < fine < 235, fine)
        self.assertLess(dust, 80)

    @unittest.skipUnless(LONG, "takes long")
    def test_powder_yields_gradually(self):
        """Half the scene: the pores get fewer with every doubling of the load."""
        options = ["--set", "output.frames=0", "--set", "periodic.x=[0, 0.05]",
                   "--set", "grains.rain.high=[0.05, 0.28]", "--set", "grains.rain.rate=75",
                   "--set", "grains.rain.limit=130"]
        summary, series = carry_out("cohesive-compaction", self.directory / "run", *options)
        ends = numpy.cumsum([phase["steps"] for phase in summary["phases"]])[1:]
        rows = [series[numpy.argmin(numpy.abs(series["step"] - end))] for end in ends]
        area = math.pi * (frame_of(self.directory / "run", -1)["radius"]**2).sum()
        porosity = numpy.array([1 - area / (0.05 * row["piston_position_y"]) for row in rows])
        # Where nothing gives way the piston may sway by the solver's error, far below 0.002.
        self.assertTrue((numpy.diff(porosity) < 0.002).all(), porosity)
        # Two seeds began at 0.60 and 0.54 and ended at 0.28 and 0.34; dense disks have 0.18. A
        # single collapse would be most of the way in one of the eight doublings.
        self.assertGreater(porosity[0], 0.5)
        self.assertTrue(0.2 < porosity[-1] < 0.4, porosity)
        self.assertLess(-numpy.diff(porosity).min(), 0.6 * (porosity[0] - porosity[-1]))
        self.assertAlmostEqual(rows[-1]["piston_force_y"], 2560, delta=0.01 * 2560)

    @unittest.skipUnless(LONG, "takes long")
    def test_sticky_rain_is_solved(self):
        """Trees whose branches bend, slide and roll: sweeps alone leave two of these steps."""
        summary, _ = carry_out("cohesive-compaction", self.directory / "run",
                               "--set", "output.frames=0", "--steps", 2400)
        self.assertEqual(summary["unconverged_steps"], 0)

    @unittest.skipUnless(LONG, "takes long")
    def test_piston_balances_its_load(self):
        """At the end of every phase floor and piston carry the load, and the side walls balance."""
        options = ["--set", "output.frames=0"]
        summary, series = carry_out("piston", self.directory / "run", *options)
        ends = numpy.cumsum([phase["steps"] for phase in summary["phases"]])
        heights = []
        for row, load in zip(series[ends - 1], (200, 2000, 200)):
            # At rest the forces are equal up to the solver's tolerance of 1e-4, which the size of
            # the packing, 27 diameters, may magnify by up to 27^2 (docs/theory.md). Seen: 0.3 %.
            self.assertAlmostEqual(row["piston_force_y"], load, delta=0.01 * load)
            self.assertAlmostEqual(row["floor_force_y"], -load, delta=0.02 * load)
            side = row["right_force_x"]
            self.assertAlmostEqual(row["left_force_x"], -side, delta=0.02 * load)
            self.assertTrue(0.5 * load < side < load, side)
            heights.append(row["piston_position_y"])
        # Rigid grains: ten times the load hardly moves the piston; some contacts slip. With seeds
        # 1, 2 and 3 it went down by 0.011, 0.016 and 0.008 mean diameters.
        self.assertLess(abs(heights[1] - heights[0]), 0.03 * 0.0075)

    @unittest.skipUnless(LONG, "takes long")
    def test_biaxial_servo_holds_its_stress(self):
        """The side wall's mean stress is the servo's; the strength is that of rough disks."""
        options = ["--set", "output.frames=0"]
        _, series = carry_out("biaxial", self.directory / "run", *options)
        shear = series[series["time"] > 0.5]
        height, width = shear["lid_position_y"], shear["right_position_x"]
        side = (shear["right_force_x"] / height).mean()
        # A deviation accelerates the wall: its speed, which stays near 0.035 m/s, allows a mean
        # over 0.7 s of 10 kg * 0.035 m/s / 0.7 s / 0.26 m = 2 N/m. The noise, 50 N/m in a step,
        # leaves 2.
        self.assertAlmostEqual(side, 1000, delta=10)
        ratio = (shear["lid_force_y"] / width).mean() / side
        # 1.85 here; the bounds stand for angles of internal friction of 15 and 25 degrees.
        self.assertTrue(1.7 < ratio < 2.5, ratio)

    @unittest.skipUnless(LONG, "takes long")
    def test_triaxial_consolidates_isotropically(self):
        """Under six equal stresses every wall, also the fixed floor, feels 10 kPa."""
        _, series = carry_out("triaxial", self.directory / "run", "--steps", 500,
                              "--set", "output.frames=0")
        late = series[-250:]
        x = late["right_position_x"] - late["left_position_x"]
        y = late["back_position_y"] - late["front_position_y"]
        z = late["lid_position_z"]
        stresses = {"right_force_x": y * z, "left_force_x": -y * z, "back_force_y": x * z,
                    "front_force_y": -x * z, "lid_force_z": x * y, "floor_force_z": -x * y}
        for name, area in stresses.items():
            # At rest the forces are equal up to the solver's tolerance of 1e-3 times a few.
            self.assertAlmostEqual((late[name] / area).mean(), 1e4, delta=50, msg=name)


def slide_back(static, dynamic, radius, speed):
    """Highest and lowest angle in degrees of a slider in a drum that breaks loose at arctan
    `static` with the drum's speed and slides until it has that speed again."""
    g, dt, rate = 9.81, 1e-5, speed / radius
    angle, turning = math.atan(static), rate
    highest = lowest = angle
    while turning < rate or angle > math.atan(dynamic):
        turning += dt * (dynamic * (g * math.cos(angle) + radius * turning**2)
                         - g * math.sin(angle)) / radius
        angle += dt * turning
        highest, lowest = max(highest, angle), min(lowest, angle)
    return math.degrees(highest), math.degrees(lowest)


def fit_ringing(t, x):
    """omega and tau of x = x0 + exp(-t/tau) (a sin omega t + b cos omega t), least squares."""
    def misfit(omega, tau):
        decay = numpy.exp(-(t - t[0]) / tau)
        basis = numpy.stack([numpy.ones_like(t), decay * numpy.sin(omega * t),
                             decay * numpy.cos(omega * t)], axis=1)
        return numpy.linalg.norm(x - basis @ numpy.linalg.lstsq(basis, x, rcond=None)[0])

    best, width = numpy.array([0.17, 60.0]), numpy.array([0.02, 30.0])
    while width[0] > 1e-6:
        grid = [best + width * (i, j) for i in (-1, -0.5, 0, 0.5, 1) for j in (-1, -0.5, 0, 0.5, 1)]
        grid = [p for p in grid if p[1] > 1]
        nearest = min(grid, key=lambda p: misfit(*p))
        if numpy.array_equal(nearest, best):
            width = width / 2
        best = nearest
    return best


def relaxation_time(series, first, last):
    """-1/slope of the logarithm of the maxima of the kinetic energy, found by parabolas."""
    time, energy = series["time"], series["kinetic_energy"]
    left, top, right = energy[:-2], energy[1:-1], energy[2:]
    slope, bend = (right - left) / 2, left - 2 * top + right
    maxima = ((top > left) & (top >= right) & (time[1:-1] > first) & (time[1:-1] < last))
    heights = numpy.log((top - slope**2 / (2 * numpy.where(maxima, bend, 1)))[maxima])
    return -1 / numpy.polyfit(time[1:-1][maxima], heights, 1)[0]


if __name__ == "__main__":
    unittest.main()
