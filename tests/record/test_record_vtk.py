"""Exported VTK files read back with VTK's own readers, against frames.h5."""
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

from record_sample import documented_faces, in_memory, padded, vtk_fields, write_sample


def read(path):
    reader = vtk.vtkXMLUnstructuredGridReader() if path.suffix == ".vtu" else vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    if reader.GetErrorCode() != 0:
        raise AssertionError(f"{path}: VTK error {reader.GetErrorCode()}")
    return reader.GetOutput()


def matrix(q):
    """Rotation matrix of a unit quaternion, by Rodrigues' formula."""
    cross = numpy.array([[0, -q[3], q[2]], [q[3], 0, -q[1]], [-q[2], q[1], 0]])
    return numpy.eye(3) + 2 * q[0] * cross + 2 * cross @ cross


def cells(data, kind):
    """Points of each cell, lines before polygons."""
    points = vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else []
    result = []
    arrays = (data.GetLines(), data.GetPolys()) if kind == "all" else (getattr(data, kind)(),)
    for array in arrays:
        offsets = vtk_to_numpy(array.GetOffsetsArray())
        index = vtk_to_numpy(array.GetConnectivityArray())
        result += [points[index[a:b]] for a, b in zip(offsets, offsets[1:])]
    return result


def grid_faces(data):
    """Points of all polygons of a grid, or of all faces of its polyhedra. VTK lends each but once."""
    result = []
    for k in range(data.GetNumberOfCells()):
        cell = data.GetCell(k)
        faces = [cell] if cell.GetCellDimension() == 2 else map(cell.GetFace, range(cell.GetNumberOfFaces()))
        result += [vtk_to_numpy(face.GetPoints().GetData()).copy() for face in faces]
    return result


# Sums and products of a few numbers below 3.
ROUNDING = 1e-14


class Export:
    @classmethod
    def setUpClass(cls):
        cls.folder = write_sample(cls.dim)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_arrays(self, data, expected):
        names = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
        self.assertEqual(names, sorted(expected))
        for name in names:
            got = vtk_to_numpy(data.GetArray(name))
            self.assertEqual(got.dtype, expected[name].dtype, name)
            # The parts of a force are sums of two or three products of numbers up to some ten.
            rounding = 1e-13 if name in ("normal_force", "tangential_force") else 0
            numpy.testing.assert_allclose(got, expected[name].reshape(got.shape), rtol=0, atol=rounding,
                                          err_msg=name)

    def check_frame(self, folder, i, frame):
        grains = read(folder / f"grains_{i:06d}.vtp")
        count = frame.attrs["grains"]
        self.assertEqual(grains.GetNumberOfPoints(), count)
        self.assertEqual(grains.GetNumberOfVerts(), count)
        if count:
            numpy.testing.assert_array_equal(vtk_to_numpy(grains.GetPoints().GetData()),
                                             padded(frame["grains/position"][()]))
            self.assertEqual(grains.GetCell(int(count) - 1).GetPointId(0), count - 1)
        self.check_arrays(grains.GetPointData(), vtk_fields("grains", frame["grains"]))

        contacts = read(folder / f"contacts_{i:06d}.vtp")
        count = frame.attrs["contacts"]
        self.assertEqual(contacts.GetNumberOfPoints(), 2 * count)
        self.assertEqual(contacts.GetNumberOfLines(), count)
        if count:
            numpy.testing.assert_array_equal(vtk_to_numpy(contacts.GetPoints().GetData()),
                                             frame["contacts/segment"][()])
            last = contacts.GetCell(int(count) - 1)
            self.assertEqual([last.GetPointId(0), last.GetPointId(1)], [2 * count - 2, 2 * count - 1])
        self.check_arrays(contacts.GetCellData(), vtk_fields("contacts", frame["contacts"]))

    def test_frames(self):
        for form in ("whole", "linked"):
            run = Path(self.folder.name) / form
            with self.subTest(form=form), h5py.File(run / "frames.h5") as f:
                for i, frame in enumerate(f["frames"].values()):
                    self.check_frame(run / "vtk", i, frame)

    def test_solids(self):
        """Corners of all faces as the function in docs/files.md gives them, a cell for each part."""
        faces = documented_faces()
        run = Path(self.folder.name) / "whole"
        count = 0
        with h5py.File(run / "frames.h5") as f:
            read_once = in_memory(f)
            solids = read_once["shapes/solids"]
            for i, frame in enumerate(f["frames"].values()):
                data = read(run / "vtk" / f"solids_{i:06d}.vtu")
                expected, owners, parts, face_counts = [], [], [], []
                for row, solid in enumerate(frame["grains/solid"]):
                    if solid >= 0:
                        expected += faces(read_once, i, row)
                        first, last = solids["part_first"][solid:solid + 2]
                        owners += [row] * (last - first)
                        parts += list(range(last - first))
                        face_counts += list(numpy.diff(solids["face_first"][first:last + 1]))
                kind = vtk.VTK_POLYGON if self.dim == 2 else vtk.VTK_POLYHEDRON
                self.assertLessEqual({data.GetCellType(k) for k in range(data.GetNumberOfCells())}, {kind})
                self.check_cells(grid_faces(data), expected)
                self.check_owned(data.GetCellData(), vtk_fields("solids", frame["grains"]), "row", owners)
                numpy.testing.assert_array_equal(vtk_to_numpy(data.GetCellData().GetArray("part")), parts)
                # The faces of a part share its corners: every part is a closed surface.
                corners = numpy.diff(solids["vertex_first"][solids["part_first"]])
                solid = frame["grains/solid"][()]
                self.assertEqual(data.GetNumberOfPoints(), corners[solid[solid >= 0]].sum())
                self.check_sizes(data, expected, face_counts)
                count += len(expected)
        self.assertGreater(count, 100)

    def check_sizes(self, data, expected, face_counts):
        """VTK's area or volume of the cells against the sum of fans of their documented faces."""
        sizes = vtk.vtkCellSizeFilter()
        sizes.SetInputData(data)
        sizes.Update()
        if not face_counts:
            return
        got = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area" if self.dim == 2 else "Volume"))
        own, at = [], 0
        for count in face_counts:
            fans = [(p[0], p[k], p[k + 1]) for p in map(padded, expected[at:at + count])
                    for k in range(1, len(p) - 1)]
            own.append(sum(numpy.linalg.norm(numpy.cross(b - a, c - a)) / 2 if self.dim == 2 else
                           numpy.linalg.det([a - fans[0][0], b - fans[0][0], c - fans[0][0]]) / 6
                           for a, b, c in fans))
            at += count
        # Sums of at most some dozen triangles or tetrahedra, whose numbers lose two digits.
        numpy.testing.assert_allclose(got, own, rtol=1e-12)

    def check_cells(self, got, expected):
        self.assertEqual([len(g) for g in got], [len(e) for e in expected])
        for g, e in zip(got, expected):
            numpy.testing.assert_allclose(g, padded(e), rtol=0, atol=ROUNDING)

    def check_owned(self, data, expected, owner, rows):
        names = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
        self.assertEqual(names, sorted(set(expected) | {owner, "part"}))
        numpy.testing.assert_array_equal(vtk_to_numpy(data.GetArray(owner)), rows)
        for name, values in expected.items():
            got = vtk_to_numpy(data.GetArray(name))
            numpy.testing.assert_array_equal(got, values[rows].reshape(got.shape), err_msg=name)

    def test_walls(self):
        run = Path(self.folder.name) / "whole"
        seen = set()
        with h5py.File(run / "frames.h5") as f:
            shape = {name: field[()] for name, field in f["shapes/walls"].items()}
            for i, frame in enumerate(f["frames"].values()):
                data = read(run / "vtk" / f"walls_{i:06d}.vtp")
                owner = vtk_to_numpy(data.GetCellData().GetArray("wall"))
                self.check_owned(data.GetCellData(), vtk_fields("walls", frame["walls"]), "wall", owner)
                walls, drawn = frame["walls"], cells(data, "all")
                present = numpy.flatnonzero(walls["present"][()])
                self.assertEqual(set(owner), set(present))
                for wall in present:
                    turn = matrix(walls["rotation"][wall])
                    local = [(points - walls["position"][wall]) @ turn
                             for points, w in zip(drawn, owner) if w == wall]
                    row = {name: values[wall] for name, values in shape.items()
                           if len(values) == len(shape["kind"])}
                    getattr(self, f"check_kind_{row['kind']}")(f, shape, wall, row, local)
                    seen.add(int(row["kind"]))
        self.assertEqual(seen, {0, 1, 3, 4, 6} if self.dim == 2 else {0, 2, 3, 4, 5, 6, 7})

    def close(self, got, expected):
        numpy.testing.assert_allclose(got, expected, rtol=0, atol=ROUNDING)

    def check_kind_0(self, f, shape, wall, row, local):  # plane
        self.assertEqual([len(p) for p in local], [2 if self.dim == 2 else 4])
        self.close(local[0] @ row["normal"], 0)

    def check_kind_1(self, f, shape, wall, row, local):  # segment
        self.assertEqual(len(local), 1)
        self.close(local[0], [-row["edge_u"], row["edge_u"]])

    def check_kind_2(self, f, shape, wall, row, local):  # plate
        u, v = row["edge_u"], row["edge_v"]
        self.assertEqual(len(local), 1)
        self.close(local[0], [-u - v, u - v, u + v, v - u])

    def check_kind_3(self, f, shape, wall, row, local):  # box
        half = numpy.where(numpy.arange(3) < self.dim, row["half_size"], 0)
        for points in local:
            self.close(numpy.abs(points), numpy.broadcast_to(half, points.shape))
        if self.dim == 2 and not row["inside"]:
            self.assertEqual([len(p) for p in local], [4])
            return
        # Each closed face once, named by the one coordinate that its corners share.
        faces = set()
        for points in local:
            shared = [k for k in range(self.dim) if numpy.ptp(points[:, k]) < ROUNDING]
            self.assertEqual(len(shared), 1)
            faces.add(2 * shared[0] + int(points[0, shared[0]] > 0))
        self.assertEqual(len(faces), len(local))
        self.assertEqual(faces, {k for k in range(2 * self.dim) if not row["open_faces"] >> k & 1})

    def check_kind_4(self, f, shape, wall, row, local):  # cylinder
        for points in local:
            self.close(numpy.hypot(points[:, 0], points[:, 1]), row["radius"])
        if self.dim == 2:
            self.assertEqual([len(p) for p in local], [65 if row["inside"] else 64])
        else:
            self.assertEqual(len(local), 64 if row["inside"] else 66)
            if not row["inside"]:
                self.close(numpy.abs(numpy.concatenate(local)[:, 2]), row["half_length"])

    def check_kind_5(self, f, shape, wall, row, local):  # cone
        points = numpy.concatenate(local)
        low = points[:, 0] < 0
        self.assertEqual((len(local), low.sum()), (64, 128))
        self.close(numpy.abs(points[:, 0]), row["half_length"])
        self.close(numpy.hypot(points[:, 1], points[:, 2]),
                   numpy.where(low, row["radius"], row["radius_high"]))

    def check_kind_6(self, f, shape, wall, row, local):  # solid
        solids = {name: field[()] for name, field in f["shapes/solids"].items()}
        first, last = solids["face_first"][solids["part_first"][row["solid"]:row["solid"] + 2]]
        begin = solids["loop_first"]
        self.check_cells(local, [solids["vertex"][solids["loop"][begin[k]:begin[k + 1]]]
                                 for k in range(first, last)])

    def check_kind_7(self, f, shape, wall, row, local):  # mesh
        first, last = shape["triangle_first"][wall:wall + 2]
        self.assertEqual(last - first, 2)
        self.close(local, shape["triangle"][first:last].reshape(-1, 3, 3))

    def test_collections(self):
        run = Path(self.folder.name) / "whole"
        with h5py.File(run / "frames.h5") as f:
            for name in ("grains", "contacts", "solids", "walls"):
                sets = xml.parse(run / "vtk" / f"{name}.pvd").findall("./Collection/DataSet")
                self.assertEqual([float(s.get("timestep")) for s in sets], list(f["time"]))
                for s in sets:  # plain XML throughout: readers that put off parsing trip over raw data
                    xml.parse(run / "vtk" / s.get("file"))
        self.assertEqual(list((run / "vtk").glob("*.tmp")), [])


class Export2D(Export, unittest.TestCase):
    dim = 2


class Export3D(Export, unittest.TestCase):
    dim = 3


if __name__ == "__main__":
    unittest.main()
