"""Worlds that Python steps, on disk: saved and loaded they go on with the same bits, recorded they are
what a run is to everything that opens runs."""
import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["TALUS_BUILD"], "python")))

import numpy
import talus

SOURCE = Path(os.environ["TALUS_SOURCE"])
PROGRAM = os.environ["TALUS"]
CUBE = numpy.array(list(itertools.product((-0.01, 0.01), repeat=3)))


def quiet(level, text):
    """A log that nobody reads."""


def disks():
    """Balls in 2D with all laws of contact, bonds, rolling, two materials, walls that go."""
    world = talus.World(dim=2, gravity=[0.1, -9.81], seed=7, drag=1e-3, on_escape="accept",
                        has_domain=True, domain_low=[-9, -9], domain_high=[9, 9], log=quiet)
    world.add_material("rough", friction=0.5, dynamic_friction=0.3, rolling=0.1,
                       rolling_kind="radius", cohesion_force=0.1, cohesion_energy=1e-5)
    world.add_material("smooth", friction=0.1, restitution=0.5)
    world.set_pair("rough", "smooth", friction=1 / 3)
    world.add_wall("floor", "plane", normal=[0.1, 1] / numpy.hypot(0.1, 1))
    world.add_wall("shelf", "segment", edge_u=[0.05, 0.01], position=[0.1, 0.02], skin=1e-3)
    world.add_wall("lid", "plane", normal=[0, -1], position=[0, 0.5],
                   drive={"kind": "force", "mass": 0.3, "free_axes": [False, True, False],
                          "force": [0, -1, 0], "damping": 0.1, "weight": True})
    world.add_wall("gone", "plane", normal=[1, 0], position=[-0.3, 0])
    place = [[0.021 * (i % 12), 0.06 + 0.021 * (i // 12)] for i in range(96)]
    world.add_grains(place, radius=[0.008 + 0.001 * (i % 3) for i in range(96)],
                     material=["rough" if i % 3 else "smooth" for i in range(96)], tag=range(96))
    world.add_grain(radius=0.01, position=[0.3, 0.2], fixed=True)
    world.add_grain(radius=0.01, position=[0.1, 0.5], glued_to="lid")
    world.remove_wall("gone")
    return world, 1e-3


def solids():
    """Compound and rounded solids in 3D, a mesh, a box that shakes about a pivot, obstacles."""
    world = talus.World(dim=3, gravity=[0, 0, -9.81], log=quiet)
    world.add_material("stone", friction=0.4, torsion=1e-3)
    world.add_solid("cube", CUBE + [0.3, -0.2, 0.1])
    world.add_solid("cross", [CUBE * [2, 0.5, 0.5], CUBE * [0.5, 2, 0.5]], skin=1e-3)
    triangles = numpy.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0.01]],
                             [[-1, -1, 0], [1, 1, 0.01], [-1, 1, 0]]], float)
    world.add_wall("ground", "mesh", triangles=triangles, skin=1e-3)
    world.add_wall("box", "box", inside=True, half_size=[0.1, 0.1, 0.3], position=[0, 0, 0.29],
                   open_faces=32, drive={"kind": "sine", "amplitude": [0.003, 0, 0],
                                         "spin_amplitude": [0, 0, 0.02], "frequency": 5,
                                         "phase": 0.3, "has_pivot": True, "pivot": [0.1, 0, 0]})
    world.add_wall("rock", "solid", solid="cross", position=[0.02, 0, 0.03], rotation=[0.1, 0.2, 0.3])
    rows = [[0.05 * (i % 3 - 1), 0.05 * (i // 3 % 3 - 1), 0.1 + 0.05 * (i // 9)] for i in range(27)]
    world.add_grains(rows, solid=["cube", "cross", "cube"] * 9, rotation=[0.3, 0.1, 0.2],
                     scale=[1, 0.8, 0.6] * 9, spin=[1, 2, 3])
    world.add_grain(radius=0.01, position=[0, 0, 0.28], external_force=[0.01, 0, 0], locked_rotation=True)
    return world, 1e-3


def periodic():
    """A periodic shear cell with a servo, a table and glued grains."""
    world = talus.World(dim=2, periodic=[True, False], cell_low=[0, 0], cell_high=[0.2, 0],
                        threads=2, log=quiet, solver={"tolerance": 0.03, "max_sweeps": 300})
    world.add_material("glass", friction=0.5)
    world.add_wall("bottom", "plane", normal=[0, 1])
    world.add_wall("top", "plane", normal=[0, -1], position=[0, 0.2],
                   drive={"kind": "servo", "mass": 0.1, "servo_axis": [0, -1, 0], "stress": 50,
                          "area": 0.2})
    world.set_drive("bottom", kind="table",
                    table=[[0, 0.1, 0, 0, 0, 0, 0], [0.05, 1 / 3, 0, 0, 0, 0, 0]])
    world.add_grains([[0.01 + 0.02 * (i % 10), 0.03 + 0.019 * (i // 10)] for i in range(70)],
                     radius=0.0094)
    world.add_grains([[0.01 + 0.02 * i, 0.0] for i in range(10)], radius=0.009, glued_to="bottom")
    return world, 1e-3


def soft():
    """Soft grains, with derivatives and springs that have a history."""
    world = talus.World(dim=2, gravity=[0, -9.81], method="soft", log=quiet,
                        soft={"integrator": "gear5", "bound": "elastic"})
    world.add_material("rubber", friction=0.4, restitution=0.6,
                       soft={"stiffness": 1e4, "damping_ratio": 0.5})
    world.add_solid("square", [[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]])
    world.add_wall("floor", "plane", normal=[0, 1])
    world.add_wall("lid", "plane", normal=[0, -1], position=[0, 0.3],
                   drive={"kind": "force", "mass": 1, "free_axes": [False, True, False],
                          "force": [0, -5, 0]})
    world.add_grains([[0.0185 * (i % 8), 0.012 + 0.02 * (i // 8)] for i in range(40)], radius=0.0095)
    world.add_grains([[0.03 * i, 0.15] for i in range(5)], solid="square", rotation=0.3)
    return world, 1e-5


WORLDS = {"disks": disks, "solids": solids, "periodic": periodic, "soft": soft}


logging.getLogger("talus").setLevel(logging.ERROR)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, *arguments, fails=False):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout + done.stderr


class Saving(InFolder):
    def test_worlds_made_by_hand(self):
        """Saved in the middle, loaded and stepped they have the same bits; saved again they are the
        same file."""
        for name, make in WORLDS.items():
            with self.subTest(name):
                world, h = make()
                steps = 1000 if name == "soft" else 60
                world.steps(h, steps)
                path, again = self.folder / f"{name}.h5", self.folder / "again.h5"
                world.save(path)
                loaded = talus.World.load(path, log=quiet)
                loaded.save(again)
                self.assertEqual(path.read_bytes(), again.read_bytes())
                self.assertEqual(loaded.hash(), world.hash())
                world.steps(h, steps)
                loaded.steps(h, steps)
                self.assertGreater(world.contacts.count, 0)
                self.assertEqual(loaded.hash(), world.hash())
                loaded.validate()

    def test_ready_made_scenes(self):
        for path in sorted(SOURCE.glob("scenes/*.yaml")):
            with self.subTest(path.stem):
                world = talus.Scene(path).world(log=quiet)
                world.steps(world.step_length, 3)
                saved = self.folder / "world.h5"
                world.save(saved)
                loaded = talus.World.load(saved, log=quiet)
                world.steps(world.step_length, 3)
                loaded.steps(world.step_length, 3)
                self.assertEqual(loaded.hash(), world.hash())

    def test_what_it_is_made_of(self):
        world, _ = disks()
        world.save(self.folder / "world.h5")
        loaded = talus.World.load(self.folder / "world.h5", threads=2, log=quiet)
        self.assertEqual(loaded.options().threads, 2)
        self.assertEqual(loaded.options().gravity.tolist(), [0.1, -9.81, 0])
        self.assertEqual(loaded.pair("rough", "smooth").friction, 1 / 3)
        self.assertEqual(list(loaded.walls), ["floor", "shelf", "lid"])
        self.assertEqual(loaded.wall_options("lid").drive.mass, 0.3)
        world, _ = solids()
        options = world.solid_options("cross")
        self.assertEqual((options.part_count, options.point_count), (2, 16))
        numpy.testing.assert_array_equal(options.points[:8], CUBE * [2, 0.5, 0.5])

    def test_files_that_are_none(self):
        wrong = self.folder / "wrong.h5"
        with self.assertRaisesRegex(talus.FileError, "wrong.h5"):
            talus.World.load(wrong)
        wrong.write_text("nothing of the kind")
        with self.assertRaisesRegex(talus.FormatError, "is not a checkpoint of Talus"):
            talus.World.load(wrong)
        world, _ = disks()
        world.save(wrong)
        data = bytearray(wrong.read_bytes())
        data[len(data) // 2] ^= 1
        wrong.write_bytes(data)
        with self.assertRaisesRegex(talus.FormatError, "damaged"):
            talus.World.load(wrong)
        talus.run("pair-collision", self.folder / "run", max_steps=2, log=quiet)
        with self.assertRaisesRegex(talus.StateError, "in the scene of its run"):
            talus.World.load(self.folder / "run" / "checkpoint.h5")


class Recorded(InFolder):
    def test_all_that_a_run_has(self):
        world, h = disks()
        with world.record(self.folder / "out", frame_interval=0.02, title='shaken "disks"') as record:
            world.run(steps=30, h=h)
            world.step(h)
            record.frame()
            world.steps(h, 69)
        self.assertEqual(record.summary.steps, 100)
        self.assertIn("finished", record.summary.outcome)
        self.assertEqual(record.summary.state_hash, world.hash())
        shown = talus.open(self.folder / "out")
        self.assertEqual(shown.title, 'shaken "disks"')
        self.assertEqual(list(shown.steps), [0, 20, 31, 40, 60, 80, 100])
        numpy.testing.assert_array_equal(shown[-1].grains.position, world.grains.position)
        self.assertEqual(len(shown.series["step"]), 100)
        self.assertEqual(json.loads((self.folder / "out/summary.json").read_text())["steps"], 100)
        self.assertEqual(talus.load(self.folder / "out", log=quiet).hash(), world.hash())

    def test_soft_times(self):
        """The summary of soft grains tells how long a collision lasts, and so what steps mean."""
        world, h = soft()
        with world.record(self.folder / "out") as record:
            world.steps(h, 10)
        self.assertEqual(record.summary.contact_time, world.soft_times().contact)

    def test_programs_open_it(self):
        for name in ("disks", "solids"):
            world, h = WORLDS[name]()
            with world.record(self.folder / name, frame_interval=0.01):
                world.steps(h, 40)
            for command in (("measure", name), ("plot", name, "-o", f"{name}-plots"),
                            ("render", name, "-o", f"{name}.png"),
                            ("export", name, "--vtk", f"{name}-vtk"),
                            ("view", name, "--export", f"{name}.html")):
                with self.subTest(command):
                    self.program(*command)
            self.program("resume", name, "--steps", "50")
            world.steps(h, 10)
            self.assertEqual(talus.load(self.folder / name, log=quiet).hash(), world.hash())

    def test_gone_on_with(self):
        """Recorded in pieces it is the same as recorded at once, to the last row."""
        for name, make in WORLDS.items():
            with self.subTest(name):
                world, h = make()
                many = 40 if name != "soft" else 1200
                whole, pieces = self.folder / f"{name}-whole", self.folder / f"{name}-pieces"
                options = {"frame_interval": 9 * h, "series_interval": 4 * h, "log": quiet}
                with make()[0].record(pieces, **options) as record:
                    record._world.steps(h, many)
                for _ in range(2):
                    part = talus.load(pieces, log=quiet)
                    self.assertAlmostEqual(part.step_length, h)
                    with part.record(pieces, resume=True, **options):
                        part.steps(h, many)
                with world.record(whole, **options):
                    world.steps(h, 3 * many)
                self.assertEqual(part.hash(), world.hash())
                self.assertEqual((pieces / "series.csv").read_text(),
                                 (whole / "series.csv").read_text())
                self.assertEqual(list(talus.open(pieces).steps), list(talus.open(whole).steps))

    def test_killed(self):
        """A kill in the middle costs what came after the last checkpoint, and nothing else."""
        world, h = disks()
        script = textwrap.dedent("""
            import sys
            sys.path[:0] = sys.argv[1:3]
            import test_python_record as t
            world, h = t.disks()
            world.record("killed", frame_interval=0.01, checkpoint_seconds=1e-3)
            for step in range(1000):
                world.grains.external_force[:, 0] = 0.01 * world.time
                world.step(h)
                print(step, flush=True)
            """)
        child = subprocess.Popen([sys.executable, "-c", script, str(Path(__file__).parent),
                                  str(Path(os.environ["TALUS_BUILD"], "python"))],
                                 stdout=subprocess.PIPE, cwd=self.folder, text=True)
        for line in child.stdout:
            if int(line) == 50:
                child.send_signal(signal.SIGKILL)
                break
        child.stdout.close()
        child.wait()
        part = talus.load(self.folder / "killed", log=quiet)
        self.assertGreater(part.last.step, 10)
        with part.record(self.folder / "killed", resume=True):
            while part.last.step < 120:
                part.grains.external_force[:, 0] = 0.01 * part.time
                part.step(h)
        for _ in range(120):
            world.grains.external_force[:, 0] = 0.01 * world.time
            world.step(h)
        self.assertEqual(part.hash(), world.hash())
        self.assertEqual(len(talus.open(self.folder / "killed").series["step"]), 120)

    def test_whatever_comes_on_the_way(self):
        """Materials, shapes, walls and grains that are added while the world is recorded."""
        world, h = disks()
        with world.record(self.folder / "out", frame_interval=0.01):
            world.steps(h, 20)
            world.add_material("ice", friction=0.02)
            world.add_solid("square", [[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]])
            world.add_wall("late", "plane", normal=[-1, 0], position=[0.6, 0], material="ice")
            world.add_grain(solid="square", position=[0.4, 0.5], material="ice")
            world.set_gravity([0, -5])
            world.steps(h, 20)
            world.remove_wall("late")
            world.steps(h, 20)
        shown = talus.open(self.folder / "out")
        self.assertEqual([len(frame.walls) for frame in shown], [3, 3, 3, 4, 4, 3, 3])
        self.assertEqual(shown[0].grains.count + 1, shown[-1].grains.count)
        loaded = talus.load(self.folder / "out", log=quiet)
        loaded.steps(h, 20)
        world.steps(h, 20)
        self.assertEqual(loaded.hash(), world.hash())
        self.program("measure", "out")

    def test_steered_run_with_new_walls(self):
        """The same in a run of a scene that Python steers."""
        scene = {"dimension": 2, "step": 1e-3, "gravity": [0, -10], "until": {"time": 0.1},
                 "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]}],
                 "grains": [{"type": "lattice", "low": [0, 0.01], "high": [0.1, 0.1],
                             "radius": 0.01}], "output": {"frames": 0.02}}

        def change(world):
            if abs(world.time - 0.04) < 1e-9:
                world.add_material("ice", friction=0)
                world.add_wall("side", "plane", normal=[1, 0], position=[-0.02, 0], material="ice")

        whole = talus.run(scene, self.folder / "whole", before_step=change, log=quiet)
        first = talus.run(scene, self.folder / "parts", before_step=change, log=quiet,
                          progress=lambda p: p.last.step == 70)
        self.assertTrue(first.interrupted)
        parts = talus.resume(self.folder / "parts", before_step=change, log=quiet)
        self.assertEqual(parts.state_hash, whole.state_hash)
        self.assertEqual([len(f.walls) for f in talus.open(self.folder / "parts")],
                         [1, 1, 1, 2, 2, 2])

    def test_a_packing_without_steps(self):
        """A world can be recorded as it is, to be looked at."""
        world, _ = periodic()
        world.record(self.folder / "packing").close()
        self.assertEqual(len(talus.open(self.folder / "packing")), 1)
        self.program("render", "packing", "-o", "picture.png")

    def test_left_open(self):
        """What is not closed is closed with the program."""
        script = textwrap.dedent("""
            import sys
            sys.path[:0] = sys.argv[1:3]
            import test_python_record as t
            world, h = t.disks()
            world.record("open")
            world.steps(h, 5)
            """)
        subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent),
                        str(Path(os.environ["TALUS_BUILD"], "python"))], check=True,
                       cwd=self.folder)
        self.assertEqual(json.loads((self.folder / "open/summary.json").read_text())["steps"], 5)

    def test_mistakes(self):
        world, h = disks()
        out = self.folder / "out"
        with self.assertRaisesRegex(TypeError, "did you mean 'frame_interval'"):
            world.record(out, frame_intervals=1)
        with self.assertRaisesRegex(talus.ArgumentError, "frame_interval: expected a time"):
            world.record(out, frame_interval=-1)
        with self.assertRaisesRegex(talus.StateError, "no recording to go on with"):
            world.record(out, resume=True)
        record = world.record(out)
        with self.assertRaisesRegex(talus.StateError, "already"):
            world.record(self.folder / "other")
        world.steps(h, 5)
        record.close()
        with self.assertRaisesRegex(talus.StateError, "has ended"):
            record.frame()
        with self.assertRaises(talus.ExistsError):
            world.record(out)
        world.steps(h, 5)
        with self.assertRaisesRegex(talus.StateError, "which stands at step 5: load it from there"):
            world.record(out, resume=True)
        empty = talus.World(dim=2, log=quiet)
        with self.assertRaisesRegex(talus.ArgumentError, "a step_length is needed"):
            empty.record(self.folder / "empty")
        empty.record(self.folder / "empty", step_length=1e-3).close()


class GoingOn(InFolder):
    """A scene that goes on with a saved world."""

    def test_from_python_to_a_scene(self):
        world, h = disks()
        world.steps(h, 30)
        world.save(self.folder / "packing.h5")
        scene = {"title": "pushed", "dimension": 2, "world": "packing.h5", "step": h,
                 "phases": [{"name": "push", "gravity": [1, -9.81], "until": {"steps": 20},
                             "set_motion": {"lid": {"type": "velocity", "velocity": [0, -0.1]}},
                             "pairs": [{"between": ["rough", "rough"], "friction": 0.2}]}],
                 "output": {"frames": 0.01}}
        (self.folder / "push.yaml").write_text(json.dumps(scene))
        self.program("run", "push.yaml", "-o", "push")
        shown = talus.open(self.folder / "push")
        self.assertEqual(list(shown.steps), [30, 40, 50])
        world.set_gravity([1, -9.81])
        world.set_drive("lid", kind="velocity", velocity=[0, -0.1, 0])
        world.set_pair("rough", "rough", friction=0.2)
        world.steps(h, 20)
        self.assertEqual(talus.load(self.folder / "push", log=quiet).hash(), world.hash())
        (self.folder / "packing.h5").unlink()  # the run has a copy of its own
        self.program("resume", "push", "--steps", "60")

    def test_mistakes(self):
        world, h = disks()
        world.save(self.folder / "packing.h5")
        good = {"dimension": 2, "world": str(self.folder / "packing.h5"), "step": h,
                "until": {"steps": 3}}
        talus.Scene(good)
        for wrong, words in (({"gravity": [0, 1]}, "gravity: is that of the saved world"),
                             ({"walls": []}, "walls: is that of the saved world"),
                             ({"dimension": 3}, "dimension: is not that of the saved world"),
                             ({"world": "nowhere.h5"}, "cannot be read"),
                             ({"world": str(SOURCE / "README.md")}, "not a checkpoint of Talus")):
            with self.subTest(words), self.assertRaisesRegex(talus.SceneError, words):
                talus.Scene({**good, **wrong})
        endless = {key: value for key, value in good.items() if key != "until"}
        with self.assertRaisesRegex(talus.ArgumentError, "nothing says when this run ends"):
            talus.run(endless, self.folder / "endless", log=quiet)
        self.assertEqual(talus.run(endless, self.folder / "endless", max_steps=4, log=quiet).steps, 4)


if __name__ == "__main__":
    unittest.main()
