#!/usr/bin/python3
"""Talus against Siconos on the stored problems of FCLIB and on hard steps of Talus's own scenes.

    compare.py TALUS [--limit SECONDS] [--only TEXT] [--scenes NAME:STEPS,...]

Both solve every problem from zero to an error of 1e-8, as FCLIB's people take it; the error of both
answers is recomputed here, by tests/support/fclib_model.py, and an answer that does not meet it does not
count. Times are those of the solver alone on one core, the median of many repetitions; both are
called from C (Siconos by repeat.c, but for global problems as they are, whose calls from Python
take a thousandth of the time). Siconos's solves above half a millisecond are timed by the processor's
clock, so that other work on the machine does not count; those of Talus are not.

What Siconos is given: the fastest of its NSGS, NSN_AC and ADMM (2D: NSGS, CPG and Lemke; rolling:
NSGS and ADMM), each with W in blocks and, where it is small, also dense; q is scaled to length one,
since some of its methods stop on an absolute error; and a smaller tolerance where it stops too
early. A method of Siconos is given up when it takes --limit seconds, or ten times as long as another
one did. A global problem in 3D appears twice: as it is, both making W or doing without it in their
time, and condensed, where both get W ready made; in 2D and with rolling only condensed.
"""
import argparse
import ctypes
import ctypes.util
import functools
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests"))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import scipy.sparse
    import siconos.numerics as numerics
except ImportError:
    print("Without Siconos: no comparison with it (scripts/install-deps.sh bench installs it)")
    sys.exit(0)

import numpy

from fclib_model import Problem

TOLERANCE = 1e-8
REPEAT_SECONDS = 0.3  # spend about so long on repetitions
REPEAT_MOST = 2000
DENSE_MOST = 100  # contacts up to which dense W is tried too
ITERATIONS = 10**6
DUMP_SECONDS = 10  # for running a scene

# Scenes with nothing but friction, and steps after which their hardest step is taken.
SCENES = "heap:300,ballast:300,masonry:300,column-collapse:150,piston:300,silo:150,triaxial:60"


def sparse(rows, columns, values, shape):
    return scipy.sparse.coo_matrix((values, (rows, columns)), shape).tocsr()


def open_problem(path):
    problem = Problem(path, sparse)
    problem.W = scipy.sparse.csr_matrix(problem.W)
    return problem


# ---- Siconos ------------------------------------------------------------------------------------

def numbers(values, form="%.17g"):
    return " ".join(form % v for v in values)


def in_blocks_of(matrix, width):
    """Rows of blocks; Siconos looks for the one on the diagonal in each."""
    blocks = scipy.sparse.bsr_matrix(matrix, blocksize=(width, width))
    filled = scipy.sparse.bsr_matrix(
        (numpy.ones_like(blocks.data), blocks.indices, blocks.indptr), shape=matrix.shape)
    count = matrix.shape[0] // width
    pattern = scipy.sparse.bsr_matrix(
        (numpy.ones((count, width, width)), numpy.arange(count), numpy.arange(count + 1)),
        shape=matrix.shape)
    pattern = (filled + pattern).tobsr((width, width))
    pattern.data[:] = 0
    pattern.sort_indices()
    place = {}
    rows = numpy.repeat(numpy.arange(count), numpy.diff(pattern.indptr))
    for at, key in enumerate(zip(rows, pattern.indices)):
        place[key] = at
    rows = numpy.repeat(numpy.arange(count), numpy.diff(blocks.indptr))
    for at, key in enumerate(zip(rows, blocks.indices)):
        pattern.data[place[key]] += blocks.data[at]
    return pattern


def write_siconos(problem, path, in_blocks):
    """The problem in Siconos's own text format, whose reader is the only way to W in blocks."""
    width, count = problem.width, problem.count
    size = width * count
    lines = [width, count, 1 if in_blocks else 0, size, size]
    if in_blocks:
        blocks = in_blocks_of(problem.W, width)
        ends = numbers(range(width, size + 1, width), "%d")
        lines += [len(blocks.indices), count, count, ends, ends, count + 1, len(blocks.indices),
                  numbers(blocks.indptr, "%d"), numbers(blocks.indices, "%d")]
        for number, block in enumerate(blocks.data):
            lines += [number, numbers(block.T.ravel())]
    else:
        lines += [f"{size} {size}", numbers(problem.W.toarray().T.ravel())]
    lines += [numbers(problem.q), numbers(problem.mu)]
    if problem.rolling:
        lines.append(numbers(problem.mu_r))
    Path(path).write_text("\n".join(map(str, lines)) + "\n")


def siconos_methods(problem, as_global):
    """(name, in blocks?, id) of what may be fastest, likely winners first."""
    if as_global:
        return [(name, True, getattr(numerics, "SICONOS_GLOBAL_FRICTION_3D_" + name))
                for name in ("ADMM", "NSGS", "NSN_AC", "NSGS_WR", "NSN_AC_WR", "ADMM_WR")]
    small = problem.count <= DENSE_MOST
    if problem.rolling:  # Siconos cannot take blocks of five rows here
        return [("NSGS", False, numerics.SICONOS_ROLLING_FRICTION_3D_NSGS),
                ("ADMM", False, numerics.SICONOS_ROLLING_FRICTION_3D_ADMM)]
    if problem.width == 2:
        names = [("NSGS", numerics.SICONOS_FRICTION_2D_NSGS),
                 ("CPG", numerics.SICONOS_FRICTION_2D_CPG),
                 ("Lemke", numerics.SICONOS_FRICTION_2D_LEMKE)]
    else:
        names = [("NSN_AC", numerics.SICONOS_FRICTION_3D_NSN_AC),
                 ("NSGS", numerics.SICONOS_FRICTION_3D_NSGS),
                 ("ADMM", numerics.SICONOS_FRICTION_3D_ADMM)]
    return [(name, in_blocks, number) for name, number in names
            for in_blocks in ((True, False) if small else (True,))]


def long_indices(matrix):
    """Compressed columns with the indices that Siconos wants."""
    out = scipy.sparse.csc_matrix(matrix)
    out.indices = out.indices.astype(numpy.int64)
    out.indptr = out.indptr.astype(numpy.int64)
    return out


def siconos_global(problem):
    """A function that solves the global problem as it is."""
    stored = numerics.GlobalFrictionContactProblem()
    stored.dimension, stored.numberOfContacts = problem.width, problem.count
    stored.M, stored.H = long_indices(problem.M), long_indices(problem.H)
    stored.q, stored.b, stored.mu = problem.f, problem.w, problem.mu
    v = numpy.zeros(len(problem.f))
    return lambda r, u, options: numerics.gfc3d_driver(stored, r, u, v, options)


def siconos_local(problem, in_blocks, folder):
    """The problem with W as Siconos holds it, and the name of the function that solves it."""
    path = str(Path(folder) / "problem.dat")
    write_siconos(problem, path, in_blocks)
    if problem.rolling:
        return numerics.rollingFrictionContact_new_from_filename(path), "rolling_fc3d_driver"
    stored = numerics.frictionContact_new_from_filename(path)
    return stored, "fc2d_driver" if problem.width == 2 else "fc3d_driver"


def siconos_options(method, tolerance):
    options = numerics.SolverOptions(method[2])
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = ITERATIONS
    return options


def repeat_global(problem, method, tolerance):
    """Times of all repetitions and the last impulses."""
    times = []
    while not times or (sum(times) < REPEAT_SECONDS and len(times) < REPEAT_MOST):
        solve = siconos_global(problem)  # anew every time: it keeps factors of M
        options = siconos_options(method, tolerance)
        r = numpy.zeros(problem.count * problem.width)
        u = numpy.zeros_like(r)
        begin = time.process_time()
        solve(r, u, options)
        times.append(time.process_time() - begin)
    return times, r


@functools.lru_cache(maxsize=None)
def repeat_library():
    """repeat.c, which needs nothing of Siconos but the address of a driver."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "repeat.so"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library,
                        SOURCE / "bench/siconos/repeat.c"], check=True)
        return ctypes.CDLL(str(library))


def repeat_local(stored, driver, method, tolerance, size):
    """Times of all repetitions and the last impulses."""
    options = [siconos_options(method, tolerance) for _ in range(REPEAT_MOST)]
    pointers = (ctypes.c_void_p * len(options))(*(int(o.this) for o in options))
    r, u, times = (numpy.zeros(n) for n in (size, size, len(options)))
    address = ctypes.c_void_p.from_buffer(
        getattr(ctypes.CDLL(ctypes.util.find_library("siconos_numerics")), driver))
    doubles = ctypes.POINTER(ctypes.c_double)
    done = repeat_library().repeat_driver(
        address, ctypes.c_void_p(int(stored.this)), len(options), pointers,
        ctypes.c_double(REPEAT_SECONDS), size, *(a.ctypes.data_as(doubles) for a in (r, u, times)))
    return times[:done], r


def siconos_solve(problem, as_global, method, tolerance, folder, pipe):
    """In a process of its own: solve and send (median of seconds, impulses)."""
    sink = os.open(os.devnull, os.O_WRONLY)  # its warnings of singular matrices are many
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    numerics.numerics_set_verbose(0)
    size = 1.0
    if as_global:
        pipe.send("ready")
        times, r = repeat_global(problem, method, tolerance)
    else:
        size = numpy.linalg.norm(problem.q) or 1.0
        problem.q = problem.q / size
        stored, driver = siconos_local(problem, method[1], folder)
        pipe.send("ready")
        times, r = repeat_local(stored, driver, method, tolerance, problem.count * problem.width)
    pipe.send((float(numpy.median(times)), size * r))


def run_siconos(problem, as_global, method, tolerance, limit):
    """(seconds, impulses), or None if it fails or takes longer than the limit."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    result = None
    with tempfile.TemporaryDirectory() as folder:
        child = fork.Process(target=siconos_solve,
                             args=(problem, as_global, method, tolerance, folder, send))
        child.start()
        send.close()
        try:
            if receive.poll(60) and receive.recv() == "ready" and receive.poll(
                    limit + REPEAT_SECONDS):
                result = receive.recv()
        except EOFError:  # it broke down
            pass
        child.kill()
        child.join()
    return result


def best_of_siconos(problem, as_global, limit):
    """Name, seconds and error of the fastest method that meets the tolerance."""
    best = None
    for method in siconos_methods(problem, as_global):
        for tolerance in (TOLERANCE, TOLERANCE / 10, TOLERANCE / 100):
            allowed = limit if best is None else min(limit, max(0.1, 10 * best[1]))
            result = run_siconos(problem, as_global, method, tolerance, allowed)
            if result is None or not numpy.isfinite(result[1]).all():
                break
            error = problem.error(result[1])
            if error > TOLERANCE:
                continue
            if best is None or result[0] < best[1]:
                best = (method[0] + ("" if method[1] else " dense"), result[0], error)
            break
    return best


# ---- Talus --------------------------------------------------------------------------------------

def run_talus(talus, path, problem, as_global, limit):
    """Method, seconds and error of talus solve; None if it does not meet the tolerance."""
    import h5py
    repeat = 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "problem.hdf5"
        shutil.copyfile(path, copy)
        for _ in range(2):
            done = subprocess.run(
                [talus, "solve", copy, "--json", "--write", "--limit", str(limit), "--repeat",
                 str(repeat)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return None
            told = json.loads(done.stdout)
            repeat = int(min(REPEAT_MOST, REPEAT_SECONDS / max(told["seconds"], 1e-9))) or 1
        with h5py.File(copy) as file:
            error = problem.error(file["solution/r"][:])
    if error > TOLERANCE:
        return None
    seconds = told["seconds"] - (0 if as_global else told.get("seconds_condense", 0))
    return told["solver"], seconds, error


def dump_scenes(talus, scenes, folder):
    """The last, that is hardest, problem that each scene dumps: (name, path)."""
    out = []
    for scene, steps in (item.split(":") for item in scenes.split(",") if item):
        place = Path(folder) / scene
        command = [talus, "run", scene, "-o", place, "--steps", steps, "--quiet",
                   "--dump-problems=20"]
        try:  # what was dumped until then is as good
            subprocess.run(command, check=False, timeout=DUMP_SECONDS, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            pass
        files = sorted((place / "problems").glob("*.hdf5"))
        if files:
            out.append((f"{scene}, {files[-1].stem.replace('-', ' ')}", files[-1]))
        else:
            print(f"{scene}: no hard step within {steps}")
    return out


# ---- the table ----------------------------------------------------------------------------------

def show(name, problem, as_global, ours, theirs, limit):
    form = "{:38.38s} {:>4s} {:>8d}  {:>9s} {:>8s} {:10.10s} {:>9s} {:>8s} {:13.13s} {:>8s}"
    ratio = f"{theirs[1] / ours[1]:.1f}" if ours and theirs else ""
    if ours and not theirs:
        ratio = f"> {limit / ours[1]:.0f}"
    kind = f"{2 if problem.width == 2 else 3}D" + ("r" if problem.rolling else "")
    kind += "g" if as_global else ""
    print(form.format(
        name, kind, problem.count,
        f"{1e3 * ours[1]:.3g}" if ours else "none", f"{ours[2]:.0e}" if ours else "",
        ours[0] if ours else "", f"{1e3 * theirs[1]:.3g}" if theirs else "none",
        f"{theirs[2]:.0e}" if theirs else "", theirs[0] if theirs else "", ratio), flush=True)


def ways(problem):
    """As it is and condensed, or only condensed."""
    return (True, False) if problem.is_global and problem.width == 3 else (False,)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("talus")
    parser.add_argument("--limit", type=float, default=8, help="seconds a call [8]")
    parser.add_argument("--only", default="", help="problems whose name has this text")
    parser.add_argument("--scenes", default=SCENES, help=f"NAME:STEPS,... [{SCENES}]")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    repeat_library()  # once, for all processes that are forked from this one
    begin = time.monotonic()

    print(f"Talus and Siconos {numerics.siconos_version()}" if hasattr(numerics, "siconos_version")
          else "Talus and Siconos", f"on one core, to an error of {TOLERANCE:g}; times in ms")
    print("kind: r rolling, g global as it is; ratio: Siconos / Talus; none: not to the tolerance within "
          f"{arguments.limit:g} s\n")
    print("{:38s} {:>4s} {:>8s}  {:>9s} {:>8s} {:10s} {:>9s} {:>8s} {:13s} {:>8s}".format(
        "problem", "kind", "contacts", "Talus", "error", "by", "Siconos", "error", "by", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        files = [(p.stem, p) for p in sorted((SOURCE / "tests/data/fclib").glob("*.hdf5"))]
        files += dump_scenes(arguments.talus, arguments.scenes, folder)
        ratios = []
        for name, path in files:
            if arguments.only not in name:
                continue
            problem = open_problem(path)
            for as_global in ways(problem):
                ours = run_talus(arguments.talus, path, problem, as_global, arguments.limit)
                theirs = best_of_siconos(problem, as_global, arguments.limit)
                label = name if as_global or not problem.is_global else name[:27] + " condensed"
                show(label, problem, as_global, ours, theirs, arguments.limit)
                ratios.append((problem.count, ours, theirs))
    both = [(n, b[1] / a[1]) for n, a, b in ratios if a and b]
    large = [ratio for n, ratio in both if n > 200]
    print(f"\nTalus solved {sum(1 for _, a, _ in ratios if a)} of {len(ratios)}, Siconos "
          f"{sum(1 for _, _, b in ratios if b)}; took {time.monotonic() - begin:.0f} s")
    if both:
        print(f"smallest ratio {min(r for _, r in both):.1f}"
              + (f", above 200 contacts {min(large):.1f}" if large else ""))


if __name__ == "__main__":
    main()
