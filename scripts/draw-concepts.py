#!/usr/bin/python3
"""Draw the pictures of docs/concepts.md.

    scripts/draw-concepts.py PROGRAM

concepts-graphs.svg is drawn here. concepts-networks.png is made by the program: the packing of the
scene `piston`, whose last step is solved twice to a residual of 1e-6, once from the forces of the
step before and once from none. Needs Pillow (python3-pil) to put both side by side.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from svg import INK, LAW, SECOND, Picture

DOCS = Path(__file__).resolve().parents[1] / "docs"


def graphs():
    """Force over gap of springs and of rigid grains; the time steps that follow."""
    p = Picture(860, 300, "Springs and rigid grains")
    x0, y0 = 190, 235
    p.arrow(40, y0, 370, y0)
    p.arrow(x0, y0 + 25, x0, 50)
    p.text(380, y0 + 5, "gap", "start")
    p.text(x0, 38, "normal force")
    for reach, name in ((140, "soft spring"), (55, "stiff spring")):
        p.line([(x0 - reach, 70), (x0, y0), (350, y0)], SECOND, 2.2)
        p.text(x0 - reach, 60, name, "middle", SECOND, 13)
    p.line([(x0, 60), (x0, y0), (350, y0)], LAW, 4)
    p.text(x0 + 10, 120, "rigid", "start", LAW)
    p.text(100, y0 + 22, "overlap", size=13)

    left, right = 460, 830
    for y, step, text, color in ((110, 9, "springs: many steps within one collision", SECOND),
                                 (210, 92, "rigid: a step is a fraction of the time to pass a grain", LAW)):
        p.arrow(left, y, right, y)
        for x in range(left, right - 15, step):
            p.line([(x, y - 7), (x, y + 7)], color, 2)
        p.text((left + right) / 2, y - 24, text, color=color, size=14)
    p.text(right, 240, "time", "end", INK, 13)
    p.write(DOCS / "concepts-graphs.svg")


def networks(program):
    exact = ("solver: {method: sweeps, stop: residual, tolerance: 1.0e-6, max_sweeps: 400000, "
             "warm_start: %s}\n")
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "packing")
        subprocess.run([program, "run", "piston", "-o", first, "--quiet"], check=True)
        pictures = []
        for name, warm in (("from-the-last-forces", "true"), ("from-nothing", "false")):
            run = Path(folder, name)
            shutil.copytree(first, run)
            scene = run / "scene.yaml"
            scene.write_text(re.sub(r"^solver:\n(  .*\n)+", exact % warm, scene.read_text(), flags=re.M))
            subprocess.run([program, "resume", run, "--steps", "1601", "--quiet"], check=True)
            picture = Path(folder, name + ".png")
            subprocess.run([program, "render", run, "--forces", "--force-scale", "60", "--region",
                            "x=0.05:0.15,y=0.03:0.13", "--width", "460", "--no-bar", "--no-time",
                            "--quiet", "-o", picture], check=True)
            pictures.append(Image.open(picture).convert("RGB"))
        both = Image.new("RGB", (sum(i.width for i in pictures) + 10, pictures[0].height), "white")
        both.paste(pictures[0], (0, 0))
        both.paste(pictures[1], (pictures[0].width + 10, 0))
        both.quantize(64).save(DOCS / "concepts-networks.png", optimize=True)


graphs()
networks(sys.argv[1])
