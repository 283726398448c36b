"""Runs that are steered from Python: forces, drives, removals and stopping rules of the user's own
in a recorded run, which goes on to the same bits after an interruption, an exception or a kill.
"""
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

GRAVITY = 9.81
SCENE = {"dimension": 2, "step": 1e-3, "gravity": [0, -GRAVITY], "until": {"time": 0.2},
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]},
                   {"name": "left", "type": "plane", "normal": [1, 0]},
                   {"name": "right", "type": "plane", "point": [0.2, 0], "normal": [-1, 0]},
                   {"name": "lid", "type": "plane", "point": [0, 0.35], "normal": [0, -1],
                    "motion": {"type": "velocity", "velocity": [0, 0]}}],
         "grains": [{"type": "fill", "region": {"low": [0, 0], "high": [0.2, 0.3]}, "count": 40,
                     "diameter": {"distribution": "uniform", "min": 0.015, "max": 0.02}}],
         "output": {"frames": 0.05, "series": 0.01}}


def wind(keep):
    """A force that depends on what the grains have done since the beginning."""
    def blow(world):
        keep["steps"] = keep.get("steps", 0) + 1
        keep["sum"] = keep.get("sum", numpy.zeros(2)) + world.grains.velocity.mean(axis=0)
        world.grains.external_force[:, 0] = numpy.sin(keep["sum"][1]) * world.grains.mass
    return blow


class Steering(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def where(self, name):
        return Path(self.folder.name, name)

    def whole(self, **options):
        return talus.run(SCENE, self.where("whole"), **options).state_hash

    def interrupted(self, **options):
        """The same run in two pieces."""
        first = talus.run(SCENE, self.where("first"), progress=lambda p: p.last.step == 70,
                          **options)
        self.assertTrue(first.interrupted)
        self.assertEqual(first.steps, 70)
        return talus.resume(self.where("first"), **options).state_hash

    def test_moments(self):
        """Before and after each of the 200 steps, and at each of the four frames after the first."""
        seen = []
        summary = talus.run(
            SCENE, self.where("run"), before_step=lambda w: seen.append(("before", w.last.step)),
            after_step=lambda w: seen.append(("after", w.last.step)),
            at_frame=lambda w: seen.append(("frame", w.last.step)))
        expected = []
        for step in range(200):
            expected += [("before", step), ("after", step + 1)]
            expected += [("frame", step + 1)] * ((step + 1) % 50 == 0)
        self.assertEqual(seen, expected)
        self.assertEqual(summary.outcome, "finished")
        self.assertEqual(len(talus.open(self.where("run"))), 5)
        # Whoever only looks changes nothing.
        self.assertEqual(summary.state_hash, talus.run(SCENE, self.where("plain")).state_hash)

    def test_a_force_acts_in_the_very_first_step(self):
        """A ball far from everything: v = h F/m after one step, to rounding."""
        scene = dict(SCENE, gravity=[0, 0], grains=[
            {"type": "list", "items": [{"position": [0.1, 0.2], "radius": 0.01}]}])
        found = []

        def push(world):
            world.grains.external_force[:] = [3.0, 0.0]

        talus.run(scene, self.where("run"), before_step=push, max_steps=1,
                  after_step=lambda w: found.append((w.grains.velocity[0, 0], w.grains.mass[0])))
        velocity, mass = found[0]
        self.assertAlmostEqual(velocity / (1e-3 * 3.0 / mass), 1.0, delta=1e-14)

    def test_interrupted_runs_go_on_to_the_same_bits(self):
        """Forces that depend on the dict `keep`, and whatever else a function may have set once."""
        def once(step, action):
            return lambda world: action(world) if world.last.step == step else None
        table = [[0, 0, -0.1, 0, 0, 0, 0], [0.1, 0, 0.3, 0, 0, 0, 0]]
        settings = {
            "gravity": once(30, lambda w: w.set_gravity([3, -5])),
            "solver": once(30, lambda w: w.set_solver(method="sweeps", stop="sweeps",
                                                      max_sweeps=30)),
            "velocity": once(30, lambda w: w.set_wall_velocity("lid", [0, -0.5], None)),
            "table": once(30, lambda w: w.set_drive("lid", kind="table", table=table)),
            "force": once(30, lambda w: w.set_drive("lid", kind="force", mass=1.0, force=[0, -9],
                                                    free_axes=[False, True, False])),
            "grain": once(30, lambda w: w.add_grain(radius=0.01, position=[0.1, 0.32])),
            "removal": once(30, lambda w: w.remove_grain(int(w.grains.id[3]))),
        }
        plain = talus.run(SCENE, self.where("plain")).state_hash
        for name, setting in settings.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as self.folder.name:
                changed = self.whole(before_step=setting)
                self.assertNotEqual(changed, plain)
                self.assertEqual(self.interrupted(before_step=setting), changed)
        kept, again = {}, {}
        changed = self.whole(before_step=wind(kept), keep=kept)
        self.assertNotEqual(changed, plain)
        self.assertEqual(self.interrupted(before_step=wind(again), keep=again), changed)
        self.assertEqual(again["steps"], 200)

    def test_soft_grains_are_steered_too(self):
        scene = dict(SCENE, method="soft", step="auto", until={"steps": 400},
                     materials={"default": {"stiffness": 1e4}})
        kept, again = {}, {}
        whole = talus.run(scene, self.where("whole"), before_step=wind(kept), keep=kept)
        talus.run(scene, self.where("first"), before_step=wind(again), keep=again,
                  progress=lambda p: p.last.step == 150)
        again.clear()
        resumed = talus.resume(self.where("first"), before_step=wind(again), keep=again)
        self.assertEqual((resumed.state_hash, again["steps"]), (whole.state_hash, 400))

    def test_exceptions_come_through_and_nothing_is_lost(self):
        """What a function has left half done is not in the checkpoint: the run goes on from before."""
        kept = {}

        def fail(world):
            kept["half done"] = True
            raise ValueError("mine")

        with self.assertRaisesRegex(ValueError, "mine"):
            talus.run(SCENE, self.where("first"), before_step=wind(kept), keep=kept,
                      after_step=lambda w: fail(w) if w.last.step == 90 else None,
                      checkpoint_seconds=0)
        again, reference = {}, {}
        resumed = talus.resume(self.where("first"), before_step=wind(again), keep=again)
        self.assertNotIn("half done", again)
        self.assertEqual(resumed.state_hash, self.whole(before_step=wind(reference),
                                                        keep=reference))

    def test_ctrl_c_ends_after_a_whole_step(self):
        """The signal comes in the middle of a function, which is not disturbed."""
        kept, again, reference = {}, {}, {}

        def press(world):
            if world.last.step == 80:
                os.kill(os.getpid(), signal.SIGINT)
                kept["pressed"] = sum(range(10000))

        with self.assertRaises(KeyboardInterrupt):
            talus.run(SCENE, self.where("first"), before_step=wind(kept), after_step=press,
                      keep=kept)
        self.assertEqual(kept["steps"], 80)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        resumed = talus.resume(self.where("first"), before_step=wind(again), keep=again)
        self.assertIn("pressed", again)
        self.assertEqual(resumed.state_hash, self.whole(before_step=wind(reference),
                                                        keep=reference))

    def test_a_killed_run_goes_on(self):
        """kill -9 at a step after a checkpoint: nobody could tidy up."""
        script = textwrap.dedent("""
            import os, signal, sys
            sys.path[:0] = sys.argv[1:3]
            from test_python_steer import SCENE, talus, wind
            kept = {}
            def die(world):
                if world.last.step == 100:
                    os.kill(os.getpid(), signal.SIGKILL)
            talus.run(SCENE, sys.argv[3], before_step=wind(kept), after_step=die, keep=kept,
                      checkpoint_seconds=0)
            """)
        died = subprocess.run([sys.executable, "-c", script, os.environ["TALUS_BUILD"] + "/python",
                               str(Path(__file__).parent), str(self.where("first"))], check=False)
        self.assertEqual(died.returncode, -signal.SIGKILL)
        again, reference = {}, {}
        resumed = talus.resume(self.where("first"), before_step=wind(again), keep=again)
        self.assertEqual(resumed.state_hash, self.whole(before_step=wind(reference),
                                                        keep=reference))

    def test_rules_of_the_user_end_a_run(self):
        summary = talus.run(SCENE, self.where("run"), callback=lambda w: w.last.step == 120)
        self.assertEqual((summary.steps, summary.interrupted), (120, False))
        self.assertIn("finished: ", summary.outcome)
        self.assertTrue(talus.resume(self.where("run")).nothing_to_do)
        self.assertEqual(talus.open(self.where("run"))[-1].time, summary.time)

    def test_the_world_is_the_run_s(self):
        held = []

        def misuse(world):
            if held:
                return
            held.extend([world, world.grains.position, world.grains.position.copy()])
            for wrong in (lambda: world.step(1e-3), lambda: world.record("elsewhere")):
                with self.assertRaises(talus.StateError):
                    wrong()
            tried = world.copy()
            tried.step(1e-3)
            self.assertNotEqual(tried.time, world.time)

        talus.run(SCENE, self.where("run"), callback=misuse)
        world, position, copy = held
        self.assertTrue((position == copy).all())  # it keeps what it showed
        with self.assertRaisesRegex(talus.StateError, "has ended"):
            print(world.time)

    def test_mistakes(self):
        for options in ({"callback": 3}, {"keep": []}, {"callback": print, "after_step": print}):
            with self.assertRaises(TypeError):
                talus.run(SCENE, self.where("run"), **options)
        self.assertFalse(self.where("run").exists())


if __name__ == "__main__":
    unittest.main()
