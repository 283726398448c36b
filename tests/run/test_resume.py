"""A run broken off by a signal, a kill, a full disk or --steps, and resumed, ends with the same bits."""
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy
from program import (FAILURE, INTERRUPTED, OK, SCALE, SCENE, SEED, TALUS, WholeRun, frames_of,
                     summary_of, talus)


class Resume(WholeRun):
    def test_resume_after_signals(self):
        for number, wait in ((signal.SIGINT, 0.5 * self.seconds), (signal.SIGTERM, 0.0), (signal.SIGHUP, 0.0),
                             (signal.SIGXCPU, 0.0)):
            out = self.root / f"signal{number}"
            status = OK
            while status == OK:  # a run that was faster than thought is begun again
                child = subprocess.Popen([TALUS, "run", SCENE, "-o", out, "--quiet", "--force"])
                while not (out / "checkpoint.h5").exists():
                    time.sleep(0.001)
                time.sleep(wait)
                child.send_signal(number)
                status = child.wait()
                wait /= 2
            self.assertEqual(status, INTERRUPTED)
            s = summary_of(out)
            self.assertEqual(s["outcome"], "interrupted")
            self.assertLess(s["steps"], summary_of(self.whole)["steps"])
            self.finish(out)
            self.assert_same_run(out, f"after signal {number}")

    def test_resume_after_kill_at_any_moment(self):
        chance = random.Random(SEED)
        broken = 0
        for trial in range(max(3, int(12 * SCALE))):
            out = self.root / f"kill{trial}"
            command = [TALUS, "run", SCENE, "-o", out]
            waits = []
            for _ in range(20):
                # Half of the moments at the very beginning, where little is on the disk yet.
                wait = chance.random() * chance.choice([0.1, 1.1]) * self.seconds
                waits.append(round(wait, 4))
                child = subprocess.Popen([*command, "--quiet", "--checkpoint", "0.02"],
                                         stderr=subprocess.PIPE, text=True)
                try:
                    _, words = child.communicate(timeout=wait)
                    self.assertEqual(child.returncode, OK, f"{words}, waits {waits}")
                    break
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.communicate()
                    broken += 1
                # Killed before there was a scene: the same command begins anew.
                if (out / "scene.yaml").exists():
                    command = [TALUS, "resume", out]
            if (out / "scene.yaml").exists():
                self.finish(out)
            else:
                self.assertEqual(talus("run", SCENE, "-o", out, "--quiet").returncode, OK)
            self.assert_same_run(out, f"trial {trial} of seed {SEED}, killed after {waits} s")
            shutil.rmtree(out)
        self.assertGreater(broken, 0, "no run was killed: the moments were badly chosen")

    def test_nohup(self):
        """What the caller ignores does not end the run."""
        out = self.root / "nohup"
        child = subprocess.Popen([TALUS, "run", SCENE, "-o", out, "--quiet"],
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        while not (out / "run.json").exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGHUP)
        self.assertEqual(child.wait(), OK)
        self.assert_same_run(out, "with nohup")

    def test_second_signal(self):
        """One that comes with the first is the same request, sent to a program and its group; a later one
        ends the run at once. A step takes about a second, and ten times that."""
        for pause, sweeps, status in ((0.0, 2000000, INTERRUPTED), (1.0, 20000000, -signal.SIGTERM)):
            out = self.root / f"second-{sweeps}"
            child = subprocess.Popen([TALUS, "run", "arch", "--quiet", "-o", out, "--set", "solver.method=sweeps",
                                      "--set", "solver.stop=sweeps", "--set", f"solver.max_sweeps={sweeps}"])
            while not (out / "run.json").exists():
                time.sleep(0.01)
            time.sleep(0.3)
            child.send_signal(signal.SIGTERM)
            time.sleep(pause + 0.01)
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(), status, f"{pause} s between")

    def test_resume_after_kill_while_cleaning_up(self):
        """All frames are in the base already, and only some segments are left beside it."""
        out, kept = self.root / "cleaning", self.root / "segments"
        child = subprocess.Popen([TALUS, "run", SCENE, "-o", out, "--quiet", "--checkpoint", "0"])
        while not (out / "frames" / "segment-000005.h5").exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), INTERRUPTED)
        shutil.copytree(out / "frames", kept)
        self.finish(out)
        (out / "frames").mkdir()
        (out / "frames.h5").rename(out / "frames" / "base.h5")
        for number in (2, 4):
            shutil.copy(kept / f"segment-{number:06}.h5", out / "frames")
        (out / "summary.json").unlink()
        self.finish(out)
        self.assert_same_run(out, "killed while segments were cleaned up")

    def test_resume_from_the_previous_checkpoint(self):
        out = self.root / "damaged"
        talus("run", SCENE, "-o", out, "--steps", 900, "--quiet", "--checkpoint", "0.01")
        newest = out / "checkpoint.h5"
        newest.write_bytes(newest.read_bytes()[:-1000])
        done = talus("resume", out)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("damaged", done.stderr)
        self.assert_same_run(out, "from checkpoint.previous.h5")

    def test_full_disk(self):
        """Files that may not grow stand for a full disk; with room the run goes on."""
        out = self.root / "full"
        # Of a file that grows in the same way whenever frames are published.
        size = (self.whole / "series.csv").stat().st_size

        def limit():  # writing beyond it fails, and sends SIGXFSZ
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

        done = subprocess.run([TALUS, "run", SCENE, "-o", out, "--quiet"], preexec_fn=limit,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn(str(out), done.stderr)
        self.assertFalse((out / "summary.json").exists())
        with h5py.File(out / "frames.h5", "r") as frames:
            self.assertGreater(len(frames["time"]), 0)
        self.finish(out)
        self.assert_same_run(out, "after a full disk")

    def test_no_good_checkpoint_is_an_error(self):
        out = self.root / "lost"
        talus("run", SCENE, "-o", out, "--steps", 20, "--quiet")
        for name in ("checkpoint.h5", "checkpoint.previous.h5"):
            (out / name).write_text("not a checkpoint")
        before = (out / "series.csv").read_bytes()
        done = talus("resume", out, "--quiet")
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("checkpoint", done.stderr)
        self.assertEqual((out / "series.csv").read_bytes(), before)

    def test_steps_then_resume_is_an_unbroken_run(self):
        out = self.root / "steps"
        for limit in (137, 138, 700):
            command = ["resume", out] if out.exists() else ["run", SCENE, "-o", out]
            done = talus(*command, "--steps", limit, "--quiet")
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertEqual(summary_of(out)["steps"], limit)
            # The last state is recorded, though no frame is due at this step.
            self.assertEqual(frames_of(out)["step"][-1], limit)
        self.finish(out)
        self.assert_same_run(out, "in four parts by --steps")

    def test_finished_run_is_left_alone_or_extended(self):
        out = self.root / "done"
        talus("run", SCENE, "-o", out, "--quiet")
        before = {p: p.read_bytes() for p in out.iterdir() if p.is_file()}
        done = talus("resume", out)
        self.assertEqual(done.returncode, OK)
        self.assertIn("nothing to do", done.stdout)
        self.assertEqual({p: p.read_bytes() for p in out.iterdir() if p.is_file()}, before)
        total = summary_of(out)["steps"]
        self.assertEqual(talus("resume", out, "--steps", total + 50, "--quiet").returncode, OK)
        self.assertEqual(summary_of(out)["steps"], total + 50)
        steps = frames_of(out)["step"]
        self.assertTrue((numpy.diff(steps) > 0).all())
        self.assertEqual(steps[-1], total + 50)
        self.assertIn("nothing to do", talus("resume", out).stdout)


if __name__ == "__main__":
    unittest.main()
