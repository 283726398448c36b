"""A run's directory stands on its own: copies of the files its scene reads, moved directories, a disk
that is full at the very end."""
import json
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

from program import FAILURE, OK, SCALE, SCENE, TALUS, frames_of, summary_of, talus

CSV_SCENE = """
title: Grains from a file
dimension: 2
step: 1.0e-3
gravity: [0, -9.81]
materials: {glass: {density: 2500, friction: 0.3}}
walls: [{name: box, type: box, low: [0, 0], high: [0.1, 0.3], open: [top]}]
grains:
  - {type: csv, file: data/two words.csv}
  - {type: csv, file: data/more.csv, radius: 0.006}
phases: [{until: {steps: 120}}]
output: {frames: 0.02}
"""


class Directory(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="talus-directory-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write_csv_scene(self):
        data = self.root / "data"
        data.mkdir()
        rows = [f"{0.011 + 0.012 * i},{0.01 + 0.012 * j},0.005" for i in range(7) for j in range(5)]
        (data / "two words.csv").write_text("\n".join(["x,y,radius", *rows]) + "\n")
        (data / "more.csv").write_text("x,y\n0.03,0.09\n0.05,0.1\n")
        scene = self.root / "scene.yaml"
        scene.write_text(CSV_SCENE)
        return scene

    def assert_same(self, directory, whole):
        self.assertEqual(summary_of(directory)["state_hash"], summary_of(whole)["state_hash"])
        self.assertEqual((directory / "series.csv").read_bytes(),
                         (whole / "series.csv").read_bytes())
        ours, theirs = frames_of(directory), frames_of(whole)
        self.assertEqual(sorted(ours), sorted(theirs))
        for name in ours:
            self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)

    def run_ok(self, *arguments):
        done = talus(*arguments)
        self.assertEqual(done.returncode, OK, done.stderr)
        return done

    # ---- files that the scene reads --------------------------------------------------------------

    def test_csv_is_copied(self):
        scene = self.write_csv_scene()
        whole, broken, moved = self.root / "whole", self.root / "broken", self.root / "far" / "moved"
        self.run_ok("run", scene, "-o", whole)
        self.run_ok("run", scene, "-o", broken, "--steps", 50)
        self.assertEqual(sorted(p.name for p in (broken / "sources").iterdir()),
                         ["0-two_words.csv", "1-more.csv"])
        self.assertNotIn(str(self.root), (broken / "scene.yaml").read_text())
        # One original is gone, the other would not even be a good file any more.
        (self.root / "data" / "two words.csv").unlink()
        (self.root / "data" / "more.csv").write_text("x,y\n0.03,oops\n")
        moved.parent.mkdir()
        broken.rename(moved)
        self.run_ok("resume", moved)
        self.assert_same(moved, whole)

    def test_killed_while_copying(self):
        """What a kill leaves before scene.yaml is there does not block the next attempt."""
        scene = self.write_csv_scene()
        out = self.root / "out"
        self.run_ok("run", scene, "-o", out, "--steps", 2)
        for path in list(out.iterdir()):
            if path.name not in (".talus.lock", "log.txt", "scene.original.yaml", "sources"):
                path.unlink()
        (out / "sources" / "1-more.csv").rename(out / "sources" / "1-more.csv.tmp")
        self.run_ok("run", scene, "-o", out, "--steps", 2)
        self.assertEqual(sorted(p.name for p in (out / "sources").iterdir()),
                         ["0-two_words.csv", "1-more.csv"])

    def test_effective_scene_is_a_scene(self):
        scene = self.write_csv_scene()
        first, second = self.root / "first", self.root / "second"
        self.run_ok("run", scene, "-o", first)
        shutil.rmtree(self.root / "data")
        self.run_ok("run", first / "scene.yaml", "-o", second)
        self.assert_same(second, first)
        self.assertEqual((second / "scene.yaml").read_text(), (first / "scene.yaml").read_text())

    def test_force_removes_the_copies_and_nothing_else(self):
        scene = self.write_csv_scene()
        out = self.root / "out"
        self.run_ok("run", scene, "-o", out, "--steps", 2)
        (out / "sources" / "mine.csv").write_text("x\n")
        (out / "sources" / "7-old.csv").write_text("x\n")
        self.run_ok("run", scene, "-o", out, "--steps", 3, "--force")
        self.assertEqual(sorted(p.name for p in (out / "sources").iterdir()),
                         ["0-two_words.csv", "1-more.csv", "mine.csv"])

    def test_force_does_not_remove_its_own_scene(self):
        scene = self.write_csv_scene()
        out = self.root / "out"
        self.run_ok("run", scene, "-o", out, "--steps", 2)
        before = sorted(p for p in out.rglob("*"))
        copy = self.root / "copy.yaml"
        copy.write_text(CSV_SCENE.replace("data/two words.csv", "out/sources/0-two_words.csv"))
        for source, named in ((out / "scene.yaml", "scene.yaml"), (copy, "0-two_words.csv")):
            done = talus("run", source, "-o", out, "--force")
            self.assertEqual(done.returncode, FAILURE)
            self.assertIn(f"{named} belongs to the run", done.stderr)
            self.assertEqual(sorted(p for p in out.rglob("*")), before)

    def test_peak_memory_is_of_this_program(self):
        """A small run started by a large program: getrusage() would give the large one's memory."""
        ballast = bytearray(200 << 20)
        ballast[::4096] = b"x" * len(ballast[::4096])
        self.run_ok("run", self.write_csv_scene(), "-o", self.root / "out", "--steps", 1)
        # 16 MB in a release build, of which 9 are the shared libraries; sanitizers add their own.
        peak = summary_of(self.root / "out")["peak_memory_bytes"]
        self.assertLess(peak, len(ballast))
        self.assertGreater(peak, 1 << 20)

    def test_frames_do_not_pile_up_in_memory(self):
        """100 small frames are 2000 datasets: HDF5's own caches would make that 70 MB, not 22."""
        self.run_ok("run", SCENE, "-o", self.root / "out", "--set", "output.frames=0.001",
                    "--steps", 100)
        if SCALE < 1:
            self.skipTest("a sanitizer's own memory is much more")
        self.assertLess(summary_of(self.root / "out")["peak_memory_bytes"], 40e6)

    def test_escapes_are_counted(self):
        """Told sparsely while they happen, in full at the end, and summed up in the series."""
        out = self.root / "out"
        done = self.run_ok("run", SCENE, "-o", out, "--steps", 300, "--set", "policies.escape=remove",
                           "--set", "domain.low=[-1, 0.015]", "--set", "domain.high=[1, 1]",
                           "--set", "output.series=0.01")
        removed = summary_of(out)["removed_grains"]
        self.assertGreater(removed, 16)
        series = numpy.genfromtxt(out / "series.csv", names=True, delimiter=",")
        self.assertEqual(series["removed"][-1], removed)
        self.assertTrue((numpy.diff(series["removed"]) >= 0).all())
        log = (out / "log.txt").read_text()
        self.assertIn(f"{removed} grains left the domain", done.stdout)
        self.assertIn(f"{removed} grains left the domain", log)
        # A line at every doubling: at most one for each bit of the count.
        self.assertTrue(1 <= log.count("escaped grain") <= removed.bit_length())

    # ---- a disk that is full at the end ----------------------------------------------------------

    def test_frames_cannot_be_gathered(self):
        """Room for every segment, but not for one file with all of them: the run is finished, its
        frames are readable, and with room a resume tidies up."""
        whole, out = self.root / "whole", self.root / "out"
        self.run_ok("run", SCENE, "-o", whole)
        size = (whole / "frames.h5").stat().st_size

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that write() fails instead
            resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1000, size - 1000))

        # Many segments: each is far below the limit.
        done = subprocess.run([TALUS, "run", SCENE, "-o", out, "--checkpoint", "0.02"],
                              preexec_fn=limit, capture_output=True, text=True)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("could not be gathered into one file", done.stderr)
        self.assertIn("could not be gathered into one file", (out / "log.txt").read_text())
        self.assertIn("finished", done.stdout)
        self.assertEqual(summary_of(out)["outcome"], "finished")
        self.assertEqual(summary_of(out)["frames"], summary_of(whole)["frames"])
        self.assertFalse(list(out.rglob("*.tmp")))
        with h5py.File(out / "frames.h5") as ours, h5py.File(whole / "frames.h5") as theirs:
            self.assertEqual(list(ours["time"]), list(theirs["time"]))
            last = f"frames/{len(ours['time']) - 1:06}/grains/position"
            self.assertEqual(ours[last][:].tobytes(), theirs[last][:].tobytes())
        self.run_ok("export", out)

        self.run_ok("resume", out)
        self.assertFalse((out / "frames").exists())
        self.assert_same(out, whole)
        self.assertIn("nothing to do", self.run_ok("resume", out).stdout)

    # ---- units and the series --------------------------------------------------------------------

    def test_units(self):
        for units, position, message in (("si", "m", r"t = 0\.12 s,"), ("reduced", "reduced",
                                                                        r"t = 0\.12,")):
            out = self.root / units
            scene = self.root / f"{units}.yaml"
            if not (self.root / "data").exists():
                self.write_csv_scene()
            scene.write_text(CSV_SCENE + f"units: {units}\n")
            done = self.run_ok("run", scene, "-o", out)
            self.assertRegex(done.stdout, message)
            self.assertEqual(json.loads((out / "run.json").read_text())["units"], units)
            self.assertEqual(summary_of(out)["units"], units)
            with h5py.File(out / "frames.h5") as f:
                self.assertEqual(f.attrs["units"], units)
                self.assertEqual(f["frames/000000/grains/position"].attrs["unit"], position)
                self.assertEqual(f["frames/000000/grains/id"].attrs["unit"], "")
            if units == "reduced":
                told = done.stdout.split("verdict")[1] + done.stderr + (out / "log.txt").read_text()
                self.assertNotRegex(told, r"\d (s|J|N/m)\b")

    def test_step_length_and_coordination(self):
        """The series against the frames: contacts counted anew, h from the differences of time."""
        out = self.root / "out"
        self.run_ok("run", SCENE, "-o", out, "--set", "output.series=0")
        series = numpy.genfromtxt(out / "series.csv", names=True, delimiter=",")
        self.assertTrue(set(series["step_length"]) == {1e-3, 5e-4})
        # 1e-9: times are sums of steps, exact to 1e-16 of about 1 s each.
        self.assertLess(numpy.max(numpy.abs(numpy.diff(series["time"]) / series["step_length"][1:]
                                            - 1)), 1e-9)
        compared = 0
        with h5py.File(out / "frames.h5") as f:
            for number, step in enumerate(f["step"]):
                frame = f[f"frames/{number:06}"]
                if step == 0 or len(frame["contacts/a"]) == 0:
                    continue
                force = numpy.linalg.norm(frame["contacts/force"][:], axis=1)
                active = frame["contacts/state"][:] != 0
                strong = active & (force > 1e-6 * force.sum() / max(active.sum(), 1))
                ends = strong.sum() + (strong & (frame["contacts/a"][:] >= 0)).sum()
                # All grains are free; both sides divide the same whole numbers.
                self.assertEqual(series["coordination"][step - 1],
                                 ends / len(frame["grains/id"]))
                compared += 1
        self.assertGreater(compared, 50)
        self.assertGreater(series["coordination"].max(), 2)


if __name__ == "__main__":
    unittest.main()
