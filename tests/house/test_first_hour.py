"""A newcomer's first hour: every command of README.md and docs/first-run.md, copied letter by letter
into a shell, in a fresh clone and with nothing on the path but the system's own folders.

Two things are not as a newcomer has them, for the sake of time. `make` finds a `cmake` that copies
the program and the Python package of this build into build/release instead of compiling them again.
And of the targets that test, document or install the whole tree `make` only says what it would do.

Commands that a run prints as hints are copied and run as well, and what the README shows of a first
run is compared with what it prints."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
BUILD = Path(os.environ["TALUS_BUILD"])
BARE = {"PATH": "/usr/bin:/bin"}
PAGES = ("README.md", "docs/first-run.md")
# What the whole suite, the site and an installation have tests of their own for.
ONLY_PLANNED = ("make test", "make test-all", "make docs", "make install", "make bench")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|\.\.\.")  # of FILE, NAME, PREFIX=...
# Files that the pages take for granted: their own scene, and a problem of the FCLIB collection.
PROBLEM = SOURCE / "tests/data/fclib/Capsules-i100-889.hdf5"

CMAKE = """#!/bin/sh
case "$*" in
*"--build --preset release"*)
    mkdir -p build/release
    cp -r "{build}/talus" "{build}/python" "{build}"/libtalus*.so* build/release/ ;;
esac
"""


def commands_of(page):
    """All commands of a page in their order: lines of its shell blocks, and what stands between
    backquotes and begins with `make` or `./talus`."""
    text = (SOURCE / page).read_text()
    found = []
    for block, inline in re.findall(r"^```sh\n(.*?)^```|`((?:make|\./talus) [^`\n]+)`", text, re.S | re.M):
        for line in (block or inline).splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            if command:
                found.append(command)
    return found


def blocks_of(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (SOURCE / page).read_text(), re.S | re.M)


class FirstHour(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="talus-first-")
        cls.clone = Path(cls.folder.name, "talus")
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, check=True).stdout
        for name in filter(None, tracked.decode().split("\0")):
            if (SOURCE / name).exists():
                (cls.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, cls.clone / name)
        tools = Path(cls.folder.name, "tools")
        tools.mkdir()
        (tools / "cmake").write_text(CMAKE.format(build=BUILD))
        (tools / "cmake").chmod(0o755)
        cls.making = {"PATH": f"{tools}:{BARE['PATH']}"}
        (scene,) = blocks_of("README.md", "yaml")
        (cls.clone / "scene.yaml").write_text(scene)
        shutil.copy(PROBLEM, cls.clone / "problem.hdf5")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def shell(self, command, environment=BARE):
        began = time.monotonic()
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.clone, env=environment,
                              capture_output=True, text=True, timeout=300)
        print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
        # `./talus new` alone is the name of a command; it says what it lacks.
        alone = re.fullmatch(r"\./talus \w+", command) and "is missing\nusage:" in done.stderr
        self.assertTrue(done.returncode == 0 or alone, f"{command} said:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def serve(self, command):
        """A command that goes on until Ctrl-C: its page can be opened while it runs."""
        server = subprocess.Popen(["/bin/sh", "-c", f"exec {command}"], cwd=self.clone, env=BARE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = server.stdout.readline().strip()
            self.assertRegex(address, "^http://127.0.0.1:", command)
            with urllib.request.urlopen(address, timeout=60) as page:
                self.assertIn(b"<html", page.read()[:4096])
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
        print(f"  served  {command}", flush=True)

    def carry_out(self, command):
        """Returns what it said."""
        if command.startswith("make"):
            planned = " ".join(command.split()[:2]) in ONLY_PLANNED
            return self.shell(command.replace("make", "make -n", 1) if planned else command, self.making)
        if re.match(r"\./talus view (?!.*--export)", command):
            self.serve(command)
            return ""
        return self.shell(command)

    def test_commands_work_as_printed(self):
        done = set()
        for page in PAGES:
            waiting = commands_of(page)
            self.assertGreater(len(waiting), 8, f"commands of {page}")
            for command in waiting:
                self.assertNotRegex(command, "^talus", "the program is ./talus in a fresh clone")
            while waiting:
                command = waiting.pop(0)
                if command in done:
                    continue
                done.add(command)
                if PLACEHOLDER.search(command):
                    # A pattern for the reader: there is such a command.
                    if command.startswith("./talus") and "COMMAND" not in command:
                        self.shell(f"./talus help {command.split()[1]}")
                    continue
                if command == "./talus new pile" and (self.clone / "pile.yaml").exists():
                    continue
                said = self.carry_out(command)
                if command == "make run":
                    self.shown_as_printed(said)
                waiting[:0] = re.findall(r"^  \w+: +(\./talus .*?)(?:, then .*)?$", said, re.M)
        for made in ("runs/hopper-1/ensemble/ensemble.json", "runs/hopper-1/export/grains.dump", "pile.gsd",
                     "pile-run/plots/energy.png"):
            self.assertTrue((self.clone / made).exists(), made)
        self.assertGreater((self.clone / "pile.html").stat().st_size, 100_000)
        self.python_lines_work()

    def shown_as_printed(self, said):
        """What the README shows of a first run is what it prints: line by line and in that order, but for
        lines left out (...) and numbers, which may differ in their digits."""
        masked = [re.sub(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", "#", line) for line in said.splitlines()]
        (shown,) = blocks_of("README.md", "text")
        for line in shown.splitlines():
            if line.strip() == "...":
                continue
            wanted = re.sub(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", "#", line)
            self.assertIn(wanted, masked, f"README.md shows a line that make run does not print:\n{line}\n{said}")
            del masked[:masked.index(wanted) + 1]

    def python_lines_work(self):
        """The lines of both pages, and the numbers that they read."""
        for page in PAGES:
            for program in blocks_of(page, "python"):
                said = subprocess.run(["/usr/bin/python3", "-c", program], cwd=self.clone, capture_output=True,
                                      text=True, env=dict(BARE, PYTHONPATH="build/release/python"))
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertRegex(said.stdout, r"\[\s*[-0-9]")

    def test_a_clone_keeps_clean(self):
        """What the commands leave is ignored by git, but what the reader made by name."""
        ignored = (SOURCE / ".gitignore").read_text().split()
        for name in ("/talus", "/runs/", "/build*/"):
            self.assertIn(name, ignored)


if __name__ == "__main__":
    unittest.main(verbosity=2)
