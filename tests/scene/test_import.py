"""`talus import`: files of LAMMPS, LMGC90 and CSV become scenes that run, with the same grains."""
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

from record_sample import BUILD, documented_faces

DATA = Path(__file__).resolve().parents[1] / "data"
OK, FAILURE, USAGE = 0, 1, 2


def talus(*arguments):
    return subprocess.run([BUILD / "talus", *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=60)


def rotation(q):
    """Rotation matrix of a unit quaternion, by Rodrigues' formula."""
    cross = numpy.array([[0, -q[3], q[2]], [q[3], 0, -q[1]], [-q[2], q[1], 0]])
    return numpy.eye(3) + 2 * q[0] * cross + 2 * cross @ cross


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="talus-import-")
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def import_file(self, path, *options):
        """Import, check the scene, run it for no time; the first frame and the words of the import."""
        scene = self.root / "scene.yaml"
        done = talus("import", path, "-o", scene, *options)
        self.assertEqual(done.returncode, OK, done.stderr)
        checked = talus("check", scene)
        self.assertEqual(checked.returncode, OK, checked.stderr)
        ran = talus("run", scene, "-o", self.root / "run", "--quiet", "--set", "until.steps=2")
        self.assertEqual(ran.returncode, OK, ran.stderr)
        frames = h5py.File(self.root / "run/frames.h5")
        self.addCleanup(frames.close)
        return frames, done.stdout

    def refuse(self, text, *words, name="file.csv", options=()):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        done = talus("import", path, "-o", self.root / "bad.yaml", *options)
        self.assertEqual(done.returncode, FAILURE, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.root / "bad.yaml").exists())
        self.assertFalse((self.root / "bad-grains.csv").exists())


class Lammps(Folder):
    # As packed.in makes them, and after two steps of 1e-5 s of free flight.
    place = numpy.array([[0.02, 0.02, 0.03], [0.05, 0.07, 0.02], [0.08, 0.03, 0.06]])
    velocity = numpy.tile([0.1, -0.2, 0.3], (3, 1))
    spin = [[1, 2, 3], [0, 0, 0], [0, 0, 0]]
    radius = numpy.array([0.005, 0.005, 0.01])
    mass = numpy.array([2500, 2500, 1200]) * 4 / 3 * numpy.pi * radius**3

    def check_grains(self, grains, place):
        # Numbers of the dump have 10 digits.
        for name, expected in (("position", place), ("velocity", self.velocity), ("spin", self.spin),
                               ("radius", self.radius), ("mass", self.mass)):
            numpy.testing.assert_allclose(grains[name], expected, rtol=3e-10, atol=1e-14, err_msg=name)
        self.assertEqual(list(grains["tag"]), [1, 2, 3])
        self.assertEqual(list(grains["material"]), [0, 0, 1])

    def test_dump(self):
        for options, steps in (([], 2), (["--frame", "0"], 0), (["--frame", "-2"], 1)):
            with self.subTest(options=options):
                frames, _ = self.import_file(DATA / "packed.dump", *options)
                self.check_grains(frames["frames/000000/grains"], self.place + steps * 1e-5 * self.velocity)
                attributes = frames["frames/000000"].attrs
                self.assertEqual(list(attributes["periodic"]), [1, 1, 0])
                numpy.testing.assert_array_equal(attributes["cell_high"][:2], 0.1)
                frames.close()
                for path in self.root.glob("scene*"):
                    path.unlink()
                subprocess.run(["rm", "-r", self.root / "run"], check=True)

    def test_data(self):
        frames, words = self.import_file(DATA / "packed.data", "--periodic", "x", "--periodic", "z=-1:1")
        self.check_grains(frames["frames/000000/grains"], self.place)
        attributes = frames["frames/000000"].attrs
        self.assertEqual(list(attributes["periodic"]), [1, 0, 1])
        self.assertEqual((attributes["cell_high"][0], attributes["cell_low"][2]), (0.1, -1))
        self.assertIn("which axes are periodic", words)

    def round_trip(self, dim, scene):
        first = self.root / "first.yaml"
        first.write_text(scene)
        done = talus("run", first, "-o", self.root / "first", "--quiet")
        self.assertEqual(done.returncode, OK, done.stderr)
        done = talus("export", self.root / "first", "--lammps", self.root / "first.dump")
        self.assertEqual(done.returncode, OK, done.stderr)
        frames, _ = self.import_file(self.root / "first.dump")
        with h5py.File(self.root / "first/frames.h5") as origin:
            old, new = list(origin["frames"].values())[-1], frames["frames/000000"]
            self.assertEqual(frames.attrs["dimension"], dim)
            for name in ("position", "radius", "velocity", "spin", "mass", "material"):
                expected = old[f"grains/{name}"][()]
                # 10 digits of numbers that are at most 10 times as large as the cell.
                numpy.testing.assert_allclose(new[f"grains/{name}"], expected, rtol=1e-9, atol=1e-12,
                                              err_msg=name)
            numpy.testing.assert_array_equal(new["grains/tag"], old["grains/id"])
            numpy.testing.assert_array_equal(new.attrs["periodic"], old.attrs["periodic"])

    def test_round_trip_2d(self):
        self.round_trip(2, """
dimension: 2
step: 1e-3
gravity: [0, -9.81]
periodic: {x: [0, 1]}
until: {steps: 20}
output: {frames: 5e-3}
materials: {glass: {density: 2500, friction: 0.5}, steel: {density: 7800}}
walls: [{type: plane, normal: [0, 1]}]
grains:
  - {type: lattice, low: [0, 0], high: [1, 0.5], radius: 0.04, jitter: 0.5, factor: 1.2, velocity: [1, -1], spin: 3}
  - {type: lattice, low: [0, 0.6], high: [1, 0.8], radius: 0.05, material: steel, velocity: [-2, 0]}
""")

    def test_round_trip_3d(self):
        self.round_trip(3, """
dimension: 3
step: 1e-3
periodic: {x: [-1, 1], z: [0, 1]}
until: {steps: 5}
output: {frames: 5e-3}
materials: {glass: {density: 2500}}
grains:
  - {type: lattice, low: [-1, 0, 0], high: [1, 1, 1], radius: 0.1, jitter: 0.5, factor: 1.2, velocity: [9, 1, 2], spin: [1, 2, 3]}
""")

    def test_bad_dumps(self):
        good = (DATA / "packed.dump").read_text()
        lines = good.split("\n")
        self.refuse(good.replace("0.8 0.3 0.6", "0.8 x 0.6", 1), "file.dump:12:", "column 'ys'", "'x'",
                    name="file.dump", options=["--frame", "0"])
        self.refuse(good.replace("ITEM: NUMBER OF ATOMS\n3", "ITEM: NUMBER OF ATOMS\n7"), "only 3 atoms",
                    name="file.dump", options=["--frame", "0"])
        self.refuse("\n".join(lines[:11]), "file.dump:11:", "ends before", name="file.dump")
        self.refuse(good.replace("diameter", "d_x"), "no column radius", name="file.dump")
        self.refuse(good.replace("BOUNDS pp", "BOUNDS xy xz yz pp").replace("e-01\n", "e-01 0.01\n"),
                    "triclinic", name="file.dump")
        self.refuse(good, "there is no frame 3", name="file.dump", options=["--frame", "3"])

    def test_bad_data(self):
        good = (DATA / "packed.data").read_text()
        self.refuse(good.replace("# sphere", "# atomic"), "file.data:10:", "only sphere", name="file.data")
        self.refuse(good.replace("2 1 0.01 2500 0.05", "2 1 -0.01 2500 0.05"), "file.data:13:",
                    "diameter", name="file.data")
        self.refuse(good.replace("\n3 0.1 -0.2", "\n9 0.1 -0.2"), "there is no atom 9", name="file.data")


class Csv(Folder):
    def test_foreign_names(self):
        path = self.root / "grains.csv"
        path.write_text("# of a spreadsheet\nID;X;Y;d;comment;material;angle\n"
                        "7;0;0.5;0.2;a b;oak;90\n8;1;0.25;0.5;;fir 2;0\n")
        frames, words = self.import_file(path)
        grains = frames["frames/000000/grains"]
        numpy.testing.assert_array_equal(grains["position"], [[0, 0.5], [1, 0.25]])
        numpy.testing.assert_array_equal(grains["radius"], [0.1, 0.25])
        numpy.testing.assert_allclose(grains["rotation"], [numpy.pi / 2, 0], rtol=1e-15)
        self.assertEqual(list(grains["tag"]), [7, 8])
        self.assertEqual(list(grains["material"]), [0, 1])
        self.assertIn("not carried over: comment", words)
        self.assertIn("fir_2", (self.root / "scene.yaml").read_text())

    def test_quoted_fields(self):
        """As spreadsheets and R write them: separators and quotes within quotes."""
        path = self.root / "grains.csv"
        for text in ('"x","y" ,"radius","note","material"\n"1",2,0.5,"a, ""b"", c", "fir, old"\n3,4,"0.25",,oak\n',
                     '"x" "y" "radius" "note" "material"\n1 2 "0.5" "a ""b"" c" "fir  old"\n3 4 0.25 "" "oak"\n'):
            path.write_text(text)
            frames, words = self.import_file(path)
            grains = frames["frames/000000/grains"]
            numpy.testing.assert_array_equal(grains["position"], [[1, 2], [3, 4]])
            numpy.testing.assert_array_equal(grains["radius"], [0.5, 0.25])
            self.assertIn("not carried over: note", words)
            self.assertIn("fir__old", (self.root / "scene.yaml").read_text())
            frames.close()
            for made in self.root.glob("scene*"):
                made.unlink()
            shutil.rmtree(self.root / "run")
        self.refuse('x,y,radius\n0,"1,1\n', "column 'y'", "'\"1'")
        self.refuse('x,y,radius\n0,"1"1,1\n', "column 'y'")

    def test_assumptions_are_told(self):
        path = self.root / "grains.csv"
        path.write_text("x,y,radius\n0,0,1\n3,0,1\n")
        words = self.import_file(path)[1]
        self.assertIn("nothing of mass or density of 2 grains: the density is 2500 kg/m^2", words)
        with_mass = self.root / "mass.csv"
        with_mass.write_text("x,y,radius,mass\n0,0,1,1\n")
        done = talus("import", with_mass, "-o", self.root / "mass.yaml")
        self.assertNotIn("density", done.stdout)
        dump = self.root / "flat.dump"
        dump.write_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp ff pp\n0 9\n0 9\n0 1\n"
                        "ITEM: ATOMS id x y z radius\n1 1 1 0.5 1\n2 4 1 0.5 1\n")
        done = talus("import", dump, "-o", self.root / "flat.yaml")
        self.assertIn("in 2D: that the axis z is periodic was left out", done.stdout)

    def test_endless_line(self):
        zeros = self.root / "zeros"
        zeros.write_bytes(bytes(2 << 20))
        for options in ([], ["--format", "csv"], ["--format", "lammps-dump"]):
            for path, words in ((zeros, "longer than 1048576 bytes"), ("/dev/zero", "a pipe or a device")):
                done = talus("import", path, "-o", self.root / "s.yaml", *options)
                self.assertEqual(done.returncode, FAILURE)
                self.assertIn(words, done.stderr)

    def test_other_letters(self):
        """What YAML does not take, in names of columns, materials and the file: bytes of Latin-1, control
        characters, ends of lines of Unicode."""
        path = self.root / os.fsdecode(b"grains-\xe9-\x7f.csv")
        path.write_bytes(b"x,y,radius,gr\xf6\xdfe,a\x7fb,c\xe2\x80\xa8title: d,e\xc2\x85f,\xc3\xa9,material\n"
                         b"0,0,1,2,3,4,5,6,\xe9t\xe9\n3,0,1,2,3,4,5,6,b\n")
        self.import_file(path)
        text = (self.root / "scene.yaml").read_text()
        self.assertIn("gr??e, a?b, c???title: d, e??f, \u00e9", text)
        self.assertIn('title: "grains-?-?.csv"', text)
        done = talus("import", path, "-o", self.root / "\x7f.yaml")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("UTF-8", done.stderr)

    def test_refusals(self):
        self.refuse("x,y,radius\n0,0,1\n1,oops,1\n", "file.csv:3:", "column 'y'", "'oops'")
        self.refuse("x,y,radius\n0,0\n", "file.csv:2:", "only 2 values")
        self.refuse("x,y,radius\n0,0,1,2\n", "file.csv:2:", "more values")
        self.refuse("x,y,radius\n0,0,-1\n", "must be > 0")
        self.refuse("x,radius\n0,1\n", "no column y")
        self.refuse("", "names the columns")
        self.refuse("what is this\n", "format is not known", name="file.txt")
        missing = talus("import", self.root / "none.csv", "-o", self.root / "s.yaml")
        self.assertEqual(missing.returncode, FAILURE)
        self.assertIn("No such file", missing.stderr)

    def test_nothing_is_overwritten(self):
        path = self.root / "a.csv"
        path.write_text("x,y,radius\n0,0,1\n")
        for taken in ("s.yaml", "s-grains.csv"):
            (self.root / taken).write_text("mine")
            done = talus("import", path, "-o", self.root / "s.yaml")
            self.assertEqual(done.returncode, FAILURE)
            self.assertIn("is there already", done.stderr)
            self.assertEqual((self.root / taken).read_text(), "mine")
            self.assertEqual(sorted(p.name for p in self.root.glob("s*")), [taken])
            (self.root / taken).unlink()

    def test_usage(self):
        path = self.root / "a.csv"
        path.write_text("x,y,radius\n0,0,1\n")
        for options in (["--format", "cvs"], ["--periodic", "w"], ["--periodic", "x=1:0"], ["--periodic", "x"],
                        ["--dimension", "4"], ["--frame", "one"], ["--radius", "-1"]):
            done = talus("import", path, "-o", self.root / "s.yaml", *options)
            self.assertEqual(done.returncode, USAGE, options)
        self.assertEqual(talus("import", path).returncode, USAGE)
        self.assertIn("did you mean 'csv'", talus("import", path, "-o", "s", "--format", "cvs").stderr)


class Lmgc90(Folder):
    def corners(self, frames, row):
        return [numpy.array(face) for face in documented_faces()(frames, 0, row)]

    def test_2d(self):
        frames, words = self.import_file(DATA / "lmgc90-2d")
        grains = frames["frames/000000/grains"]
        # Seven digits after the point are in the files.
        close = dict(rtol=0, atol=2e-7)
        self.assertEqual(list(grains["tag"]), [1, 2, 3, 4, 7])
        numpy.testing.assert_allclose(grains["position"][:3], [[0.01, 0.52], [0.6, 0.5], [1.2, 0.7]], **close)
        numpy.testing.assert_allclose(grains["radius"][[0, 1, 4]], [0.1, 0.15, 0.08], **close)
        numpy.testing.assert_allclose(grains["velocity"][0], [1, -2], **close)
        numpy.testing.assert_allclose(grains["spin"][()], [3, 0, 0, 2, 0], **close)
        self.assertEqual(list(grains["glued_to"]), [-1, -1, -1, -1, -2])  # body 7 is held
        # The box turned by 30 degrees; its mass is density times area.
        c, s = numpy.cos(numpy.pi / 6), numpy.sin(numpy.pi / 6)
        box = numpy.array([[-.2, -.1], [.2, -.1], [.2, .1], [-.2, .1]])
        expected = box @ [[c, s], [-s, c]] + [1.2, 0.7]
        got = self.corners(frames, 2)[0]
        self.assertLess(max(numpy.linalg.norm(got - e, axis=1).min() for e in expected), 1e-6)
        numpy.testing.assert_allclose(grains["mass"][:3], [100 * numpy.pi * .01, 100 * numpy.pi * .0225, 2600 * .08],
                                      rtol=1e-7)
        # Two parts: the mass centre of the shape is where the files have it turned and moved.
        parts = [(0.045, numpy.array([0.0, 0.0])), (0.04, numpy.array([-.2, 0.0]))]
        centre = sum(a * x for a, x in parts) / sum(a for a, _ in parts)
        c, s = numpy.cos(-0.3), numpy.sin(-0.3)
        arm = numpy.array([[c, -s], [s, c]]) @ centre
        numpy.testing.assert_allclose(grains["position"][3], [2.0, 0.7] + arm, **close)
        numpy.testing.assert_allclose(grains["velocity"][3], [0.5 - 2 * arm[1], 2 * arm[0]], rtol=0, atol=1e-6)
        # The wall: half length 1.5 about (1, -0.1), turned by 0.1.
        walls = frames["shapes/walls"]
        edge = walls["edge_u"][0]
        numpy.testing.assert_allclose(abs(edge[:2]), 1.5 * numpy.array([numpy.cos(.1), numpy.sin(.1)]), **close)
        numpy.testing.assert_allclose(frames["frames/000000/walls/position"][0, :2], [1, -0.1], **close)
        numpy.testing.assert_allclose(walls["skin"][0], 0.05, **close)
        scene = (self.root / "scene.yaml").read_text()
        self.assertIn("{between: [PLEXx_BLUEx, TDURx_WALLx], friction: 0.6, restitution: 0.5", scene)
        self.assertIn("gravity: [0, -9.81]", scene)
        self.assertIn("1 body was left out", words)

    def test_3d(self):
        frames, _ = self.import_file(DATA / "lmgc90-3d/BODIES.DAT")
        grains = frames["frames/000000/grains"]
        angle, axis = numpy.radians(40), numpy.array([1, 1, 0]) / numpy.sqrt(2)
        turn = rotation([numpy.cos(angle / 2), *(numpy.sin(angle / 2) * axis)])
        close = dict(rtol=0, atol=5e-7)  # seven digits, turned
        numpy.testing.assert_allclose(grains["position"], [[.1, .2, 1.3], [1, 0, 1], [-1, 0, 1]], **close)
        numpy.testing.assert_allclose(grains["velocity"], [[1, 2, 3], [0, 0, -1], [0, 0, 0]], **close)
        # Spins are in the axes of the body.
        numpy.testing.assert_allclose(grains["spin"], [turn @ [.5, 0, 1], [1, 2, 3], [0, 0, 0]], **close)
        numpy.testing.assert_allclose(rotation(grains["rotation"][0]), turn, **close)
        numpy.testing.assert_allclose(grains["mass"][0], 2600 * .6 * .4 * .2, rtol=1e-6)
        self.assertEqual(list(grains["solid"]), [0, -1, 0])
        expected = [turn @ [x, y, z] + [.1, .2, 1.3] for x in (-.3, .3) for y in (-.2, .2) for z in (-.1, .1)]
        got = numpy.concatenate(self.corners(frames, 0))
        self.assertLess(max(numpy.linalg.norm(got - e, axis=1).min() for e in expected), 1e-6)
        # The plane: half axes 2 along y and 1 along -x, 0.5 above the body.
        walls = frames["shapes/walls"]
        numpy.testing.assert_allclose(walls["edge_u"][0], [0, 2, 0], **close)
        numpy.testing.assert_allclose(walls["edge_v"][0], [-1, 0, 0], **close)
        numpy.testing.assert_allclose(frames["frames/000000/walls/position"][0], [0, 0, -0.1], **close)

    def test_other_state(self):
        """A later file of positions in place of DOF.INI."""
        later = (DATA / "lmgc90-2d/DOF.INI").read_text().replace("X(1)= 1.0000000D-02", "X(1)= 2.5000000D-01")
        (self.root / "DOF.LAST").write_text(later)
        frames, _ = self.import_file(DATA / "lmgc90-2d", "--dof", self.root / "DOF.LAST")
        numpy.testing.assert_allclose(frames["frames/000000/grains/position"][0], [0.25, 0.52], atol=1e-7)

    def test_refusals(self):
        good = (DATA / "lmgc90-2d/BODIES.DAT").read_text()
        self.refuse("nothing\n", "there is no $bdyty", name="b/BODIES.DAT")
        self.refuse(good.replace("byrd= 1.5000000E-01", "byrd=-1.5000000E-01"), "BODIES.DAT:22: body 2", "radius",
                    name="b/BODIES.DAT")
        flat = good.replace("coo2= 1.0000000E-01", "coo2=-1.0000000E-01")
        self.refuse(flat, "BODIES.DAT:31: body 3", name="b/BODIES.DAT")
        (self.root / "b/DOF.INI").write_text("$bdyty\n RBDY2       99\n$nodty\n")
        self.refuse(good, "DOF.INI:2: body 99 is not in BODIES.DAT", name="b/BODIES.DAT")


class Fuzz(Folder):
    def test_damaged_files(self):
        """Files cut off and with bytes changed are imported or refused; nothing crashes."""
        draw = random.Random(1)
        paths = [DATA / "packed.dump", DATA / "packed.data", DATA / "lmgc90-2d/BODIES.DAT",
                 DATA / "lmgc90-3d/DOF.INI"]
        for i in range(24):
            path = paths[i % 4]
            data = bytearray(path.read_bytes())
            if i % 8 < 4:
                del data[draw.randrange(len(data)):]
            for _ in range(4 if data else 0):
                data[draw.randrange(len(data))] = draw.randrange(256)
            box = self.root / f"{i}"
            box.mkdir()
            if path.suffix in (".DAT", ".INI"):
                for other in path.parent.iterdir():
                    (box / other.name).write_bytes(other.read_bytes())
            (box / path.name).write_bytes(data)
            source = box if path.suffix in (".DAT", ".INI") else box / path.name
            done = talus("import", source, "-o", box / "scene.yaml")
            self.assertIn(done.returncode, (OK, FAILURE), f"{path} {i}: {done.stderr}")
            self.assertEqual(done.returncode == FAILURE, bool(done.stderr))


if __name__ == "__main__":
    unittest.main()
