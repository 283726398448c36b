"""Helper of tests: all that a frames.h5 holds, whatever the order of its bytes."""
from pathlib import Path

import h5py
import numpy


def frames_of(directory):
    """Everything in frames.h5 as one dictionary: datasets and attributes by path."""
    content = {}
    with h5py.File(Path(directory) / "frames.h5", "r") as file:
        content.update({f"@{k}": numpy.asarray(v) for k, v in file.attrs.items()})

        def visit(name, item):
            content.update({f"{name}@{k}": numpy.asarray(v) for k, v in item.attrs.items()})
            if isinstance(item, h5py.Dataset):
                content[name] = item[()]

        file.visititems(visit)
    return content
