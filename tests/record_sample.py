"""Sample records for the Python tests: written by the C test program, in a folder of their own."""
import os
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TALUS_BUILD"])


def write_sample(dim):
    """A temporary folder with `whole` (consolidated) and `linked` (segments) of the same states."""
    folder = tempfile.TemporaryDirectory(prefix="talus-record-")
    subprocess.run([BUILD / "test_record_frames", "--write", folder.name, str(dim)], check=True,
                   timeout=100)
    return folder
