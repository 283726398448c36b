#!/usr/bin/python3
"""Do the ready-made scenes come out the same on a graphics card as on the CPU, to the last bit?

    scripts/device-check.py PROGRAM [--device gpu:1] [--steps 300] [--scenes piston,drum] [--threads N]
                            [--method contact] [--sanitizer-steps 5] [--no-sanitizer] [--output FILE]

Each scene makes some hundred steps with --device cpu and with the card, and the hashes of their
states are compared. Then NVIDIA's compute-sanitizer, where it is installed, watches a few steps of
each for wrong addresses (memcheck) and races in shared memory (racecheck). The tables are Markdown, to
go into docs/gpu.md.

Exit status: 0 if all is the same and clean; 1 if not; 3 if there is no card, so that nothing was
checked. `make device-check` builds the program and calls this. Without a card the tests' driver can
take its place: LD_LIBRARY_PATH=build/test/fake_cuda scripts/device-check.py build/test/talus.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
TOOLS = ("memcheck", "racecheck")
SAME, DIFFERENT, NO_CARD = 0, 1, 3
FIRST = "arch"  # shows whether there is a card: a card can do it
REFUSED = 3  # exit status of the program for a scene that cannot be, here: that has another method
FOUND = 99  # exit status of the sanitizer if it found something


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="gpu", help="the card [gpu]")
    parser.add_argument("--steps", type=int, default=300, help="of each scene [300]")
    parser.add_argument("--scenes", help="names, with commas between [all]")
    parser.add_argument("--method", help="of stepping time [each scene's own]")
    parser.add_argument("--threads", type=int, default=0, help="of the CPU [as the scenes say]")
    parser.add_argument("--sanitizer-steps", type=int, default=5, help="of each scene [5]")
    parser.add_argument("--no-sanitizer", action="store_true")
    parser.add_argument("--output", help="file for the tables, too")
    return parser.parse_args()


def run(options, scene, device, steps, watched_by=()):
    """A run of a scene, recorded as little as possible: its summary and what it said. The summary is
    None if it failed, and empty if the scene cannot do without the other method."""
    with tempfile.TemporaryDirectory(prefix="talus-device-") as directory:
        command = [*watched_by, options.program, "run", SCENES / f"{scene}.yaml", "-o",
                   f"{directory}/run", "--quiet", "--json", "--steps", steps, "--device", device,
                   "--set", "output.frames=0"]
        if options.method:
            command += ["--set", f"method={options.method}"]
        if options.threads > 0:
            command += ["--threads", options.threads]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    said = done.stderr.strip()
    if done.returncode == REFUSED and "the method" in said:
        return {}, said
    if done.returncode != 0:
        return None, said or f"exit status {done.returncode}\n{done.stdout[-500:]}"
    return json.loads(done.stdout[done.stdout.index("{"):done.stdout.rindex("}") + 1]), said


def milliseconds_a_step(summary):
    seconds = summary["seconds"]
    return 1e3 * (seconds["detect"] + seconds["solve"] + seconds["advance"]) / max(summary["steps"], 1)


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines)


class Report:
    """What is printed as it comes, and kept for a file."""

    def __init__(self):
        self.text = []

    def say(self, text):
        print(text, flush=True)
        self.text.append(text)


def compare(options, scene):
    """A row of the table, and whether the bits are the same."""
    cpu, why = run(options, scene, "cpu", options.steps)
    if cpu == {}:
        return [scene, "", "", "", "", "", "", "has another method"], True
    if cpu is None:
        return [scene, "", "", "", "", "", "", "FAILED on the CPU: " + first_line(why)], False
    card, why = run(options, scene, options.device, options.steps)
    numbers = [f"{cpu['grains']}", f"{cpu['active_contacts']}",
               f"{cpu.get('sweeps_total', 0) / max(cpu['steps'], 1):.1f}"]
    before = milliseconds_a_step(cpu)
    if card is None:
        return [scene, *numbers, f"{before:.2f}", "", "", "FAILED: " + first_line(why)], False
    after = milliseconds_a_step(card)
    row = [scene, *numbers, f"{before:.2f}", f"{after:.2f}", f"{before / max(after, 1e-9):.2f}"]
    keys = ["state_hash", "steps", "kinetic_energy", "sweeps_total", "contact_updates", "residual"]
    wrong = [key for key in keys if cpu.get(key) != card.get(key)]
    if wrong:
        return [*row, "DIFFERENT: " + ", ".join(wrong)], False
    if not card["device"].startswith("gpu"):
        return [*row, "equal, but by the CPU: " + card["device_reason"]], True
    shared = card["device_reason"].partition("; ")[2]
    return [*row, "equal" + (f" ({shared})" if shared else "")], True


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else "no message"


def watch(options, scenes, report):
    """A few steps of each scene under compute-sanitizer; True if all are clean."""
    program = shutil.which("compute-sanitizer")
    if options.no_sanitizer:
        return True
    if not program:
        report.say("\ncompute-sanitizer is not installed here (it comes with the CUDA toolkit): "
                   "addresses and races were not checked.")
        return True
    rows = []
    for scene in scenes:
        row = [scene]
        for tool in TOOLS:
            summary, said = run(options, scene, options.device, options.sanitizer_steps,
                                (program, "--tool", tool, "--error-exitcode", FOUND))
            row.append("FAILED" if summary is None else "clean" if summary else "")
            if summary is None:
                print(f"{scene}, {tool}: {said[-4000:]}", file=sys.stderr)
        rows.append(row)
        print(*row, flush=True)
    report.say("\n" + table(["scene", *TOOLS], rows))
    return all("FAILED" not in row for row in rows)


def main():
    options = arguments()
    scenes = (options.scenes.split(",") if options.scenes
              else sorted(path.stem for path in SCENES.glob("*.yaml")))
    report = Report()
    first, why = run(options, FIRST, options.device, 1)
    if not first:
        print(f"Nothing was checked: {first_line(re.sub('^talus: *', '', why))}", file=sys.stderr)
        return NO_CARD if re.search("no graphics card|no kernels", why) else DIFFERENT
    report.say(f"{first['device']}, Talus {first['version']}, {options.steps} steps of each scene, "
               f"{first['threads']} threads of the CPU; milliseconds a step\n")
    rows, good = [], True
    for scene in scenes:
        row, same = compare(options, scene)
        print(*row, flush=True)
        rows.append(row)
        good &= same
    report.say("\n" + table(["scene", "grains", "contacts", "sweeps a step", "CPU", "card",
                             "CPU / card", "bits"], rows))
    good &= watch(options, scenes, report)
    report.say("\nAll is the same." if good else "\nNOT all is the same, or clean: see above.")
    if options.output:
        pathlib.Path(options.output).write_text("\n".join(report.text) + "\n")
    return SAME if good else DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
