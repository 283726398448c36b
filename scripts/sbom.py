#!/usr/bin/python3
"""What a build is linked with, as a CycloneDX list on standard output: scripts/sbom.py BUILD.

Each library that the program and the Python module load, down to the C library, with the Debian package it comes from, that
package's version and licence file; and the packages of the viewer's page, which are inside the program."""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def linked(files):
    """Paths of all libraries that the files load, but ours."""
    found = set()
    for file in files:
        for line in said("ldd", str(file)).splitlines():
            if match := re.search(r"=> (/\S+)|^\s*(/\S+)", line):
                path = Path(match.group(1) or match.group(2)).resolve()
                if not path.name.startswith("libtalus"):
                    found.add(path)
    return sorted(found)


def package_of(path):
    """Name and version of the Debian package that has a file."""
    for candidate in (path, Path(str(path).removeprefix("/usr"))):  # before /usr was merged
        done = subprocess.run(["dpkg-query", "-S", str(candidate)], capture_output=True, text=True)
        if done.returncode == 0:
            name = done.stdout.split(": ")[0].split(", ")[0]
            return name.split(":")[0], said("dpkg-query", "-W", "-f=${Version}", name)
    return None


def library_components(build):
    files = [build / "talus", *build.glob("libtalus*.so"), *build.glob("python/talus/*.so")]
    packages = {}
    for path in linked([f for f in files if f.exists()]):
        name, version = package_of(path) or (path.name, "unknown")
        packages.setdefault((name, version), []).append(path)
    for (name, version), paths in sorted(packages.items()):
        yield {"type": "library", "name": name, "version": version,
               "purl": f"pkg:deb/debian/{name}@{version}",
               "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(paths[0].read_bytes()).hexdigest()}],
               "properties": [{"name": "files", "value": " ".join(p.name for p in paths)}]}


def page_components():
    """Packages that are bundled into the page; those that only build and test it are not."""
    packages = json.loads((ROOT / "viewer" / "package-lock.json").read_text())["packages"]
    for path, facts in sorted(packages.items()):
        if path and not facts.get("dev") and not facts.get("optional"):
            name = path.rpartition("node_modules/")[2]
            yield {"type": "library", "name": name, "version": facts["version"],
                   "purl": f"pkg:npm/{name}@{facts['version']}",
                   "licenses": [{"license": {"name": facts.get("license", "unknown")}}]}


def main():
    build = Path(sys.argv[1])
    version = said(str(build / "talus"), "--version").split()[1]
    components = [*library_components(build), *page_components()]
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
               "metadata": {"component": {"type": "application", "name": "talus", "version": version}},
               "components": components}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
