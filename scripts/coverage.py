#!/usr/bin/python3
"""Lines and branches that the tests reached, room by room, as a table: scripts/coverage.py BUILD

BUILD is a build folder of the preset `coverage` in which tests have run (make coverage). gcovr reads
what gcc's programs counted.
"""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def room_of(name):
    parts = Path(name).parts
    if parts[0] == "src":
        return "/".join(parts[1:3])
    return parts[0]


def main(build):
    said = subprocess.run(
        ["gcovr", "--root", ROOT, "--json-summary", "--exclude-unreachable-branches",
         "--exclude-throw-branches", "--filter", "src/", "--filter", "app/", "--filter", "papers/",
         build], check=True, capture_output=True, text=True).stdout
    rooms = defaultdict(lambda: [0, 0, 0, 0])
    for file in json.loads(said)["files"]:
        numbers = [file["line_covered"], file["line_total"], file["branch_covered"],
                   file["branch_total"]]
        for name in (room_of(file["filename"]), "all"):
            rooms[name] = [a + b for a, b in zip(rooms[name], numbers)]
    print("| room | lines | reached | branches | reached |\n|---|---|---|---|---|")
    for name in sorted(rooms, key=lambda name: (name == "all", name)):
        lines, all_lines, branches, all_branches = rooms[name]
        print(f"| {name} | {all_lines} | {100 * lines / all_lines:.1f} % | {all_branches} "
              f"| {100 * branches / max(all_branches, 1):.1f} % |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
