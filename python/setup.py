"""Build the package: as a wheel with everything in it, from a tree that was built by `make build`,

    pip install --no-build-isolation ./python

or against a libtalus_workshop that is installed, if PKG_CONFIG_PATH or TALUS_INSTALLED=1 says so:

    PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pip install --no-build-isolation ./python

The first takes the libraries, the program and the ready-made scenes along, and the libraries of
Debian that they need; TALUS_BUILD names another build folder than build/release. `make install`
installs the package as well; this is the way into a virtual environment or for another Python.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

TREE = pathlib.Path(os.environ.get("TALUS_BUILD", HERE.parent / "build" / "release"))
# What every system with a C library has, and what must not be there twice in a process.
LEFT_OUT = re.compile(
    r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+|ssl|crypto))\.so.*")


def from_tree():
    wished = os.environ.get("PKG_CONFIG_PATH") or os.environ.get("TALUS_INSTALLED")
    return not wished and (TREE / "CMakeCache.txt").exists()


def pkg_config(*question):
    try:
        return subprocess.run(["pkg-config", *question, "talus-workshop"], check=True, text=True,
                              capture_output=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"there is no build in {TREE} (make build), and pkg-config does not find "
                 "libtalus_workshop: install it (make install PREFIX=...) and set PKG_CONFIG_PATH to "
                 f"its pkgconfig folder\n{problem}")


def needed_libraries(library):
    """Shared libraries that a library needs, but for those of every system, as paths."""
    said = subprocess.run(["ldd", library], check=True, text=True, capture_output=True).stdout
    found = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", said)]
    return [path for path in found if not LEFT_OUT.fullmatch(path.name)]


class Build(build_ext):
    """Make the extension's source and the table of the headers first."""

    def run(self):
        made = pathlib.Path(self.build_temp).resolve()
        prefix = self.unpack_tree(made / "prefix") if from_tree() else None
        include = prefix / "include" if prefix else pkg_config("--variable=includedir")
        generate.main(include, made)
        extension = self.extensions[0]
        extension.sources = [str(made / "_talus.c")]
        extension.include_dirs = [str(include)]
        if prefix:
            extension.library_dirs = [str(next(prefix.rglob("libtalus_workshop.so")).parent)]
            # The old kind of path is searched for the libraries of libraries, too.
            extension.extra_link_args = ["-Wl,-rpath,$ORIGIN/libraries", "-Wl,--disable-new-dtags"]
        else:
            libdir = pkg_config("--variable=libdir")
            extension.library_dirs = extension.runtime_library_dirs = [libdir]
        super().run()
        package = pathlib.Path(self.get_ext_fullpath("talus._talus")).resolve().parent
        shutil.copy(made / "_header.py", package)
        if prefix:
            self.bundle(prefix, package)
        else:
            scenes = pathlib.Path(pkg_config("--variable=prefix"), "share", "talus", "scenes")
            (package / "scenes.txt").write_text(f"{scenes}\n", encoding="utf-8")
        self.write_stubs(package)

    @staticmethod
    def unpack_tree(prefix):
        """What the build would install, with paths that do not lead into the build."""
        shutil.rmtree(prefix, ignore_errors=True)
        subprocess.run(["cmake", "--install", TREE, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        return prefix

    @staticmethod
    def bundle(prefix, package):
        """Libraries, program and scenes into the package."""
        libraries, library = package / "libraries", next(prefix.rglob("libtalus_workshop.so.?.?"))
        for folder in (libraries, package / "bin", package / "share" / "talus"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        program = prefix / "bin" / "talus"
        for path in {library, *needed_libraries(library), *needed_libraries(program)}:
            shutil.copy(path, libraries / path.name)
        shutil.copy(program, package / "bin")
        shutil.copytree(prefix / "share/talus/scenes", package / "share/talus/scenes")

    @staticmethod
    def write_stubs(package):
        """The modules come first, for the stubs are what can be imported."""
        for module in (HERE / "talus").glob("*.py"):
            shutil.copy(module, package)
        subprocess.run([sys.executable, HERE / "stubs.py", package.parent], check=True)


def version():
    if not from_tree():
        return pkg_config("--modversion")
    said = (TREE / "talus-workshop.pc").read_text(encoding="utf-8")
    return re.search(r"^Version: (\S+)", said, re.MULTILINE).group(1)


setup(
    version=version(),
    packages=["talus"],
    package_data={"talus": ["py.typed", "*.pyi"]},
    cmdclass={"build_ext": Build},
    ext_modules=[Extension("talus._talus", [], libraries=["talus_workshop"])])
