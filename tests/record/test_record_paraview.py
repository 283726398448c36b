"""Runs and exports in ParaView itself: what its readers give at each time, and the picture that
show-in-paraview.py makes, against frames.h5.

Skipped where pvpython or Xvfb is not installed; test_record_vtk.py reads the same files with VTK
alone. The file runs itself under pvpython (`--inside FOLDER PICTURE`) and prints what ParaView sees.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TABLES = ("grains", "contacts", "solids", "walls")


def inside(folder, picture):
    """Under pvpython: print {table: [[time, kind of data, points, cells, fields], ...]} and what the
    script made of them."""
    from paraview import simple
    frames = {}
    for table in TABLES:
        path = next(path for path in Path(folder).glob(f"{table}.*") if path.suffix in (".pvd", ".xdmf2"))
        reader = simple.OpenDataFile(str(path))
        frames[table] = []
        for time in reader.TimestepValues:
            reader.UpdatePipeline(time)
            data = reader.GetClientSideObject().GetOutputDataObject(0)
            place = data.GetPointData() if table == "grains" else data.GetCellData()
            names = [place.GetArrayName(k) for k in range(place.GetNumberOfArrays())]
            frames[table].append([time, data.GetClassName(), data.GetNumberOfPoints(),
                                  data.GetNumberOfCells(), names])
        simple.Delete(reader)
    script = Path(folder) / "show-in-paraview.py"
    exec(compile(script.read_text(), str(script), "exec"), {"__file__": str(script)})
    view = simple.GetActiveView()
    simple.SaveScreenshot(picture, view, ImageResolution=[300, 200])
    names = [name for name, _ in simple.GetSources()]
    spheres = simple.GetDisplayProperties(simple.FindSource("grains"), view)
    shown = {"time": view.ViewTime, "names": names, "scaled_by": list(spheres.SelectScaleArray),
             "sphere": spheres.ScaleFactor * spheres.GlyphType.Radius}
    tubes = simple.FindSource("forces")
    if tubes:
        shown["tubes"] = list(tubes.PointData["tube_radius"].GetRange(0))
    print("RESULT" + json.dumps([frames, shown]))


if sys.argv[1:2] == ["--inside"]:
    inside(*sys.argv[2:4])
    sys.exit(0)

import h5py
import numpy

import png
from record_sample import vtk_fields, write_sample


class Screen:
    """A display that nobody looks at: ParaView draws into windows. It stays when ParaView has looked
    what it can do and gone again (-noreset)."""

    def __enter__(self):
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-noreset", "-screen", "0", "1024x768x24"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return dict(os.environ, DISPLAY=":" + self.server.stdout.readline().strip())

    def __exit__(self, *_):
        self.server.terminate()
        self.server.communicate()


@unittest.skipUnless(shutil.which("pvpython") and shutil.which("Xvfb"),
                     "pvpython or Xvfb is not installed")
class ParaView(unittest.TestCase):
    def check(self, dim):
        with write_sample(dim) as folder, Screen() as environment:
            for form in ("whole/vtk", "whole", "linked"):
                with self.subTest(form=form), h5py.File(Path(folder) / "whole" / "frames.h5") as f:
                    frames, shown = self.look(Path(folder) / form, environment)
                    (self.check_frames if form.endswith("vtk") else self.check_run)(f, frames)
                    self.check_shown(f, shown)

    def look(self, folder, environment):
        picture = folder / "picture.png"
        run = subprocess.run(["pvpython", __file__, "--inside", folder, picture], env=environment,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250)
        marked = [line for line in run.stdout.splitlines() if line.startswith("RESULT")]
        self.assertTrue(marked, run.stdout)
        self.assertNotIn("rror", run.stdout.split("RESULT")[0])
        colours = numpy.unique(png.read(picture).reshape(-1, 3), axis=0)
        self.assertGreater(len(colours), 50)  # shaded spheres on white
        return json.loads(marked[0][6:])

    def check_run(self, f, frames):
        """What a run writes: one grid at each time, also where it shows nothing, and no blocks."""
        for rows in frames.values():
            self.assertEqual([row[0] for row in rows], list(f["time"]))
            self.assertEqual({row[1] for row in rows}, {"vtkUnstructuredGrid"})
        for stored, grains, contacts, solids, walls in zip(f["frames"].values(), *frames.values()):
            count, drawing = stored.attrs["contacts"], stored["drawing"].attrs
            self.assertEqual(grains[2:4], [max(stored.attrs["grains"], 1), stored.attrs["grains"]])
            self.assertEqual(set(grains[4]), set(stored["grains"]) - {"position"} | {"bounding_radius"})
            self.assertEqual(contacts[3], count)
            self.assertEqual(set(contacts[4]), set(stored["contacts"]) - {"segment"} if count else set())
            self.assertEqual(solids[3], drawing["solid_row"][1])
            self.assertEqual(walls[2:4], [drawing["wall_points"][1], drawing["wall_number"][1]])

    def check_frames(self, f, frames):
        """One grid at each time, also where it is empty, and no blocks."""
        parts = numpy.diff(f["shapes/solids/part_first"])
        for table, rows in frames.items():
            self.assertEqual([row[0] for row in rows], list(f["time"]))
            kind = "vtkUnstructuredGrid" if table == "solids" else "vtkPolyData"
            self.assertEqual({row[1] for row in rows}, {kind})
        for stored, grains, contacts, solids, walls in zip(f["frames"].values(), *frames.values()):
            count = stored.attrs["contacts"]
            self.assertEqual(grains[2:4], [stored.attrs["grains"]] * 2)
            self.assertEqual(contacts[2:4], [2 * count, count])
            solid = stored["grains/solid"][()]
            self.assertEqual(solids[3], parts[solid[solid >= 0]].sum())
            self.assertGreaterEqual(walls[3], numpy.count_nonzero(stored["walls/present"]))
            self.assertEqual(set(grains[4]), set(vtk_fields("grains", stored["grains"])))
            self.assertEqual(set(contacts[4]), set(vtk_fields("contacts", stored["contacts"])))

    def check_shown(self, f, shown):
        """Spheres of radius `radius`, and tubes of up to 0.4 mean radii, at the last time."""
        self.assertEqual(shown["time"], f["time"][-1])
        self.assertLessEqual(set(TABLES), set(shown["names"]))
        self.assertEqual((shown["scaled_by"], shown["sphere"]), (["radius"], 1.0))
        last = f["frames"][f"{len(f['time']) - 1:06d}"]
        radius = vtk_fields("grains", last["grains"])["radius"]
        force = numpy.abs(vtk_fields("contacts", last["contacts"])["normal_force"])
        self.assertGreater(force.max(), 0)
        middle = 0.5 * (radius.min() + radius.max())
        # The factor is written with six digits.
        numpy.testing.assert_allclose(shown["tubes"], 0.4 * middle * numpy.array([force.min(), force.max()])
                                      / force.max(), rtol=1e-5)

    def test_2d(self):
        self.check(2)

    def test_3d(self):
        self.check(3)


if __name__ == "__main__":
    unittest.main()
