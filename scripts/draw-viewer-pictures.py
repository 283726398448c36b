#!/usr/bin/python3
"""Draws the pictures of docs/viewer.md: runs the scenes they show (into FOLDER, if they are not there), opens the viewer's
page in a headless Chromium and takes screenshots.

    TALUS=./talus TALUS_SOURCE=. TALUS_BUILD=build/release PYTHONPATH=tests/support scripts/draw-viewer-pictures.py FOLDER
"""
import subprocess
import sys
from pathlib import Path

from PIL import Image
from viewer_page import SOURCE, TALUS, Chromium, Server

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 780}
# Name of the picture: scene, what stands behind # in the address, size, and what is clicked.
PICTURES = {
    "viewer": ("hopper", "frame=20&colour.field=velocity.|.|", DESKTOP, []),
    "viewer-forces": ("cohesive-compaction", "forces.on=1&theme=dark&charts=kinetic_energy%2Bcoordination,overlap_max", DESKTOP, []),
    "viewer-selection": ("mixed-drum", "frame=100&select.where=speed+>+0.2&trails.on=1&trails.frames=12&charts.on=0", DESKTOP, ["Grains", "Selection"]),
    "viewer-phone": ("hopper", "frame=20", PHONE, []),
    "viewer-phone-controls": ("hopper", "frame=20&theme=dark", PHONE, ["[title^=controls]"]),
}


def draw(chromium, folder, name, scene, address, size, clicks):
    run = folder / scene
    if not run.exists():
        subprocess.run([TALUS, "run", scene, "-o", run, "--quiet"], check=True)
    server = Server(run)
    path = folder / f"{name}.png"
    try:
        chromium("open", url=f"{server.url}#{address}", **size)
        for what in clicks:
            find = f"document.querySelector('{what}')" if what.startswith("[") \
                else f"[...document.querySelectorAll('summary')].find((s) => s.innerText === '{what}')"
            chromium("eval", code=f"{find}.click()")
        chromium("eval", code="new Promise((done) => setTimeout(done, 1500))")
        chromium("until", code="window.talusViewer.state().atRest")
        chromium("picture", path=str(path))
    finally:
        server.close()
    saved = SOURCE / "docs" / f"{name}.webp"
    Image.open(path).convert("RGB").save(saved, quality=88, method=6)
    print(saved, saved.stat().st_size // 1000, "kB")


if __name__ == "__main__":
    browser = Chromium()
    for picture, (scene, address, size, clicks) in PICTURES.items():
        draw(browser, Path(sys.argv[1]), picture, scene, address, size, clicks)
    browser.close()
