"""The exported GSD file, opened with both readers of Debian's python3-gsd, against frames.h5."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import gsd.fl
import gsd.hoomd
import gsd.pygsd
import h5py
import numpy

from record_sample import BUILD, documented_faces, in_memory, write_sample

SCENE = """
dimension: 3
step: 1e-3
until: {steps: 4}
output: {frames: 2e-3}
materials: {stone: {density: 2500}}
shapes:
  die: {box: [0.2, 0.2, 0.3], skin: 0.01}
  ell: {parts: [{box: [0.3, 0.1, 0.1]}, {box: [0.1, 0.1, 0.3], at: [-0.1, 0, 0.2]}]}
grains:
  - {type: csv, file: grains.csv}
"""


def padded(values):
    if values.ndim == 2 and values.shape[1] == 2:
        return numpy.column_stack([values, numpy.zeros(len(values), values.dtype)])
    return values


def rotate(q, x):
    """Rodrigues' formula for a unit quaternion w x y z."""
    cross = numpy.cross(q[1:], x)
    return x + 2 * q[0] * cross + 2 * numpy.cross(q[1:], cross)


class Compare:
    def check_file(self, path, frames):
        dim, read = int(frames.attrs["dimension"]), in_memory(frames)
        with gsd.hoomd.open(str(path)) as trajectory, gsd.pygsd.GSDFile(open(path, "rb")) as plain:
            self.assertEqual((plain.schema, plain.schema_version, plain.gsd_version), ("hoomd", (1, 4), (2, 0)))
            self.assertEqual(plain.application, trajectory.file.application)
            self.assertTrue(plain.application.startswith("Talus "))
            self.assertEqual(len(trajectory), len(frames["time"]))
            for i, frame in enumerate(frames["frames"].values()):
                snapshot = trajectory[i]
                snapshot.validate()
                self.check_frame(snapshot, frame, dim)
                self.check_shapes(snapshot, read, i, dim)
                for name in trajectory.file.find_matching_chunk_names(""):
                    if plain.chunk_exists(i, name):
                        numpy.testing.assert_array_equal(
                            plain.read_chunk(i, name).reshape(-1),
                            trajectory.file.read_chunk(i, name).reshape(-1), err_msg=name)

    def check_frame(self, snapshot, frame, dim):
        grains, p = frame["grains"], snapshot.particles
        n = len(grains["id"])
        self.assertEqual((snapshot.configuration.step, snapshot.configuration.dimensions, p.N),
                         (frame.attrs["step"], dim, n))
        self.assertEqual(snapshot.log["time"], frame.attrs["time"])
        box, centre = snapshot.configuration.box[:3], snapshot.log["centre"]
        numpy.testing.assert_array_equal(snapshot.configuration.box[3:], 0)
        for k in range(dim):
            if frame.attrs["periodic"][k]:
                low, high = frame.attrs["cell_low"][k], frame.attrs["cell_high"][k]
                self.assertEqual((box[k], centre[k]), (numpy.float32(high - low), (low + high) / 2))
        if n == 0:
            return
        # float32 keeps 24 bits of numbers below half of the box.
        tolerance = box.max() * 2.0**-24
        moved = (p.position + centre) - padded(grains["position"][()])
        numpy.testing.assert_allclose(moved, 0, rtol=0, atol=tolerance)
        self.assertTrue((p.position >= -box / 2).all() and (p.position < box / 2).all())
        numpy.testing.assert_array_equal(p.image, padded(grains["image"][()]))
        numpy.testing.assert_array_equal(p.velocity, padded(grains["velocity"][()]).astype(numpy.float32))
        numpy.testing.assert_array_equal(p.mass, grains["mass"][()].astype(numpy.float32))
        balls = grains["solid"][()] < 0
        numpy.testing.assert_array_equal(p.diameter[balls], (2 * grains["radius"][()][balls]).astype(numpy.float32))
        self.assertTrue((p.typeid[balls] == 0).all())
        if dim == 3:
            numpy.testing.assert_array_equal(p.orientation, grains["rotation"][()].astype(numpy.float32))
        logged = {name.split("/")[-1] for name in snapshot.log if name.startswith("particles/")}
        self.assertEqual(logged, set(grains) - {"position", "velocity", "mass", "image"})
        for name in logged:
            expected = padded(grains[name][()])
            numpy.testing.assert_array_equal(snapshot.log[f"particles/{name}"], expected, err_msg=name)
        self.check_bonds(snapshot, frame["contacts"], grains["id"][()])

    def check_bonds(self, snapshot, contacts, ids):
        a, b = contacts["a"][()], contacts["b"][()]
        between = numpy.flatnonzero(a >= 0)
        self.assertEqual(snapshot.bonds.N, len(between))
        if len(between) == 0:
            return
        numpy.testing.assert_array_equal(ids[snapshot.bonds.group],
                                         numpy.column_stack([a[between], b[between]]))
        for name in set(contacts) - {"segment"}:
            numpy.testing.assert_array_equal(snapshot.log[f"bonds/{name}"],
                                             padded(contacts[name][()])[between], err_msg=name)
        self.bonds += len(between)

    def check_shapes(self, snapshot, frames, i, dim):
        """Corners of the type's shape, times half of the diameter, are those of docs/files.md."""
        p, faces, solids = snapshot.particles, documented_faces(), frames["shapes/solids"]
        for row, solid in enumerate(frames[f"frames/{i:06d}/grains"]["solid"]):
            shape = p.type_shapes[p.typeid[row]]
            if solid < 0:
                self.assertEqual((p.types[p.typeid[row]], shape["type"]), ("ball", "Sphere"))
                continue
            expected = faces(frames, i, row)
            first, last = solids["part_first"][solid:solid + 2]
            factor = p.diameter[row] / 2
            one = "Polygon" if dim == 2 else "ConvexPolyhedron"
            self.assertEqual(shape["type"], one if last - first == 1 else "Mesh")
            vertices = factor * padded(numpy.array(shape["vertices"]))
            placed = numpy.array([rotate(p.orientation[row].astype(float), x) for x in vertices])
            placed += p.position[row] + snapshot.log["centre"]
            # Numbers of JSON have 9 digits, those of the particle 24 bits; rotations add a few.
            tolerance = 8 * 2.0**-24 * max(abs(snapshot.configuration.box).max(), 1)
            if shape["type"] == "ConvexPolyhedron":
                corners = numpy.concatenate(expected)
                distance = numpy.linalg.norm(corners[:, None] - placed[None], axis=2)
                self.assertLess(distance.min(axis=1).max(), tolerance)
                self.assertLess(distance.min(axis=0).max(), tolerance)
            else:
                loops = shape.get("indices", [range(len(vertices))])
                self.assertEqual([len(x) for x in loops], [len(x) for x in expected])
                for loop, face in zip(loops, expected):
                    numpy.testing.assert_allclose(placed[list(loop)], padded(face), rtol=0, atol=tolerance)
            if "rounding_radius" in shape:
                scale = frames[f"frames/{i:06d}/grains"]["scale"][row]
                numpy.testing.assert_allclose(shape["rounding_radius"] * factor,
                                              solids["skin"][solid] * scale, rtol=1e-6)
            self.kinds.add(shape["type"])

    def setUp(self):
        self.bonds, self.kinds = 0, set()


class Sample(Compare, unittest.TestCase):
    def check_sample(self, dim):
        with write_sample(dim) as folder:
            run = Path(folder) / "whole"
            with h5py.File(run / "frames.h5") as frames:
                self.check_file(run / "run.gsd", frames)
        self.assertGreater(self.bonds, 0)

    def test_2d(self):
        self.check_sample(2)
        self.assertEqual(self.kinds, {"Polygon", "Mesh"})

    def test_3d(self):
        self.check_sample(3)
        self.assertEqual(self.kinds, {"ConvexPolyhedron", "Mesh"})


class Sizes(Compare, unittest.TestCase):
    """Few sizes: a type for each, in true size. Many: a type for each shape, sized by the diameter."""

    def run_scene(self, folder, scales):
        rows = [f"{0.8 * i},0,{'ell' if i % 3 else 'die'},{s}" for i, s in enumerate(scales)]
        (folder / "scene.yaml").write_text(SCENE)
        (folder / "grains.csv").write_text("x,y,z,shape,scale\n" + "".join(
            row.replace(",0,", ",0,0,") + "\n" for row in rows))
        talus = str(BUILD / "talus")
        subprocess.run([talus, "run", "scene.yaml", "-o", "run", "--quiet"], cwd=folder, check=True, timeout=60)
        subprocess.run([talus, "export", "run", "--gsd", "run.gsd"], cwd=folder, check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        with h5py.File(folder / "run/frames.h5") as frames:
            self.check_file(folder / "run.gsd", frames)
        return gsd.hoomd.open(str(folder / "run.gsd"))[1].particles

    def test_few(self):
        with tempfile.TemporaryDirectory() as folder:
            p = self.run_scene(Path(folder), [1, 1, 0.5, 0.5, 1, 0.5])
            self.assertEqual(p.types, ["ball", "die", "ell", "ell x 0.5", "die x 0.5"])
            self.assertTrue((p.diameter == 2).all())

    def test_many(self):
        with tempfile.TemporaryDirectory() as folder:
            scales = 1 + 0.001 * numpy.arange(70)
            p = self.run_scene(Path(folder), scales)
            self.assertEqual(p.types, ["ball", "die", "ell"])
            numpy.testing.assert_allclose(p.diameter, 2 * scales, rtol=2.0**-24)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main()
