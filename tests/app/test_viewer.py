"""The viewer end to end: real runs, `talus view`, a headless Chromium that is clicked and dragged.

What the page draws and says is compared with frames.h5 (h5py) and series.csv: pixels of screenshots
with the colours that the recorded numbers have, counts of what is drawn, numbers in the panel.
"""
import base64
import csv
import re
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy

from viewer_page import PAGE, SOURCE, TALUS, Server, ViewerCase, read_picture

TINY = SOURCE / "tests" / "scenes" / "tiny.yaml"

# Spheres, and polyhedra that do not stand behind one another seen from above.
SPHERES = """
title: Spheres
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
materials: {bead: {density: 2500, friction: 0.5}}
walls: [{name: floor, type: plane, normal: [0, 0, 1]}]
grains:
  - {type: lattice, counts: [5, 5, 3], low: [-0.05, -0.05, 0.006], spacing: 0.0125, jitter: 0.1,
     radius: {distribution: uniform, min: 0.004, max: 0.006}}
until: {time: 0.06}
output: {frames: 0.02, series: 0.005}
"""
STONES = """
title: Stones
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
materials: {stone: {density: 2500, friction: 0.5}}
shapes: {rock: {random: {vertices: 12, count: 3}}, brick: {box: [1, 1.5, 0.8]}}
walls: [{name: floor, type: plane, normal: [0, 0, 1]}]
grains:
  - {type: lattice, counts: [3, 3, 1], low: [0, 0, 0.03], spacing: 0.12, radius: 0.04, shape: rock, rotation: random}
  - {type: lattice, counts: [3, 1, 1], low: [0, 0.4, 0.05], spacing: 0.12, radius: 0.04, shape: brick}
until: {time: 0.1}
output: {frames: 0.05, series: 0.01}
"""

# Begins without grains and records no contacts; the cell is periodic.
RAIN = """
title: Rain
dimension: 2
step: 1.0e-3
gravity: [0, -9.81]
materials: {glass: {density: 2500, friction: 0.3}}
periodic: {x: [0, 0.2]}
walls: [{name: floor, type: plane, normal: [0, 1]}]
grains:
  - {type: inlet, name: cloud, low: [0.02, 0.2], high: [0.18, 0.3], radius: 0.005, rate: 200}
phases: [{name: rain, pour: [cloud], until: {time: 0.2}}]
output: {frames: 0.05, series: 0.01, contacts: false}
"""

# Matplotlib's viridis at 0, 0.1, ... 1.
VIRIDIS = numpy.array([[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in
                       "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725".split()])
# Between the stops the page interpolates as we do; it rounds to bytes and to 256 colours.
COLOUR_TOLERANCE = 3
STAGE = numpy.array([0xfb, 0xfc, 0xfd])


def viridis(value, low, high):
    at = numpy.clip((value - low) / (high - low), 0, 1) * 10
    return numpy.array([numpy.interp(at, range(11), VIRIDIS[:, c]) for c in range(3)])


class Viewer(ViewerCase):
    scenes = {"flat": TINY, "spheres": SPHERES, "stones": STONES, "rain": RAIN}

    def view(self):
        """How points of the plane come onto the page (a function), from the camera alone; pixels a metre."""
        stage, camera = self.chromium.box("#stage"), self.chromium.state()["camera"]
        self.assertFalse(camera["perspective"])
        scale = stage["height"] / camera["height"]
        centre = numpy.array([stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2])
        return (lambda positions: centre + scale * (positions - camera["target"][:2]) * [1, -1]), scale

    def assert_disks_drawn(self, picture, frame, low, high):
        """Each disk has at its centre the colour of its speed; together they have their area."""
        grains = self.grains(frame)
        project, scale = self.view()
        pixels = project(grains["position"][:])
        speeds = numpy.linalg.norm(grains["velocity"][:], axis=1)
        for (x, y), speed in zip(pixels, speeds):
            seen = picture[int(y), int(x)]
            self.assertLessEqual(abs(seen - viridis(speed, low, high)).max(), COLOUR_TOLERANCE, f"at {x}, {y}")
        left, top = (pixels.min(axis=0) - 1.2 * scale * 0.006).astype(int)
        right, bottom = (pixels.max(axis=0) + 1.2 * scale * 0.006).astype(int)
        covered = (abs(picture[top:bottom, left:right] - STAGE).max(axis=2) > 20).sum()
        area = numpy.pi * (scale * grains["radius"][:])**2
        # A rim of half a pixel on each disk may count or not; overlaps are below 1e-2 of a diameter.
        doubt = (numpy.pi * scale * grains["radius"][:]).sum() + 0.01 * area.sum()
        self.assertAlmostEqual(covered, area.sum(), delta=doubt)
        self.assertTrue((picture[top:bottom, left - 20] == STAGE).all(), "background beside the grains")

    def test_flat_run(self):
        server = self.open("flat")
        chromium = self.chromium
        state = chromium.state()
        self.assertEqual((state["dim"], state["frame"], state["notes"]), (2, self.last, []), "opens on the last frame")
        asked = chromium("report")["requests"]
        self.assertFalse([r for r in asked if r.endswith(("/spin", "/mass"))], "what nobody needs")
        self.assertEqual({r.split("/frame/")[1].split("/")[0] for r in asked if "/frame/" in r}, {str(self.last)})
        self.set(look_axes=False, look_ruler=False, colour_part=100)
        chromium.viewer("setField('velocity.|.|')")
        chromium.viewer("setFrame(0)")
        chromium("key", key="w")  # walls off: only disks on the background
        state = chromium.state()
        self.assertEqual(state["frames"], len(self.frames["time"]))
        self.assertEqual(state["drawn"]["balls"], len(self.grains(0)["id"]))

        # A drag of the slider's thumb, to wherever it comes to lie.
        slider = chromium.box("#frame")
        middle = slider["y"] + slider["height"] / 2
        chromium("drag", **{"from": [slider["x"] + 8, middle], "to": [slider["x"] + 0.6 * slider["width"], middle]})
        frame = int(chromium("eval", code="document.querySelector('#frame').valueAsNumber"))
        self.assertTrue(0.4 * state["frames"] < frame < 0.8 * state["frames"], frame)
        chromium("until", code=f"window.talusViewer.state().frame === {frame}")
        state, grains = chromium.state(), self.grains(frame)
        self.assertAlmostEqual(state["time"], self.frames["time"][frame], places=12)
        self.assertEqual(state["drawn"]["balls"], len(grains["id"]))
        speeds = numpy.linalg.norm(grains["velocity"][:], axis=1)
        self.assertEqual(state["colour"]["key"], "velocity.|.|")
        numpy.testing.assert_allclose(state["colour"]["range"], [speeds.min(), speeds.max()], rtol=1e-6)
        self.assert_disks_drawn(self.picture("flat"), frame, speeds.min(), speeds.max())

        # A scale that is fixed by typing stays in another frame.
        chromium("eval", code="""(() => { for (const [id, text] of [['low', '0'], ['high', '0.25']]) {
            const input = document.querySelector(`#colour-${id}`);
            input.value = text;
            input.dispatchEvent(new Event('change'));
        } })()""")
        chromium("key", key="ArrowRight")
        chromium("until", code=f"window.talusViewer.state().frame === {frame + 1}")
        self.assertEqual(chromium.state()["colour"]["mode"], "fixed")
        self.assertEqual(chromium.state()["colour"]["range"], [0, 0.25])
        self.assert_disks_drawn(self.picture("flat-fixed"), frame + 1, 0, 0.25)
        self.check_picking(frame + 1)
        self.check_contacts(frame + 1)
        self.check_charts(frame + 1)
        self.check_exactness()
        self.check_playing_and_picture()
        self.assert_quiet(server.url)

    def check_picking(self, frame):
        grains, contacts = self.grains(frame), self.frames[f"frames/{frame:06d}/contacts"]
        row = 17
        number = int(grains["id"][row])
        x, y = self.view()[0](grains["position"][row])
        self.chromium("click", x=x, y=y)
        self.chromium("until", code=f"document.querySelector('#inspector b')?.innerText === 'grain {number}' && "
                                    "document.querySelector('[data-field=mass]') !== null")
        for field in ["position", "velocity", "radius", "mass", "spin"]:
            cells = self.chromium.text(f"[data-field={field}] td").split()
            numpy.testing.assert_allclose([float(c) for c in cells], numpy.ravel(grains[field][row]), rtol=1e-5)
        self.assertEqual(self.chromium.text("[data-field=velocity] .unit"), "m/s")
        forces = {}
        for a, b, force, normal in zip(contacts["a"], contacts["b"], contacts["force"], contacts["normal"]):
            if number in (a, b) and force.any():
                forces[int(b if a == number else a)] = (force @ normal, abs(force @ [-normal[1], normal[0]]))
        shown = [line.split("\t") for line in self.chromium.text("#inspector").splitlines() if "\t" in line]
        shown = {line[0].strip(): line for line in shown if line[-1] in ("sticks", "slides")}
        self.assertEqual(len(shown), len(forces))
        for partner, expected in forces.items():
            name = str(partner) if partner >= 0 else {-1: "box", -2: "lid"}[partner]
            # Shown with four digits. The tangential force is a difference of larger numbers.
            numpy.testing.assert_allclose([float(w) for w in shown[name][1:3]], expected, rtol=1e-3, atol=1e-12)

    def check_contacts(self, frame):
        contacts = self.frames[f"frames/{frame:06d}/contacts"]
        self.chromium("key", key="c")
        self.chromium("until", code="window.talusViewer.state().drawn.contacts > 0")
        loaded = contacts["force"][:].any(axis=1)
        self.assertEqual(self.chromium.state()["drawn"]["contacts"], loaded.sum())
        picture = self.picture("flat-contacts")
        strongest = numpy.argmax(numpy.linalg.norm(contacts["force"][:], axis=1))
        ends = contacts["segment"][:].reshape(-1, 2, 3)[strongest, :, :2]
        x, y = self.view()[0](ends.mean(axis=0))
        red, green, blue = picture[int(y), int(x)]
        self.assertGreater(red, 150)
        self.assertLess(max(green, blue), 60)
        self.chromium("key", key="c")
        self.chromium("until", code="window.talusViewer.state().drawn.contacts === 0")

    def check_charts(self, frame):
        with open(self.root / "flat" / "series.csv", newline="") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        self.chromium("eval", code="(() => { const menu = document.querySelector('#add-chart'); menu.value = 'box_force_y';"
                                   "menu.dispatchEvent(new Event('change')); })()")
        state = self.chromium.state()
        self.assertEqual(state["columns"], [name for name in rows[0] if name != "time"])
        self.assertIn("box_force_y", state["charts"])
        row = min(rows, key=lambda r: abs(r["time"] - self.frames["time"][frame]))
        for column, value in state["charts"].items():
            self.assertEqual(value, row[column])
            shown = float(self.chromium.text(f"output[data-column={column}]"))
            numpy.testing.assert_allclose(shown, value, rtol=1e-4)
        # A click in the middle of a chart goes to the middle of the time.
        plot = self.chromium.box(".chart[data-column=kinetic_energy] .u-over")
        self.chromium("click", x=plot["x"] + plot["width"] / 2, y=plot["y"] + plot["height"] / 2)
        self.chromium("until", code=f"window.talusViewer.state().frame !== {frame}")
        middle = (rows[0]["time"] + rows[-1]["time"]) / 2
        time_between = self.frames["time"][1] - self.frames["time"][0]
        self.assertAlmostEqual(self.chromium.state()["time"], middle, delta=0.51 * time_between + 0.01 * middle)

    def check_exactness(self):
        """The panel tells what the series says of a step that is certified, and of one that is not, and
        its grains can be picked; the recorded shares in the error can be colours."""
        with open(self.root / "flat" / "series.csv", newline="") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        times = self.frames["time"][:]
        row_of = [min(rows, key=lambda r: abs(r["time"] - time)) for time in times]
        self.chromium.viewer(f"setFrame({[r['certified'] for r in row_of].index(numpy.inf)})")
        self.assertIn("not certified", self.chromium.text("#exactness"))
        frame, row = next((i, r) for i, r in enumerate(row_of) if 0 < r["certified"] < 1)
        self.chromium.viewer(f"setFrame({frame})")
        self.assertGreater(row["cluster_grains"], 0)
        text = self.chromium.text("#exactness")
        said = float(re.search(r"certified within ([\d.]+) %", text)[1]) / 100
        # Two digits, rounded up: 1.1 is the most that rounding 10.01 to 11 can do.
        self.assertTrue(row["certified"] * (1 - 1e-8) <= said <= 1.1 * row["certified"], (said, row["certified"]))
        self.assertIn(f"worst cluster: {row['cluster_grains']:.0f} grains about grain {row['cluster_grain']:.0f}", text)
        self.assertIn(f"largest share in the error: grain {row['worst_grain']:.0f}", text)
        self.chromium("eval", code="document.querySelector('#exactness button').click()")
        self.chromium("until", code=f"window.talusViewer.state().picked === {row['cluster_grain']:.0f}")
        before = self.chromium.state()["colour"]
        self.chromium.viewer("setField('error')")
        errors = self.grains(frame)["error"][:]
        self.chromium("until", code="window.talusViewer.state().colour.key === 'error'")
        self.chromium("eval", code="(() => { const m = document.querySelector('#colour-over'); m.value = 'frame';"
                                   "m.dispatchEvent(new Event('change')); })()")
        numpy.testing.assert_allclose(self.chromium.state()["colour"]["range"], [errors.min(), errors.max()], rtol=1e-6)
        self.chromium.viewer(f"setField('{before['key']}')")
        self.chromium.viewer("setRange(0, 0.25)")
        self.chromium.viewer("setFrame(0)")
        self.assertIn("No step has been done yet", self.chromium.text("#exactness"))

    def check_playing_and_picture(self):
        """Space plays on to the last frame and stops there; a saved picture shows that frame."""
        last = len(self.frames["time"]) - 1
        self.chromium("eval", code="(() => { const s = document.querySelector('#speed'); s.value = '50';"
                                   "s.dispatchEvent(new Event('change')); document.querySelector('#stage').focus(); })()")
        self.chromium.viewer(f"setFrame({last - 6})")
        self.chromium("key", key="Space")
        self.chromium("until", code=f"(({{frame, playing}}) => frame === {last} && !playing)(window.talusViewer.state())")
        kind, data = self.chromium.viewer("picture()").split(",")
        self.assertEqual(kind, "data:image/png;base64")
        path = self.pictures / "saved.png"
        path.write_bytes(base64.b64decode(data))
        stage = self.chromium.box("#stage")
        saved, project = read_picture(path), self.view()[0]
        self.assertEqual(saved.shape[:2], (int(stage["height"]), int(stage["width"])))
        speeds = numpy.linalg.norm(self.grains(last)["velocity"][:], axis=1)
        for position, speed in zip(self.grains(last)["position"][:], speeds):
            x, y = project(position) - [stage["x"], stage["y"]]
            if 0 <= x < stage["width"] and 0 <= y < stage["height"]:
                self.assertLessEqual(abs(saved[int(y), int(x)] - viridis(speed, 0, 0.25)).max(), COLOUR_TOLERANCE)

    def test_spheres(self):
        server = self.open("spheres")
        chromium = self.chromium
        last = self.last
        self.set(look_shade=False, look_outline=False, colour_part=100, theme="light")
        chromium.viewer("setField('position.z')")
        chromium("key", key="3")  # from above
        grains = self.grains(last)
        heights = grains["position"][:, 2]
        top = int(numpy.argmax(heights))
        state = chromium.state()
        self.assertEqual(state["drawn"]["balls"], len(heights))
        self.assertGreater(state["drawn"]["walls"], 0)
        at = chromium.viewer(f"screenOf({grains['id'][top]})")
        picture = self.picture("spheres")
        expected = viridis(heights[top], heights.min(), heights.max())
        # The middle of the pixel is up to 0.71 pixels off the centre of the sphere; there the light (look.ts)
        # is weaker by at most 0.35 times that over the radius.
        tolerance = COLOUR_TOLERANCE + 255 * 0.35 * 0.71 / at["radius"]
        self.assertLessEqual(abs(picture[int(at["y"]), int(at["x"])] - expected).max(), tolerance)
        chromium("click", x=at["x"] + 0.5 * at["radius"], y=at["y"])
        chromium("until", code="document.querySelector('[data-field=position]') !== null")
        cells = chromium.text("[data-field=position] td").split()
        numpy.testing.assert_allclose([float(c) for c in cells], grains["position"][top], rtol=1e-5)

        # Cut off the upper half: the picked sphere is gone, a click there meets one below it.
        chromium("eval", code="(() => { const axis = document.querySelector('#cut-axis'); axis.value = 'z';"
                              "axis.dispatchEvent(new Event('change')); document.querySelector('#cut-on').click(); })()")
        chromium("click", x=at["x"], y=at["y"])
        chromium("until", code=f"window.talusViewer.state().picked !== {grains['id'][top]}")
        below = chromium.state()["picked"]
        middle = (heights - grains["radius"][:]).min() / 2 + (heights + grains["radius"][:]).max() / 2
        self.assertTrue(below is None or heights[list(grains["id"]).index(below)] < middle)
        self.picture("spheres-cut")
        self.assert_quiet(server.url)

    def test_polyhedra(self):
        server = self.open("stones")
        chromium = self.chromium
        last = len(self.frames["time"]) - 1
        self.set(colour_part=100, look_axes=False, look_ruler=False)
        chromium.viewer("setField('position.y')")
        chromium.viewer("look('z')")
        chromium("key", key="o")  # parallel projection
        grains = self.grains(last)
        places = grains["position"][:]
        drawn = chromium.state()["drawn"]
        self.assertEqual((drawn["solids"], drawn["balls"]), (len(places), 0))
        chromium("key", key="w")
        picture = self.picture("stones")
        project, scale = self.view()
        pixels = project(places[:, :2])
        for row in range(len(places)):
            self.assert_outline(picture, [project(face[:, :2]) for face in self.faces(last, row)], row)
        for (x, y), place in zip(pixels, places):
            # Light darkens a face that does not look at the eye, by one factor for all its channels;
            # where it shines it adds at most 0.18 of white.
            colour = viridis(place[1], places[:, 1].min(), places[:, 1].max())
            seen = picture[int(y), int(x)]
            factor = seen @ colour / (colour @ colour)
            self.assertTrue(0.3 < factor < 1.5, f"{seen} for {colour}")
            self.assertLess(numpy.linalg.norm(seen - factor * colour), 0.25 * 255)
        # A brick that lies flat is seen as a rectangle: its corners are inside, points beyond are not.
        brick = len(places) - 1
        half = 0.5 * grains["scale"][brick] * numpy.array([1, 1.5])
        for factor, inside in [(0.9, True), (1.1, False)]:
            for sx, sy in [(1, 1), (1, -1), (-1, 1), (-1, -1)]:
                x, y = pixels[brick] + scale * factor * half * [sx, -sy]
                number = int(grains["id"][brick])
                chromium("eval", code="window.talusViewer.pick(undefined)")
                chromium("click", x=x, y=y)
                seconds = time.monotonic() + 2
                while inside and chromium.state().get("picked") != number and time.monotonic() < seconds:
                    time.sleep(0.02)
                self.assertEqual(chromium.state().get("picked") == number, inside, f"{factor} {sx} {sy}")
        chromium("key", key="0")
        self.picture("stones-iso")
        self.assert_quiet(server.url)

    def assert_outline(self, picture, faces, row):
        """A polyhedron covers, seen from above, the projections of its faces and nothing else."""
        corners = numpy.concatenate(faces)
        left, top = corners.min(axis=0).astype(int) - 5
        right, bottom = corners.max(axis=0).astype(int) + 6
        centres = numpy.stack(numpy.meshgrid(numpy.arange(left, right), numpy.arange(top, bottom)), axis=-1) + 0.5
        inside = numpy.zeros(centres.shape[:2], bool)
        for face in faces:
            edges = numpy.roll(face, -1, axis=0) - face
            side = [edge[0] * (centres - p)[..., 1] - edge[1] * (centres - p)[..., 0] for p, edge in zip(face, edges)]
            inside |= numpy.all(numpy.array(side) >= 0, axis=0) | numpy.all(numpy.array(side) <= 0, axis=0)
        seen = abs(picture[top:bottom, left:right] - STAGE).max(axis=2) > 20
        # Pixels with an edge of the outline in or beside them may be either.
        near = numpy.zeros_like(inside)
        for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)]:
            near |= numpy.roll(inside, (dy, dx), (0, 1)) != inside
        for corner in corners:  # a tip narrower than a pixel has no centre inside
            near |= abs(centres - corner).max(axis=2) <= 1.5
        self.assertGreater((inside & ~near).sum(), 300)
        self.assertEqual(((inside != seen) & ~near).sum(), 0, f"grain in row {row}")

    def faces(self, frame, row):
        """Corners of the faces of a solid, by the recipe of docs/files.md."""
        grains, solids = self.grains(frame), self.frames["shapes/solids"]
        shape, (w, x, y, z) = grains["solid"][row], grains["rotation"][row]
        matrix = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                              [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                              [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        first, last = solids["face_first"][:][solids["part_first"][shape:shape + 2]]
        vertex, loop, begin = solids["vertex"][:], solids["loop"][:], solids["loop_first"][:]
        return [grains["position"][row] + grains["scale"][row] * vertex[loop[begin[f]:begin[f + 1]]] @ matrix.T
                for f in range(first, last)]

    def test_exported_page(self):
        page = self.root / "page.html"
        subprocess.run([TALUS, "view", self.root / "flat", "--export", page, "--every", "10"], check=True,
                       capture_output=True, timeout=100)
        chromium = self.chromium
        chromium("open", url=page.as_uri(), offline=True)
        with h5py.File(self.root / "flat" / "frames.h5") as self.frames:
            chromium.viewer("setFrame(5)")
            state, grains = chromium.state(), self.grains(50)
            self.assertEqual(state["time"], self.frames["time"][50])
            self.assertEqual(state["drawn"]["balls"], len(grains["id"]))
            chromium("key", key="w")
            self.set(look_axes=False, look_ruler=False, colour_part=100)
            chromium.viewer("setField('velocity.|.|')")
            speeds = numpy.linalg.norm(grains["velocity"][:], axis=1)
            self.assert_disks_drawn(self.picture("exported"), 50, speeds.min(), speeds.max())
            self.set(forces_on=True)
            loaded = self.frames["frames/000050/contacts/force"][:].any(axis=1)
            self.assertEqual(chromium.state()["drawn"]["contacts"], loaded.sum())
            chromium.viewer(f"pick({grains['id'][3]})")
            shown = float(chromium.text("[data-field=mass] td"))
            numpy.testing.assert_allclose(shown, grains["mass"][3], rtol=1e-5)
        self.assertEqual(len(state["charts"]), 3)
        self.assert_quiet(page.as_uri())

    def test_running_and_gone(self):
        """A run is followed while it goes on; when the server is gone the page says so."""
        directory = self.root / "live"
        run = subprocess.Popen([TALUS, "run", TINY, "-o", directory, "--quiet", "--set", "phases.shake.until.steps=100000000"])
        try:
            patience = time.monotonic() + 60
            while not (directory / "frames.h5").exists() and time.monotonic() < patience:
                time.sleep(0.05)
            server = Server(directory)
            self.addCleanup(server.process.kill)
            self.chromium("open", url=server.url)
            first = self.chromium.state()
            self.assertTrue(first["running"])
            self.assertEqual(first["frame"], first["frames"] - 1)
            self.chromium("until", code=f"(({{frame, frames}}) => frames > {first['frames']} && frame === frames - 1)"
                                        "(window.talusViewer.state())")
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(60)
        self.chromium("until", code="document.querySelector('#status').innerText === 'ended'")
        # A run that ended and goes on is followed again.
        frames = self.chromium.state()["frames"]
        with h5py.File(directory / "frames.h5") as file:
            steps = str(file["step"][-1] + 50)  # of which 11 make a frame
        subprocess.run([TALUS, "resume", directory, "--quiet", "--steps", steps], check=True, timeout=100)
        self.chromium("until", code=f"(({{frame, frames}}) => frames > {frames} && frame === frames - 1)"
                                    "(window.talusViewer.state())")
        server.close()
        self.chromium.viewer("setField('mass')")  # not fetched before
        self.assertIn("does not answer", " ".join(self.chromium.state()["notes"]))

    def test_late_and_replaced(self):
        """A page that is opened too early waits for the run; another run in the same folder is shown alone."""
        directory = self.root / "anew"
        arguments = [TALUS, "run", TINY, "-o", directory, "--quiet", "--steps", "30"]
        subprocess.run(arguments, check=True, timeout=100)
        (directory / "frames.h5").rename(directory / "later")
        server = Server(directory)
        self.addCleanup(server.close)
        self.chromium("open", url=server.url)
        self.assertIn("cannot be shown", self.chromium.text(".failure"))
        (directory / "later").rename(directory / "frames.h5")
        self.chromium("until", code="window.talusViewer?.state().frame >= 0")
        self.assertGreaterEqual(self.chromium.state()["drawn"]["balls"], 64)
        subprocess.run([*arguments, "--force", "--set", "grains.0.counts=[3,3]"], check=True, timeout=100)
        # Nine grains, and those that have been poured in 30 steps.
        self.chromium("until", code="((s) => s && s.frame > 0 && s.drawn.balls < 9 + 10)(window.talusViewer?.state())")
        self.assertGreater(self.chromium.state()["frame"], 0)

    def test_frames_without_grains_and_contacts(self):
        server = self.open("rain")
        self.assertEqual(len(self.grains(0)["id"]), 0)
        self.chromium("key", key="Home")
        self.chromium("until", code="window.talusViewer.state().frame === 0")
        self.assertEqual(self.chromium.state()["drawn"]["balls"], 0)
        self.assertEqual(self.chromium.state()["notes"], ["This frame has no grains."])
        self.chromium("key", key="End")
        self.chromium("until", code="window.talusViewer.state().drawn.balls > 0")
        last = len(self.frames["time"]) - 1
        state = self.chromium.state()
        self.assertEqual((state["frame"], state["notes"]), (last, []))
        self.assertEqual(state["drawn"]["balls"], len(self.grains(last)["id"]))
        self.chromium("key", key="c")  # refused: there are none
        self.chromium.viewer(f"pick({self.grains(last)['id'][0]})")
        self.assertIn("does not record contacts", self.chromium.text("#inspector"))
        self.assertEqual(self.chromium.state()["drawn"]["contacts"], 0)
        self.picture("rain")
        self.assert_quiet(server.url)

    def test_nothing_to_show(self):
        """A page without data says so instead of staying blank."""
        page = self.root / "bare.html"
        shutil.copy(PAGE, page)
        self.chromium("open", url=page.as_uri(), offline=True)
        self.assertIn("cannot be shown", self.chromium.text(".failure"))


if __name__ == "__main__":
    unittest.main()
