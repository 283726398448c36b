#!/usr/bin/python3
"""Draw the moving picture of the home page, docs/hopper.webp, from a run of the scene hopper.

    scripts/draw-home.py PROGRAM RUN        RUN as `make run` leaves it: runs/hopper-1

Needs Pillow (python3-pil), which nothing else in the project does.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

MOVIE = Path(__file__).resolve().parents[1] / "docs" / "hopper.webp"
program, run = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    # From the moment the hopper opens; a fixed scale of colours.
    subprocess.run([program, "render", run, "--frame", "6:47", "--colour", "speed", "--scale", "0:1",
                    "--width", "640", "--view", "25:12", "--quiet", "-o", folder], check=True)
    first, *others = [Image.open(path).convert("RGB") for path in sorted(Path(folder).glob("*.png"))]
    durations = [80] * len(others) + [1500]  # ms; the heap stays for a while
    first.save(MOVIE, save_all=True, append_images=others, duration=durations, loop=0, quality=70, method=6)
print(f"{MOVIE}: {MOVIE.stat().st_size} bytes")
