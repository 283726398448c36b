"""`talus sweep`: a grid of runs side by side, means and error bars, going on after a kill, mistakes."""
import csv
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
SCENE = {"dimension": 2, "step": 1e-3, "gravity": [0, -9.81], "until": {"steps": 60},
         "materials": {"glass": {"friction": 0.3}},
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]},
                   {"name": "left", "type": "plane", "normal": [1, 0]},
                   {"name": "right", "type": "plane", "point": [0.2, 0], "normal": [-1, 0]}],
         "grains": [{"type": "fill", "region": {"low": [0, 0], "high": [0.2, 0.1]}, "count": 30,
                     "diameter": {"distribution": "uniform", "min": 0.015, "max": 0.02}}],
         "output": {"frames": 0.02}}


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "scene.yaml").write_text(json.dumps(SCENE))

    def sweep(self, *words, status=0):
        done = subprocess.run([TALUS, "sweep", "scene.yaml", *words], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_grid_with_seeds(self):
        self.sweep("--vary", "materials.glass.friction=0.1:0.5:3", "--vary", "step=1e-3,5e-4",
                   "--seeds", "3", "-o", "study", "--measure",
                   "coordination.all_grains,series.kinetic_energy,energy.kinetic")
        runs, table = rows(self.folder / "study/runs.csv"), rows(self.folder / "study/table.csv")
        self.assertEqual(len(runs), 18)
        self.assertEqual([(r["materials.glass.friction"], r["step"]) for r in table],
                         [(f, s) for f in ("0.1", "0.3", "0.5") for s in ("1e-3", "5e-4")])
        name = "series.kinetic_energy"
        for row in table:
            mine = [float(r[name]) for r in runs if r["step"] == row["step"] and
                    r["materials.glass.friction"] == row["materials.glass.friction"]]
            self.assertEqual((len(mine), row[f"{name} runs"]), (3, "3"))
            # The table has ten digits.
            self.assertAlmostEqual(float(row[name]) / statistics.mean(mine), 1, delta=1e-8)
            error = statistics.stdev(mine) / 3**0.5
            self.assertAlmostEqual(float(row[f"{name} error"]) / error, 1, delta=1e-6)
        one = self.folder / "study" / runs[4]["folder"]
        settings = json.loads((one / "run.json").read_text())
        self.assertEqual(settings["seed"], 2)
        self.assertIn("step: 0.0005", (one / "scene.yaml").read_text())
        # A run of the study is the run that one would make by hand.
        subprocess.run([TALUS, "run", "scene.yaml", "-o", "hand", "--quiet", "--set", "seed=2",
                        "--set", "materials.glass.friction=0.1", "--set", "step=5e-4"],
                       cwd=self.folder, check=True)
        hashes = {json.loads((path / "summary.json").read_text())["state_hash"]
                  for path in (one, self.folder / "hand")}
        self.assertEqual(len(hashes), 1)
        page = (self.folder / "study/index.html").read_text()
        for run in runs:
            self.assertIn(f'href="{run["folder"]}.html"', page)
            self.assertTrue((self.folder / "study" / (run["folder"] + ".html")).exists())
        self.assertIn(b"PNG", (self.folder / "study/sweep.png").read_bytes()[:8])

    def test_more_of_it(self):
        """Asked again nothing is run again; more values, seeds and measures are added."""
        small = ("--no-pages", "-o", "study")
        self.sweep("--vary", "materials.glass.friction=0.1,0.2", *small)
        first = self.folder / "study" / "friction=0.1" / "summary.json"
        before = first.stat().st_mtime_ns
        said = self.sweep("--vary", "materials.glass.friction=0.1,0.2,0.4", "--measure",
                          "forces.mean_normal", *small)
        self.assertEqual(first.stat().st_mtime_ns, before)
        self.assertEqual(len(rows(self.folder / "study/table.csv")), 3)
        self.assertTrue(rows(self.folder / "study/table.csv")[0]["forces.mean_normal"])
        said = self.sweep("--vary", "materials.glass.friction=0.1,0.2,0.4", "--measure",
                          "forces.mean_normal", *small)
        self.assertIn("3 of 3 runs were done before", said)
        self.assertIn("another scene", self.sweep("--vary", "step=1e-3,2e-3", "--set", "seed=5",
                                                  *small, status=1))

    def killed(self, number, status):
        words = [TALUS, "sweep", "scene.yaml", "--vary", "materials.glass.friction=0.1:0.5:5",
                 "--no-pages", "--jobs", "2", "-o", "study"]
        (self.folder / "scene.yaml").write_text(json.dumps({**SCENE, "until": {"steps": 1500}}))
        child = subprocess.Popen(words, cwd=self.folder, stderr=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            if len(list((self.folder / "study").glob("*/checkpoint.h5"))) >= 3:
                break
            time.sleep(0.05)
        if number == signal.SIGKILL:
            child.send_signal(number)
        else:
            os.killpg(child.pid, number)  # as a terminal does
        self.assertEqual(child.wait(), status)
        # Runs of a study that was killed may still be writing a checkpoint: the study waits.
        self.sweep(*words[3:])
        hashes = []
        for value in (0.1, 0.2, 0.3, 0.4, 0.5):
            summary = json.loads(
                (self.folder / f"study/friction={value}/summary.json").read_text())
            self.assertEqual(summary["steps"], 1500)
            hashes.append(summary["state_hash"])
        subprocess.run([TALUS, "run", "scene.yaml", "-o", "hand", "--quiet", "--set",
                        "materials.glass.friction=0.2"], cwd=self.folder, check=True)
        whole = json.loads((self.folder / "hand/summary.json").read_text())
        self.assertEqual(hashes[1], whole["state_hash"])

    def test_interrupted(self):
        self.killed(signal.SIGINT, 75)

    def test_killed(self):
        self.killed(signal.SIGKILL, -signal.SIGKILL)

    def test_a_run_that_is_still_ending(self):
        """A killed study leaves runs that write a checkpoint yet: started at once it waits for them."""
        words = ("--vary", "materials.glass.friction=0.1,0.2", "--no-pages", "-o", "study")
        self.sweep(*words)
        one = self.folder / "study/friction=0.1"
        (one / "summary.json").unlink()
        with subprocess.Popen(["flock", one / ".talus.lock", "sh", "-c", "echo; exec sleep 2"],
                              stdout=subprocess.PIPE) as holder:
            holder.stdout.readline()  # now it has the lock
            self.sweep(*words)
            self.assertIsNotNone(holder.poll())
        self.assertTrue((one / "summary.json").exists())

    def test_vectors_and_words(self):
        self.sweep("--vary", "gravity=[0,-9],[1,-9]", "--vary", "method=contact", "--no-pages",
                   "-o", "study", "--measure", "series.kinetic_energy")
        table = rows(self.folder / "study/table.csv")
        self.assertEqual([row["gravity"] for row in table], ["[0,-9]", "[1,-9]"])

    def test_a_run_that_fails(self):
        """The others go on, and the table says what is missing."""
        scene = {**SCENE, "domain": {"low": [-1, -1], "high": [1, 1]},
                 "policies": {"escape": "stop"}}
        (self.folder / "scene.yaml").write_text(json.dumps(scene))
        said = self.sweep("--vary", "gravity=[0,-9],[0,9000]", "--no-pages", "-o", "study",
                          "--measure", "series.kinetic_energy", status=1)
        self.assertIn("failed: see study/", said)
        states = [row["state"] for row in rows(self.folder / "study/runs.csv")]
        self.assertEqual(states, ["done", "failed"])
        self.assertEqual(rows(self.folder / "study/table.csv")[1]["series.kinetic_energy"], "")

    def test_mistakes(self):
        for words, status, answer in (
                (("--vary", "materials.glas.friction=1,2"), 3, "did you mean 'glass'"),
                (("--vary", "materials.glass.frictoin=1,2"), 3, "did you mean 'friction'"),
                (("--vary", "walls.flor.point=1,2"), 3, "did you mean 'floor'"),
                (("--vary", "materials.glass.friction=-1,2"), 3, "out of range"),
                (("--vary", "step=1:2"), 2, "is no range"),
                (("--vary", "step=0:2:3:log"), 2, "above 0"),
                (("--vary", "step=1,,2"), 2, "a value is empty"),
                (("--vary", "step"), 2, "key.path=value"),
                (("--seeds", "2", "--measure", "coordinaton.all_grains"), 2, "coordination"),
                (("--seeds", "2", "--measure", "energy"), 2, "expected at most"),
                ((), 2, "--vary or --seeds is missing")):
            with self.subTest(words):
                self.assertIn(answer, self.sweep(*words, "-o", "none", status=status))
                self.assertFalse((self.folder / "none").exists())
        said = self.sweep("--seeds", "1", "--measure", "series.nothing", "--no-pages", "-o", "odd")
        self.assertIn("no run has series.nothing", said)


if __name__ == "__main__":
    unittest.main()
