"""frames.xdmf opened by ParaView's three XDMF readers, and exported solids, against frames.h5.

Skipped where pvpython is not installed. The file runs itself under pvpython (`--inside DIR`) to read
every frame and print what ParaView sees, and compares that with h5py.
"""
import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

READERS = {"XDMFReader": "FileNames", "Xdmf3ReaderT": "FileName", "Xdmf3ReaderS": "FileName"}


def leaves(data):
    if data is None:
        return
    if data.IsA("vtkDataSet"):
        yield data
        return
    iterator = data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


def describe(grid):
    """Points, cell types and arrays of a grid as plain lists."""
    arrays = {}
    for place in (grid.GetPointData(), grid.GetCellData()):
        for k in range(place.GetNumberOfArrays()):
            array = place.GetArray(k)
            arrays[array.GetName()] = [list(array.GetTuple(i))
                                       for i in range(array.GetNumberOfTuples())]
    return {"points": [list(grid.GetPoint(i)) for i in range(grid.GetNumberOfPoints())],
            "cells": [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())],
            "arrays": arrays}


def inside(folder):
    """Under pvpython: print {form: {reader: [frame: {"grains"/"contacts": grid}]}} as JSON."""
    from paraview import simple
    result = {}
    for form in ("whole", "linked"):
        for name, argument in READERS.items():
            path = str(Path(folder) / form / "frames.xdmf")
            reader = getattr(simple, name)(**{argument: [path]})
            reader.UpdatePipelineInformation()
            frames = []
            for time in reader.TimestepValues:
                reader.UpdatePipeline(time)
                frame = {"time": time}
                for grid in leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
                    kind = "contacts" if grid.GetCellData().GetNumberOfArrays() else "grains"
                    frame[kind] = describe(grid)
                frames.append(frame)
            result.setdefault(form, {})[name] = frames
    print("RESULT" + json.dumps({"xdmf": result, "solids": inside_solids(folder)}))


def inside_solids(folder):
    """[time, cell types, rows of the grains] of all frames of the exported solids."""
    from paraview import simple
    reader = simple.PVDReader(FileName=str(Path(folder) / "whole/vtk/solids.pvd"))
    frames = []
    for time in reader.TimestepValues:
        reader.UpdatePipeline(time)
        grid = describe(next(leaves(reader.GetClientSideObject().GetOutputDataObject(0))))
        frames.append([time, grid["cells"], [int(row) for row, in grid["arrays"].get("row", [])]])
    return frames


if sys.argv[1:2] == ["--inside"]:
    inside(sys.argv[2])
    sys.exit(0)

import h5py
import numpy

from record_sample import write_sample

VERTEX_CELLS, LINE_CELLS = {1, 2}, {3, 4}
POLYGON, POLYHEDRON = 7, 42


@unittest.skipUnless(shutil.which("pvpython"), "pvpython is not installed")
class ParaView(unittest.TestCase):
    def check_grid(self, grid, group, points, cells, skipped):
        points = points if points.shape[1] == 3 else numpy.pad(points, ((0, 0), (0, 1)))
        numpy.testing.assert_array_equal(grid["points"], points)
        self.assertEqual(len(grid["cells"]), group.parent.attrs[group.name.split("/")[-1]])
        self.assertLessEqual(set(grid["cells"]), cells)
        self.assertEqual(set(grid["arrays"]), set(group) - skipped)
        for name, rows in grid["arrays"].items():
            expected = numpy.reshape(group[name], (len(rows), -1))
            got = numpy.array(rows)
            # Plane vectors come with a third component 0 from one reader, and as they are from others.
            numpy.testing.assert_array_equal(got[:, :expected.shape[1]], expected, err_msg=name)
            self.assertTrue(numpy.all(got[:, expected.shape[1]:] == 0), name)

    def check(self, dim):
        with write_sample(dim) as folder:
            run = subprocess.run(["pvpython", __file__, "--inside", folder], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250)
            marked = [line for line in run.stdout.splitlines() if line.startswith("RESULT")]
            self.assertTrue(marked, run.stdout)
            self.assertNotIn("rror", run.stdout.split("RESULT")[0])
            result = json.loads(marked[0][6:])
            with h5py.File(Path(folder) / "whole" / "frames.h5") as f:
                self.check_solids(f, result["solids"], POLYGON if dim == 2 else POLYHEDRON)
            for form, readers in result["xdmf"].items():
                with h5py.File(Path(folder) / form / "frames.h5") as f:
                    for reader, frames in readers.items():
                        with self.subTest(form=form, reader=reader):
                            self.check_frames(f, frames)

    def check_solids(self, f, frames, kind):
        """A cell for each part of each solid."""
        self.assertEqual([time for time, _, _ in frames], list(f["time"]))
        parts = numpy.diff(f["shapes/solids/part_first"])
        for (_, cells, rows), stored in zip(frames, f["frames"].values()):
            solid = stored["grains/solid"][()]
            expected = [row for row in numpy.flatnonzero(solid >= 0) for _ in range(parts[solid[row]])]
            self.assertEqual((rows, cells), (expected, [kind] * len(expected)))

    def check_frames(self, f, frames):
        self.assertEqual([frame["time"] for frame in frames], list(f["time"]))
        for frame, stored in zip(frames, f["frames"].values()):
            self.assertEqual("grains" in frame, stored.attrs["grains"] > 0)
            self.assertEqual("contacts" in frame, stored.attrs["contacts"] > 0)
            if "grains" in frame:
                self.check_grid(frame["grains"], stored["grains"], stored["grains/position"][()],
                                VERTEX_CELLS, {"position", "connectivity"})
            if "contacts" in frame:
                self.check_grid(frame["contacts"], stored["contacts"],
                                stored["contacts/segment"][()], LINE_CELLS,
                                {"segment", "connectivity"})

    def test_2d(self):
        self.check(2)

    def test_3d(self):
        self.check(3)


if __name__ == "__main__":
    unittest.main()
