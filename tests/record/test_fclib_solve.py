"""talus solve on every stored problem of FCLIB: the answer is judged by numpy from the file's own
matrices, never by what Talus says of itself; malformed files are refused with a clear message."""
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import h5py
import numpy

from fclib_model import Problem

TALUS = os.environ["TALUS"]
DATA = Path(__file__).resolve().parents[1] / "data" / "fclib"
FILES = sorted(DATA.glob("*.hdf5"))
TOLERANCE = 1e-8

OK, FAILURE, USAGE, NUMERIC = 0, 1, 2, 4
KEYS = {"contacts": int, "iterations": int, "seconds": float, "error": float, "residual": float,
        "solver": str, "converged": bool}


def talus(*arguments):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True,
                          timeout=250)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def copy(self, name):
        target = self.folder / name
        shutil.copyfile(DATA / name, target)
        return target


class Stored(Case):
    def test_there_are_all(self):
        self.assertEqual(len(FILES), 27)

    def check(self, path):
        copy = self.copy(path.name)
        # What is stored as a solution must come from Talus, not from the file.
        done = talus("solve", copy, "--write", "--json")
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
        told = json.loads(done.stdout)
        for key, kind in KEYS.items():
            self.assertIsInstance(told[key], (int, float) if kind is float else kind, key)
        problem = Problem(copy)
        with h5py.File(copy) as file:
            r, u = file["solution/r"][:], file["solution/u"][:]
            v = file["solution/v"][:] if problem.is_global else None
        self.assertTrue(told["converged"])
        self.assertEqual(told["contacts"], problem.count)
        self.assertEqual(len(r), problem.count * problem.width)

        # Rounding of u = W r + q, in terms of the largest of what is added up.
        own_u, own_v = problem.velocity(r)
        grain = 1e-13 * max(abs(problem.q).max(), (abs(problem.W) @ abs(r)).max())
        if problem.is_global:
            grain *= numpy.linalg.cond(problem.M)
        self.assertLessEqual(abs(u - own_u).max(), grain)
        self.assertLessEqual(problem.error(r), TOLERANCE)
        self.assertLessEqual(problem.error(r, u, v), TOLERANCE)
        if not problem.is_global:  # of a global one Talus takes |w| for |q|, and tells more
            self.assertAlmostEqual(told["error"], problem.error(r), delta=1e-10)
        self.assertGreaterEqual(told["error"], problem.error(r) - 1e-10)
        self.assertLessEqual(told["residual"], TOLERANCE)
        # No contact closes, by the measure of velocities alone: impulses may be of any size.
        moving = [k for k in range(len(u)) if k % problem.width < 3]
        largest = max(numpy.linalg.norm(u[moving]), numpy.linalg.norm(problem.q[moving]))
        self.assertGreaterEqual(min(own_u[::problem.width]), -TOLERANCE * largest)

    def test_every_problem(self):
        for path in FILES:
            with self.subTest(path.name):
                self.check(path)

    def test_the_judge_can_say_no(self):
        problem = Problem(DATA / "Capsules-i100-889.hdf5")
        self.assertGreater(problem.error(numpy.zeros(problem.count * problem.width)), 1e-3)

    def test_projection(self):
        """The judge's projection: z - P z is normal to the cone at P z and in its polar cone."""
        problem = Problem(DATA / "RFC3D_cube_1.hdf5")
        random = numpy.random.default_rng(1)
        for _ in range(300):
            problem.mu, problem.mu_r = random.uniform(0, 2, (2, 2))
            z = random.normal(size=(2, 5))
            p = problem.project(z)
            inside = random.normal(size=(2, 5))
            inside[:, 0] = abs(inside[:, 0])
            t, s = (numpy.linalg.norm(inside[:, k:k + 2], axis=1) for k in (1, 3))
            inside[:, 1:3] *= (random.uniform(0, 1, 2) * problem.mu * inside[:, 0] / t)[:, None]
            inside[:, 3:] *= (random.uniform(0, 1, 2) * problem.mu_r * inside[:, 0] / s)[:, None]
            for k in range(2):
                self.assertAlmostEqual((z[k] - p[k]) @ p[k], 0, delta=1e-12)
                self.assertLessEqual((z[k] - p[k]) @ inside[k], 1e-12)


class Program(Case):
    def test_text(self):
        done = talus("solve", DATA / "gfc2d_granularflowonwall_00069_00350.hdf5")
        self.assertEqual(done.returncode, OK, done.stderr)
        for word in ("69 contacts", "900 degrees of freedom", "global", "2D", "iteration", "error",
                     "residual"):
            self.assertIn(word, done.stdout)

    def test_write_replaces_only_the_solution(self):
        copy = self.copy("Box_Stacks-i0122-82-5.hdf5")
        copy.chmod(0o640)
        link = self.folder / "link.hdf5"
        link.symlink_to(copy)
        with h5py.File(copy) as file:
            before = {}
            file.visititems(lambda name, item: before.update(
                {name: item[()]} if isinstance(item, h5py.Dataset) else {}))
        self.assertEqual(talus("solve", link, "--write").returncode, OK)
        self.assertTrue(link.is_symlink())
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o640)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), [copy.name, "link.hdf5"])
        with h5py.File(copy) as file:
            for name, value in before.items():
                if not name.startswith("solution/"):
                    numpy.testing.assert_array_equal(file[name][()], value, name)
            self.assertGreater(abs(file["solution/r"][:]).max(), 0)

    def test_without_write_the_file_stays(self):
        copy = self.copy("NESpheres_10_1.hdf5")
        before = copy.read_bytes()
        self.assertEqual(talus("solve", copy).returncode, OK)
        self.assertEqual(copy.read_bytes(), before)

    def test_not_solved(self):
        copy = self.copy("Capsules-i101-404.hdf5")
        before = copy.read_bytes()
        done = talus("solve", copy, "--solver", "sweeps", "--sweeps", 2, "--write", "--json")
        self.assertEqual(done.returncode, NUMERIC, done.stderr)
        told = json.loads(done.stdout)
        self.assertFalse(told["converged"])
        self.assertFalse(told["written"])
        self.assertEqual(copy.read_bytes(), before)

    def test_repeat_and_tolerance(self):
        path = DATA / "OneObject-i1028-138.hdf5"
        loose = json.loads(talus("solve", path, "--tolerance", 1e-3, "--json").stdout)
        tight = json.loads(talus("solve", path, "--repeat", 3, "--json").stdout)
        self.assertLess(loose["iterations"], tight["iterations"])
        self.assertLessEqual(tight["error"], TOLERANCE)

    def test_a_killed_program_leaves_nothing_running(self):
        """The file is read in a child of the program; it must not outlive it."""
        copy = self.copy("KaplasTower-i1061-4.hdf5")
        process = subprocess.Popen([TALUS, "solve", copy, "--repeat", "1000000"])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for _ in range(500):
            found = children.read_text().split()
            if found:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        for _ in range(500):
            stat_file = Path(f"/proc/{found[0]}/stat")
            if not stat_file.exists() or stat_file.read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.01)
        os.kill(int(found[0]), 9)
        self.fail("the child goes on")

    def test_mistakes_of_the_command_line(self):
        path = DATA / "Rover4396.hdf5"
        for arguments, words in [
                ((path, "--sovler", "auto"), "did you mean '--solver'"),
                ((path, "--solver", "atuo"), "did you mean 'auto'"),
                ((path, "--solver", "gauss"), "solvers are: auto"),
                ((path, "--tolerance", "no"), "--tolerance needs a number"),
                ((path, "--tolerance", "0"), "above 0"),
                ((), "is missing"),
                ((path, path), "one argument too many")]:
            done = talus("solve", *arguments)
            self.assertEqual(done.returncode, USAGE, arguments)
            self.assertIn(words, done.stderr)
        self.assertEqual(talus("solve", "--help").returncode, OK)


def replace(file, name, data):
    del file[name]
    file[name] = data


def grow(name):
    def change(file):
        replace(file, name, numpy.append(file[name][:], 0.0))
    return change


def put(name, index, value):
    def change(file):
        file[name][index] = value
    return change


def set_to(name, value):
    return lambda file: replace(file, name, value)


def claim(name, dtype):
    """A dataset that claims far more than it stores."""
    def change(file):
        del file[name]
        file.create_dataset(name, shape=(2**31 - 1,), dtype=dtype, chunks=(1024,))
    return change


LOCAL, GLOBAL, ROLLING = ("Rover4144.hdf5", "GFC3D_TwoRods1.hdf5", "RFC3D_cube_1.hdf5")
ROWS = "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5"
L, G, R = "fclib_local/", "fclib_global/", "fclib_local_rolling/"

# File, what is done to it, words that the message must have (beside the name of the file).
MALFORMED = [
    (LOCAL, lambda f: f.__delitem__("fclib_local"), ["none of the groups"]),
    (LOCAL, set_to("fclib_local", 1), ["fclib_local"]),
    (LOCAL, set_to(L + "W", 1.0), [L + "W"]),
    (LOCAL, set_to(L + "W/x", [b"text"] * 144), [L + "W/x", "floating-point"]),
    (LOCAL, set_to(L + "W/x", numpy.zeros(144, int)), [L + "W/x", "floating-point"]),
    (LOCAL, set_to(L + "W/i", numpy.zeros(144)), [L + "W/i", "integers"]),
    (LOCAL, set_to(L + "W/x", numpy.zeros((12, 12))), [L + "W/x", "rank 2"]),
    (LOCAL, set_to(L + "W/x", h5py.Empty("f8")), [L + "W/x", "holds nothing"]),
    (LOCAL, set_to(L + "W/x", numpy.zeros(143)), [L + "W", "143"]),
    (LOCAL, set_to(L + "W/m", numpy.array([1, 2])), [L + "W/m", "one number"]),
    (LOCAL, set_to(L + "W/m", 13), [L + "W", "12 x 12", "m = 13"]),
    (LOCAL, set_to(L + "W/n", -1), [L + "W", "12 x 12", "n = -1"]),
    (LOCAL, set_to(L + "W/n", 2**62), [L + "W", "12 x 12"]),
    (LOCAL, set_to(L + "W/nz", 145), [L + "W", "145 entries"]),
    (LOCAL, set_to(L + "W/nz", 2**31 - 1), [L + "W", "2147483647 entries"]),
    (LOCAL, set_to(L + "W/nz", -3), [L + "W", "nz = -3"]),
    (LOCAL, set_to(L + "W/nz", -1), [L + "W", "13 numbers in p"]),
    (LOCAL, set_to(L + "W/nzmax", 3), [L + "W", "nzmax is 3"]),
    (LOCAL, put(L + "W/i", 5, 12), [L + "W", "number 5 of i is 12", "from 0 to 11"]),
    (LOCAL, put(L + "W/i", 5, -1), [L + "W", "number 5 of i is -1"]),
    (LOCAL, put(L + "W/p", 7, 12), [L + "W", "number 7 of p is 12"]),
    (LOCAL, put(L + "W/x", 3, numpy.nan), [L + "W/x", "number 3", "finite"]),
    (LOCAL, put(L + "W/x", 3, -numpy.inf), [L + "W/x", "number 3", "finite"]),
    (LOCAL, put(L + "vectors/q", 0, numpy.inf), [L + "vectors/q", "number 0", "finite"]),
    (LOCAL, put(L + "vectors/mu", 2, -0.1), [L + "vectors/mu", "number 2", "negative"]),
    (LOCAL, put(L + "vectors/mu", 2, numpy.nan), [L + "vectors/mu", "number 2", "finite"]),
    (LOCAL, grow(L + "vectors/q"), [L + "vectors/q", "expected 12 numbers", "found 13"]),
    (LOCAL, grow(L + "vectors/mu"), [L + "vectors/q", "expected 15 numbers"]),
    (LOCAL, set_to(L + "spacedim", 4), [L + "spacedim", "2 or 3", "found 4"]),
    (LOCAL, set_to(L + "spacedim", 5), [L + "spacedim", "2 or 3", "found 5"]),
    (LOCAL, set_to(L + "spacedim", 3.0), [L + "spacedim", "integers"]),
    (LOCAL, claim(L + "W/x", "f8"), [L + "W/x", "claims 2147483647 elements"]),
    (LOCAL, claim(L + "vectors/mu", "f8"), [L + "vectors/mu", "claims"]),
    (LOCAL, lambda f: f[L].create_group("V"), [L + "V", "equality constraints"]),
    (LOCAL, lambda f: replace(f, L + "vectors/q", h5py.SoftLink("/nowhere")), [L + "vectors/q"]),
    (LOCAL, lambda f: replace(f, L + "vectors/q", h5py.ExternalLink("none.h5", "/x")),
     [L + "vectors/q"]),
    (ROWS, put(L + "W/p", 3, 10**6), [L + "W", "p must not fall"]),
    (ROWS, put(L + "W/p", 0, 1), [L + "W", "p must begin with 0"]),
    (ROWS, put(L + "W/p", 180, 10**6), [L + "W", "1000000 entries"]),
    (ROWS, put(L + "W/i", 0, 180), [L + "W", "number 0 of i is 180"]),
    (GLOBAL, set_to(G + "M/x", numpy.zeros(1458)), [G + "M", "singular"]),
    (GLOBAL, grow(G + "vectors/f"), [G + "M", "55 x 55"]),
    (GLOBAL, grow(G + "vectors/w"), [G + "vectors/w", "expected 9 numbers"]),
    (GLOBAL, set_to(G + "H/m", 53), [G + "H", "54 x 9"]),
    (GLOBAL, lambda f: f[G].create_group("G"), [G + "G", "equality constraints"]),
    (ROLLING, put(R + "vectors/mu_r", 1, -1), [R + "vectors/mu_r", "number 1", "negative"]),
    (ROLLING, grow(R + "vectors/mu_r"), [R + "vectors/mu_r", "expected 2 numbers"]),
    (ROLLING, set_to(R + "spacedim", 2), [R + "spacedim", "found 2"]),
]


class Malformed(Case):
    def refuse(self, path, words):
        done = talus("solve", path, "--json", "--write")
        self.assertEqual(done.returncode, FAILURE, (words, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in [str(path), *words]:
            self.assertIn(word, done.stderr)

    def test_contents(self):
        for k, (name, change, words) in enumerate(MALFORMED):
            with self.subTest(case=k, words=words):
                copy = self.copy(name)
                with h5py.File(copy, "r+") as file:
                    change(file)
                self.refuse(copy, words)

    def test_every_dataset_is_missed(self):
        for name in (LOCAL, GLOBAL, ROLLING):
            with h5py.File(DATA / name) as file:
                names = []
                file.visit(lambda n: names.append(n) if "info" not in n and "/" in n else None)
            self.assertGreater(len(names), 10)
            for missing in names:
                copy = self.copy(name)
                with h5py.File(copy, "r+") as file:
                    del file[missing]
                self.refuse(copy, [missing, "missing"])

    def test_no_problem_at_all(self):
        path = self.folder / "x.hdf5"
        self.refuse(path, ["No such file"])
        path.write_bytes(b"")
        self.refuse(path, ["empty"])
        path.write_bytes(b"no HDF5 at all" * 100)
        self.refuse(path, ["not an HDF5 file"])
        self.refuse(self.folder, ["is a folder"])
        with h5py.File(path, "w"):
            pass
        self.refuse(path, ["none of the groups"])

    def test_truncated(self):
        whole = (DATA / LOCAL).read_bytes()
        for part in (8, 96, 800, 5000, len(whole) - 1):
            path = self.folder / "short.hdf5"
            path.write_bytes(whole[:part])
            self.refuse(path, [])
            self.assertEqual(talus("solve", path).stderr.count("does not say why"), 0, part)

    def test_not_writable(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        copy = self.copy(LOCAL)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        self.refuse(copy, ["cannot write"])


class Unusual(Case):
    """Files that differ from the usual without being wrong."""

    def solve(self, path):
        done = talus("solve", path, "--json")
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(done.stdout)

    def test_no_contacts(self):
        path = self.folder / "none.hdf5"
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"] = 3
            for name in ("m", "n", "nz", "nzmax"):
                group["W/" + name] = 0
            for name, kind in (("p", "i4"), ("i", "i4"), ("x", "f8")):
                group["W/" + name] = numpy.zeros(0, kind)
            group["vectors/q"] = group["vectors/mu"] = numpy.zeros(0)
        self.assertEqual(self.solve(path)["contacts"], 0)

    def test_other_types_and_packing(self):
        copy = self.copy("Capsules-i101-404.hdf5")
        plain = self.solve(copy)
        with h5py.File(copy, "r+") as file:
            group = file["fclib_local/W"]
            for name, kind in (("p", ">i8"), ("i", "u2"), ("x", ">f8")):
                data = group[name][:].astype(kind)
                del group[name]
                group.create_dataset(name, data=data, compression="gzip", shuffle=True)
            replace(file, "fclib_local/spacedim", numpy.uint8(3))
        again = self.solve(copy)
        for key in ("iterations", "error", "residual"):
            self.assertEqual(plain[key], again[key])

    def test_newest_format(self):
        """A file of HDF5's newest layout, whose superblock has a checksum, takes a solution."""
        path = self.folder / "latest.hdf5"
        with h5py.File(DATA / LOCAL) as old, h5py.File(path, "w", libver="latest") as new:
            old.copy("fclib_local", new)
        for _ in range(2):
            self.assertEqual(talus("solve", path, "--write").returncode, OK)
        with h5py.File(path, "r+") as file:
            self.assertIn("solution/r", file)

    def test_spacedim_3_of_rolling(self):
        copy = self.copy(ROLLING)
        with h5py.File(copy, "r+") as file:
            replace(file, R + "spacedim", 3)
        self.assertEqual(self.solve(copy)["contacts"], 2)

    def test_nothing_moves_a_contact(self):
        """A row of W without entries: the contact is there, with a block of zeros."""
        copy = self.copy("NESpheres_10_1.hdf5")
        with h5py.File(copy, "r+") as file:
            group = file["fclib_local/W"]
            gone = (group["i"][:] // 3 == 0) | (group["p"][:] // 3 == 0)
            x = group["x"][:]
            x[gone] = 0
            group["x"][:] = x
            q = file["fclib_local/vectors/q"][:]
            q[0:3] = [1, 0, 0]
            file["fclib_local/vectors/q"][:] = q
        self.assertEqual(self.solve(copy)["contacts"], 9)


class NoSolution(Case):
    """Problems that nothing solves: huge impulses must not make them look solved."""

    def refuse(self, W, q):
        path = self.folder / "none.hdf5"
        size = len(q)
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"] = 2
            for name, value in (("m", size), ("n", size), ("nz", size**2), ("nzmax", size**2)):
                group["W/" + name] = value
            rows, columns = numpy.indices((size, size))
            group["W/p"], group["W/i"] = columns.ravel(), rows.ravel()
            group["W/x"] = numpy.ravel(W).astype(float)
            group["vectors/q"], group["vectors/mu"] = q, numpy.full(size // 2, 0.3)
        before = path.read_bytes()
        done = talus("solve", path, "--write", "--json")
        self.assertEqual(done.returncode, NUMERIC, done.stdout + done.stderr)
        told = json.loads(done.stdout)
        self.assertFalse(told["converged"] or told["written"])
        self.assertGreater(told["velocity_residual"], 0.3)
        self.assertIn("there may be no solution", told["story"])
        self.assertEqual(path.read_bytes(), before)

    def test_ball_between_walls_that_close_in(self):
        W = [[1, 0, -1, 0], [0, 3, 0, 3], [-1, 0, 1, 0], [0, 3, 0, 3]]
        self.refuse(W, [-1.0, 0, -0.5, 0])

    def test_what_nothing_moves_approaches(self):
        self.refuse(numpy.zeros((2, 2)), [-0.03, 0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
