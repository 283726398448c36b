"""The Python package in rough hands: wrong arguments, interrupts, forks, copies of results."""
import os
import signal
import sys
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
        self.assertGreater(count, 100)
        self.assertIsInstance(kept, KeyboardInterrupt)
        self.assertEqual(len(held), 1)
        world.validate()


if __name__ == "__main__":
    unittest.main()
