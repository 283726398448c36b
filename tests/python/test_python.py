"""The Python package from the build tree: arrays without copies that never dangle, callbacks,
exceptions, scenes, runs and recordings.

The whole test runs with MALLOC_PERTURB_, which fills freed memory with garbage: an array that looks
at memory the library has given back does not keep its values.
"""
import csv
import gc
import json
import keyword
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import unittest
from pathlib import Path

if "MALLOC_PERTURB_" not in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, MALLOC_PERTURB_="165"))
sys.path.insert(0, str(Path(os.environ["TALUS_BUILD"], "python")))

import h5py
import numpy
import talus
from talus._call import FUNCTIONS
from talus._library import HEADER, ffi, lib
from talus._types import fields, shape_in, size_of

GRAVITY = 9.81


def column(count=5, **options):
    """A column of disks at rest on a floor."""
    world = talus.World(dim=2, gravity=[0, -GRAVITY], **options)
    world.add_wall("floor", "plane", normal=[0, 1])
    world.add_grains([[0, 0.01 + 0.02 * i] for i in range(count)], radius=0.01)
    return world


SCENE = {"title": "column", "dimension": 2, "step": 1e-3, "gravity": [0, -GRAVITY],
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]}],
         "grains": [{"type": "chain", "start": [0, 0.1], "direction": [0, 1], "count": 8,
                     "radius": 0.01}],
         "until": {"time": 0.2}, "output": {"frames": 0.05, "series": 0.01}}


WRITABLE = ("position", "velocity", "spin", "rotation", "external_force", "external_torque",
            "tag")


class Arrays(unittest.TestCase):
    def test_no_copy(self):
        """Arrays are at the very addresses that the library hands out."""
        world = column()
        world.step(1e-3)
        for table, now in (("grains", lib.talus_world_grains(world._pointer)),
                           ("contacts", lib.talus_world_contacts(world._pointer))):
            for name, field in fields("talus_" + table).items():
                if field.type.kind == "pointer":
                    array = getattr(getattr(world, table), name)
                    self.assertEqual(array.ctypes.data,
                                     int(ffi.cast("uintptr_t", getattr(now, name))), name)
                    self.assertEqual(len(array), now.count, name)
                    self.assertEqual(array.flags.writeable,
                                     table == "grains" and name in WRITABLE, name)
                    self.assertFalse(array.flags.owndata)

    def test_grains_follow_the_steps_and_can_be_written(self):
        world = column(1)
        position, velocity = world.grains.position, world.grains.velocity
        velocity[0] = [1, 2]
        world.run(10, 1e-3)
        self.assertIs(numpy.shares_memory(position, world.grains.position), True)
        self.assertAlmostEqual(position[0, 0], 0.01, 15)  # 10 steps of 1 ms at 1 m/s
        world.set_gravity([0, 0])
        world.add_wall("ceiling", "plane", normal=[0, -1], position=[0, 1])
        world.grains.velocity = 0
        self.assertEqual(abs(velocity).max(), 0)

    def test_contacts_keep_their_step(self):
        world = column()
        world.step(1e-3)
        force = world.contacts.force
        some, then = force[::2], force.copy()
        world.add_grains([[i, 0.01] for i in range(1, 200)], radius=0.01)
        world.run(20, 1e-3)
        self.assertTrue((force == then).all() and (some == then[::2]).all())
        self.assertEqual(len(world.contacts.force), 204)

    def test_more_grains_cut_arrays_off(self):
        world = column()
        position = world.grains.position
        before = position.copy()
        world.add_grains([[i, 0.01] for i in range(1, 3000)], radius=0.01)
        self.assertTrue((position == before).all())
        with self.assertRaises(ValueError):  # numpy's own: the array is read-only now
            position[0, 0] = 1
        self.assertEqual(world.grains.position.shape, (3004, 2))
        now, ids = world.grains.position, world.grains.id
        world.remove_grain(0)
        self.assertEqual((len(now), ids[0], world.grains.id[0]), (3004, 0, 1))

    def test_grains_taken_out_by_a_policy(self):
        world = column(5, on_escape="remove", has_domain=True, domain_low=[-1, -1],
                       domain_high=[1, 0.05], log=lambda level, text: None)
        position, before = world.grains.position, world.grains.position.copy()
        world.run(20, 1e-3)
        self.assertLess(len(world.grains), 5)
        self.assertTrue((position == before).all())

    def test_arrays_outlive_the_world(self):
        world = column()
        world.step(1e-3)
        position, force = world.grains.position[:, 1], world.contacts.force
        del world
        gc.collect()
        waste = [column(5) for _ in range(20)]
        del waste
        self.assertAlmostEqual(position[0], 0.01, 6)
        # The lowest contact carries five weights; the tolerance is the solver's, 1 % of velocities.
        self.assertAlmostEqual(force[0, 1] / (5 * 2500 * numpy.pi * 1e-4 * GRAVITY), 1, 2)

    def test_bits_do_not_depend_on_who_looks(self):
        plain, watched = column(30), column(30)
        plain.run(50, 1e-3)
        for _ in range(50):
            held = watched.contacts.force, watched.grains.position
            watched.step(1e-3)
        del held
        self.assertEqual(plain.hash(), watched.hash())

    def test_many_grains_are_as_one_by_one(self):
        rng = numpy.random.default_rng(3)
        position, radius = rng.uniform(0, 10, (50, 2)), rng.uniform(0.01, 0.02, 50)
        spin, tag = rng.uniform(-1, 1, 50), numpy.arange(50)
        many, single = talus.World(dim=2), talus.World(dim=2)
        many.add_grains(position, radius=radius, spin=spin, tag=tag, velocity=[1, 2])
        for i in range(50):
            single.add_grain(position=position[i], radius=radius[i], spin=spin[i], tag=tag[i],
                             velocity=[1, 2])
        self.assertEqual(many.hash(), single.hash())
        self.assertTrue((many.grains.tag == tag).all())


class Mistakes(unittest.TestCase):
    def assert_says(self, kinds, words, call, *given, **options):
        with self.assertRaises(kinds) as caught:
            call(*given, **options)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_the_library_speaks(self):
        world = column()
        said = self.assert_says(talus.ArgumentError, "radius must be positive, got -1",
                                world.add_grain, radius=-1)
        self.assertIsInstance(said, ValueError)
        self.assertEqual(said.status, "TALUS_ERR_ARGUMENT")
        self.assert_says(talus.ArgumentError, "the name is taken", world.add_wall, "floor", "plane",
                         normal=[0, 1])
        self.assert_says(OSError, "cannot open", talus.Scene,
                         "/no/scene.yaml")
        self.assert_says(FileNotFoundError, "there is no recorded run", talus.open, "/no/run")
        # A grain that is not a number stops a step.
        world.grains.velocity[0] = numpy.nan
        self.assert_says(talus.NumericError, "not a finite number", world.step, 1e-3)

    def test_scene_mistakes_are_all_listed(self):
        wrong = dict(SCENE, stepp=1, gravity="down")
        said = self.assert_says(talus.SceneError, "did you mean 'step'", talus.Scene, wrong)
        self.assertEqual(len(said.lines), 2)
        self.assertIn("gravity", "\n".join(said.lines))
        self.assertNotIn(tempfile.gettempdir(), str(said))

    def test_python_speaks_before_the_library_could_crash(self):
        world = column()
        self.assert_says(TypeError, "did you mean 'gravity'?", talus.World, gravty=[0, 0])
        self.assert_says(ValueError, "did you mean 'plane'?", world.add_wall, "a", "plain")
        self.assert_says(ValueError, "expected 2 numbers", world.add_grain, position=[1, 2, 3, 4])
        self.assert_says(TypeError, "expected a whole number", world.add_grain, material=0.5)
        self.assert_says(ValueError, "expected 5 numbers (grains), got 3", talus.Figure().world,
                         world, value=[1, 2, 3])
        self.assert_says(ValueError, "3 rows, but curve.x has 2", talus.Figure().curve, [1, 2],
                         [1, 2, 3])
        for complex_position in ([1j, 0], numpy.array([1, 2 + 3j])):
            self.assert_says(TypeError, "position[", world.add_grain, position=complex_position)
            self.assert_says(TypeError, "expected real numbers, got complex ones", world.add_grains,
                             [complex_position, [0, 0]])
        self.assert_says(TypeError, "expected real numbers", world.add_solid, "s", [[0, 0], [1, 0], [0, 1j]])
        self.assert_says(TypeError, "expected real numbers", talus.Figure().curve, [1j, 2], [1, 2])
        self.assert_says(TypeError, "expected a world", talus.measure.momentum, 7)
        self.assert_says(TypeError, "expected a world", talus.measure.momentum, talus.Figure())


class Callbacks(unittest.TestCase):
    def test_auto_steps(self):
        """0.1 sqrt(d/g), rounded down to 1, 2 or 5 times a power of ten; halved when coarse."""
        world = column(1, on_coarse="retry")
        advice = world.step_advice()
        self.assertAlmostEqual(advice.bound, 0.1 * (0.02 / GRAVITY) ** 0.5, delta=1e-15)
        self.assertEqual(advice.length, 0.002)
        world.step("auto")
        self.assertEqual(world.time, 0.002)
        world.add_grain(radius=0.01, position=[0, 0.03], velocity=[10, 0])
        self.assertEqual(world.step_advice().length, 0.001)
        result = world.step(0.01)
        self.assertGreater(result.substeps, 1)
        self.assertLessEqual(result.coarseness, 0.01)
        still = talus.World(dim=2)
        with self.assertRaisesRegex(ValueError, "auto"):
            still.step("auto")

    def test_every_n_steps(self):
        world, seen = column(), []
        result = world.run(100, 1e-3, every=30, callback=lambda w: seen.append(w.last.step))
        self.assertEqual((seen, result.step), ([30, 60, 90], 100))
        world.run(100, 1e-3, every=30, callback=lambda w: w.last.step >= 160)
        self.assertEqual(world.last.step, 160)

    def test_exceptions_arrive(self):
        world = column()
        with self.assertRaises(ZeroDivisionError):
            world.run(100, 1e-3, every=7, callback=lambda w: 1 / 0)
        self.assertEqual(world.last.step, 7)

    def test_a_callback_cannot_step_the_world_it_is_called_from(self):
        world = column(1, on_escape="remove", has_domain=True, domain_low=[-1, -1],
                       domain_high=[1, 0.001], log=lambda level, text: world.time)
        with self.assertRaisesRegex(talus.StateError, "in the middle of a call"):
            world.run(5, 1e-3)

    def test_control_c(self):
        """The signal comes from another thread while the library is at work."""
        begun = threading.Event()

        def interrupt():
            begun.wait(60)
            begun.clear()
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

        world = column()
        threading.Thread(target=interrupt, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            world.run(10, 1e-4, callback=lambda w: begun.set())
            world.run(10**9, 1e-4)
        world.validate()
        with tempfile.TemporaryDirectory() as folder:
            scene = dict(SCENE, until={"time": 1000}, output={"frames": 100, "series": 10})
            threading.Thread(target=interrupt, daemon=True).start()
            with self.assertRaises(KeyboardInterrupt):
                talus.run(scene, folder + "/run", progress=lambda p: begun.set())
            self.assertGreater(talus.load(folder + "/run").time, 0)


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.where = Path(cls.folder.name, "run")
        cls.steps = []
        cls.summary = talus.run(SCENE, cls.where, every=50,
                                progress=lambda p: cls.steps.append((p.last.step, p.phase)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_scene_from_dict_text_and_file(self):
        path = Path(self.folder.name, "scene.yaml")
        path.write_text(json.dumps(SCENE))
        scenes = [talus.Scene(SCENE), talus.Scene.from_text(json.dumps(SCENE)), talus.Scene(path),
                  talus.Scene(str(path), sets={"title": "another", "until.time": 3})]
        self.assertEqual(scenes[-1].title, "another")
        hashes = set()
        for scene in scenes:
            world = scene.world()
            world.run(20)
            hashes.add(world.hash())
        self.assertEqual(len(hashes), 1)

    def test_summary_and_progress(self):
        written = json.loads((self.where / "summary.json").read_text())
        self.assertEqual((self.summary.steps, self.summary.outcome), (200, "finished"))
        self.assertEqual(self.summary.kinetic_energy, written["kinetic_energy"])
        self.assertEqual([s for s, phase in self.steps], [50, 100, 150, 200])

    def test_an_interrupted_run_resumes_to_the_same_bits(self):
        again = Path(self.folder.name, "again")
        stopped = talus.run(SCENE, again, progress=lambda p: p.last.step == 70)
        self.assertTrue(stopped.interrupted)
        self.assertEqual(talus.resume(again).state_hash, self.summary.state_hash)

    def test_frames_are_what_h5py_reads(self):
        recording = talus.open(self.where)
        frames = h5py.File(self.where / "frames.h5")["frames"]
        self.assertEqual(len(recording), len(frames))
        held = []
        for frame in recording:
            held.append((frame.grains.position, frame.contacts.force, frame.grains.velocity[1:]))
        for (position, force, velocity), name in zip(held, sorted(frames)):
            there = frames[name]
            self.assertTrue((position == there["grains/position"][:]).all(), name)
            self.assertTrue((velocity == there["grains/velocity"][1:]).all(), name)
            self.assertTrue((force == there["contacts/force"][:]).all(), name)
            self.assertFalse(position.flags.writeable)
        self.assertEqual(recording.stack("position").shape, (len(recording), 8, 2))
        self.assertEqual(recording[-1].index, len(recording) - 1)
        self.assertEqual(recording.at(0.11).time, recording.times[2])

    def test_series_are_the_csv(self):
        series = talus.open(self.where).series
        with open(self.where / "series.csv", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        self.assertEqual(list(series), rows[0])
        for k, name in enumerate(rows[0]):
            self.assertEqual([float(row[k]) for row in rows[1:]], series[name].tolist(), name)

    def test_notebooks_show_pictures(self):
        """A world, a frame and a recording each draw themselves; the recording its last frame."""
        recording = talus.open(self.where)
        pictures = [shown._repr_png_() for shown in (column(), recording[0], recording)]
        for picture in pictures:
            self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(pictures[2], recording[-1]._repr_png_())
        self.assertNotEqual(pictures[1], pictures[2])

    def test_measures_take_frames(self):
        recording = talus.open(self.where)
        live, frame = talus.load(self.where), recording[-1]
        self.assertEqual(talus.measure.coordination(frame, 1e-6, False).all,
                         talus.measure.coordination(live, 1e-6, False).all)
        first = recording[0]
        momentum = talus.measure.momentum(frame)
        expected = (frame.grains.mass[:, None] * frame.grains.velocity).sum(axis=0)
        # Sums of eight terms: a few units in the last place.
        numpy.testing.assert_allclose(momentum[:2], expected, rtol=1e-14, atol=1e-300)
        self.assertEqual(len(first.grains), 8)  # shown again after another frame
        with self.assertRaisesRegex(talus.StateError, "cannot be changed"):
            FUNCTIONS["talus_world_set_gravity"](first, [0, 0, 0])


class Header(unittest.TestCase):
    """The binding is the header: nothing is missing, and its words are the docstrings."""

    def test_every_function_can_be_reached(self):
        # Called by the hand-written classes under another name.
        by_hand = {"talus_" + name for name in (
            "world_create", "world_detach", "world_edit_grains", "world_set_device", "scene_load", "scene_build", "run_start", "run_resume",
            "run_load", "run_open", "run_world", "run_step_length", "run_goes_on", "run_step",
            "run_record", "run_checkpoint_due", "run_keep", "run_kept", "run_stop", "run_abandon",
            "record_open", "record_steps", "record_frame", "measure_contact_force",
            "figure_create", "recording_open", "recording_show",
            "recording_frame_count", "recording_nearest", "series_read", "series_column")}
        ends = ("_default", "_free", "_clear", "_destroy", "_close")
        classes = {"world_": talus.World, "figure_": talus.Figure, "scene_": talus.Scene,
                   "recording_": talus.Recording}
        for name in HEADER["functions"]:
            short = name[len("talus_"):]
            prefix = next((p for p in classes if short.startswith(p)), None)
            places = [(talus, short), (talus, short + "_file"), (talus.measure, short),
                      (talus.measure, short.replace("measure_", ""))]
            if prefix:
                places.append((classes[prefix], short[len(prefix):]))
            self.assertTrue(name in by_hand or name.endswith(ends) or
                            any(hasattr(*place) for place in places), name)
        for thing in (talus, talus.measure, *classes.values()):
            self.assertFalse([n for n in dir(thing) if keyword.iskeyword(n)])

    def test_arrays_of_results_say_how_long_they_are(self):
        for struct in HEADER["fields"]:
            for field in fields(struct).values():
                arrays = field.type.kind == "pointer" and field.type.item.kind == "primitive" and \
                    field.type.item.cname != "char" and field.name != "stop"  # one flag
                self.assertTrue(not arrays or field.shape, f"{struct}.{field.name}: '{field.doc}'")
                names = dict({n: [1] * 9 if f.type.kind == "pointer" else 1
                              for n, f in fields(struct).items()}, dim=2, grains=1, contacts=1)
                for said in (field.shape or []) if struct != "talus_solid_def" else []:
                    size_of(said, names)  # KeyError: it is not known in Python

    def test_docstrings(self):
        self.assertIn("m/s^2 [default 0]", talus.World.__doc__)
        self.assertIn("Coulomb coefficient", talus.World.add_material.__doc__)
        self.assertIn("of a ball, m, > 0", talus.World.add_grain.__doc__)
        self.assertIn("Count contacts whose force exceeds", talus.measure.coordination.__doc__)
        self.assertIn("natural-map residual", talus.StepResult.__doc__)
        self.assertIn("the papers' solver", talus.SolverMethod.__doc__)
        self.assertIn("on_nan: \"stop\" or \"retry\" [default \"stop\"]\n", talus.World.__doc__)
        # The options of the dicts in it, which no other text has.
        self.assertIn("solver: a dict, of the method contact:\n        method: [default \"auto\"]",
                      talus.World.__doc__)
        self.assertIn("        low: ", talus.measure.stress.__doc__)
        self.assertNotIn("command", talus.run.__doc__)
        self.assertEqual(shape_in("mesh: [n][3][3] corners [default 0]"), ["n", "3", "3"])
        self.assertIsNone(shape_in("[default 0]"))

    def test_docstrings_do_not_speak_c(self):
        wrong = re.compile(r"\bNULL\b|\btalus_|\bTALUS_|\bdouble\[|\bint64_t\b|\benum \w|"
                           r"caller owns|ree with\b|Fill with|copied on use|[ (]\*\w|->|Zero-init")
        seen = 0
        for thing in (talus, talus.measure, talus.World, talus.Scene, talus.Figure,
                      talus.Recording):
            for name in dir(thing):
                words = getattr(getattr(thing, name), "__doc__", None) or ""
                if not name.startswith("_") and not isinstance(getattr(thing, name), int):
                    found = wrong.search(words)
                    self.assertIsNone(found, f"{name}: {words}" if found else "")
                    seen += bool(words)
        self.assertGreater(seen, 150)

    def test_values_and_defaults(self):
        world = talus.World(dim=2, solver={"tolerance": 1e-3, "method": "sweeps", "stop": "local"})
        options = world.options()
        self.assertIs(options.solver.stop, talus.StopRule.LOCAL)
        self.assertEqual((options.solver.tolerance, options.retry_depth), (1e-3, 6))
        self.assertEqual(talus.FACE_X_HIGH, 2)
        ensemble = talus.measure.ensemble(column(), step=1e-3, samples=3)
        self.assertEqual(ensemble.force.shape, (3, 5, 2))
        self.assertLess(ensemble.sample["residual"].max(), 1e-6)


class Measures(unittest.TestCase):
    """Each kind of result that the generic part must bring over, against numpy."""

    @classmethod
    def setUpClass(cls):
        rng = numpy.random.default_rng(5)
        cls.world = talus.World(dim=2, gravity=[0, -GRAVITY])
        cls.world.add_material("glass", friction=0.4)
        cls.world.add_wall("box", "box", half_size=[0.05, 0.1], position=[0, 0.1], inside=True)
        grid = numpy.stack(numpy.meshgrid(numpy.arange(-0.04, 0.05, 0.02),
                                          numpy.arange(0.01, 0.19, 0.02)), -1).reshape(-1, 2)
        cls.world.add_grains(grid, radius=rng.uniform(0.006, 0.009, len(grid)))
        cls.world.run(300, 1e-3)

    def test_tensors(self):
        stress = talus.measure.stress(self.world, volume=0.02)
        grains, contacts = self.world.grains, self.world.contacts
        total = numpy.zeros((2, 2))
        for a, b, point, force in zip(contacts.a, contacts.b, contacts.point, contacts.force):
            start = point if a < 0 else grains.position[a]
            total += numpy.outer(force, grains.position[b] - start) / 0.02
        scale = abs(total).max()
        # A wall's contact point lies on the grain up to its gap of less than 1e-3 radii.
        numpy.testing.assert_allclose(stress.contact[:2, :2], total, rtol=0, atol=2e-3 * scale)
        self.assertEqual((stress.total.shape, stress.principal.direction.shape), ((3, 3), (3, 3)))
        region = talus.measure.stress(self.world, region={"low": [-1, 0.03]})
        self.assertLess(region.contacts, stress.contacts)

    def test_arrays_within_results(self):
        forces = talus.measure.forces(self.world, bins=10, force_most=5)
        normal = (self.world.contacts.force * self.world.contacts.normal).sum(axis=1)
        size = numpy.linalg.norm(self.world.contacts.force, axis=1)
        loaded = normal[size > 1e-6 * size[size > 0].mean()]
        expected, edges = numpy.histogram(loaded / loaded.mean(), 10, (0, 5))
        histogram = forces.normal
        del forces
        gc.collect()
        numpy.testing.assert_allclose(histogram.edge, edges, rtol=1e-12)
        numpy.testing.assert_allclose(histogram.density, expected / len(loaded) / 0.5, rtol=1e-12)

    def test_sizes_in_the_comments(self):
        cells = talus.measure.voronoi(self.world)
        self.assertEqual(cells.centre.shape, (len(self.world.grains), 2))
        self.assertEqual(len(cells.neighbour), cells.neighbour_first[-1])
        # The cells fill the domain.
        self.assertAlmostEqual(cells.volume.sum() / cells.domain, 1, 9)
        profile = talus.measure.profile(self.world, bins=9)
        self.assertEqual((profile.velocity.shape, profile.contact.shape), ((9, 2), (9, 3, 3)))
        self.assertEqual(profile.fraction.shape, (9,))

    def test_defaults_that_need_the_dimension(self):
        before = talus.measure.places(self.world)
        self.world.grains.velocity[:] = [0, -0.5]
        flux = talus.measure.flux(self.world, gate={"point": [0, 0.05]})
        self.assertGreater(flux.mass_rate, 0)  # downwards by default
        after = talus.measure.places(self.world)
        crossed = talus.measure.crossings(before, after, gate={"point": [0, 0.05]})
        self.assertEqual(crossed.forward, 0)  # nobody has moved yet


class Surroundings(unittest.TestCase):
    def test_another_python_first_on_the_path(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("python3", "python"):
                fake = Path(folder, name)
                fake.write_text("#!/bin/sh\necho 'the wrong python' >&2\nexit 7\n")
                fake.chmod(0o755)
            path = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
            build = Path(folder, "build")
            done = subprocess.run(["cmake", "-S", os.environ["TALUS_SOURCE"], "-B", build,
                                   "-DBUILD_TESTING=OFF", "-DCMAKE_C_COMPILER=" + os.environ["CC"]],
                                  env=path, check=True, capture_output=True, text=True)
            self.assertIn("Python package: for /usr/bin/python3, version 3", done.stdout)
            # The build that was set up makes a module for Debian's interpreter, by that one.
            rules = "".join(path.read_text() for path in build.rglob("build.make")) + \
                "".join(path.read_text() for path in build.glob("build.ninja"))
            self.assertIn("_talus" + sysconfig.get_config_var("EXT_SUFFIX"), rules)
            self.assertIn("/usr/bin/python3 -I", rules)
            self.assertNotIn(str(Path(folder, "python")), rules.replace(str(build), ""))

    def test_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "figure.png")
            figure = talus.Figure(columns=2, title="two panels")
            figure.axes(x_label="x", y_log=True).curve([1, 2, 3], [1, 10, 100], label="a")
            figure.world(column(), panel=1, value=numpy.arange(5), forces=True).write(path)
            self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(len(figure._repr_png_()), 1000)


if __name__ == "__main__":
    unittest.main()
