"""What the viewer's page can do beside showing a frame: scales, forces, arrows, trails, selections, images,
charts with several curves, pictures and movies of any size, the view in the address, small screens."""
import base64
import csv
import io
import json
import unittest
import zipfile

import numpy

from viewer_page import SOURCE, ViewerCase, read_picture

STAGE = numpy.array([0xfb, 0xfc, 0xfd])

# Disks that shear in a periodic cell, with one that is far faster than the others.
SHEAR = """
title: Shear
dimension: 2
step: 1.0e-3
materials: {glass: {density: 2500, friction: 0.3}}
periodic: {x: [0, 0.2]}
walls:
  - {name: floor, type: plane, normal: [0, 1]}
  - {name: lid, type: plane, point: [0, 0.11], normal: [0, -1]}
grains:
  - {type: lattice, counts: [16, 8], low: [0.006, 0.006], spacing: 0.0124, jitter: 0.1, radius: 0.0055,
     velocity: [0.1, 0.02]}
  - {type: lattice, counts: [1, 1], low: [0.1, 0.105], spacing: 0.01, radius: 0.0025, velocity: [5, 0]}
until: {time: 0.1}
output: {frames: 0.01, series: 0.005}
"""

# Spheres on a tray that is wider and taller than they: walls must be in sight, too.
TRAY = """
title: Tray
dimension: 3
step: 1.0e-3
gravity: [0, 0, -9.81]
materials: {bead: {density: 2500, friction: 0.5}}
walls: [{name: tray, type: box, low: [-0.1, -0.1, 0], high: [0.1, 0.1, 0.12], open: [top]}]
grains:
  - {type: lattice, counts: [6, 6, 4], low: [-0.04, -0.04, 0.006], spacing: 0.0125, jitter: 0.1,
     radius: {distribution: uniform, min: 0.004, max: 0.006}}
until: {time: 0.2}
output: {frames: 0.02, series: 0.005}
"""


class ViewerTools(ViewerCase):
    scenes = {"shear": SHEAR, "tray": TRAY, "flat": SOURCE / "tests" / "scenes" / "tiny.yaml"}

    def speeds(self, frame):
        return numpy.linalg.norm(self.grains(frame)["velocity"][:], axis=1)

    def assert_all_in_sight(self, name, legend):
        """Nothing touches the border of the canvas, and what is drawn takes a good part of it."""
        self.set(look_axes=False, look_ruler=False)
        self.chromium.viewer("look()")
        stage = self.stage_of(self.picture(name))
        drawn = abs(stage - STAGE).max(axis=2) > 6
        drawn[:, -legend:] = False
        for border in (drawn[:3], drawn[-3:], drawn[:, :3]):
            self.assertFalse(border.any())
        rows, columns = numpy.nonzero(drawn)
        self.assertTrue(numpy.ptp(rows) > 0.75 * stage.shape[0] or numpy.ptp(columns) > 0.6 * stage.shape[1])

    def test_in_sight(self):
        """Grains and walls are in sight at the start, in the plane and in space, on a phone as well."""
        for name in ("shear", "tray"):
            self.open(name)
            self.assert_all_in_sight(f"{name}-in-sight", 140)
            self.open(name, width=390, height=780)
            self.assert_all_in_sight(f"{name}-in-sight-phone", 114)

    def test_scales(self):
        self.open("shear", "colour.field=velocity.|.|")
        speeds = self.speeds(self.last)
        low, high = self.chromium.state()["colour"]["range"]
        # Of 129 numbers the 1st and 99th percentile: one fast disk does not spoil the scale.
        self.assertLess(high, 0.5 * speeds.max())
        self.assertAlmostEqual(low, numpy.quantile(speeds, 0.01, method="nearest"), delta=1e-6)
        self.assertAlmostEqual(high, numpy.quantile(speeds, 0.99, method="nearest"), delta=1e-6)
        self.assertTrue(self.chromium.state()["legend"]["above"], "the legend says that there is more")
        self.set(colour_part=100)
        numpy.testing.assert_allclose(self.chromium.state()["colour"]["range"], [speeds.min(), speeds.max()], rtol=1e-6)
        self.set(colour_over="all")
        every = numpy.concatenate([self.speeds(i) for i in range(self.last + 1)])
        self.chromium("until", code=f"Math.abs(window.talusViewer.state().colour.range[1] - {every.max()}) < 1e-5")
        self.assertAlmostEqual(self.chromium.state()["colour"]["range"][0], every.min(), delta=1e-6)
        # Signed numbers: a diverging map, symmetric about zero. Logarithmic: of the positive ones.
        self.set(colour_over="frame")
        self.chromium.viewer("setField('velocity.y')")
        side = self.grains(self.last)["velocity"][:, 1]
        self.assertTrue((side > 0).any() and (side < 0).any())
        colour = self.chromium.state()["colour"]
        self.assertEqual(colour["map"], "blue to red")
        numpy.testing.assert_allclose(colour["range"], numpy.array([-1, 1]) * abs(side).max(), rtol=1e-6)
        self.set(colour_symmetric=False)
        numpy.testing.assert_allclose(self.chromium.state()["colour"]["range"], [side.min(), side.max()], rtol=1e-6)
        self.set(colour_map="viridis", colour_log=True)
        numpy.testing.assert_allclose(self.chromium.state()["colour"]["range"], [side[side > 0].min(), side.max()], rtol=1e-6)
        self.picture("shear-log")

    def test_forces(self):
        """Force chains show: grains make room, bars have a threshold, the load of a grain is a colour."""
        self.open("flat")
        pressed = lambda i: (self.frames[f"frames/{i:06d}/contacts/force"][:] != 0).any(axis=1).sum()
        frame = max(range(self.last + 1), key=pressed)  # the box is shaken: its grains may be flying in the last one
        self.chromium.viewer(f"setFrame({frame})")
        contacts = self.frames[f"frames/{frame:06d}/contacts"]
        force = (contacts["force"][:] * contacts["normal"][:]).sum(axis=1)
        load = {int(i): 0.0 for i in self.grains(frame)["id"]}
        for a, b, f in zip(contacts["a"], contacts["b"], force):
            for end in (int(a), int(b)):
                if end in load:
                    load[end] += abs(f)
        self.set(colour_part=100, forces_on=True)
        self.chromium.viewer("setField('load')")
        loads = numpy.array([x for x in load.values() if x > 0])
        colour = self.chromium.state()["colour"]
        self.assertTrue(colour["log"], "loads are spread over decades")
        numpy.testing.assert_allclose(colour["range"], [loads.min(), loads.max()], rtol=1e-5)
        self.set(grains_on=False, walls_on=False, look_axes=False, look_ruler=False)
        self.assertEqual(self.chromium.state()["drawn"]["balls"], 0)
        red = lambda picture: ((picture[..., 0] > 150) & (picture[..., 1] < 90))[:, :-280].sum()
        every = red(self.stage_of(self.picture("forces-all")))
        self.set(forces_least=2)
        strong = red(self.stage_of(self.picture("forces-strong")))
        self.assertTrue(0.1 * every < strong < 0.95 * every, (every, strong))

    def test_selection(self):
        self.open("shear")
        grains = self.grains(self.last)
        ids, x, y = grains["id"][:], grains["position"][:, 0], grains["position"][:, 1]
        speeds = self.speeds(self.last)
        self.set(select_where="y > 0.05 and |velocity| < 0.2 or not (x < 0.19)")
        expected = set(ids[((y > 0.05) & (speeds < 0.2)) | ~(x < 0.19)].tolist())
        self.chromium("until", code=f"window.talusViewer.state().selected?.length === {len(expected)}")
        self.assertEqual(set(self.chromium.state()["selected"]), expected)
        # Its numbers, and those of all.
        self.chromium("eval", code="[...document.querySelectorAll('summary')].find((s) => s.innerText === 'Selection').click()")
        self.set(select_field="position.y")
        self.chromium("until", code=f"/^{len(expected)} grains: .* m, from/.test(document.querySelector('#statistics').innerText)")
        chosen = numpy.isin(ids, list(expected))
        said = self.chromium.text("#statistics")
        self.assertAlmostEqual(float(said.split("mean ")[1].split()[0]), y[chosen].mean(), delta=1e-3 * y[chosen].mean())
        self.picture("shear-selected")
        # In another frame it is the same grains; made anew there, others.
        self.chromium.viewer("setFrame(0)")
        self.assertEqual(set(self.chromium.state()["selected"]), expected)
        self.set(select_where="y > nowhere")
        self.chromium("until", code="document.querySelector('#select-where').classList.contains('wrong')")
        self.assertIn("There is no 'nowhere'", self.chromium("eval", code="document.querySelector('.note.wrong').innerText"))
        # A box on the canvas.
        first = self.grains(0)
        corner = [self.chromium.viewer(f"screenOf({i})") for i in first["id"][:40]]
        left, right = min(c["x"] for c in corner) - 2, max(c["x"] for c in corner) + 2
        top, bottom = min(c["y"] for c in corner) - 2, max(c["y"] for c in corner) + 2
        self.chromium("drag", **{"from": [left, top], "to": [right, bottom]}, holding="Shift")
        self.chromium("until", code="(window.talusViewer.state().selected ?? []).length > 0")
        inside = [i for i in first["id"] if left <= (c := self.chromium.viewer(f"screenOf({i})"))["x"] <= right
                  and top <= c["y"] <= bottom]
        self.assertEqual(sorted(self.chromium.state()["selected"]), sorted(int(i) for i in inside))
        self.chromium("key", key="Escape")
        self.assertIsNone(self.chromium.state().get("selected"))

    def test_arrows_trails_images(self):
        self.open("shear")
        count = len(self.grains(self.last)["id"])
        self.set(arrows_on=True, images=1)
        drawn = self.chromium.state()["drawn"]
        self.assertEqual((drawn["arrows"], drawn["images"]), (count, 2))
        self.picture("shear-arrows-images")
        # Trails of two grains over five frames; a step through the border of the cell is not drawn.
        self.chromium.viewer("setFrame(6)")
        ids = [int(i) for i in self.grains(self.last)["id"]]
        ways = {i: [self.grains(f)["position"][list(self.grains(f)["id"]).index(i)] for f in range(1, 7)] for i in ids}
        jumps = {i: sum(abs(b[0] - a[0]) > 0.1 for a, b in zip(way, way[1:])) for i, way in ways.items()}
        some = [next(i for i in ids if jumps[i] == 1), next(i for i in ids if jumps[i] == 0)]
        self.set(images=0, arrows_on=False, trails_on=True, trails_frames=5, select_ids=",".join(map(str, some)))
        self.chromium("until", code="window.talusViewer.state().drawn.trails === 4 + 5")
        self.picture("shear-trails")

    def test_light(self):
        """Hollows are darker, the tops are not; draw calls and bytes are few."""
        self.open("tray", "walls.on=0&look.outline=0&look.axes=0&look.ruler=0")
        self.chromium.viewer("look('z')")
        grains = self.grains(self.last)
        top = grains["id"][int(numpy.argmax(grains["position"][:, 2]))]
        at = self.chromium.viewer(f"screenOf({top})")
        shaded = self.picture("tray-shaded")
        self.set(look_shade=False)
        plain = self.picture("tray-plain")
        centre = (int(at["y"]), int(at["x"]))
        self.assertLessEqual(abs(shaded[centre] - plain[centre]).max(), 3)
        covered = self.stage_of(abs(plain - STAGE).max(axis=2) > 20)
        light = lambda picture: self.stage_of(picture)[covered].sum(axis=1)
        darker = light(shaded) < 0.85 * light(plain)
        self.assertGreater(darker.mean(), 0.08)
        # Nothing becomes lighter, but for edges, where a picture of fewer exposures is coarser.
        self.assertLess((light(shaded) > light(plain) + 9).mean(), 0.1)
        work = self.chromium.state()["work"]
        # All grains in one call; light, sum and copy.
        self.assertLessEqual(work["calls"], 5)
        # 32 bytes for a sphere, in textures of whole lines of 4096 texels of 16 bytes.
        self.assertLessEqual(work["buffers"], 2 * 4096 * 16 * 1.1 + 2 * 4096 * 16)

    def test_charts(self):
        server = self.open("flat", "charts=kinetic_energy%2Bcoordination~log,overlap_max")
        with open(self.root / "flat" / "series.csv", newline="") as file:
            row = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(file)][-1]
        state = self.chromium.state()
        self.assertEqual(list(state["charts"]), ["kinetic_energy", "coordination", "overlap_max"])
        for column in state["charts"]:
            self.assertEqual(state["charts"][column], row[column])
        self.assertEqual(len(self.chromium("eval", code="[...document.querySelectorAll('.chart')].map((c) => 1)")), 2)
        header = self.chromium.text(".chart header")
        self.assertIn("J", header.split())
        self.chromium.viewer("addCurve(1, 'overlap_mean')")
        self.assertIn("overlap_max%2Boverlap_mean", self.chromium.state()["address"])
        self.picture("charts")
        self.assert_quiet(server.url)

    def test_address(self):
        """The address holds the view: whoever opens it sees the same."""
        self.open("tray")
        self.chromium.viewer("setFrame(3)")
        self.chromium.viewer("setField('velocity.z')")
        self.chromium.viewer("setRange(-0.1, 0.1)")
        self.set(cut_on=True, cut_axis="x", cut_place=0.3, walls_opacity=0.5, theme="dark", parallel=True)
        self.chromium.viewer("pick(7)")
        box = self.chromium.box("#stage")
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        self.chromium("drag", **{"from": middle, "to": [middle[0] + 120, middle[1] + 30]})
        before = self.picture("address-before")
        address = self.chromium.state()["address"]
        self.chromium("until", code=f"location.hash === {json.dumps('#' + address)}")
        for word in ("frame=3", "colour.field=velocity.z", "cut.on=1", "camera=", "picked=7", "theme=dark"):
            self.assertIn(word, address)
        self.open("tray", address)
        after = self.picture("address-after")
        self.assertEqual(self.chromium.state()["address"], address)
        self.assertEqual(self.chromium.state()["picked"], 7)
        # Camera and range stand there with five digits: a few pixels at edges may differ.
        differs = abs(self.stage_of(before) - self.stage_of(after)).max(axis=2) > 40
        self.assertLess(differs.mean(), 0.01)
        # What nobody can read is passed over.
        self.open("tray", "frame=none&colour.field=nothing&cut.on=7&camera=1,2&unknown=3")
        self.assertEqual(self.chromium.state()["frame"], self.last)
        self.assertEqual(self.chromium.state()["notes"], [])

    def test_pictures_and_movies(self):
        """Pictures of any size, movies in what the browser can write, and as an archive of pictures."""
        self.open("tray")
        data = self.chromium.viewer("picture(801, 1203)").split(",")[1]
        path = self.pictures / "tall.png"
        path.write_bytes(base64.b64decode(data))
        tall = read_picture(path)
        self.assertEqual(tall.shape[:2], (1203, 801))
        self.assertGreater((abs(tall - STAGE).max(axis=2) > 20).mean(), 0.02)
        fields = {"export-width": 320, "export-height": 240, "export-first": 2, "export-last": 7, "export-every": 2,
                  "export-rate": 10, "export-turn": 30}
        self.chromium("key", key="m")
        for name, value in fields.items():
            self.chromium("eval", code=f"(() => {{ const f = document.querySelector('#{name}'); f.value = '{value}';"
                                       "f.dispatchEvent(new Event('change')); })()")
        camera = self.chromium.state()["camera"]
        archive = self.movie("zip")
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            self.assertEqual(len(file.namelist()), 3)
            for name in file.namelist():
                path = self.pictures / name
                path.write_bytes(file.read(name))
                self.assertEqual(read_picture(path).shape[:2], (240, 320))
        numpy.testing.assert_allclose(self.chromium.state()["camera"]["position"], camera["position"], rtol=1e-6, atol=1e-9)
        self.assertEqual(self.chromium.state()["frame"], self.last)
        offered = self.chromium("eval", code="[...document.querySelector('#export-format').options].map((o) => o.value)")
        self.assertIn("webm", offered, "Chromium has an encoder of its own")
        movie = self.movie("webm")
        self.assertEqual(movie[:4], b"\x1a\x45\xdf\xa3", "EBML, which WebM is written in")
        self.assertIn(b"V_VP", movie[:1000], "a picture track")
        self.assertGreater(len(movie), 1000)
        if "mp4" in offered:
            self.assertEqual(self.movie("mp4")[4:8], b"ftyp")

    def movie(self, kind):
        return base64.b64decode(self.chromium.viewer(f"movie('{kind}')").split(",", 1)[1])

    def test_small_screen(self):
        """On a phone nothing sticks out, the grains have most of the screen, and sheets come up over them."""
        self.open("tray", width=390, height=780)
        wide = "document.documentElement.scrollWidth <= 390 && [...document.querySelectorAll('button, select, input')]" \
               ".every((e) => { const b = e.getBoundingClientRect(); return b.width === 0 || (b.left >= 0 && b.right <= 391); })"
        self.assertTrue(self.chromium("eval", code=wide))
        self.assertGreater(self.chromium.box("#stage")["height"], 0.6 * 780)
        self.picture("phone")
        for key, selector in (("p", ".panel"), ("h", ".chart-panel")):
            self.chromium("key", key=key)
            self.assertGreater(self.chromium.box(selector)["height"], 150)
            self.assertTrue(self.chromium("eval", code=wide), selector)
            self.picture(f"phone-{selector[1:]}")
        self.assertEqual(self.chromium.box(".panel")["height"], 0, "one sheet at a time")

    def test_keys_listed(self):
        """Every key that the page lists does something; the list opens and closes."""
        self.open("tray")
        self.chromium("key", key="?")
        self.assertTrue(self.chromium("eval", code="document.querySelector('#help').open"))
        self.assertIn("select by a box", self.chromium.text("#help"))
        self.picture("help")
        self.chromium("key", key="Escape")
        self.assertFalse(self.chromium("eval", code="document.querySelector('#help').open"))
        for key, name in (("v", "arrows.on"), ("n", "trails.on"), ("k", "cut.on"), ("c", "forces.on")):
            self.chromium("key", key=key)
            self.assertIn(f"{name}=1", self.chromium.state()["address"])
            self.assertTrue(self.chromium("eval", code=f"document.querySelector('#{name.replace('.', '-')}').closest('details').open"),
                            f"the controls of {name} are unfolded")


if __name__ == "__main__":
    unittest.main()
