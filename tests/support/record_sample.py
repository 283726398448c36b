"""Sample records for the Python tests: written by the C test program, in a folder of their own."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy

BUILD = Path(os.environ["TALUS_BUILD"])
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "files.md"


def documented_faces():
    """The function of docs/files.md that computes the faces of a grain in the world."""
    code = [block.split("```")[0] for block in DOCUMENT.read_text().split("```python\n")[1:]]
    names = {"numpy": numpy}
    exec(next(block for block in code if block.startswith("def faces(")), names)
    return names["faces"]


def in_memory(frames):
    """The parts of an open frames.h5 that documented_faces() asks for, read but once."""
    groups = ["shapes/solids"] + [f"frames/{name}/grains" for name in frames["frames"]]
    return {name: {key: values[()] for key, values in frames[name].items()} for name in groups}


def padded(values):
    """Plane vectors as VTK gets them."""
    if values.ndim == 2 and values.shape[1] == 2:
        return numpy.column_stack([values, numpy.zeros(len(values), values.dtype)])
    return values


def vtk_fields(table, group):
    """{name: rows} that VTK must get of a frame's grains, contacts, solids (of all grains) or walls,
    without those that tell which row or part a cell belongs to."""
    fields = {name: padded(values[()]) for name, values in group.items() if name != "name"}
    if table == "grains":  # spheres are drawn of balls alone
        del fields["position"]
        fields["radius"] = numpy.where(fields["solid"] >= 0, 0.0, fields["radius"])
    if table == "contacts":
        del fields["segment"]
        normal = numpy.sum(fields["force"] * fields["normal"], axis=1)
        rest = fields["force"] - normal[:, None] * fields["normal"]
        fields |= {"normal_force": normal, "tangential_force": numpy.linalg.norm(rest, axis=1)}
    if table == "solids":
        fields["bounding_radius"] = fields.pop("radius")
    return fields


def write_sample(dim):
    """A temporary folder with `whole` (consolidated) and `linked` (segments) of the same states."""
    writer = BUILD / "test_record_frames"
    if not writer.exists():
        raise unittest.SkipTest("samples are written by a C test, which this build does not have")
    folder = tempfile.TemporaryDirectory(prefix="talus-record-")
    subprocess.run([writer, "--write", folder.name, str(dim)], check=True,
                   timeout=100)
    return folder
