"""talus render: colours and places in the pictures against the numbers in frames.h5, movies, refusals."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import h5py
import numpy

import png

TALUS = os.environ["TALUS"]
SCENE = str(Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml")

BALLS = """
title: Balls
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
materials:
  glass: {density: 2500, friction: 0.3}
walls:
  - {name: floor, type: plane, point: [0, 0, 0], normal: [0, 0, 1]}
  - {name: tube, type: cylinder, center: [0, 0, 0.1], axis: [0, 0, 1], radius: 0.1, inside: true}
grains:
  - type: list
    items:
      - {position: [-0.05, 0, 0.01], radius: 0.01}
      - {position: [0.05, 0, 0.01], radius: 0.01}
phases:
  - {until: {steps: 5}}
"""


def talus(*arguments, env=None):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, timeout=100)


def frame(run, number):
    with h5py.File(Path(run) / "frames.h5", "r") as file:
        group = file[f"frames/{number:06d}"]
        return {name: {k: v[()] for k, v in group[name].items()} for name in group}


def find_frame(image):
    """Pixels of the frame of the axes: left, right, top, bottom."""
    dark = image.sum(axis=2) < 1.5
    columns = numpy.flatnonzero(dark.mean(axis=0) > 0.5)
    rows = numpy.flatnonzero(dark.mean(axis=1) > 0.5)
    return columns, rows


class Render(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="talus-render-")
        cls.run_2d = str(Path(cls.folder) / "tiny")
        result = talus("run", SCENE, "-o", cls.run_2d, "--steps", 300, "--quiet")
        assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return str(Path(self.folder) / name)

    def good(self, *arguments, **more):
        result = talus("render", *arguments, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def check_colours(self, field, values, low, high, colours, name):
        """Each grain's middle has the colour of its value; the axes are those of the region."""
        path = self.path(name)
        self.good(self.run_2d, "--frame", 25, "--colour", field, f"--scale={low!r}:{high!r}", "--map",
                  colours, "--axes", "--region", "x=0:0.12,y=0:0.3", "--width", 900, "-o", path)
        image = png.read(path)
        columns, rows = find_frame(image)
        top, bottom = rows[0], rows[-1]
        left = columns[0]
        # The scale of colours has dark sides too: the frame is 0.12 wide where it is 0.3 high.
        unit = (bottom - top) / 0.3
        right = left + 0.12 * unit
        self.assertLess(numpy.abs(columns - right).min(), 3)
        grains = frame(self.run_2d, 25)["grains"]
        checked = 0
        for (x, y), value in zip(grains["position"], values):
            if not (0 < x < 0.12 and 0 < y < 0.3):
                continue
            seen = image[int(round(bottom - y * unit)), int(round(left + x * unit))]
            place = min(max((value - low) / (high - low), 0.0), 1.0)
            expected = png.colour(colours, place)
            # Linear between 17 entries of matplotlib's tables, which have 256: 0.025 at most, and bytes.
            numpy.testing.assert_allclose(seen, expected, atol=0.03)
            checked += 1
        self.assertGreater(checked, 50)

    def test_colours_of_velocity(self):
        grains = frame(self.run_2d, 25)["grains"]
        values = grains["velocity"][:, 1]
        self.assertGreater(numpy.ptp(values), 0.1)
        self.check_colours("velocity:y", values, float(values.min()), float(values.max()), "viridis",
                           "velocity.png")

    def test_colours_of_displacement(self):
        first, last = (frame(self.run_2d, i)["grains"] for i in (0, 25))
        start = dict(zip(first["id"], first["position"]))
        moved = [numpy.linalg.norm(p - start[i]) if i in start else numpy.nan
                 for i, p in zip(last["id"], last["position"])]
        # Poured grains were not there in frame 0: they are grey.
        self.assertTrue(numpy.isnan(moved).any())
        path = self.path("moved.png")
        self.good(self.run_2d, "--frame", 25, "--colour", "displacement", "--scale", "0:0.05",
                  "--axes", "--region", "x=0:0.12,y=0:0.3", "-o", path)
        image = png.read(path)
        columns, rows = find_frame(image)
        unit = (rows[-1] - rows[0]) / 0.3
        for (x, y), value in zip(last["position"], moved):
            if not (0 < x < 0.12 and 0 < y < 0.3):
                continue
            seen = image[int(round(rows[-1] - y * unit)), int(round(columns[0] + x * unit))]
            expected = ((0.8, 0.8, 0.8) if numpy.isnan(value)
                        else png.colour("viridis", min(value / 0.05, 1.0)))
            numpy.testing.assert_allclose(seen, expected, atol=0.03)

    def test_colours_of_pressure(self):
        content = frame(self.run_2d, 25)
        grains, contacts = content["grains"], content["contacts"]
        row = {int(i): k for k, i in enumerate(grains["id"])}
        virial = numpy.zeros(len(row))
        for a, b, point, force in zip(contacts["a"], contacts["b"], contacts["point"],
                                      contacts["force"]):
            for end, sign in ((int(a), -1), (int(b), 1)):
                if end >= 0:
                    virial[row[end]] -= (point - grains["position"][row[end]]) @ (sign * force)
        pressure = virial / (2 * numpy.pi * grains["radius"]**2)
        self.assertGreater(pressure.max(), 100)
        self.check_colours("pressure", pressure, 0.0, float(pressure.max()), "plasma", "pressure.png")

    def test_default_place_and_overwriting(self):
        made = self.good(self.run_2d).stdout.strip()
        last = h5py.File(Path(self.run_2d) / "frames.h5")["time"].size - 1
        self.assertEqual(made, f"{self.run_2d}/pictures/frame-{last:06d}.png")
        self.assertEqual(png.read(made).shape[0] % 2, 0)
        again = talus("render", self.run_2d)
        self.assertEqual(again.returncode, 1)
        self.assertIn("--force", again.stderr)
        self.good(self.run_2d, "--force")

    def test_formats(self):
        for name, begin in (("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")):
            self.good(self.run_2d, "--forces", "-o", self.path(name))
            self.assertTrue(Path(self.path(name)).read_bytes().startswith(begin), name)
        width = png.read(self.path("a.png")).shape[1]
        self.assertLessEqual(width, 1200)

    def test_several_frames(self):
        folder = self.path("several")
        self.good(self.run_2d, "--frame", "2:10:4", "-o", folder)
        self.assertEqual(sorted(os.listdir(folder)),
                         ["frame-000002.png", "frame-000006.png", "frame-000010.png"])
        shapes = {png.read(f"{folder}/{name}").shape for name in os.listdir(folder)}
        self.assertEqual(len(shapes), 1)

    def same_pictures(self, fixed, *options, frames="25"):
        """Pictures with the scale that the program chooses, and with `fixed` ends of it."""
        many = ":" in frames
        paths = [self.path(f"scale-{len(os.listdir(self.folder))}{'' if many else '.png'}")]
        self.good(self.run_2d, "--frame", frames, *options, "-o", paths[0])
        paths.append(self.path(f"scale-{len(os.listdir(self.folder))}{'' if many else '.png'}"))
        self.good(self.run_2d, "--frame", frames, *options, *fixed, "-o", paths[1])
        read = [[p.read_bytes() for p in sorted(Path(path).iterdir())] if many else Path(path).read_bytes()
                for path in paths]
        self.assertEqual(read[0], read[1])

    def test_scales_are_those_of_what_is_seen(self):
        """The automatic scale gives the same picture as one with the extremes within the region."""
        low, high = numpy.array([0.03, 0.02]), numpy.array([0.09, 0.05])
        region = ("--region", "x=0.03:0.09,y=0.02:0.05", "--width", 400)
        content = frame(self.run_2d, 25)
        g, c = content["grains"], content["contacts"]
        speed = numpy.linalg.norm(g["velocity"], axis=1)
        seen = speed[((g["position"] + g["radius"][:, None] >= low) &
                      (g["position"] - g["radius"][:, None] <= high)).all(axis=1)]
        self.assertLess(seen.max(), speed.max())
        self.same_pictures([f"--scale={float(seen.min())!r}:{float(seen.max())!r}"], "--colour", "speed", *region)
        normal = numpy.abs((c["force"] * c["normal"]).sum(axis=1))
        shown = normal[((c["point"] >= low) & (c["point"] <= high)).all(axis=1)]
        self.assertLess(shown.max(), normal.max())
        self.same_pictures(["--force-scale", repr(float(shown.max()))], "--forces", *region)

    def test_scale_of_several_frames(self):
        """It is one for all of them, which a movie needs."""
        ends = [numpy.linalg.norm(frame(self.run_2d, i)["grains"]["velocity"], axis=1) for i in (5, 15, 25)]
        low, high = min(e.min() for e in ends), max(e.max() for e in ends)
        self.assertGreater(high, min(e.max() for e in ends))
        self.same_pictures([f"--scale={float(low)!r}:{float(high)!r}"], "--colour", "speed", "--region",
                           "x=0:0.12,y=0:0.3", "--width", 400, frames="5:25:10")

    def test_strays_have_no_say_in_the_scale(self):
        """A grain that has left at 50 m/s: the others are coloured as if it were not there."""
        scene, run = self.path("left.yaml"), self.path("left")
        others = "".join(f"      - {{position: [{0.03 * i}, 0, 0.1], velocity: [0, 0, {0.01 * i}], radius: 0.01}}\n"
                         for i in range(1, 25))
        stray = "      - {position: [9, 0, 0.1], velocity: [50, 0, 0], radius: 0.01}\n"
        Path(scene).write_text(BALLS[:BALLS.index("      - {pos")].replace("-9.81", "0").replace("inside: true", "inside: false")
                               .replace("radius: 0.1,", "radius: 0.001,") + others + stray + BALLS[BALLS.index("phases"):])
        result = talus("run", scene, "-o", run, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        made = []
        for options in ([], ["--scale", "0.01:0.24"]):
            made.append(Path(self.path(f"left-{len(made)}.png")))
            self.good(run, "--frame", 0, "--colour", "speed", *options, "-o", made[-1])
        self.assertEqual(made[0].read_bytes(), made[1].read_bytes())

    def test_scale_of_no_motion(self):
        """A size that is 0 everywhere has a scale from 0 on."""
        scene, run = self.path("still.yaml"), self.path("still")
        Path(scene).write_text(BALLS.replace("-9.81", "0"))
        self.assertEqual(talus("run", scene, "-o", run, "--quiet").returncode, 0)
        made = []
        for options in ([], ["--scale", "0:1"]):
            made.append(Path(self.path(f"still-{len(made)}.png")))
            self.good(run, "--colour", "speed", *options, "-o", made[-1])
        self.assertEqual(made[0].read_bytes(), made[1].read_bytes())

    def test_time(self):
        made = self.good(self.run_2d, "--time", "0.1").stdout
        times = h5py.File(Path(self.run_2d) / "frames.h5")["time"][:]
        self.assertIn(f"frame-{numpy.abs(times - 0.1).argmin():06d}", made)

    @unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "ffmpeg is optional")
    def test_movie(self):
        path = self.path("film.mp4")
        self.good(self.run_2d, f"--movie={path}", "--frame", "0:9", "--colour", "speed", "--width", 301)
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                                "stream=nb_read_frames,width,height,pix_fmt", "-of", "csv=p=0", path],
                               capture_output=True, text=True, check=True).stdout.strip().split(",")
        self.assertEqual(probe[2:], ["yuv420p", "10"])
        self.assertEqual([int(n) % 2 for n in probe[:2]], [0, 0])
        self.assertEqual([f for f in os.listdir(self.folder) if "film.mp4-frames" in f], [])

    @unittest.skipUnless(shutil.which("ffmpeg"), "ffmpeg is optional")
    def test_movie_names(self):
        """Signs that mean something to ffmpeg; a film that fails leaves the one before it."""
        folder = Path(self.path("films %d"))
        folder.mkdir()
        self.good(self.run_2d, f"--movie={folder}/-a:%d %03d.gif", "--frame", "0:2", "--width", 150)
        self.assertEqual([f.name for f in folder.iterdir()], ["-a:%d %03d.gif"])
        self.assertEqual((folder / "-a:%d %03d.gif").read_bytes()[:4], b"GIF8")
        fake = folder / "ffmpeg"
        fake.write_text("#!/bin/sh\necho junk > film.mp4\nexit 1\n")
        fake.chmod(0o755)
        old = folder / "old.mp4"
        old.write_text("the film before")
        result = talus("render", self.run_2d, f"--movie={old}", "--frame", "0:2", "--force",
                       env={"PATH": f"{folder}:/bin"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("ffmpeg failed", result.stderr)
        self.assertEqual(old.read_text(), "the film before")

    def test_movie_stopped(self):
        """Ctrl-C while ffmpeg works, which gets it too: nothing is left behind."""
        folder = Path(self.path("stopped"))
        folder.mkdir()
        fake = folder / "ffmpeg"
        fake.write_text("#!/bin/sh\ntouch ../begun\nexec sleep 20\n")
        fake.chmod(0o755)
        process = subprocess.Popen([TALUS, "render", self.run_2d, f"--movie={folder}/a.mp4", "--frame", "0:2"],
                                   env={**os.environ, "PATH": f"{folder}:/bin"}, start_new_session=True,
                                   stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if (folder / "begun").exists():
                break
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(timeout=10), -signal.SIGINT)
        self.assertEqual(sorted(f.name for f in folder.iterdir()), ["begun", "ffmpeg"])

    def test_movie_without_ffmpeg(self):
        result = talus("render", self.run_2d, f"--movie={self.path('none.mp4')}", "--frame", "0:2",
                       env={"PATH": "/nonexistent"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("ffmpeg is not installed", result.stderr)
        folder = [f for f in os.listdir(self.folder) if f.startswith("none.mp4-frames")]
        self.assertEqual(len(folder), 1)
        self.assertEqual(len(os.listdir(self.path(folder[0]))), 3)
        self.assertIn("frame-%06d.png", result.stderr)
        self.assertIn(folder[0], result.stderr)

    def test_oblique(self):
        scene, run, path = self.path("balls.yaml"), self.path("balls"), self.path("balls.png")
        Path(scene).write_text(BALLS)
        made = talus("run", scene, "-o", run, "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr)
        # Of two values each has its colour and name, unless a map is asked for.
        self.good(run, "--colour", "id", "--view=-90:0", "-o", self.path("keyed.svg"))
        self.good(run, "--colour", "id", "--map", "viridis", "--view=-90:0", "-o", path)
        image = png.read(path)
        # Two balls side by side 0.1 apart, the colours at their middles those of the ends; the view
        # is along y, where they are equally near.
        middles = []
        for end in (0.0, 1.0):
            colour = png.colour("viridis", end)
            rows, columns = numpy.nonzero(numpy.abs(image - colour).max(axis=2) < 0.03)
            inner = columns < 0.8 * image.shape[1]  # not the scale of colours
            middles.append((columns[inner].mean(), rows[inner].mean()))
        self.assertGreater(middles[1][0] - middles[0][0], 100)
        self.assertLess(abs(middles[1][1] - middles[0][1]), 3)
        self.good(run, "--view", "iso", "--forces", "-o", self.path("iso.svg"))

    def test_samples_below_the_picture(self):
        """The scale bar has a round length, and the sample of a force the width of the bar of 0.4 diameters."""
        scene, run, path = self.path("two.yaml"), self.path("two"), self.path("two.png")
        Path(scene).write_text(BALLS)
        self.assertEqual(talus("run", scene, "-o", run, "--quiet").returncode, 0)
        self.good(run, "--colour", "id", "--forces", "--view", "y", "--no-time", "-o", path)
        image = png.read(path)
        orange = numpy.abs(image - numpy.array([213, 94, 0]) / 255).max(axis=2) < 0.02
        strip = image[-94:]  # 26 points at 200 dpi, and 8 of the margin
        bars = numpy.flatnonzero(orange[:-94].any(axis=0))  # of the two weights, 0.1 apart
        left, right = bars[bars < bars.mean()], bars[bars > bars.mean()]
        unit = (right.mean() - left.mean()) / 0.1
        self.assertLess(abs(len(left) - 0.4 * 0.02 * unit), 3)
        rows = ("".join("#" if black else " " for black in row) for row in strip.max(axis=2) < 0.05 if row.any())
        bar = max(len(run) for row in rows for run in row.split()) / unit
        self.assertLess(min(abs(bar - n) for n in (0.02, 0.05, 0.1)), 3 / unit)
        self.assertLess(abs(orange[-94:].sum(axis=0).max() - len(left)), 3)
        self.good(run, "--colour", "id", "--view", "y", "--no-time", "--no-bar", "-o", self.path("bare.png"))
        self.assertLess(png.read(self.path("bare.png")).shape[0], image.shape[0])

    def test_refusals(self):
        for arguments, status, words in (
                (("--colour", "sped"), 1, "did you mean 'speed'"),
                (("--colour", "velocity:z"), 1, "only x, y and magnitude"),
                (("--colour", "mass:x"), 1, "single number"),
                (("--map", "virdis"), 2, "did you mean 'viridis'"),
                (("--scale", "3:1"), 2, "LOW:HIGH"),
                (("--frame", "1000"), 1, "there is no frame 1000"),
                (("--frame", "-3"), 2, "--frame needs"),
                (("--frame", "5:2"), 1, "go backwards"),
                (("--view", "w"), 2, "--view needs"),
                (("--view", "0:100"), 2, "--view needs"),
                (("--region", "x=2:1"), 2, "--region needs"),
                (("--format", "jpg"), 2, "png, svg or pdf"),
                (("-o", "x.bmp"), 2, "png, svg or pdf"),
                (("--width", "1e9"), 2, "from 100 to 10000"),
                (("--movie", "--format", "svg"), 2, "--format"),
                (("--frame", "0:2", "-o", self.path("several.png")), 2, "give a directory"),
                (("--movie=x.avi2",), 2, ".mp4"),
                (("--colours",), 2, "unknown option")):
            result = talus("render", self.run_2d, *arguments)
            self.assertEqual(result.returncode, status, (arguments, result.stderr))
            self.assertIn(words, result.stderr, arguments)
        bare = self.path("bare")
        talus("run", SCENE, "-o", bare, "--steps", 3, "--quiet", "--set", "output.contacts=false")
        for arguments in (("--forces",), ("--colour", "pressure")):
            result = talus("render", bare, *arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn("needs contacts", result.stderr)
        nowhere = talus("render", self.path("nowhere"))
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("no recorded run", nowhere.stderr)


if __name__ == "__main__":
    unittest.main()
