"""Exported VTK files read back with VTK's own readers, against frames.h5."""
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

from record_sample import write_sample


def read(path):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    if reader.GetErrorCode() != 0:
        raise AssertionError(f"{path}: VTK error {reader.GetErrorCode()}")
    return reader.GetOutput()


def padded(values):
    """Plane vectors as VTK gets them."""
    if values.ndim == 2 and values.shape[1] == 2:
        return numpy.column_stack([values, numpy.zeros(len(values), values.dtype)])
    return values


class Export:
    @classmethod
    def setUpClass(cls):
        cls.folder = write_sample(cls.dim)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_arrays(self, data, group, skipped):
        names = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
        self.assertEqual(names, sorted(set(group) - set(skipped)))
        for name in names:
            got = vtk_to_numpy(data.GetArray(name))
            expected = padded(group[name][()])
            self.assertEqual(got.dtype, expected.dtype, name)
            numpy.testing.assert_array_equal(got, expected.reshape(got.shape), err_msg=name)

    def check_frame(self, folder, i, frame):
        grains = read(folder / f"grains_{i:06d}.vtp")
        count = frame.attrs["grains"]
        self.assertEqual(grains.GetNumberOfPoints(), count)
        self.assertEqual(grains.GetNumberOfVerts(), count)
        if count:
            numpy.testing.assert_array_equal(vtk_to_numpy(grains.GetPoints().GetData()),
                                             padded(frame["grains/position"][()]))
            self.assertEqual(grains.GetCell(int(count) - 1).GetPointId(0), count - 1)
        self.check_arrays(grains.GetPointData(), frame["grains"], ["position", "connectivity"])

        contacts = read(folder / f"contacts_{i:06d}.vtp")
        count = frame.attrs["contacts"]
        self.assertEqual(contacts.GetNumberOfPoints(), 2 * count)
        self.assertEqual(contacts.GetNumberOfLines(), count)
        if count:
            numpy.testing.assert_array_equal(vtk_to_numpy(contacts.GetPoints().GetData()),
                                             frame["contacts/segment"][()])
            last = contacts.GetCell(int(count) - 1)
            self.assertEqual([last.GetPointId(0), last.GetPointId(1)], [2 * count - 2, 2 * count - 1])
        self.check_arrays(contacts.GetCellData(), frame["contacts"], ["segment", "connectivity"])

    def test_frames(self):
        for form in ("whole", "linked"):
            run = Path(self.folder.name) / form
            with self.subTest(form=form), h5py.File(run / "frames.h5") as f:
                for i, frame in enumerate(f["frames"].values()):
                    self.check_frame(run / "vtk", i, frame)

    def test_collections(self):
        run = Path(self.folder.name) / "whole"
        with h5py.File(run / "frames.h5") as f:
            for name in ("grains", "contacts"):
                sets = xml.parse(run / "vtk" / f"{name}.pvd").findall("./Collection/DataSet")
                self.assertEqual([float(s.get("timestep")) for s in sets], list(f["time"]))
                self.assertTrue(all((run / "vtk" / s.get("file")).exists() for s in sets))
        self.assertEqual(list((run / "vtk").glob("*.tmp")), [])


class Export2D(Export, unittest.TestCase):
    dim = 2


class Export3D(Export, unittest.TestCase):
    dim = 3


if __name__ == "__main__":
    unittest.main()
