"""The Python package in rough hands: wrong arguments, interrupts, forks, copies of results."""
import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["TALUS_BUILD"], "python")))

import numpy
import talus


class Case(unittest.TestCase):
    def assert_says(self, kinds, words, call, *given, **options):
        with self.assertRaises(kinds) as caught:
            call(*given, **options)
        self.assertIn(words, str(caught.exception))
        return caught.exception


class Options(Case):
    def test_copy_of_a_world(self):
        world = talus.World(gravity=[0, 0, -10])
        glass = world.add_material("glass", friction=0.3)
        world.add_wall("floor", "plane", normal=[0, 0, 1], material=glass)
        world.add_grains([[0, 0, 0.1], [0.05, 0, 0.31]], radius=0.1, material=glass)
        world.steps(1e-3, 50)
        other = world.copy()
        world.steps(1e-3, 50)
        then = world.grains.position.copy()
        self.assertNotEqual(other.time, world.time)
        other.steps(1e-3, 50)
        self.assertEqual(other.grains.position.tobytes(), then.tobytes())
        other.grains.velocity[:] = 1.0
        other.step(1e-3)
        self.assertEqual(world.grains.position.tobytes(), then.tobytes())

    def test_lengths_of_lists_are_not_given(self):
        """The library would read past the end of a list, or one that is not there."""
        for options in ({"set_count": 7}, {"sets": ["a=b"], "set_count": 1000}):
            self.assert_says(TypeError, "no option 'set_count'", talus.advise, scene="m.yaml",
                             **options)
        self.assert_says(TypeError, "no option 'log_user'", talus.World, log_user=None)
        world = talus.World(dim=3)
        self.assert_says(talus.ArgumentError, "", world.add_wall, "m", "mesh", triangle_count=5)

    def test_lists_of_a_fixed_length(self):
        world = talus.World(dim=2)
        world.add_grain(radius=0.1)
        talus.Figure().world(world, grain_colour=[0], colour_names=["a", None, "c"])
        self.assert_says(ValueError, "expected at most", talus.Figure().world, world,
                         grain_colour=[0], colour_names=["a"] * 100)
        self.assert_says(TypeError, "sets[0]: expected a text", talus.advise, sets=[None])


class Grains(Case):
    def test_columns_of_two_and_three_grains(self):
        """A column of spins must not be taken for one vector, whatever the number of grains."""
        for count in (1, 2, 3, 4):
            world, spin = talus.World(dim=2), numpy.arange(1.0, count + 1)
            position = [[i, 0] for i in range(count)]
            world.add_grains(position, radius=0.1, spin=spin, rotation=0.1 * spin, external_torque=2 * spin)
            self.assertEqual(world.grains.spin.tolist(), spin.tolist())
            self.assertEqual(world.grains.rotation.tolist(), (0.1 * spin).tolist())
            self.assertEqual(world.grains.external_torque.tolist(), (2 * spin).tolist())
            solid = talus.World(dim=3)
            solid.add_grains([[i, 0, 0] for i in range(count)], radius=0.1, spin=[1, 2, 3])
            self.assertEqual(solid.grains.spin.tolist(), [[1, 2, 3]] * count)
        self.assert_says(ValueError, "grains.spin: expected 4 numbers", world.add_grains, position,
                         radius=0.1, spin=[1, 2, 3])
        self.assert_says(ValueError, "grains.radius: expected 4 numbers", world.add_grains,
                         position, radius=[0.1, 0.1])

    def test_all_or_none(self):
        world = talus.World(dim=2)
        world.add_grain(radius=0.1)
        before = world.hash()
        for words, columns in (("grains.velocity[1]", {"velocity": [[0, 0], [numpy.nan, 0]]}),
                               ("grains[1]: ", {"radius": [0.1, -1]}),
                               ("grains.tag[1]: expected whole", {"tag": [1, 2.5]}),
                               ("there is no material 'gold'", {"material": ["default", "gold"]})):
            self.assert_says(talus.ArgumentError, words, world.add_grains, [[1, 0], [2, 0]],
                             **{"radius": 0.1, **columns})
            self.assertEqual((len(world.grains), world.hash()), (1, before))

    def test_names_of_materials_and_solids(self):
        world = talus.World(dim=2)
        world.add_material("glass")
        world.add_material("steel")
        world.add_solid("square", [[0, 0], [1, 0], [1, 1], [0, 1]])
        world.add_grains([[0, 0], [5, 0]], material=["steel", "glass"], solid="square",
                         tag=[1.0, 2.0])
        world.add_grain(position=[9, 0], solid="square", material="steel")
        self.assertEqual(world.grains.material.tolist(), [1, 0, 1])
        self.assertEqual(world.grains.tag.tolist(), [1, 2, 0])
        self.assert_says(talus.ArgumentError, "there is no solid 'cube'", world.add_grain,
                         solid="cube")

    def test_walls_say_all_and_can_be_changed(self):
        world = talus.World(dim=2)
        world.add_material("glass", friction=0.3, soft={"stiffness": 1e5})
        world.add_material("steel", friction=0.2)
        self.assertEqual(world.pair("glass", "steel").friction, 0.2)
        self.assertEqual(world.pair(0, 0).soft.stiffness, 1e5)
        world.add_wall("lid", "plane", normal=[0, -1], position=[0, 3], material="steel",
                       drive={"kind": "velocity"})
        world.set_wall_velocity("lid", [0, -1], None)
        world.step(0.5)
        lid = world.wall_options("lid")
        self.assertEqual((lid.name, lid.material, lid.position.tolist()), ("lid", 1, [0, 2.5, 0]))
        self.assertEqual(lid.drive.velocity.tolist(), [0, -1, 0])
        self.assert_says(talus.StateError, "no force is applied to it", world.set_wall_force, "lid",
                         [0, 1])
        world.set_drive("lid", kind="force", mass=2, free_axes=[False, True])
        world.set_wall_force("lid", [0, 4])
        world.step(0.5)
        self.assertEqual(world.wall("lid").velocity[1], 0)  # -1 m/s and 4 N for 0.5 s on 2 kg
        world.add_grain(radius=0.1, glued_to="lid", position=[0, 1])
        self.assertEqual(world.grains.glued_to.tolist(), [0])
        world.remove_wall("lid")
        self.assertEqual((len(world.grains), world.walls), (0, {}))

    def test_vectors_have_the_dimension_of_the_world(self):
        flat, space = talus.World(dim=2), talus.World(dim=3)
        for call, options in ((talus.World, {"dim": 2, "gravity": [0, -1, 5]}),
                              (flat.add_grain, {"radius": 1, "position": [0, 0.5, 0.7]}),
                              (flat.add_grain, {"radius": 1, "spin": [1, 0, 0]}),
                              (flat.add_grain, {"radius": 1, "spin": [1, 0]}),
                              (flat.set_gravity, {"gravity": [0, 0, 1]}),
                              (space.add_grain, {"radius": 1, "spin": 5}),
                              (space.add_grain, {"radius": 1, "position": [0, 1]}),
                              (talus.World, {"gravity": [0, -1]})):
            self.assert_says(ValueError, "expected", call, **options)
        flat.set_gravity([0, -1, 0])
        flat.add_grain(radius=1, spin=[0, 0, 3], position=[0, 0, 0])
        self.assertEqual(flat.grains.spin.tolist(), [3])

    def test_whole_numbers(self):
        world = talus.World(dim=2)
        world.add_grain(radius=0.1)
        self.assertEqual(world.run(1e1, 1e-3).step, 10)
        self.assertEqual(world.steps(1e-3, numpy.int32(5)).step, 15)
        for call, given in ((world.run, (2.5, 1e-3)), (world.run, (10, 1e-3, 2.5, print)),
                            (world.steps, (1e-3, 1.5)), (world.run, ("9", 1e-3))):
            self.assert_says(TypeError, "number, got", call, *given)
        for count in (0, -1):
            self.assert_says(talus.ArgumentError, "at least 1", world.steps, 1e-3, count)
        self.assertEqual(world.last.step, 15)


class Results(Case):
    def test_certificates(self):
        """How exact steps were: of the step, of all, and of each grain."""
        world = talus.World(dim=2, gravity=[0, -9.81], solver=dict(tolerance=0.05))
        world.add_material("glass", friction=0.4)
        world.add_wall("floor", "plane", normal=[0, 1])
        world.add_grains([[0.2 * i + 0.03 * j, 0.1 + 0.2 * j] for i in range(5) for j in range(4)], radius=0.1)
        self.assertFalse(world.grains.error.any())
        bounds = []
        for _ in range(30):
            step = world.step(1e-2).rigidity
            bounds.append(step.certified)
            errors = world.grains.error
            self.assertEqual(errors.max(), step.worst_grain_error)
            self.assertTrue(not errors.any() or world.grains.id[errors.argmax()] == step.worst_grain)
        self.assertGreater(max(bounds), 0)
        totals = world.totals()
        levels = [talus.certified_level(k) for k in range(talus.CERTIFIED_LEVELS)]
        self.assertEqual(numpy.cumsum(totals.certified).tolist(), [sum(b <= l for b in bounds) for l in levels])
        self.assertEqual(totals.worst_certified, max(bounds))
        self.assertAlmostEqual(totals.worst_time, 1e-2 * (1 + bounds.index(max(bounds))), places=12)
        world.remove_grain(0)
        self.assertEqual(world.grains.error.tolist(), errors[1:].tolist())
        world.add_grain(radius=0.1, position=[0, 5])
        self.assertEqual(world.grains.error.tolist(), [*errors[1:], 0])

    def test_copies(self):
        world = talus.World(dim=2, gravity=[0, -9.81])
        world.add_wall("floor", "plane", normal=[0, 1])
        world.add_grains([[0, 0.01], [0.02, 0.01], [0.01, 0.03]], radius=0.0101)
        world.run(5, 1e-3)
        stress, places = talus.measure.stress(world), talus.measure.places(world)
        for result in (world.last, world.options(), world.wall("floor"), stress, places,
                       talus.measure.voronoi(world), talus.measure.forces(world)):
            for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
                self.assertIs(type(again), type(result))
                numpy.testing.assert_equal(again.as_dict(), result.as_dict())
                self.assertEqual(repr(again), repr(result))
        # A copy is as good as what it was made from: also as an argument of the library.
        world.run(5, 1e-3)
        now = talus.measure.places(world)
        first, second = (talus.measure.crossings(before, now, gate={"point": [0, 0.0299]})
                         for before in (places, pickle.loads(pickle.dumps(places))))
        self.assertEqual(repr(first), repr(second))
        with self.assertRaises(talus.SceneError) as caught:
            talus.Scene({"stepp": 1})
        said = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(said), said.lines), (str(caught.exception), caught.exception.lines))

    def test_worlds_show_and_guard_themselves(self):
        world = talus.World(dim=2)
        world.add_grain(radius=0.1)
        self.assertEqual(repr(world), "<World in 2D: 1 grains, 0 walls, t = 0 s>")
        for name in ("gravity", "gravty"):
            self.assert_says(AttributeError, "set_gravity()", setattr, world, name, [0, 0])
        world.step_length = 1e-3
        self.assertEqual(world.step().time, 1e-3)

        class Mine(talus.World):
            pass

        Mine(dim=2).note = "a class of one's own may have what it likes"

    def test_principal(self):
        tensor = numpy.array([[2.0, 1], [1, -3]])
        value, direction = numpy.linalg.eigh(tensor)
        for made in (talus.measure.principal(tensor),
                     talus.measure.principal(numpy.pad(tensor, (0, 1)), dim=2)):
            numpy.testing.assert_allclose(made.value, [value[1], value[0], 0], rtol=1e-14)
            self.assertAlmostEqual(abs(made.direction[0, :2] @ direction[:, 1]), 1, 14)
        self.assertEqual(talus.measure.principal(numpy.diag([1, 3, 2])).value.tolist(), [3, 2, 1])
        shown = [name for name in dir(talus.measure) if not name.startswith("_")]
        self.assertEqual(sorted(shown), sorted(talus.measure.__all__))


CHAIN = {"title": "chain", "dimension": 2, "step": 1e-3, "until": {"time": 2e-3},
         "grains": [{"type": "chain", "start": [0, 0], "direction": [0, 1], "count": 2,
                     "radius": 0.01}]}


class Elsewhere(Case):
    """Each test in a folder of its own."""

    def setUp(self):
        folder, here = tempfile.TemporaryDirectory(), os.getcwd()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, here)
        os.chdir(folder.name)


class Scenes(Elsewhere):
    def test_files_in_overrides_of_a_dict(self):
        Path("g.csv").write_text("x,y,radius\n0,0,0.1\n1,0,0.1\n2,0,0.1\n")
        scene = dict(CHAIN, grains=[{"type": "csv", "file": "no.csv"}])
        for sets in ({"grains[0].file": "g.csv"}, ["grains[0].file=g.csv"],
                     {"grains": [{"type": "csv", "file": Path("g.csv")}]}):
            self.assertEqual(len(talus.Scene(scene, sets=sets).world().grains), 3)

    def test_overrides(self):
        self.assertEqual(talus.Scene(CHAIN, sets={"title": "a: b"}).title, "a: b")
        self.assertEqual(talus.Scene(CHAIN, sets={"title": "µ"}).title, "µ")
        self.assertEqual(talus.Scene(CHAIN, sets="step=2e-3").step_length, 2e-3)
        self.assertEqual(talus.Scene(CHAIN, sets=None).step_length, 1e-3)
        self.assertEqual(talus.Scene(CHAIN, sets={"step": 5e-3, "grains[0].count": 4}).step_length,
                         5e-3)

    def test_ready_made(self):
        self.assertTrue(talus.Scene("hopper").title)
        said = self.assert_says(FileNotFoundError, "did you mean 'hopper'?", talus.run, "hoper",
                                "run")
        self.assertIsInstance(said, talus.FileError)
        self.assert_says(TypeError, "a scene is a path", talus.Scene, 5)

    def test_runs_speak_python(self):
        talus.run(CHAIN, "run")
        said = str(self.assert_says(FileExistsError, "force=True", talus.run, CHAIN, "run"))
        self.assertIn("talus.resume('", said)
        self.assertNotIn("-o", said)
        talus.run(CHAIN, "run", force=True)
        said = self.assert_says(TypeError, "run has no option 'overwrite'", talus.run, CHAIN, "run",
                                overwrite=True)
        for word in ("_user", "command", "set_count", "stop"):
            self.assertNotIn(word, str(said))
        for call in (talus.open, talus.resume, talus.load, talus.Scene):
            self.assertRaises(FileNotFoundError, call, "./nope")
        self.assert_says(TypeError, "did you mean 'normal'?", talus.World(dim=2).add_wall, "a",
                         "plane", norml=[0, 1])

    def test_importers(self):
        Path("g.csv").write_text("x,y,radius\n0,0,0.1\n1,0,0.1\n")
        result = talus.import_file(path="g.csv", out="scene.yaml", dimension=2)
        self.assertEqual((result.grains, Path("scene.yaml").exists()), (2, True))


class Interrupts(Case):
    def test_a_storm_of_interrupts_leaves_the_world_usable(self):
        """Wherever the signal falls: before, in and after the call, also while its exception (with
        all the frames that it went through) is alive."""
        world, armed, kept = talus.World(dim=2), [False], None
        world.add_grain(radius=0.1)

        def interrupt(*_):
            if armed[0]:
                armed[0] = False
                raise KeyboardInterrupt

        before, hook = signal.signal(signal.SIGALRM, interrupt), sys.unraisablehook
        sys.unraisablehook = lambda dropped: None
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        try:
            end, count = time.monotonic() + 1.5, 0
            while time.monotonic() < end:
                try:
                    armed[0] = True
                    while armed[0]:  # the interpreter drops what is raised while it tidies up
                        world.step(1e-9)
                        world.wall_count()
                        held = world.grains.velocity
                except KeyboardInterrupt as problem:
                    kept, count = problem, count + 1
                world.time  # StateError: the lock was kept
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            sys.unraisablehook = hook
        self.assertGreater(count, 20)  # hundreds on an idle machine
        self.assertIsInstance(kept, KeyboardInterrupt)
        self.assertEqual(len(held), 1)
        world.validate()


IN_THE_CHILD = """
import os, signal, sys, talus

def world(threads):
    world = talus.World(dim=2, threads=threads)
    world.add_grains([[0.2 * i, 0] for i in range(3000)], radius=0.1)
    return world

def in_child(call):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs ends by the signal
        try:
            call()
        except talus.StateError as problem:
            os._exit(3 if "take threads=1" in str(problem) else 4)
        os._exit(0)
    return os.waitpid(child, 0)[1]

assert in_child(lambda: world(2).step(1e-3)) == 0  # no threads yet
old = world(2)
old.step(1e-3)
print(in_child(lambda: world(2).step(1e-3)), in_child(lambda: old.step(1e-3)),
      in_child(lambda: old.validate()), in_child(lambda: world(1).step(1e-3)),
      in_child(lambda: world(0).step(1e-3)), in_child(lambda: old.grains.position[:]))
"""


class Forks(Case):
    def test_a_child_does_not_wait_for_threads_of_its_parent(self):
        done = subprocess.run([sys.executable, "-c", IN_THE_CHILD], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=sys.path[0], OMP_NUM_THREADS="2"))
        refused = str(3 << 8)  # exit status 3
        self.assertEqual(done.stdout.split(), [refused] * 3 + ["0"] * 3, done.stderr)


class Forces(unittest.TestCase):
    """Which force is which, and when it acts."""

    def test_acts_in_the_first_step(self):
        """Whichever way it is set, with every integrator: the first step has all of h F/m."""
        methods = [{"method": "contact"}]
        methods += [{"method": "soft", "soft": {"integrator": name}}
                    for name in ("gear5", "gear3", "verlet", "leapfrog")]
        for options in methods:
            for way in ("array", "held", "call", "definition"):
                with self.subTest(way=way, **options):
                    world = talus.World(dim=2, **options)
                    world.add_material("rubber", soft={"stiffness": 1e4})
                    given = {"external_force": [3, 0]} if way == "definition" else {}
                    grain = world.add_grain(radius=0.01, position=[0, 0], mass=2, **given)
                    if way == "array":
                        world.grains.external_force = [[3, 0]]
                    elif way == "held":
                        held = world.grains.external_force
                        held[0] = [3, 0]
                    elif way == "call":
                        world.set_grain_force(grain, [3, 0], None)
                    world.step(1e-3)
                    # One product and one quotient, rounded each.
                    self.assertAlmostEqual(world.grains.velocity[0, 0], 1.5e-3, delta=1e-18)

    def test_newton(self):
        """What changes a grain's momentum is gravity, its external force and its contact force."""
        world = talus.World(dim=2, gravity=[0, -10], solver={"tolerance": 1e-9})
        world.add_material("glass", friction=0.3)
        world.add_wall("floor", "plane", normal=[0, 1])
        world.add_grains([[0, 0.01], [0.02, 0.01], [0.01, 0.0273]], radius=0.01)
        for _ in range(20):
            world.grains.external_force[:, 0] = [0.1, 0, -0.2]
            before = world.grains.velocity.copy()
            world.step(1e-3)
            mass = world.grains.mass[:, None]
            push = world.grains.external_force + world.grains.contact_force + mass * [0, -10]
            change = mass * (world.grains.velocity - before) / 1e-3
            # Forces of some 10 N; velocities and impulses are rounded at 1e-16 of theirs, over h.
            numpy.testing.assert_allclose(push, change, atol=1e-9)
        self.assertGreater(world.grains.contact_force[0, 1], 1)

    def test_names(self):
        world = talus.World(dim=2)
        world.add_grain(radius=1)
        self.assertIn("contact_force", dir(world.grains))
        with self.assertRaisesRegex(AttributeError, "did you mean external_force or contact_force"):
            print(world.grains.force)
        with self.assertRaisesRegex(AttributeError, "is measured"):
            world.grains.contact_force = 1


if __name__ == "__main__":
    unittest.main()
