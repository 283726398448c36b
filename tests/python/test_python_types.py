"""The type stubs: everything that is public is in them, with the parameters that it has, and mypy
takes them, the examples, and nothing that is wrong."""
import ast
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["TALUS_BUILD"], "python")
sys.path.insert(0, str(BUILD))

import talus

STUBS = {talus: BUILD / "talus/__init__.pyi", talus.measure: BUILD / "talus/measure.pyi"}


def names_of(body):
    """Names that a module or class defines, with what defines them."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            found[node.targets[0].id] = node
    return found


@unittest.skipUnless(STUBS[talus].exists(), "a build with sanitizers writes no stubs")
class Stubs(unittest.TestCase):
    def test_all_that_is_public(self):
        for module, path in STUBS.items():
            said = names_of(ast.parse(path.read_text()).body)
            for name, value in vars(module).items():
                if name.startswith("_") or inspect.ismodule(value):
                    continue
                self.assertIn(name, said)
                # Stubs of the two tables have the arrays, which is what a world gives.
                if isinstance(value, type) and not issubclass(value, BaseException) and \
                        name not in ("Grains", "Contacts"):
                    self.check_class(value, said)
                elif inspect.isfunction(value):
                    self.check_parameters(name, value, said[name])

    def check_class(self, made, said):
        """Its own members, and those of the classes it is made from."""
        members = {}
        for base in reversed(made.__mro__):
            if base.__name__ in said and base is not object:
                members.update(names_of(said[base.__name__].body))
        for name in dir(made):
            if name.startswith("_") or hasattr(int, name):
                continue
            self.assertIn(name, members, made.__name__)
            held = inspect.getattr_static(made, name)
            if inspect.isfunction(held):
                self.check_parameters(f"{made.__name__}.{name}", held, members[name])

    def check_parameters(self, name, function, node):
        """What can be given without a keyword has the same names in the same order."""
        wanted = [p.name for p in inspect.signature(function).parameters.values()
                  if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.assertEqual([a.arg for a in node.args.args], wanted, name)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy(self):
        """The stubs and all examples are right; of what is wrong every line is found."""
        examples = sorted(Path(os.environ["TALUS_SOURCE"], "python/examples").glob("*.py"))
        wrong = {"world.ad_grain(radius=1)": "ad_grain", "world.add_grain(radios=1)": "radios",
                 "world.step(1e-3).residue": "residue", "world.add_grain(radius=[])": "radius",
                 "talus.measure.stress(3)": "WorldView"}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "wrong.py")
            path.write_text("\n".join(["import talus", "world = talus.World(dim=2)", *wrong]))
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--check-untyped-defs", "--cache-dir", os.devnull,
                 path, *STUBS.values(), *examples], capture_output=True, text=True,
                env=dict(os.environ, MYPYPATH=str(BUILD)))
        lines = [line for line in done.stdout.splitlines() if ": note: " not in line]
        self.assertEqual(len(lines), len(wrong) + 1, done.stdout + done.stderr)
        for line, (code, word) in zip(lines, wrong.items()):
            self.assertIn("wrong.py", line)
            self.assertIn(word, line, code)


if __name__ == "__main__":
    unittest.main()
