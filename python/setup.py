"""Build the package against an installed libtalus_workshop, found by pkg-config:

    PKG_CONFIG_PATH=PREFIX/lib/x86_64-linux-gnu/pkgconfig pip install --no-build-isolation ./python

`make install` installs the package as well; this is the way into a virtual environment or for
another Python.
"""
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402


def pkg_config(*question):
    try:
        return subprocess.run(["pkg-config", *question, "talus-workshop"], check=True, text=True,
                              capture_output=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit("pkg-config does not find libtalus_workshop: install it (make install PREFIX=...) and set "
                 f"PKG_CONFIG_PATH to its pkgconfig folder\n{problem}")


class Build(build_ext):
    """Make the extension's source and the table of the headers first."""

    def run(self):
        made = pathlib.Path(self.build_temp).resolve()
        generate.main(pkg_config("--variable=includedir"), made)
        self.extensions[0].sources = [str(made / "_talus.c")]
        super().run()
        package = pathlib.Path(self.get_ext_fullpath("talus._talus")).parent
        shutil.copy(made / "_header.py", package)
        scenes = pathlib.Path(pkg_config("--variable=prefix"), "share", "talus", "scenes")
        (package / "scenes.txt").write_text(f"{scenes}\n", encoding="utf-8")


libdir = pkg_config("--variable=libdir")
setup(
    version=pkg_config("--modversion"),
    packages=["talus"],
    cmdclass={"build_ext": Build},
    ext_modules=[Extension("talus._talus", [],
                           include_dirs=[pkg_config("--variable=includedir")],
                           libraries=["talus_workshop"], library_dirs=[libdir],
                           runtime_library_dirs=[libdir])])
