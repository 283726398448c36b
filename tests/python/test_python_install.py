"""The Python package installed, used as a stranger would: by `cmake --install` into a prefix, and
by pip from that prefix, without network and with another python3 first on PATH."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FALL = """
import talus
world = talus.World(dim=2, gravity=[0, -10])
world.add_grain(radius=0.1)
world.run(steps=100, h=0.01)
assert talus.Scene("hopper").title  # a ready-made one, which is installed too
print(talus.__file__, world.grains.velocity[0, 1])
"""


IN_WHEEL = """
import pathlib, talus
here = pathlib.Path(talus.__file__).parent
maps = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
for name in ("libtalus_workshop.so", "libhdf5_serial.so", "libcairo.so", "libklu.so"):
    assert [m for m in maps if m.startswith(f"{here}/libraries/{name}")], name
world = talus.World(dim=2, gravity=[0, -10])
world.add_grain(radius=0.1)
assert "<iframe" in world._repr_html_()  # by the program in the wheel
"""


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="talus-python-")
        cls.root = Path(cls.folder.name)
        cls.prefix = cls.root / "prefix"
        subprocess.run(["cmake", "--install", os.environ["TALUS_BUILD"], "--prefix", cls.prefix],
                       check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_import(self, path):
        """The package in this folder, and no other, lets a disk fall for a second."""
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        done = subprocess.run([sys.executable, "-c", FALL], cwd=self.root, capture_output=True,
                              text=True, env=dict(environment, PYTHONPATH=str(path)))
        self.assertEqual(done.returncode, 0, done.stderr)
        where, velocity = done.stdout.split()
        self.assertEqual(Path(where), path / "talus" / "__init__.py")
        self.assertAlmostEqual(float(velocity), -10, 12)

    def test_installed_with_the_library(self):
        (package,) = self.prefix.glob("lib/python3*/dist-packages")
        self.check_import(package)

    @unittest.skipUnless(all(importlib.util.find_spec(m) for m in ("pip", "setuptools", "wheel")),
                         "python3-pip, python3-setuptools or python3-wheel is not installed")
    def test_pip(self):
        for name in ("python3", "python"):
            fake = self.root / "bin" / name
            fake.parent.mkdir(exist_ok=True)
            fake.write_text("#!/bin/sh\nexit 7\n")
            fake.chmod(0o755)
        (config,) = self.prefix.rglob("talus-workshop.pc")
        source = self.root / "source"  # a build leaves files beside its sources
        shutil.copytree(Path(os.environ["TALUS_SOURCE"], "python"), source)
        environment = dict(os.environ, PKG_CONFIG_PATH=str(config.parent), CFLAGS="-O0",
                           PATH=f"{self.root / 'bin'}:{os.environ['PATH']}")
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-index",
             "--no-deps", "--disable-pip-version-check", "--no-compile", "--target",
             self.root / "site", source], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_import(self.root / "site")

    @unittest.skipUnless(all(importlib.util.find_spec(m) for m in ("pip", "setuptools", "wheel")),
                         "python3-pip, python3-setuptools or python3-wheel is not installed")
    def test_wheel(self):
        """From a built tree, with libraries, program and scenes inside; nothing is installed."""
        source, wheels, site = self.root / "tree", self.root / "wheels", self.root / "from-wheel"
        shutil.copytree(Path(os.environ["TALUS_SOURCE"], "python"), source)
        environment = dict(os.environ, CFLAGS="-O0")
        environment.pop("PKG_CONFIG_PATH", None)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        offline = ["--no-index", "--no-deps"]
        done = subprocess.run([*pip, "wheel", "--no-build-isolation", *offline, "-w", wheels, source],
                              env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (wheel,) = wheels.glob("talus-*.whl")
        subprocess.run([*pip, "install", *offline, "--no-compile", "--target", site, wheel],
                       check=True, capture_output=True)
        shutil.rmtree(source)
        shutil.move(self.prefix, self.root / "elsewhere")  # it must do without
        try:
            self.check_import(site)
            for name in ("__init__.pyi", "measure.pyi", "py.typed"):
                self.assertTrue((site / "talus" / name).exists(), name)
            done = subprocess.run([sys.executable, "-c", IN_WHEEL], cwd=self.root, text=True,
                                  capture_output=True,
                                  env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site)})
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            shutil.move(self.root / "elsewhere", self.prefix)


if __name__ == "__main__":
    unittest.main()
