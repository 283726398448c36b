"""frames.h5 and series.csv as a user of h5py and numpy meets them; the XDMF files against frames.h5."""
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy

from record_sample import DOCUMENT, documented_faces, in_memory, padded, write_sample

XDMF_TYPES = {("Float", "8"): "<f8", ("Int", "8"): "<i8", ("Int", "4"): "<i4", ("UChar", "1"): "|u1"}


class Records:
    """Checks for one dimension; the subclasses set `dim`."""

    @classmethod
    def setUpClass(cls):
        cls.folder = write_sample(cls.dim)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def runs(self):
        return [Path(self.folder.name) / form for form in ("whole", "linked")]

    def walls(self):
        more = ["rod"] if self.dim == 2 else ["plate", "cone", "sheet"]
        return ["floor", "left wall", "lid", "hook", "box", "bin", "post", "pipe"] + more

    def test_three_lines(self):
        for run in self.runs():
            with h5py.File(run / "frames.h5") as f:
                grains = f["frames/000002/grains"]
                positions, radii = grains["position"][:], grains["radius"][:]
                self.assertEqual(positions.shape, (len(radii), self.dim))
                self.assertGreater(len(radii), 0)
                self.assertEqual(grains["position"].attrs["unit"], "m")
                self.assertTrue(grains["position"].attrs["description"])
                self.assertEqual(grains["spin"].ndim, 1 if self.dim == 2 else 2)

    def test_root(self):
        for run in self.runs():
            with h5py.File(run / "frames.h5") as f:
                self.assertEqual(f.attrs["format"], "talus-frames")
                self.assertEqual(f.attrs["format_version"], 1)
                self.assertEqual(f.attrs["dimension"], self.dim)
                self.assertEqual(sorted(f["frames"]), [f"{i:06d}" for i in range(6)])
                self.assertEqual(list(f["step"]), list(range(6)))
                self.assertEqual(list(f["time"]), [0.1 * i for i in range(6)])
                for i, frame in enumerate(f["frames"].values()):
                    self.assertEqual(frame.attrs["time"], f["time"][i])
                    self.assertEqual(frame.attrs["grains"], len(frame["grains/id"]))
                    self.assertEqual(frame.attrs["contacts"], len(frame["contacts/a"]))
                    self.assertEqual(list(frame["walls/name"].asstr()), self.walls())

    def test_documented(self):
        text = DOCUMENT.read_text()
        with h5py.File(self.runs()[0] / "frames.h5") as f:
            for table in ("grains", "contacts", "walls"):
                self.check_section(text, table, f[f"frames/000002/{table}"])
            self.check_section(text, "drawing", f["frames/000000/drawing"])
            for table in ("shapes/solids", "shapes/walls"):
                self.check_section(text, table, f[table])
        header = (self.runs()[0] / "series.csv").read_text().splitlines()[0].split(",")
        for name in header:
            if not any(name.startswith(w.replace(" ", "_") + "_") for w in self.walls()):
                self.assertIn(f"`{name}`", text)

    def check_section(self, text, table, group):
        section = text.split(f"### `{table}`")[1].split("\n#")[0]
        rows = {r.split("`")[1]: r for r in section.splitlines() if r.startswith("| `")}
        self.assertEqual(sorted(rows), sorted(group), f"docs/files.md, {table}")
        for name, field in group.items():
            unit = "m^2" if table == "shapes/solids" and name == "volume" else field.attrs["unit"]
            self.assertTrue(rows[name].endswith(f"| {unit or '–'} | {field.attrs['description']} |"),
                            f"docs/files.md says {rows[name]}")
            kind = "text" if field.dtype.kind == "S" else field.dtype.name
            self.assertIn(f"| {kind} |", rows[name])

    def test_solids(self):
        """Names, mass properties and faces of the shapes, against sums over their triangles."""
        for run in self.runs():
            with h5py.File(run / "frames.h5") as f:
                solids = {name: field[()] for name, field in f["shapes/solids"].items()}
                self.assertEqual([n.decode() for n in solids["name"]], ["kite", "the hook"])
                self.assertEqual(list(solids["part_first"]), [0, 1, 3])
                for part in range(3):
                    self.check_part(solids, part)
                for i in range(2):
                    first, last = solids["vertex_first"][solids["part_first"][i:i + 2]]
                    reach = numpy.linalg.norm(solids["vertex"][first:last], axis=1).max() + 0.01
                    # Both are one square root of a sum of squares: a few roundings.
                    numpy.testing.assert_allclose(solids["radius"][i], reach, rtol=1e-15)

    def check_part(self, solids, part):
        """Loops close around the corners, and turn outwards."""
        vertex = solids["vertex"]
        corners = set(range(*solids["vertex_first"][part:part + 2]))
        middle = vertex[sorted(corners)].mean(axis=0)
        seen, directed = set(), []
        for face in range(*solids["face_first"][part:part + 2]):
            loop = solids["loop"][slice(*solids["loop_first"][face:face + 2])]
            seen.update(loop)
            directed += zip(loop, numpy.roll(loop, -1))
            points = numpy.pad(vertex[loop], ((0, 0), (0, 3 - self.dim)))
            area = sum(numpy.cross(a, b) for a, b in zip(points, numpy.roll(points, -1, axis=0)))
            outward = points.mean(axis=0)[:self.dim] - middle
            self.assertGreater(area[2] if self.dim == 2 else area @ outward, 0)
        self.assertEqual(seen, corners)
        if self.dim == 3:  # every edge is used once in each direction
            self.assertEqual(len(directed), len(set(directed)))
            self.assertEqual(set(directed), {(b, a) for a, b in directed})

    def test_forms_are_equal(self):
        root = Path(self.folder.name)
        seen = []
        with h5py.File(root / "whole/frames.h5") as a, h5py.File(root / "linked/frames.h5") as b:
            def same(name, item):
                if isinstance(item, h5py.Dataset):
                    seen.append(name)
                    numpy.testing.assert_array_equal(item[()], b[name][()], err_msg=name)
            a.visititems(same)
        self.assertGreater(len(seen), 100)

    def test_xdmf(self):
        """Each file is one grid over time, whose items are there with the types and sizes it says."""
        for run in self.runs():
            with h5py.File(run / "frames.h5") as f:
                for table in ("grains", "contacts", "walls", "solids"):
                    tree = xml.parse(run / f"{table}.xdmf2")
                    grids = tree.findall("./Domain/Grid[@CollectionType='Temporal']/Grid")
                    self.assertEqual([float(g.find("Time").get("Value")) for g in grids], list(f["time"]))
                    self.assertEqual({g.get("GridType") for g in grids}, {"Uniform"})
                    for grid, frame in zip(grids, f["frames"].values()):
                        self.check_items(f, grid)
                        self.check_names(table, frame, grid)

    def check_items(self, file, grid):
        for item in grid.iter("DataItem"):
            if item.get("Format") == "XML":
                continue
            source, path = item.text.split(":")
            self.assertEqual(source, "frames.h5")
            self.assertEqual(file[path].shape, tuple(map(int, item.get("Dimensions").split())), path)
            kind = XDMF_TYPES[item.get("NumberType"), item.get("Precision")]
            self.assertEqual(file[path].dtype.str, kind, path)

    def check_names(self, table, frame, grid):
        """All fields of a table are there, and each one once."""
        names = [attribute.get("Name") for attribute in grid.findall("Attribute")]
        expected = {"walls": {"wall"}, "solids": {"row", "id", "material", "tag", "velocity"},
                    "grains": set(frame["grains"]) - {"position"} | {"bounding_radius"},
                    "contacts": set(frame["contacts"]) - {"segment"}}[table]
        if int(grid.find("Topology").get("NumberOfElements")) == 0 and table != "grains":
            expected = set()
        self.assertEqual(sorted(names), sorted(expected))

    def drawn(self, file, frame, name):
        """A dataset of a frame's drawing, from the frame that holds it."""
        where, rows = frame["drawing"].attrs[name]
        values = file[f"frames/{where:06d}/drawing/{name}"][()]
        self.assertEqual(len(values), rows)
        return values

    def test_drawing(self):
        """The faces of solids are those that docs/files.md computes, in single precision; radii are
        those of balls."""
        faces = documented_faces()
        for run in self.runs():
            with h5py.File(run / "frames.h5") as f:
                known = in_memory(f)
                for i, frame in enumerate(f["frames"].values()):
                    points = self.drawn(f, frame, "solid_points")
                    stream = list(self.drawn(f, frame, "solid_cells"))
                    rows = self.drawn(f, frame, "solid_row")
                    solid = frame["grains/solid"][()]
                    expected = [(row, face) for row in numpy.flatnonzero(solid >= 0)
                                for face in faces(known, i, row)]
                    self.assertEqual(list(rows), [row for row, _ in expected])
                    for _, face in expected:
                        self.assertEqual(stream[:2], [3, len(face)])
                        numpy.testing.assert_allclose(points[stream[2:2 + len(face)]], padded(face),
                                                      rtol=0, atol=1e-6)
                        del stream[:2 + len(face)]
                    self.assertEqual(stream, [])
                    numpy.testing.assert_array_equal(self.drawn(f, frame, "solid_velocity"),
                                                     frame["grains/velocity"][()][rows])
                    numpy.testing.assert_array_equal(self.drawn(f, frame, "ball_radius"),
                                                     numpy.where(solid >= 0, 0, frame["grains/radius"]))
                    walls = set(self.drawn(f, frame, "wall_number"))
                    self.assertEqual(walls, set(numpy.flatnonzero(frame["walls/present"])))

    def test_series(self):
        for run in self.runs():
            rows = numpy.genfromtxt(run / "series.csv", names=True, delimiter=",")
            self.assertEqual(list(rows["step"]), list(range(6)))
            with h5py.File(run / "frames.h5") as f:
                self.assertEqual(list(rows["time"]), list(f["time"]))
                for i, frame in enumerate(f["frames"].values()):
                    for k, axis in enumerate("xyz"[:self.dim]):
                        self.assertEqual(rows[f"left_wall_force_{axis}"][i],
                                         frame["walls/force"][1, k])
                        self.assertEqual(rows[f"lid_position_{axis}"][i],
                                         frame["walls/position"][2, k])

    def test_lammps(self):
        for run in self.runs():
            frames = (run / "dump.lammpstrj").read_text().split("ITEM: TIME\n")[1:]
            self.assertEqual(len(frames), 6)
            with h5py.File(run / "frames.h5") as f:
                for i, text in enumerate(frames):
                    self.check_dump(text.splitlines(), f[f"frames/{i:06d}"])

    def check_dump(self, lines, frame):
        self.assertEqual(float(lines[0]), frame.attrs["time"])
        self.assertEqual(lines[1:5], ["ITEM: TIMESTEP", str(frame.attrs["step"]),
                                      "ITEM: NUMBER OF ATOMS", str(frame.attrs["grains"])])
        self.assertEqual(lines[5], "ITEM: BOX BOUNDS pp ff ff")
        self.assertEqual(lines[6].split(), ["-1", "1.5"])
        names = lines[9].split()[2:]
        self.assertEqual(names[:8], "id type x y z vx vy vz".split())
        rows = numpy.array([line.split() for line in lines[10:]], float).reshape(-1, len(names))
        self.assertEqual(len(rows), frame.attrs["grains"])
        column = dict(zip(names, rows.T))
        grains = frame["grains"]
        numpy.testing.assert_array_equal(column["id"], grains["id"])
        numpy.testing.assert_array_equal(column["type"], grains["solid"][:] + 2)
        numpy.testing.assert_array_equal(column["material"], grains["material"])
        if self.dim == 2:
            half = grains["rotation"][:] / 2
            quaternion = [numpy.cos(half), 0 * half, 0 * half, numpy.sin(half)]
        else:
            quaternion = grains["rotation"][:].T
        for name, values in zip(("quatw", "quati", "quatj", "quatk"), quaternion):
            numpy.testing.assert_allclose(column[name], values, rtol=5e-10)
        numpy.testing.assert_array_equal(column["tag"], grains["tag"])
        for k, axis in enumerate("xyz"[:self.dim]):
            # Ten digits are written.
            numpy.testing.assert_allclose(column[axis], grains["position"][:, k], rtol=5e-10)
            numpy.testing.assert_allclose(column["v" + axis], grains["velocity"][:, k], rtol=5e-10)
        numpy.testing.assert_allclose(column["radius"], grains["radius"], rtol=5e-10)
        numpy.testing.assert_allclose(column["omegaz"],
                                      numpy.reshape(grains["spin"], (len(rows), -1))[:, -1]
                                      if len(rows) else [], rtol=5e-10)


    def test_obj(self):
        """The shapes beside the dump, times the radius, are those of frames.h5."""
        for run in self.runs():
            folder = run / "dump.lammpstrj.shapes"
            self.assertEqual(sorted(p.name for p in folder.iterdir()),
                             ["type-2-kite.obj", "type-3-the_hook.obj"])
            with h5py.File(run / "frames.h5") as f:
                solids = {name: field[()] for name, field in f["shapes/solids"].items()}
            for i, path in enumerate(sorted(folder.iterdir())):
                rows = [line.split() for line in path.read_text().splitlines()]
                points = numpy.array([r[1:] for r in rows if r[0] == "v"], float)
                loops = [[int(k) for k in r[1:]] for r in rows if r[0] == "f"]
                parts = solids["part_first"][i:i + 2]
                first, last = solids["vertex_first"][parts]
                # One division and one product, 17 digits between them.
                numpy.testing.assert_allclose(points[:, :self.dim] * solids["radius"][i],
                                              solids["vertex"][first:last], rtol=1e-15, atol=1e-17)
                faces = range(*solids["face_first"][parts])
                begin = solids["loop_first"]
                self.assertEqual(loops, [list(solids["loop"][begin[k]:begin[k + 1]] - first + 1)
                                         for k in faces])


class Records2D(Records, unittest.TestCase):
    dim = 2


class Records3D(Records, unittest.TestCase):
    dim = 3


if __name__ == "__main__":
    unittest.main()
