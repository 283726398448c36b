"""The exported VTKHDF file, read by a small reader written after the published specification.

Debian's VTK 9.1 knows version 1.0 of the format only, without steps, collections and polyhedra. A
block by itself is such a file, in which the steps are parts: vtkHDFReader reads them all at once.
"""
import unittest
from pathlib import Path

import h5py
import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

from record_sample import documented_faces, in_memory, padded, vtk_fields, write_sample

VERTEX, POLY_LINE, POLYGON, POLYHEDRON = 1, 4, 7, 42
ROUNDING = 1e-14  # sums and products of a few numbers below 3


def split(flat, offsets):
    return [flat[a:b] for a, b in zip(offsets, offsets[1:])]


def read_step(block, step):
    """Points, cells, types, faces of polyhedra and arrays of a step, by its offsets alone."""
    steps = block["Steps"]
    assert steps["NumberOfParts"][step] == 1
    part = steps["PartOffsets"][step]
    sizes = {name: int(block[f"NumberOf{name}"][part]) for name in ("Points", "Cells", "ConnectivityIds")}

    def cut(name, offsets, size):
        start = int(steps[offsets][step])
        return block[name][start:start + size]

    result = {"points": cut("Points", "PointOffsets", sizes["Points"]),
              "types": cut("Types", "CellOffsets", sizes["Cells"])}
    connectivity = cut("Connectivity", "ConnectivityIdOffsets", sizes["ConnectivityIds"])
    # Arrays with one number more than cells or faces have that one more for each part before.
    start = int(steps["CellOffsets"][step]) + part
    offsets = block["Offsets"][start:start + sizes["Cells"] + 1]
    assert offsets[0] == 0 and offsets[-1] == len(connectivity)
    result["cells"] = split(connectivity, offsets)
    if "FaceOffsets" in block:
        faces = int(block["NumberOfFaces"][part])
        corner = cut("FaceConnectivity", "FaceConnectivityOffsets",
                     int(block["NumberOfFaceConnectivityIds"][part]))
        at = int(steps["FaceOffsetsOffsets"][step]) + part
        loops = split(corner, block["FaceOffsets"][at:at + faces + 1])
        to_face = cut("PolyhedronToFaces", "PolyhedronToFaceIdOffsets",
                      int(block["NumberOfPolyhedronToFaceIds"][part]))
        owned = split(to_face, block["PolyhedronOffsets"][start:start + sizes["Cells"] + 1])
        result["faces"] = [[loops[f] for f in of_cell] for of_cell in owned]
    for place, rows, offsets in (("PointData", "Points", "PointOffsets"), ("CellData", "Cells", "CellOffsets")):
        result[place] = {name: cut(f"{place}/{name}", offsets, sizes[rows]) for name in block[place]}
    return result


class Export:
    @classmethod
    def setUpClass(cls):
        cls.folder = write_sample(cls.dim)
        cls.run_folder = Path(cls.folder.name) / "whole"
        cls.frames = h5py.File(cls.run_folder / "frames.h5")
        cls.file = h5py.File(cls.run_folder / "run.vtkhdf")
        cls.blocks = {name: cls.file["VTKHDF"][name] for name in ("grains", "contacts", "solids", "walls")}

    @classmethod
    def tearDownClass(cls):
        cls.frames.close()
        cls.file.close()
        cls.folder.cleanup()

    def test_head(self):
        root = self.file["VTKHDF"]
        self.assertEqual(root.attrs["Type"], b"PartitionedDataSetCollection")
        self.assertEqual(list(root.attrs["Version"]), [2, 5])
        self.assertEqual(set(root), set(self.blocks) | {"Assembly"})
        for index, (name, block) in enumerate(self.blocks.items()):
            self.assertEqual((block.attrs["Type"], block.attrs["Index"]), (b"UnstructuredGrid", index))
            # A node of the assembly with a link to the block; groups keep the order of creation.
            link = root["Assembly"][name].get(name, getlink=True)
            self.assertEqual(link.path, f"/VTKHDF/{name}")
            tracked = root["Assembly"].id.get_create_plist().get_link_creation_order()
            self.assertEqual(tracked, h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
            self.assertEqual(block["Steps"].attrs["NSteps"], len(self.frames["time"]))
            numpy.testing.assert_array_equal(block["Steps/Values"], self.frames["time"])

    def test_totals(self):
        """Nothing is in the arrays but what the steps say."""
        for name, block in self.blocks.items():
            total = {key: int(block[key][()].sum()) for key in block if key.startswith("NumberOf")}
            parts = len(block["NumberOfPoints"])
            self.assertEqual(len(block["Points"]), total["NumberOfPoints"])
            self.assertEqual(len(block["Types"]), total["NumberOfCells"])
            self.assertEqual(len(block["Offsets"]), total["NumberOfCells"] + parts)
            self.assertEqual(len(block["Connectivity"]), total["NumberOfConnectivityIds"])
            if "FaceOffsets" in block:
                self.assertEqual(len(block["FaceOffsets"]), total["NumberOfFaces"] + parts)
                self.assertEqual(len(block["PolyhedronOffsets"]), total["NumberOfCells"] + parts)
                self.assertEqual(len(block["PolyhedronToFaces"]), total["NumberOfPolyhedronToFaceIds"])
                self.assertEqual(len(block["FaceConnectivity"]), total["NumberOfFaceConnectivityIds"])
            for place, rows in (("PointData", "NumberOfPoints"), ("CellData", "NumberOfCells")):
                for array in block[place].values():
                    self.assertEqual(len(array), total[rows])
            self.assertEqual("FaceOffsets" in block, name == "solids" and self.dim == 3)

    def check_fields(self, got, expected):
        self.assertEqual(set(got), set(expected))
        for name, values in got.items():
            self.assertEqual(values.dtype, expected[name].dtype)
            # The parts of a force are sums of two or three products of numbers up to some ten.
            rounding = 1e-13 if name in ("normal_force", "tangential_force") else 0
            numpy.testing.assert_allclose(values, expected[name], rtol=0, atol=rounding, err_msg=name)

    def test_grains_and_contacts(self):
        for i, frame in enumerate(self.frames["frames"].values()):
            grains = read_step(self.blocks["grains"], i)
            numpy.testing.assert_array_equal(grains["points"], padded(frame["grains/position"][()]))
            self.assertEqual([list(c) for c in grains["cells"]], [[k] for k in range(len(grains["points"]))])
            self.assertTrue((grains["types"] == VERTEX).all())
            self.check_fields(grains["PointData"], vtk_fields("grains", frame["grains"]))
            contacts = read_step(self.blocks["contacts"], i)
            numpy.testing.assert_array_equal(contacts["points"], frame["contacts/segment"])
            self.assertEqual([list(c) for c in contacts["cells"]],
                             [[2 * k, 2 * k + 1] for k in range(len(contacts["types"]))])
            self.assertTrue((contacts["types"] == POLY_LINE).all())
            self.check_fields(contacts["CellData"], vtk_fields("contacts", frame["contacts"]))

    def test_solids(self):
        """Polygons, or the faces of polyhedra, as the function in docs/files.md gives them."""
        faces, read, count = documented_faces(), in_memory(self.frames), 0
        for i, frame in enumerate(self.frames["frames"].values()):
            step = read_step(self.blocks["solids"], i)
            expected = [face for row, solid in enumerate(frame["grains/solid"]) if solid >= 0
                        for face in faces(read, i, row)]
            loops = step["cells"] if self.dim == 2 else [f for cell in step["faces"] for f in cell]
            self.assertEqual(len(loops), len(expected))
            for loop, face in zip(loops, expected):
                numpy.testing.assert_allclose(step["points"][loop], padded(face), rtol=0, atol=ROUNDING)
            self.assertTrue((step["types"] == (POLYGON if self.dim == 2 else POLYHEDRON)).all())
            for cell, of_cell in zip(step["cells"], step.get("faces", [])):
                self.assertEqual(set(cell), {k for f in of_cell for k in f})
            owner = step["CellData"]["row"]
            fields = vtk_fields("solids", frame["grains"])
            self.assertEqual(set(step["CellData"]), set(fields) | {"row", "part"})
            for name, values in fields.items():
                numpy.testing.assert_array_equal(step["CellData"][name], values[owner], err_msg=name)
            count += len(expected)
        self.assertGreater(count, 100)

    def test_walls(self):
        """The same as in VTK XML, whose walls test_record_vtk.py compares with their shapes."""
        for i in range(len(self.frames["time"])):
            reader = vtk.vtkXMLPolyDataReader()
            reader.SetFileName(str(self.run_folder / "vtk" / f"walls_{i:06d}.vtp"))
            reader.Update()
            data, step = reader.GetOutput(), read_step(self.blocks["walls"], i)
            self.assertEqual(data.GetNumberOfCells(), len(step["cells"]))
            numpy.testing.assert_array_equal(vtk_to_numpy(data.GetPoints().GetData()), step["points"])
            for k, (cell, kind) in enumerate(zip(step["cells"], step["types"])):
                ids = data.GetCell(k).GetPointIds()
                self.assertEqual([ids.GetId(j) for j in range(ids.GetNumberOfIds())], list(cell))
                self.assertEqual(kind == POLYGON, data.GetCell(k).GetCellDimension() == 2)
            numpy.testing.assert_array_equal(vtk_to_numpy(data.GetCellData().GetArray("wall")),
                                             step["CellData"]["wall"])

    def test_vtk_reader(self):
        """VTK 9.1 opens a block as version 1.0: all steps appended. It knows no polyhedra."""
        for name, block in self.blocks.items():
            if name == "solids" and self.dim == 3:
                continue
            path = Path(self.folder.name) / f"{name}.hdf"
            with h5py.File(path, "w") as alone:
                self.file.copy(block, alone, "VTKHDF")
                alone["VTKHDF"].attrs["Version"] = numpy.array([1, 0])
            reader = vtk.vtkHDFReader()
            self.assertEqual(reader.CanReadFile(str(path)), 1)
            reader.SetFileName(str(path))
            reader.Update()
            grid = reader.GetOutput()
            numpy.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), block["Points"])
            self.assertEqual([grid.GetCellType(k) for k in range(grid.GetNumberOfCells())],
                             list(block["Types"]))
            # Points of a cell count from the first of its part.
            expected, first = [], 0
            for i, points in enumerate(block["NumberOfPoints"]):
                expected += [list(cell + first) for cell in read_step(block, i)["cells"]]
                first += int(points)
            for k, cell in enumerate(expected):
                ids = grid.GetCell(k).GetPointIds()
                self.assertEqual([ids.GetId(j) for j in range(ids.GetNumberOfIds())], cell)
            for place, data in (("PointData", grid.GetPointData()), ("CellData", grid.GetCellData())):
                for array in block[place]:
                    numpy.testing.assert_array_equal(vtk_to_numpy(data.GetArray(array)),
                                                     block[place][array], err_msg=array)


class Export2D(Export, unittest.TestCase):
    dim = 2


class Export3D(Export, unittest.TestCase):
    dim = 3


if __name__ == "__main__":
    unittest.main()
