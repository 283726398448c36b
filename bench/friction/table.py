#!/usr/bin/env python3
"""`talus solve` on the problems that problems.py has made: what solved each, and what that cost.

    table.py FOLDER [SECONDS]           TALUS names the program [build/release/talus]

One line a problem: contacts, components, solved or not, iterations, CPU seconds (reading included), FCLIB's
error, the residual without units, that of the velocities, and the story. SECONDS is the limit on the wall for
each [120].
"""
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

TALUS = os.environ.get("TALUS", "build/release/talus")


def main():
    limit = sys.argv[2] if len(sys.argv) > 2 else "120"
    for file in sorted(Path(sys.argv[1]).glob("*.hdf5")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([TALUS, "solve", file, "--json", "--limit", limit],
                              capture_output=True, text=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if not done.stdout:
            print(f"{file.stem}: {done.stderr.strip()}")
            continue
        told = json.loads(done.stdout)
        print(f"{file.stem:20} {told['contacts']:5} {told['components']} "
              f"{'solved' if told['converged'] else 'NOT   '} {told['iterations']:6} {seconds:7.2f} s "
              f"{told['error']:.1e} {told['residual']:.1e} {told['velocity_residual']:.1e} "
              f"{told['story']}", flush=True)


if __name__ == "__main__":
    main()
