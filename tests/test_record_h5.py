"""frames.h5 and series.csv as a user of h5py and numpy meets them; frames.xdmf against frames.h5."""
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy

from record_sample import write_sample

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "files.md"
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
                    self.assertEqual(list(frame["walls/name"].asstr()),
                                     ["floor", "left wall", "lid"])

    def test_documented(self):
        text = DOCUMENT.read_text()
        with h5py.File(self.runs()[0] / "frames.h5") as f:
            frame = f["frames/000002"]
            for table in ("grains", "contacts", "walls"):
                section = text.split(f"### `{table}`")[1].split("\n#")[0]
                for name, field in frame[table].items():
                    row = [r for r in section.splitlines() if r.startswith(f"| `{name}` |")]
                    self.assertEqual(len(row), 1, f"docs/files.md has no row for {table}/{name}")
                    unit = field.attrs["unit"] or "–"
                    self.assertTrue(row[0].endswith(f"| {unit} | {field.attrs['description']} |"),
                                    f"docs/files.md says {row[0]}")
        header = (self.runs()[0] / "series.csv").read_text().splitlines()[0].split(",")
        for name in header:
            wall = next((w for w in ("floor", "left_wall", "lid") if name.startswith(w + "_")), None)
            if wall is None:
                self.assertIn(f"`{name}`", text)

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
        for run in self.runs():
            tree = xml.parse(run / "frames.xdmf")
            frames = tree.findall("./Domain/Grid[@CollectionType='Temporal']/Grid")
            self.assertEqual(len(frames), 6)
            with h5py.File(run / "frames.h5") as f:
                for i, frame in enumerate(frames):
                    self.assertEqual(float(frame.find("Time").get("Value")), f["time"][i])
                    self.check_grids(f, f[f"frames/{i:06d}"], frame)

    def check_grids(self, file, group, frame):
        named = {grid.get("Name"): grid for grid in frame.findall("Grid")}
        expected = {n for n in ("grains", "contacts") if group.attrs[n] > 0}
        self.assertEqual(set(named), expected)
        for name, grid in named.items():
            items = list(grid.iter("DataItem"))
            for item in items:
                source, path = item.text.split(":")
                self.assertEqual(source, "frames.h5")
                dims = tuple(map(int, item.get("Dimensions").split()))
                self.assertEqual(file[path].shape, dims, path)
                kind = XDMF_TYPES[item.get("NumberType"), item.get("Precision")]
                self.assertEqual(file[path].dtype.str, kind, path)
            # All fields of the group are there, and each one once.
            paths = [item.text.split("/")[-1] for item in items]
            self.assertEqual(sorted(paths), sorted(group[name]))
            topology = grid.find("Topology")
            self.assertEqual(int(topology.get("NumberOfElements")), group.attrs[name])

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
        numpy.testing.assert_array_equal(column["type"], grains["material"][:] + 1)
        numpy.testing.assert_array_equal(column["tag"], grains["tag"])
        for k, axis in enumerate("xyz"[:self.dim]):
            # Ten digits are written.
            numpy.testing.assert_allclose(column[axis], grains["position"][:, k], rtol=5e-10)
            numpy.testing.assert_allclose(column["v" + axis], grains["velocity"][:, k], rtol=5e-10)
        numpy.testing.assert_allclose(column["radius"], grains["radius"], rtol=5e-10)
        numpy.testing.assert_allclose(column["omegaz"],
                                      numpy.reshape(grains["spin"], (len(rows), -1))[:, -1]
                                      if len(rows) else [], rtol=5e-10)


class Records2D(Records, unittest.TestCase):
    dim = 2


class Records3D(Records, unittest.TestCase):
    dim = 3


if __name__ == "__main__":
    unittest.main()
