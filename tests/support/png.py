"""PNG files, read by VTK, and colours for tests."""
import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

# Colours of matplotlib's maps at 0, 1/32, ..., 1.
MAPS = {
    "viridis":
        "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e"
        "26828e23898e21918c1f988b1fa08822a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83e"
        "addc30c2df23d8e219ece51bfde725",
    "plasma":
        "0d08872206903105973f049c4c02a15901a56600a77201a87e03a88a09a59511a1a01a9caa2395b32c8e"
        "bc3587c43e7fcc4778d35171da5a6ae06363e66c5ceb7655f0804ef58b47f89540fba139fdac33feb82c"
        "fdc527fcd225f8df25f4ed27f0f921",
}


def colour(name, place):
    """Colour of a place from 0 to 1 on a map, as red, green, blue from 0 to 1."""
    table = numpy.frombuffer(bytes.fromhex(MAPS[name]), dtype=numpy.uint8).reshape(-1, 3) / 255
    at = numpy.linspace(0, 1, len(table))
    return numpy.array([numpy.interp(place, at, table[:, k]) for k in range(3)])


def read(path):
    """A PNG as an array [rows][columns][3], from 0 to 1."""
    reader = vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars())
    return pixels.reshape(height, width, -1)[::-1, :, :3] / 255
