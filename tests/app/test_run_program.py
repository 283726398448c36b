"""The talus program from outside: runs, refusals and exit statuses."""
import csv
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from pathlib import Path

import numpy
from program import (OK, FAILURE, USAGE, SCENE_ERRORS, NUMERIC, SAME, SCENE, TALUS, WholeRun,
                     frames_of, summary_of, talus)


class Program(WholeRun):
    # ---- a run and what it leaves --------------------------------------------------------------

    def test_directory_is_complete(self):
        for name in ("scene.yaml", "scene.original.yaml", "run.json", "series.csv", "frames.h5",
                     "checkpoint.h5", "log.txt", "summary.json"):
            self.assertTrue((self.whole / name).is_file(), name)
        self.assertEqual((self.whole / "scene.original.yaml").read_text(), Path(SCENE).read_text())
        self.assertFalse([p for p in self.whole.rglob("*.tmp")])
        facts = json.loads((self.whole / "run.json").read_text())
        for key in ("version", "revision", "compiler", "host", "threads", "seed", "date",
                    "command", "overrides"):
            self.assertIn(key, facts)
        self.assertEqual(facts["seed"], 3)

    def test_summary(self):
        s = summary_of(self.whole)
        for key in SAME + ["seconds", "threads", "version", "peak_memory_bytes"]:
            self.assertIn(key, s)
        self.assertEqual(s["outcome"], "finished")
        self.assertEqual(s["grains"], 64 + 40)
        self.assertRegex(s["state_hash"], "^[0-9a-f]{16}$")
        self.assertEqual([p["name"] for p in s["phases"]], ["pour", "settle", "shake"])
        self.assertEqual([p["ended_by"] for p in s["phases"]],
                         ["duration", "kinetic energy", "steps"])
        self.assertEqual([p["steps"] for p in s["phases"]][0::2], [400, 600])
        self.assertEqual(s["steps"], sum(p["steps"] for p in s["phases"]))
        self.assertEqual(len(s["wall_forces"]["box"]), 3)
        stages = s["seconds"]
        self.assertLessEqual(sum(stages[k] for k in stages if k != "total"), stages["total"])
        self.assertGreater(s["peak_memory_bytes"], 1 << 20)

    def test_frames_at_multiples_first_and_last(self):
        times, steps = self.whole_frames["time"], self.whole_frames["step"]
        end = summary_of(self.whole)["time"]
        self.assertEqual(times[0], 0)
        # Half a step is the definition of "the step nearest to a multiple"; 1e-9 covers the
        # rounding of a sum of some thousand steps of 1e-3 s (2e-16 each).
        multiples = 0.0105 * numpy.arange(1, int(end / 0.0105) + 1)
        late = numpy.abs(times[1:1 + len(multiples)] - multiples)
        self.assertLessEqual(late.max(), 0.5e-3 + 1e-9)
        self.assertEqual(times[-1], end)
        self.assertLessEqual(len(times), len(multiples) + 2)
        self.assertTrue((numpy.diff(steps) > 0).all(), "a frame is there twice")

    def test_same_scene_gives_the_same_bits(self):
        again = self.root / "again"
        self.assertEqual(talus("run", SCENE, "-o", again, "--quiet").returncode, OK)
        self.assert_same_run(again, "second run")

    def test_effective_scene_gives_the_same_bits(self):
        again = self.root / "effective"
        done = talus("run", self.whole / "scene.yaml", "-o", again, "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assert_same_run(again, "run of the effective scene")

    def test_json_on_stdout(self):
        done = talus("run", SCENE, "-o", self.root / "json", "--steps", 5, "--json")
        self.assertEqual(done.returncode, OK, done.stderr)
        s = json.loads(done.stdout)
        self.assertEqual(s["steps"], 5)
        self.assertEqual(s["outcome"], "stopped at the limit of 5 steps")
        self.assertEqual(s, summary_of(self.root / "json"))

    def test_set_overrides(self):
        out = self.root / "set"
        done = talus("run", SCENE, "-o", out, "--steps", 1, "--quiet", "--set", "seed=77")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(summary_of(out)["seed"], 77)
        self.assertEqual(json.loads((out / "run.json").read_text())["overrides"], ["seed=77"])

    def test_progress_and_report(self):
        done = talus("run", SCENE, "-o", self.root / "talk", "--steps", 3)
        self.assertIn("pour 1/3", done.stderr)
        self.assertNotIn("\r", done.stderr)
        for word in ("detect", "solve", "advance", "record", "total", "Exactness", "show-in-paraview.py"):
            self.assertIn(word, done.stdout)
        quiet = talus("run", SCENE, "-o", self.root / "hush", "--steps", 3, "--quiet")
        self.assertEqual((quiet.stdout, quiet.stderr), ("", ""))

    def test_live_line_fits_the_terminal(self):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 60, 0, 0))
        child = subprocess.Popen([TALUS, "run", SCENE, "-o", self.root / "live"], stderr=theirs,
                                 stdout=subprocess.DEVNULL)
        os.close(theirs)
        seen = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:  # Linux says EIO when the other side is closed
                break
            if not block:
                break
            seen += block
        os.close(ours)
        self.assertEqual(child.wait(), OK)
        words = seen.decode().replace("\x1b[K", "")
        lines = [line for line in words.split("\r") if "step " in line and "warning" not in line]
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertLess(len(line), 60, line)
            self.assertRegex(line, r"step \d+ .*ETA ")

    def test_two_processes_are_refused(self):
        out = self.root / "two"
        child = subprocess.Popen([TALUS, "run", SCENE, "-o", out, "--quiet"])
        while not (out / "checkpoint.h5").exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGSTOP)
        for command in (["resume", out], ["run", SCENE, "-o", out, "--force"]):
            done = talus(*command, "--quiet")
            self.assertEqual(done.returncode, FAILURE)
            self.assertIn("another talus", done.stderr)
        child.send_signal(signal.SIGCONT)
        self.assertEqual(child.wait(), OK)
        self.assert_same_run(out, "while others knocked")

    # ---- refusals ------------------------------------------------------------------------------

    def test_existing_directory(self):
        out = self.root / "kept"
        talus("run", SCENE, "-o", out, "--steps", 2, "--quiet")
        (out / "notes.txt").write_text("mine")
        before = summary_of(out)
        done = talus("run", SCENE, "-o", out, "--quiet")
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("--force", done.stderr)
        self.assertEqual(summary_of(out), before)
        # A scene with errors does not cost the old run.
        done = talus("run", SCENE, "-o", out, "--force", "--quiet", "--set", "step=-1")
        self.assertEqual(done.returncode, SCENE_ERRORS)
        self.assertEqual(summary_of(out), before)
        done = talus("run", SCENE, "-o", out, "--force", "--steps", 3, "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(summary_of(out)["steps"], 3)
        self.assertEqual((out / "notes.txt").read_text(), "mine")

    def test_foreign_directory(self):
        out = self.root / "foreign"
        out.mkdir()
        (out / "thesis.tex").write_text("years of work")
        for extra in ([], ["--force"]):
            done = talus("run", SCENE, "-o", out, "--quiet", *extra)
            self.assertEqual(done.returncode, FAILURE)
        self.assertEqual([p.name for p in out.iterdir()], ["thesis.tex"])
        self.assertEqual(talus("resume", out).returncode, FAILURE)
        self.assertEqual([p.name for p in out.iterdir()], ["thesis.tex"])

    def test_unwritable_directory(self):
        # A file where a directory should be stops root too, unlike missing permissions.
        blocker = self.root / "file"
        blocker.write_text("")
        done = talus("run", SCENE, "-o", blocker / "out", "--quiet")
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn(str(blocker), done.stderr)
        done = talus("run", SCENE, "-o", "/proc/talus", "--quiet")
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("/proc/talus", done.stderr)

    def test_numerical_stop(self):
        out = self.root / "escape"
        done = talus("run", SCENE, "-o", out, "--quiet", "--set", "domain.low=[-1, 0.015]",
                     "--set", "domain.high=[1, 1]", "--set", "policies.escape=stop")
        self.assertEqual(done.returncode, NUMERIC, done.stderr)
        self.assertRegex(done.stderr, r"grain \d+")
        self.assertRegex(done.stderr, r"step \d+: .* t = [0-9.e-]+")
        s = summary_of(out)
        self.assertRegex(s["outcome"], "^numerical stop: ")
        self.assertEqual(frames_of(out)["step"][-1], s["steps"])
        self.assertIn("numerical stop", (out / "log.txt").read_text())
        again = talus("resume", out, "--quiet")
        self.assertEqual(again.returncode, NUMERIC)
        self.assertEqual(summary_of(out)["state_hash"], s["state_hash"])
        self.assertEqual(summary_of(out)["frames"], s["frames"])

    def test_warnings_are_sparse(self):
        out = self.root / "sparse"
        done = talus("run", SCENE, "-o", out, "--steps", 300, "--set", "solver.max_sweeps=1",
                     "--set", "solver.tolerance=1e-9", "--set", "policies.unconverged=accept",
                     "--set", "domain.low=[-1, 0.015]", "--set", "domain.high=[1, 1]",
                     "--set", "policies.escape=accept")
        self.assertEqual(done.returncode, OK, done.stderr)
        log = (out / "log.txt").read_text()
        for words, least in (("without meeting the stopping rule, ", 4), ("yielding: ", 2),
                             (r"grain \d+ is out of the domain", 4)):
            times = len(re.findall(words, log))
            # 300 steps have at most 9 powers of two: 1, 2, ... 256.
            self.assertTrue(least <= times <= 9, f"{words}: {times} times")
        self.assertIn("The run was yielding in", done.stdout)

    def test_wedged_grain(self):
        """Nothing solves a disk between walls that close in on it: impulses must not run away, and
        more sweeps are no advice."""
        scene = self.root / "wedged.yaml"
        scene.write_text("""
dimension: 2
step: 1e-3
materials: {g: {density: 2500, friction: 0.3}}
walls:
  - {name: left, type: plane, point: [-0.01, 0], normal: [1, 0],
     motion: {type: velocity, velocity: [0.1, 0]}}
  - {name: right, type: plane, point: [0.01, 0], normal: [-1, 0],
     motion: {type: velocity, velocity: [-0.1, 0]}}
grains: [{type: list, items: [{position: [0, 0], radius: 0.01}]}]
until: {time: 0.005}
output: {series: 0.001}
""")
        out = self.root / "wedged"
        done = talus("run", scene, "-o", out)
        self.assertEqual(done.returncode, OK, done.stderr)
        log = (out / "log.txt").read_text()
        self.assertIn("wedged between driven walls", log)
        self.assertNotIn("more max_sweeps", log)
        self.assertIn("5 steps, t = 0.005 s, 1 grain, ", done.stdout)
        self.assertNotIn("direct methods", done.stdout)
        with open(out / "series.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        # Stopping the disk in a step takes m v/h = 78.5 N, once for every sweep of every step, and
        # momentum makes each of them up to a hundred times as large.
        self.assertLess(max(abs(float(row["left_force_x"])) for row in rows), 78.5 * 5 * 1000 * 100)

    # ---- words that are true -------------------------------------------------------------------

    LEVELS = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1]

    def certificates(self, out):
        """Rows of the series; the summary must say of their certificates what they are."""
        with open(out / "series.csv", newline="") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        s = summary_of(out)
        bounds = numpy.array([row["certified"] for row in rows])
        self.assertEqual(len(bounds), s["steps"])
        shares = [(level, (bounds <= level).sum()) for level in self.LEVELS]
        enough = [(level, n) for level, n in shares if n >= .95 * len(bounds)]
        level, steps = enough[0] if enough else (None, shares[-1][1])
        self.assertEqual((s["certified_level"], s["certified_steps"]), (level, steps))
        worst = rows[int(bounds.argmax())]
        numbers = [numpy.inf if s[k] is None else s[k] for k in ("certified", "worst_certified")]  # JSON has no inf
        self.assertEqual([*numbers, s["worst_time"], s["worst_grains"]],
                         [bounds[-1], worst["certified"], worst["time"], worst["cluster_grains"]])
        self.assertEqual(s["worst_grain"], worst["cluster_grain"])
        return rows

    def test_bending_is_not_called_rigid(self):
        """A beam of bonded disks whose sweeps hardly begin to carry its weight to the wall. It
        falls, whatever an estimate says: no word of the run may call it rigid or exact."""
        scene = self.root / "beam.yaml"
        scene.write_text("""
dimension: 2
step: 1e-3
gravity: [0, -10]
materials: {glue: {density: 1000, friction: 0.5, rolling: 1, cohesion_force: 1e6, cohesion_energy: 1e4}}
walls: [{name: wall, type: plane, normal: [1, 0]}]
grains: [{type: lattice, counts: [40, 1], low: [0, 0], spacing: 0.01, radius: 0.005, velocity: [-0.01, 0]}]
solver: {method: sweeps, max_sweeps: 30}
until: {steps: 60}
output: {frames: 0.02, series: 0}
""")
        out = self.root / "beam"
        done = talus("run", scene, "-o", out)
        self.assertEqual(done.returncode, OK, done.stderr)  # the policy accepts such steps
        frames = frames_of(out)
        tip = frames["frames/000000/grains/position"][-1] - frames["frames/000003/grains/position"][-1]
        self.assertGreater(tip[1], 0.5 * 0.01)  # half a diameter; the exact answer is 0
        rows = self.certificates(out)
        self.assertGreater(min(row["certified"] for row in rows), 1)
        said = done.stdout + done.stderr + (out / "log.txt").read_text()
        for claim in ("rigid in all", "exact to", "certified within", "certified 1"):
            self.assertNotIn(claim, said)
        for words in ("60 of 60 steps ended without meeting the stopping rule",
                      "estimated to be off by 100 % or more at most, and certified in no step. In 60 uncertified steps nothing slides",
                      "cluster of 40 grains near (",
                      "not certified, estimated 100 % or more, not converged",
                      "yielding: not certified, estimated 100 % or more"):
            self.assertIn(words, said)
        # Who does not want such steps says so, and the exit status is that of a policy.
        done = talus("run", scene, "-o", out, "--force", "--set", "policies.unconverged=stop")
        self.assertEqual(done.returncode, NUMERIC)
        self.assertRegex(summary_of(out)["outcome"], "^numerical stop: .*the contacts did not converge")

    def test_bonds_that_strain_are_solved(self):
        """Sticky disks that are pressed: their bonds strain against each other far more than they
        do to the motion, a third of their contacts roll at their bounds, and no bound is proved for
        friction that follows. The steps are solved all the same, and are said to be: the bound
        for friction as it is tells that bending hides nothing."""
        scene = self.root / "press.yaml"
        scene.write_text("""
dimension: 2
step: 3.0e-4
periodic: {x: [0, 0.04]}
materials:
  powder: {friction: 0.3, rolling_kind: radius, rolling: 0.2, cohesion_force: 100, cohesion_energy: 0.01}
walls:
  - {name: floor, type: plane, point: [0, 0], normal: [0, 1]}
  - {name: piston, type: plane, point: [0, 0.052], normal: [0, -1], motion: {type: force, mass: 2, force: [0, -1000], damping: 6400}}
grains:
  - {name: g, type: fill, region: {low: [0, 0], high: [0.04, 0.052]}, count: 60, radius: {distribution: uniform, min: 0.002, max: 0.003}}
until: {steps: 350}
output: {frames: 0, series: 0}
""")
        out = self.root / "press"
        done = talus("run", scene, "-o", out)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(summary_of(out)["unconverged_steps"], 0)  # one of them before
        self.assertIn("every step met its stopping rule", done.stdout + done.stderr)

    def test_unmet_steps_name_the_step_that_would_do(self):
        """A slope of disks in steps far too long for their pressure, with few sweeps: the verdict and the
        log say which step resolves the pressure, by options that do as they are given."""
        scene = self.root / "slope.yaml"
        scene.write_text("""
dimension: 2
step: 5.0e-3
gravity: [3, -9.81]
periodic: {x: [0, 0.2]}
materials: {glass: {density: 2500, friction: 0.6}}
walls: [{name: floor, type: plane, normal: [0, 1]}]
grains:
  - {type: fill, region: {low: [0, 0], high: [0.2, 0.2]}, count: 400, radius: {distribution: uniform, min: 0.004, max: 0.006}}
solver: {max_sweeps: 20}
until: {time: 0.3}
output: {frames: 0, series: 0}
""")
        out = self.root / "slope"

        def unmet(*options):
            done = talus("run", scene, "-o", out, "--force", *options)
            self.assertEqual(done.returncode, OK, done.stderr)
            summary = summary_of(out)
            return summary["unconverged_steps"] / summary["steps"], summary["verdict"], done.stderr

        share, verdict, log = unmet()
        self.assertIn("under its pressure", log)
        self.assertGreater(share, 0.5)
        option = re.search(r"run it with (--set) (step=\S+), or with --set policies.coarse=retry", verdict)
        self.assertLess(float(option[2].split("=")[1]), 5e-3 / 2)
        shorter, verdict, log = unmet(*option.groups())
        self.assertNotIn("under its pressure", verdict + log)
        self.assertLess(shorter, share / 2)
        halved, verdict, _ = unmet("--set", "policies.coarse=retry")
        self.assertLess(halved, share)
        self.assertNotIn("policies.coarse", verdict)  # it has been told

    def test_heavy_neighbour_hides_nothing(self):
        """A column that one sweep a step lets fall, beside a disk ten thousand million times as heavy
        that does not touch it. Of all momentum next to nothing is wrong; of the column's, all."""
        scene = self.root / "heavy.yaml"
        scene.write_text("""
dimension: 2
step: 1e-3
gravity: [0, -10]
materials: {light: {density: 1e3, friction: 0.5}, heavy: {density: 1e11}}
walls: [{name: floor, type: plane, normal: [0, 1]}]
grains:
  - {type: lattice, counts: [1, 60], low: [0, 0], spacing: 0.01, radius: 0.005, material: light, velocity: [0, -0.01]}
  - {type: lattice, counts: [1, 1], low: [3, 0], spacing: 0.1, radius: 0.05, material: heavy, velocity: [0, -0.01]}
solver: {method: sweeps, stop: sweeps, max_sweeps: 1, order: forward}
until: {steps: 20}
output: {frames: 0, series: 0}
""")
        out = self.root / "heavy"
        done = talus("run", scene, "-o", out)
        self.assertEqual(done.returncode, OK, done.stderr)
        for row in self.certificates(out):
            self.assertLess(row["velocity_error"], 0.1)
            self.assertGreater(row["certified"], 1)
            self.assertEqual(row["cluster_grains"], 60)
        for words in ("certified in no step", "nothing slides", "the estimate may be far too small",
                      "Convergence: not asked for, a step ends after its sweeps;"):
            self.assertIn(words, done.stdout)
        self.assertIn("cluster of 60 grains near (0.005, ", done.stdout)
        self.assertNotIn("rigid in all", done.stdout)

    def test_certificates_add_up(self):
        """Falling disks by the default rule: counts, levels and names in the summary are those of
        the rows, and each grain's share in the error is recorded. Without friction, as what slides
        has a bound only if it is solved far better."""
        out = self.root / "certified"
        done = talus("run", SCENE, "-o", out, "--steps", 405, "--set", "output.series=0",
                     "--set", "output.frames=0.1", "--set", "solver.tolerance=0.01",
                     "--set", "materials.glass.friction=0")
        self.assertEqual(done.returncode, OK, done.stderr)
        rows = self.certificates(out)
        self.assertTrue(any(row["cluster_grains"] == 0 for row in rows[:20]), "all fall at first")
        self.assertTrue(0 < rows[-1]["certified"] < 1)
        frames, s = frames_of(out), summary_of(out)
        self.assertFalse(frames["frames/000000/grains/error"].any())
        for i, step in enumerate(frames["step"][1:], 1):
            errors, ids = (frames[f"frames/{i:06d}/grains/{name}"] for name in ("error", "id"))
            row = rows[step - 1]
            self.assertEqual(errors.max(), row["worst_grain_error"])
            if errors.any():
                self.assertEqual(ids[errors.argmax()], row["worst_grain"])
        percent = f"{100 * s['certified_level']:g} %"
        self.assertIn(f"certified within {percent} in {s['certified_steps']} of 405 steps (estimated ", s["verdict"])
        self.assertRegex(done.stderr, r"settle 2/3  step 401 .* certified within \d")
        self.assertEqual(s["worst_estimate"], max(row["velocity_error"] for row in rows))
        self.assertEqual((s["unproved_sliding"], s["frozen_friction"]), (0, 0))

    # ---- command line --------------------------------------------------------------------------

    def test_verdict_tells_what_tolerances_cost(self):
        """Measured on the step that would come next: the tighter the dearer, and the run is left alone."""
        with tempfile.TemporaryDirectory() as folder:
            done = talus("run", "piston", "-o", "run", "--steps", "60", cwd=folder)
            self.assertEqual(done.returncode, OK, done.stderr)
            said = re.search(r"Tolerance: the next step takes (\d+) sweeps? as it is, (?:more than )?(\d+) with "
                             r"solver.tolerance=0.1, (?:more than )?(\d+) with 0.01 and (?:more than )?(\d+) "
                             r"with 0.001\.", " ".join(done.stdout.split()))
            self.assertTrue(said, done.stdout)
            sweeps, *costs = map(int, said.groups())
            self.assertEqual(costs, sorted(costs))
            self.assertLess(costs[0], costs[2])
            self.assertTrue(costs[0] <= sweeps <= costs[2])

    def test_usage_errors(self):
        for arguments, expected in [
            (["rum", SCENE], "did you mean 'run'"),
            (["run", SCENE, "--thread", "x"], "--threads needs a whole number"),
            (["run", SCENE, "--tretas", "2"], "unknown option '--tretas'"),
            (["run", SCENE, "--setps", "2"], "did you mean '--"),
            (["run", SCENE, "-z"], "unknown option '-z'"),
            (["run", SCENE, "--steps"], "needs a value"),
            (["run", SCENE, "--steps", "-4"], "at least 0"),
            (["run", SCENE, "--set", "seed"], "key.path=value"),
            (["run"], "missing"),
            (["solve", "x.hdf5", "--sweeps", "99999999999999999999"], "too large"),
            (["solve", "x.hdf5", "--sweeps", "0"], "at least 1"),
            (["run", SCENE, SCENE], "too many"),
            (["run", "no-such-scene"], "neither a file nor a ready-made scene"),
            (["resume"], "missing"),
            (["export", "--vtc", "x", "y"], "did you mean '--vtk'"),
        ]:
            done = talus(*arguments, cwd=self.root)
            self.assertEqual(done.returncode, USAGE, arguments)
            self.assertIn(expected, done.stderr, arguments)
        self.assertFalse((self.root / "runs").exists())

    def test_help_and_version(self):
        self.assertRegex(talus("--version").stdout, r"^talus \d+\.\d+\.\d+ \(revision \S+, .+\)\n$")
        for name in ("run", "resume", "check", "scenes", "export"):
            self.assertRegex(talus("help", name).stdout, rf"usage: \S*talus {name}")
            self.assertRegex(talus(name, "--help").stdout, rf"usage: \S*talus {name}")
        self.assertIn("75 interrupted", talus("help").stdout)
        self.assertEqual(talus().returncode, USAGE)

    def test_check(self):
        done = talus("check", SCENE)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertRegex(done.stdout, "^scene ok: Tiny box: 2D, 64 grains, 2 walls, 3 phases, 1 inlet")
        done = talus("check", SCENE, "--set", "step=-1", "--set", "nonsense=2")
        self.assertEqual(done.returncode, SCENE_ERRORS)
        self.assertIn("step", done.stderr)
        self.assertIn("nonsense", done.stderr)
        self.assertIn("2 errors", done.stderr)

    def test_check_says_which_impacts_happen_at_once(self):
        done = talus("check", SCENE, "--set", "materials.glass.restitution=0.5")
        self.assertNotIn("all at once", done.stderr)
        done = talus("check", SCENE, "--set", "materials.glass.restitution=0.5",
                     "--set", "materials.glass.rolling=0.001")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("'glass' and 'glass' have restitution and rolling friction", done.stderr)

    def test_verdict_says_which_impacts_happened_at_once(self):
        bouncing = ("--set", "materials.glass.restitution=0.5", "--set", "solver.max_sweeps=1000")
        for more, told in (((), False), (("--set", "materials.glass.rolling=0.001"), True)):
            done = talus("run", SCENE, "-o", self.root / f"at-once-{told}", *bouncing, *more)
            self.assertEqual(done.returncode, OK, done.stderr)
            said = "worked out all at once, so that energy may have been lost" in done.stdout
            self.assertEqual(said, told, done.stdout)

    def test_check_lists_five_of_a_kind_and_counts_the_rest(self):
        done = talus("check", SCENE, "--set", "domain.low=[-1, 0.02]", "--set", "domain.high=[1, 1]")
        self.assertEqual(done.returncode, SCENE_ERRORS)
        self.assertEqual(len(re.findall(r"grain \d of this source is outside the domain", done.stderr)), 5)
        # The lowest row of the lattice has 8 grains.
        self.assertIn("grains[0]: 3 more grains of this source", done.stderr)

    def test_check_of_what_is_no_scene(self):
        path = self.root / "odd.yaml"
        for data, expected in ((b"", "the file is empty"), (b"# head only\n", "the file is empty"),
                               (bytes(2000), "not UTF-8 text"), (b"[" * 100000, "too deeply"),
                               (Path(TALUS).read_bytes()[:4000], "not UTF-8 text"),
                               (b" " * (65 << 20), "larger than 64 MiB"), (b"a: 1\n\tb: 2\n", "a tab")):
            path.write_bytes(data)
            done = talus("check", path)
            self.assertEqual(done.returncode, SCENE_ERRORS, done.stderr)
            self.assertIn(expected, done.stderr)
        for place, expected in ((self.root, "not a directory"), ("/dev/zero", "regular file"),
                                (self.root / "none.yaml", "no scene file")):
            done = talus("check", place)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(expected, done.stderr)
        text = Path(SCENE).read_bytes()
        for same in (text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text):
            path.write_bytes(same)
            self.assertEqual(talus("check", path).stdout, talus("check", SCENE).stdout)

    def test_ready_made_scenes_from_anywhere(self):
        here = self.root / "elsewhere"
        here.mkdir()
        env = {"TALUS_SCENES": str(Path(SCENE).parent)}
        listed = talus("scenes", cwd=here, env=env).stdout
        self.assertRegex(listed, r"(?m)^tiny +Tiny box$")
        self.assertIn("A small box into which disks are poured", listed)
        self.assertEqual(talus("run", "tiny", "--steps", 1, cwd=here, env=env).returncode, OK)
        again = talus("run", "tiny", "--steps", 2, cwd=here, env=env)
        self.assertIn("runs/tiny-2", again.stderr)
        self.assertEqual(summary_of(here / "runs/tiny-2")["steps"], 2)
        wrong = talus("run", "tinny", cwd=here, env=env)
        self.assertEqual(wrong.returncode, USAGE)
        self.assertIn("did you mean 'tiny'", wrong.stderr)
        # The scenes of the source tree are found without help.
        own = {k: v for k, v in os.environ.items() if k != "TALUS_SCENES"}
        done = subprocess.run([TALUS, "scenes"], capture_output=True, text=True, cwd=here, env=own)
        self.assertEqual(done.returncode, OK, done.stderr)
        names = re.findall(r"(?m)^([a-z0-9-]+) ", done.stdout)
        self.assertEqual(talus("check", names[0], cwd=here).returncode, OK)

    def test_scene_errors_leave_no_directory(self):
        here = self.root / "clean"
        here.mkdir()
        done = talus("run", SCENE, "--set", "step=-1", cwd=here)
        self.assertEqual(done.returncode, SCENE_ERRORS)
        self.assertEqual(list(here.iterdir()), [])

    def test_export(self):
        done = talus("export", self.whole)
        self.assertEqual(done.returncode, OK, done.stderr)
        made = {p.suffix for p in (self.whole / "export").rglob("*")}
        self.assertLessEqual({".pvd", ".vtp", ".dump"}, made)
        done = talus("export", self.whole)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("grains.pvd is there already; --force replaces it", done.stderr)
        self.assertEqual(talus("export", self.whole, "--force").returncode, OK)
        shutil.rmtree(self.whole / "export")
        self.assertEqual(talus("export", self.root / "nothing").returncode, FAILURE)

    def test_files_made_of_a_run_replace_nothing(self):
        mine = self.root / "mine.txt"
        mine.write_text("mine")
        self.assertEqual(talus("export", self.whole, "--gsd", mine).returncode, FAILURE)
        self.assertEqual(talus("export", self.whole, "--gsd", mine, "--lammps", mine, "--force").returncode, FAILURE)
        self.assertEqual(mine.read_text(), "mine")
        self.assertEqual(talus("export", self.whole, "--gsd", mine, "--force").returncode, OK)
        self.assertNotEqual(mine.read_bytes(), b"mine")

    def test_files_of_a_run_are_never_replaced(self):
        (self.whole / "frames").mkdir()
        link = self.root / "link.csv"
        link.symlink_to(self.whole / "series.csv")
        before = {path: path.read_bytes() for path in self.whole.iterdir() if path.is_file()}
        for words in (["export", "run", "--vtkhdf", "run/frames.h5"],
                      ["export", "run", "--gsd", "run/.talus.lock"],
                      ["export", "run", "--gsd", "run/frames/segment-000001.h5"],
                      ["view", "run", "--export", "run/frames.h5"],
                      ["plot", "run", "energy", "-o", "run/series.png"],
                      ["plot", "run", "energy", "--csv", "-o", link],
                      ["measure", "run", "--csv", "run/../whole/series.csv"],
                      ["schema", "-o", "run/summary.json"]):
            words = [str(word).replace("run/", f"{self.whole}/") for word in words]
            words = [str(self.whole) if word == "run" else word for word in words]
            with self.subTest(words=words):
                done = talus(*words, "--force")
                self.assertEqual(done.returncode, FAILURE)
                self.assertIn("is a file of a run itself", done.stderr)
        (self.whole / "frames").rmdir()
        after = {path: path.read_bytes() for path in self.whole.iterdir() if path.is_file()}
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main(verbosity=2)
