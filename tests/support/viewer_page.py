"""The viewer's page in a headless Chromium, for tests: the browser, `talus view`, pictures of what is seen."""
import json
import os
import signal
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import vtk
from vtk.util.numpy_support import vtk_to_numpy

TALUS = os.environ["TALUS"]
SOURCE = Path(os.environ["TALUS_SOURCE"])
PAGE = Path(os.environ["TALUS_BUILD"]) / "viewer.html"


class Chromium:
    """The driver of viewer/e2e as an object."""

    def __init__(self):
        self.process = subprocess.Popen(["node", SOURCE / "viewer" / "e2e" / "driver.mjs"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, do, **what):
        self.process.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser has ended; is chromium installed (scripts/install-deps.sh test)?"
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{do} {what}: {answer['error']}")
        return answer["value"]

    def viewer(self, call):
        return self("eval", code=f"window.talusViewer.{call}")

    def state(self):
        return self.viewer("state()")

    def box(self, selector):
        return self("eval", code=f"(({{x, y, width, height}}) => ({{x, y, width, height}}))"
                                 f"(document.querySelector('{selector}').getBoundingClientRect())")

    def text(self, selector):
        return self("eval", code=f"document.querySelector('{selector}').innerText")

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class Server:
    """`talus view DIR`, and its address."""

    def __init__(self, directory):
        self.process = subprocess.Popen([TALUS, "view", directory, "--port", "0", "--no-open"], text=True,
                                        stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.process.stdout.close()


def read_picture(path):
    """Bytes [row][column][3] of a PNG, the upper row first."""
    reader = vtk.vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    columns, rows, _ = image.GetDimensions()
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(rows, columns, -1)[::-1, :, :3].astype(int)


@unittest.skipUnless(PAGE.exists(), "built without the viewer (TALUS_VIEWER=OFF)")
class ViewerCase(unittest.TestCase):
    """Runs of `scenes` (name: text or path of a scene) and a browser; pictures go to TALUS_TEST_PICTURES."""
    scenes = {}

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="talus-viewer-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.pictures = Path(os.environ.get("TALUS_TEST_PICTURES", cls.root))
        for name, scene in cls.scenes.items():
            if isinstance(scene, str):
                (cls.root / f"{name}.yaml").write_text(scene)
                scene = cls.root / f"{name}.yaml"
            subprocess.run([TALUS, "run", scene, "-o", cls.root / name, "--quiet"], check=True, timeout=200)
        cls.chromium = Chromium()
        cls.addClassCleanup(cls.chromium.close)

    def open(self, name, address="", **size):
        """Serve a run and open its page; `address` is what stands behind # there."""
        server = Server(self.root / name)
        self.addCleanup(server.close)
        self.chromium("open", url=server.url + (f"#{address}" if address else ""), **size)
        self.frames = h5py.File(self.root / name / "frames.h5")
        self.addCleanup(self.frames.close)
        return server

    def grains(self, frame):
        return self.frames[f"frames/{frame:06d}/grains"]

    @property
    def last(self):
        return len(self.frames["time"]) - 1

    def set(self, **settings):
        """Settings of the page by their names, with _ for the point."""
        for name, value in settings.items():
            self.chromium.viewer(f"set({json.dumps(name.replace('_', '.'))}, {json.dumps(value)})")

    def picture(self, name):
        """What is seen, drawn after all that was done before and as fine as it gets."""
        path = self.pictures / f"{name}.png"
        self.chromium("eval", code="new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.chromium("until", code="window.talusViewer.state().atRest")
        self.chromium("picture", path=str(path))
        return read_picture(path)

    def stage_of(self, picture):
        """The part of a picture that is the canvas."""
        box = self.chromium.box("#stage")
        return picture[int(box["y"]):int(box["y"] + box["height"]), int(box["x"]):int(box["x"] + box["width"])]

    def assert_quiet(self, url):
        """Nothing was asked for elsewhere, and the page had nothing to complain about."""
        report = self.chromium("report")
        self.assertEqual(report["complaints"], [])
        self.assertEqual([r for r in report["requests"] if not r.startswith((url, "data:", "blob:"))], [])
