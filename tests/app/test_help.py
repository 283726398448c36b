"""Help, man page and shell completion: every command explains itself with all its options and with
examples that are right, and the shells complete what the tables of commands and keys hold.

needs TALUS (the program) and TALUS_SOURCE in the environment.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TALUS = os.environ["TALUS"]
SOURCE = Path(os.environ["TALUS_SOURCE"])


def talus(*words, status=0):
    """As it is called once it is installed: commands in its texts begin with `talus`."""
    run = subprocess.run(["talus", *words], executable=TALUS, capture_output=True, text=True)
    assert run.returncode == status, (words, run.returncode, run.stderr)
    return run.stdout if status == 0 else run.stderr


COMMANDS = re.findall(r"^  talus (\S+)", talus("help"), re.M)
HELP = {name: talus(name, "--help") for name in COMMANDS}
SCENES = {path.stem for path in (SOURCE / "scenes").glob("*.yaml")}


def accepted_options(name):
    """Long options that the help lists."""
    return {"help", *re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", HELP[name])}


class Help(unittest.TestCase):
    def test_every_command_explains_itself(self):
        self.assertGreater(len(COMMANDS), 10)
        for name in COMMANDS:
            with self.subTest(command=name):
                self.assertTrue(HELP[name].startswith(f"usage: talus {name}"))
                self.assertEqual(HELP[name], talus("help", name))
                self.assertEqual(HELP[name], talus(name, "-h"))

    def test_commands_name_the_program_as_it_was_called(self):
        """Found on the path, by a path, through a link with a blank in its name: they can be copied."""
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            os.symlink(TALUS, here / "talus")
            (here / "my tools").mkdir()
            os.symlink(TALUS, here / "my tools/talus")
            bare = {"PATH": "/usr/bin:/bin"}
            cases = [("./talus", "./talus", bare), (str(here / "talus"), "./talus", bare),
                     ("'my tools/talus'", "'my tools/talus'", bare), (TALUS, TALUS, bare),
                     ("talus", "talus", {"PATH": f"{folder}:/usr/bin:/bin"}),
                     (TALUS, "talus", {"PATH": f"{Path(TALUS).parent}:/usr/bin:/bin"})]
            for called, named, environment in cases:
                with self.subTest(called=called):
                    said = subprocess.run(f"{called} help", shell=True, cwd=folder, env=environment,
                                          capture_output=True, text=True).stdout
                    self.assertIn(f"Start with `{named} scenes`", said)
                    wrong = subprocess.run(f"{called} measure", shell=True, cwd=folder, env=environment,
                                           capture_output=True, text=True).stderr
                    self.assertIn(f"usage: {named} measure DIR", wrong)

    def test_options_are_those_of_the_help(self):
        """Each is known to the parser, with a value where the help shows one."""
        checked = 0
        for name in COMMANDS:
            for option in accepted_options(name) - {"help"}:
                with self.subTest(command=name, option=option):
                    run = subprocess.run([TALUS, name, f"--{option}"], capture_output=True, text=True)
                    self.assertNotIn("unknown option", run.stderr)
                    takes = re.search(rf"(?m)^  (?:-\w, )?--{option} \S", HELP[name]) is not None
                    self.assertEqual(takes, "needs a value" in run.stderr, run.stderr)
                    checked += 1
        self.assertGreater(checked, 80)

    def test_examples(self):
        """They stand at the end, and where one names a ready-made scene, scene and keys exist."""
        checked = 0
        for name in COMMANDS:
            with self.subTest(command=name):
                examples = HELP[name].split("\nExamples:\n")
                self.assertEqual(len(examples), 2)
                lines = examples[1].splitlines()
                self.assertLessEqual(len(lines), 4)
                for line in lines:
                    self.assertTrue(line.startswith("  "), line)
                    self.assertIn("talus " + name, line)
                    words = shlex.split(line.strip())
                    if len(words) > 2 and words[2] in SCENES and words[0] == "talus":
                        sets = [w for i, w in enumerate(words) if "--set" in words[i - 1:i + 1]]
                        talus("check", words[2], *sets)
                        checked += 1
        self.assertGreater(checked, 3)

    def test_unknown(self):
        self.assertIn("did you mean 'run'", talus("help", "rnu", status=2))
        self.assertIn("unknown option", talus("version", "--man", status=2))
        self.assertIn("one argument too many", talus("version", "now", status=2))
        for words in (("--man", "run"), ("run", "--man")):
            self.assertIn("'run' is one argument too many", talus("help", *words, status=2))

    def test_usage_names_all_options(self):
        for name in COMMANDS:
            usage = HELP[name].splitlines()[0]
            if "[options]" not in usage:
                for option in accepted_options(name) - {"help"}:
                    letter = re.search(rf"(?m)^  (-\w), --{option}\b", HELP[name])
                    named = f"--{option}" in usage or (letter and letter[1] in usage)
                    self.assertTrue(named, f"{usage}: --{option}")

    def test_full_disk(self):
        """What cannot be printed is a failure, also where all of it waits in a buffer."""
        for words in (["help"], ["schema"], ["completion", "bash"], ["version"], ["new", "--list"]):
            with open("/dev/full", "w") as full:
                run = subprocess.run([TALUS, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.returncode, 1, words)
            self.assertIn("cannot write all of the output", run.stderr)


class Manual(unittest.TestCase):
    def test_it_is_typeset_without_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "talus.1"
            page.write_text(talus("help", "--man"))
            groff = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True)
            self.assertEqual(groff.stderr, b"")
            shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                                   env={**os.environ, "MANWIDTH": "120", "MAN_KEEP_FORMATTING": "",
                                        "LC_ALL": "C.UTF-8", "PAGER": "cat"})
        self.assertEqual(shown.stderr, "")
        text = " ".join(shown.stdout.split())
        for name in COMMANDS:
            self.assertIn(f"talus {name}", text)
            for option in re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", HELP[name]):
                self.assertIn(option, text)
        self.assertIn("can be resumed", text)


class Completion(unittest.TestCase):
    def complete(self, line):
        """What bash offers at the end of a line."""
        words = line.split(" ")
        script = (f'source <("$TALUS" completion bash); PATH="{Path(TALUS).parent}:$PATH"\n'
                  "compopt() { :; }  # there is no completion under way\n"
                  f"COMP_WORDS=({' '.join(shlex.quote(w) for w in words)})\n"
                  f"COMP_CWORD={len(words) - 1}\n_talus; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        run = subprocess.run(["bash", "-u", "-c", script], capture_output=True, text=True,
                             cwd=SOURCE, check=True)
        self.assertEqual(run.stderr, "")
        return set(run.stdout.split())

    def test_bash(self):
        self.assertEqual(self.complete("talus "), set(COMMANDS))
        self.assertEqual(self.complete("talus ens"), {"ensemble"})
        offered = self.complete("talus run --")
        self.assertEqual(offered, {f"--{o}" for o in accepted_options("run")})
        self.assertLessEqual(SCENES, self.complete("talus run "))
        self.assertEqual(self.complete("talus check hop"), {"hopper"})
        self.assertIn("scenes", self.complete("talus run sce"))  # a folder
        self.assertIn("docs", self.complete("talus run hopper -o do"))
        self.assertNotIn("README.md", self.complete("talus run READ"))
        self.assertEqual(self.complete("talus run hopper --set solver.to"), {"solver.tolerance="})
        keys = self.complete("talus run hopper --set ")
        self.assertLessEqual({"dimension=", "step=", "walls.", "materials.", "until.time="}, keys)
        self.assertNotIn("solver.", keys)
        self.assertIn("shear", self.complete("talus paper sh"))
        self.assertEqual(self.complete("talus render run --format "), {"png", "svg", "pdf"})
        self.assertEqual(self.complete("talus new x -t so"), {"soft"})
        self.assertEqual(self.complete("talus completion "), {"bash", "zsh", "fish"})
        self.assertEqual(self.complete("talus help resu"), {"resume"})

    def test_words_of_bash(self):
        """Quantities and plots follow the folder of the run; values of options have names."""
        quantities = set(re.search(r"(?s)tables:\n\n(.*?)\n\n", HELP["measure"])[1].split())
        self.assertIn("stress", quantities)
        self.assertEqual(self.complete("talus measure runs/x "), quantities)
        self.assertEqual(self.complete("talus measure --frame 3 --json runs/x forces st"), {"stress"})
        self.assertIn("docs", self.complete("talus measure --frame 3 --json do"))
        self.assertIn("docs", self.complete("talus measure --frame = 3 do"))  # as bash splits it
        self.assertIn("docs", self.complete("talus plot -o x.png do"))
        self.assertLessEqual({"energy", "stress", "series", "all"}, self.complete("talus plot d "))
        self.assertEqual(self.complete("talus render x --map vi"), {"viridis"})
        self.assertEqual(self.complete("talus render x --colour spe"), {"speed"})
        self.assertEqual(self.complete("talus import x --format lammps-du"), {"lammps-dump"})
        self.assertLessEqual({"scene", "walls[].motion", "materials.<name>"},
                             self.complete("talus schema --markdown "))

    def test_other_shells(self):
        """Where they are installed, they take their scripts; both name all commands and options."""
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = talus("completion", shell)
            for name in COMMANDS:
                self.assertIn(name, script)
                for option in accepted_options(name) - {"help"}:
                    self.assertIn({"zsh": f"--{option}[", "fish": f"-l {option}"}[shell], script)
            if shutil.which(check[0]):
                with tempfile.NamedTemporaryFile("w", suffix=shell) as file:
                    file.write(script)
                    file.flush()
                    subprocess.run([*check, file.name], check=True)
                    if shell == "fish":
                        ask = f"source {file.name}; complete -C 'talus run --th'"
                        shown = subprocess.run(["fish", "--no-config", "-c", ask],
                                               capture_output=True, text=True, check=True)
                        self.assertIn("--threads", shown.stdout)
                        ask = f"source {file.name}; complete -C 'talus schema --markdown mat'"
                        shown = subprocess.run(["fish", "--no-config", "-c", ask],
                                               capture_output=True, text=True, check=True)
                        self.assertIn("materials.<name>", shown.stdout)
        self.assertIn("there is no shell 'tcsh'", talus("completion", "tcsh", status=2))


if __name__ == "__main__":
    unittest.main()
