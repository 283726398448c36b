#!/usr/bin/python3
"""Check the include graph: scripts/check-includes.py [--draw]

A room may include only itself and the rooms before it in ROOMS, no file may include itself in a
circle, the public headers may see only each other and the C standard library, and the published
experiments (papers) of this project only the public headers. With --draw the
graph between the rooms is written to standard output as Markdown with a DOT drawing.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

ENGINE = ["base", "card", "geometry", "state", "detect", "law", "rigid", "soft", "world", "measure"]
WORKSHOP = ["record", "scene", "picture", "run"]
ROOMS = ["talus", *ENGINE, *WORKSHOP, "papers", "app"]
GENERATED = {"talus_version.h"}  # written into the build folder by cmake/Revision.cmake
STANDARD = {"assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale",
            "math", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string",
            "time"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

ROOT = Path(__file__).resolve().parent.parent


def sources():
    """Every C file and device source of the program and the library, public headers included."""
    for folder in ("include/talus", "src", "papers", "app"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cu"):
                yield path


def room_of(path):
    parts = path.relative_to(ROOT).parts
    return {"include": "talus", "src": parts[2] if len(parts) > 2 else ""}.get(parts[0]) or parts[0]


def resolve(path, quote, name):
    """The file of this repository that an include means, None for a system header."""
    places = [ROOT / "include"] if quote == "<" else [
        path.parent, ROOT / "src" / "engine", ROOT / "src" / "workshop", ROOT / "papers" / "common", ROOT / "include", ROOT]
    for place in places:
        if (place / name).is_file():
            return (place / name).resolve()
    return None


def read_graph(problems):
    graph = {}
    for path in sources():
        here = path.relative_to(ROOT)
        room = room_of(path)
        if room not in ROOMS:
            problems.append(f"{here}: room '{room}' is not in the list of scripts/check-includes.py")
        graph[path] = []
        for quote, name in INCLUDE.findall(path.read_text()):
            target = resolve(path, quote, name)
            if target:
                graph[path].append(target)
            elif quote == '"' and name not in GENERATED:
                problems.append(f'{here}: "{name}" is not found in this repository')
            if room == "talus" and not public_include_allowed(quote, name):
                problems.append(f"{here}: a public header may not include {name}")
    return graph


def public_include_allowed(quote, name):
    return quote == "<" and (name.startswith("talus/") or name.removesuffix(".h") in STANDARD)


def check_order(graph, problems):
    for path, targets in graph.items():
        for target in targets:
            a, b = room_of(path), room_of(target)
            if a in ROOMS and b in ROOMS and ROOMS.index(b) > ROOMS.index(a):
                problems.append(f"{path.relative_to(ROOT)}: room '{a}' includes "
                                f"{target.relative_to(ROOT)} from the later room '{b}'")
            if a == "papers" and b not in ("papers", "talus"):
                problems.append(f"{path.relative_to(ROOT)}: an experiment may not include "
                                f"{target.relative_to(ROOT)}, only public headers")


def check_cycles(graph, problems):
    """Depth-first search; a file met again while still open closes a circle."""
    done, chain = set(), []

    def visit(path):
        if path in chain:
            circle = chain[chain.index(path):] + [path]
            problems.append("circle: " + " -> ".join(str(p.relative_to(ROOT)) for p in circle))
            return
        if path in done:
            return
        chain.append(path)
        for target in graph.get(path, ()):
            visit(target)
        chain.pop()
        done.add(path)

    for path in graph:
        visit(path)


def draw(graph):
    edges = defaultdict(int)
    files = defaultdict(int)
    for path, targets in graph.items():
        files[room_of(path)] += 1
        for target in targets:
            if room_of(path) != room_of(target):
                edges[room_of(path), room_of(target)] += 1
    print("| room | files | includes (number of times) |\n|---|---|---|")
    for room in ROOMS:
        used = ", ".join(f"{b} ({edges[room, b]})" for b in ROOMS if edges.get((room, b)))
        print(f"| {room} | {files[room]} | {used} |")
    print("\n```dot\ndigraph includes {\n    rankdir=BT;")
    for a, b in sorted(edges, key=lambda e: (ROOMS.index(e[0]), ROOMS.index(e[1]))):
        print(f"    {a} -> {b} [label={edges[a, b]}];")
    print("}\n```")


def main():
    problems = []
    graph = read_graph(problems)
    check_order(graph, problems)
    check_cycles(graph, problems)
    for problem in problems:
        print(f"check-includes: {problem}", file=sys.stderr)
    if problems:
        return 1
    if "--draw" in sys.argv[1:]:
        draw(graph)
    else:
        print(f"check-includes: {len(graph)} files, no circle, no edge against the order of rooms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
