#!/usr/bin/python3
"""Runs that go on and on: scripts/soak.py PROGRAM [--seconds 3600].

Each of five kinds of scenes has a fifth of the time, in four parts with a break (SIGTERM) and a resume between them. After
each part it is noted how large memory, overlap, error of energy and files are. The table is for docs/benchmarks.md. It
fails if a part ends otherwise than it should, if memory grows by a tenth between the second and the last part, or if the
largest overlap of rigid grains does so by half (a flow has bad moments at any time)."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENES = {"drum": "a drum that turns", "vibrated-box": "a shaken box", "silo": "a silo with an outlet",
          "bonded-cluster": "bonds that break", "polygon-shear-soft": "soft shear"}
PARTS = 4
INTERRUPTED = 75


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def resident(process):
    """Bytes that the process has in memory now."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def part(command, seconds):
    """Let it run for so long and stop it; its exit status and the memory that it had at the end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    memory, end = 0, time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            memory = resident(process)
        except (FileNotFoundError, IndexError):
            break
        time.sleep(0.2)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    return process.wait(timeout=600), memory


def soak(program, scene, seconds, folder):
    run, rows = folder / scene, []
    # To its end first; then its last phase goes on for ever.
    command = [program, "run", scene, "-o", str(run), "--quiet", "--set", "output.frames=0"]
    for number in range(PARTS):
        end, left = time.monotonic() + seconds / PARTS, seconds / PARTS
        status = 0
        while left > 0.5 and status == 0:
            status, memory = part(command, left)
            if status not in (0, INTERRUPTED):
                sys.exit(f"soak: {scene} ended with {status}")
            command = [program, "resume", str(run), "--quiet", "--steps", "1000000000"]
            left = end - time.monotonic()
        summary = json.loads((run / "summary.json").read_text())
        rows.append({"steps": summary["steps"], "memory": memory, "overlap": summary.get("overlap_thickness_max", summary["overlap_max"]),
                     "ever": summary.get("overlap_thickness_ever", summary["overlap_max_ever"]), "energy": summary.get("energy_error_max"),
                     "files": size_of(run)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=3600)
    options = parser.parse_args()
    folder, bad = Path(tempfile.mkdtemp(prefix="talus-soak-")), []
    print("| scene | part | steps | memory, MB | overlap now, % | largest, % | error of energy, % | files, MB |\n"
          "|---|---|---|---|---|---|---|---|")
    for scene, what in SCENES.items():
        rows = soak(str(Path(options.program).resolve()), scene, options.seconds / len(SCENES), folder)
        for number, row in enumerate(rows, 1):
            energy = "" if row["energy"] is None else f"{100 * row['energy']:.2g}"
            print(f"| {what} | {number} | {row['steps']} | {row['memory'] / 1e6:.1f} | {100 * row['overlap']:.2g} | "
                  f"{100 * row['ever']:.2g} | {energy} | {row['files'] / 1e6:.1f} |", flush=True)
        if rows[-1]["memory"] > 1.1 * rows[1]["memory"] + 2e6:
            bad.append(f"{scene}: memory grows")
        # Overlaps of the method soft follow the load, which grows while a sample is sheared.
        rigid = rows[-1]["energy"] is None
        if rigid and rows[-1]["ever"] > 1.5 * rows[1]["ever"] + 1e-4:
            bad.append(f"{scene}: overlaps grow")
        shutil.rmtree(folder / scene)
    folder.rmdir()
    for line in bad:
        print(f"soak: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
