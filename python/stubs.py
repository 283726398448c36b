"""Type stubs of the package, for editors and type checkers: everything that the package makes from the
headers while it is imported, written down.

    stubs.py FOLDER     FOLDER has the package talus; __init__.pyi and measure.pyi go into it
"""
import enum
import inspect
import keyword
import pathlib
import re
import sys

HEAD = '''"""Made by python/stubs.py from the headers of Talus: do not edit."""
import enum
from os import PathLike
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from numpy.typing import ArrayLike, NDArray

_Path = Union[str, "PathLike[str]"]
'''

# What hand-written functions take as **options, and what their other parameters are.
OPTIONS = {"World.__init__": "talus_world_def", "World.add_wall": "talus_wall_def talus_shape_def",
           "World.add_grain": "talus_grain_def", "World.add_grains": "talus_grain_def",
           "World.record": "talus_record_def", "Figure.__init__": "talus_figure_def",
           "Figure.axes": "talus_axes_def", "Figure.curve": "talus_curve_def",
           "Figure.world": "talus_picture_def", "run": "talus_run_def", "resume": "talus_run_def",
           "animate": "talus_picture_def", "Recording.animate": None, "Scene.run": "talus_run_def"}
SET_BY_PYTHON = {"name", "shape", "directory", "scene", "sets", "stop", "command", "progress"}
PARAMETERS = {"directory": "_Path", "path": "_Path", "threads": "int", "log": "Optional[Callable]",
              "steps": "int", "h": "Union[float, str, None]", "count": "int", "every": "int",
              "callback": "Optional[Callable[[Any], Any]]", "before_step": "Optional[Callable]",
              "after_step": "Optional[Callable]", "at_frame": "Optional[Callable]",
              "keep": "Optional[Dict[str, Any]]", "name": "str", "panel": "int", "label":
              "Optional[str]", "x": "ArrayLike", "y": "ArrayLike", "dots": "float", "fps": "float",
              "width": "float", "frame": "Any", "time": "float", "seeds": "Optional[int]",
              "pages": "bool", "jobs": "Optional[int]", "resume": "bool", "position": "ArrayLike",
              "points": "Any", "skin": "float", "text": "str", "vertical": "bool", "at": "float",
              "kind": "Union[str, None, ShapeKind]"}
RESULTS = {"World.step": "StepResult", "World.steps": "StepResult", "World.run": "StepResult",
           "World.load": "World", "World.copy": "World", "World.record": "Recorder",
           "World.add_wall": "int", "World.add_solid": "int", "World.add_grain": "int",
           "World.add_grains": "NDArray[Any]", "Scene.world": "World", "Scene.run": "Summary",
           "Scene.from_text": "Scene", "run": "Summary", "resume": "Summary", "load": "World",
           "open": "Recording", "animate": "Animation", "Recording.animate": "Animation",
           "Recording.__getitem__": "Any", "Recording.at": "Frame", "Recording.stack":
           "NDArray[Any]", "sweep": "Study", "Study.__getitem__": "Recording", "Study.measure":
           "NDArray[Any]", "Recorder.close": "Summary", "Recorder.frame": "None", "Recorder.__enter__":
           "Recorder", "principal": "Principal", "Figure.axes": "Figure", "Figure.curve": "Figure",
           "Figure.world": "Figure", "Figure.mark": "Figure", "Figure.text": "Figure",
           "Figure.write": "None", "Animation.write": "None"}
PROPERTIES = {"grains": "Grains", "contacts": "Contacts", "dim": "int", "time": "float",
              "last": "StepResult", "walls": "Dict[str, WallState]", "title": "str", "step": "int",
              "step_length": "float", "times": "NDArray[Any]", "steps": "NDArray[Any]",
              "series": "Dict[str, NDArray[Any]]", "device": "str", "device_reason": "str"}
ATTRIBUTES = {"World": {"step_length": "Optional[float]"}, "Recorder": {"directory": "_Path",
              "summary": "Summary"}, "Frame": {"index": "int"},
              "Recording": {"directory": "str"}, "Study": {"directory": "str", "table":
              "Dict[str, Any]", "runs": "Dict[str, Any]"}, "Animation": {"pictures": "List[bytes]",
              "times": "List[float]", "fps": "float"}}
SPECIAL = ("__init__", "__len__", "__getitem__", "__enter__", "__exit__")


class Stubs:
    def __init__(self, talus):
        from talus import _call, _library, _records, _types
        self.talus, self.call, self.library, self.records, self.types = \
            talus, _call, _library, _records, _types

    # ---- types ----

    def given(self, ctype, enum_name=None):
        """What an option or argument may be."""
        if enum_name:
            return f"Union[{self.types.ENUMS[enum_name].__name__}, str, int]"
        if self.library.is_id(ctype):
            return "Union[int, str]"
        if ctype.kind == "enum":
            return f"Union[{self.library.camel(re.sub('^enum ', '', ctype.cname))}, str, int]"
        if ctype.kind == "struct":
            return "Mapping[str, Any]"
        if ctype.kind == "array":
            return "str" if ctype.item.cname == "char" else "ArrayLike"
        if ctype.kind == "function":
            return "Optional[Callable[..., Any]]"
        if ctype.kind == "pointer":
            if ctype.item.kind == "function":
                return "Optional[Callable[..., Any]]"
            if ctype.item.cname == "char":
                return "Optional[_Path]"
            return "Any" if ctype.item.kind in ("pointer", "void") else "Optional[ArrayLike]"
        return self.number(ctype)

    @staticmethod
    def number(ctype):
        return {"_Bool": "bool", "double": "float", "float": "float"}.get(ctype.cname, "int")

    def result(self, ctype, enum_name=None):
        """What a field or a returned value is."""
        name = self.types.struct_name(ctype) if ctype.kind == "struct" else None
        if enum_name:
            return self.types.ENUMS[enum_name].__name__
        if self.library.is_id(ctype):
            return "int"
        if ctype.kind == "enum":
            return self.library.camel(re.sub("^enum ", "", ctype.cname))
        if name:
            return self.class_of(name)
        if ctype.kind == "array":
            if ctype.item.kind == "struct" and not self.library.is_id(ctype.item):
                return "List[Any]"
            return "str" if ctype.item.cname == "char" else "NDArray[Any]"
        if ctype.kind == "pointer":
            if ctype.item.cname == "char":
                return "str"
            struct = self.types.struct_name(ctype.item) if ctype.item.kind == "struct" else None
            if struct and struct in self.records.CLASSES:
                return self.class_of(struct)
            return "List[str]" if ctype.item.kind == "pointer" else "NDArray[Any]"
        return "None" if ctype.kind == "void" else self.number(ctype)

    def class_of(self, struct):
        made = self.records.CLASSES.get(struct)
        return made.__name__ if made else "Any"

    # ---- functions ----

    def options(self, structs):
        """Keywords for the fields of options structs."""
        listed = {}
        for struct in structs.split():
            for name, field in self.types.settable(struct).items():
                listed.setdefault(name, self.given(field.type, field.enum))
        return [f"{name}: {kind} = ..." for name, kind in listed.items()
                if not keyword.iskeyword(name)]

    def made_from_header(self, function, method):
        """A function of the header: arguments, results."""
        words, optional = [], []
        for index, p in enumerate(function.inputs):
            if index == 0 and method:
                words.append("self")
            elif p.role == "options":
                optional.append(f"{p.name}: Optional[Mapping[str, Any]] = ...")
            else:
                words.append(f"{p.name}: {self.argument(p)}")
        keywords = self.options(function.options.struct) if function.options else []
        known = {word.split(":")[0] for word in optional + words}
        keywords = optional + [word for word in keywords if word.split(":")[0] not in known]
        if keywords:
            words += ["*", *keywords]
        outs = [self.out(p) for p in function.parameters if p.role == "out"]
        kind = function.result
        if kind.kind != "void" and kind.cname not in ("talus_status", "enum talus_status"):
            outs.insert(0, self.result(kind))
        answer = "None" if not outs else outs[0] if len(outs) == 1 else f"Tuple[{', '.join(outs)}]"
        return words, answer

    def argument(self, p):
        if p.role == "object":
            return {"talus_world": "WorldView", "talus_figure": "Figure", "talus_scene": "Scene",
                    "talus_recording": "Recording"}.get(self.call.opaque_name(p.type), "Any")
        return {"text": "Optional[_Path]", "texts": "Sequence[str]", "array": "ArrayLike",
                "vector": "Optional[ArrayLike]", "record": "Any"}.get(p.role) or self.given(p.type)

    def out(self, p):
        if p.struct:
            return self.class_of(p.struct)
        return "NDArray[Any]" if p.sizes else self.result(p.type.item)

    def by_hand(self, function, name):
        """A function of the package's own."""
        words, options = [], OPTIONS.get(name, "")
        for p in inspect.signature(function).parameters.values():
            if p.name in ("self", "cls"):
                words.append(p.name)
            elif p.kind == p.VAR_KEYWORD and options:
                known = {word.split(":")[0] for word in words} | SET_BY_PYTHON
                fresh = [w for w in self.options(options) if w.split(":")[0] not in known]
                if name == "World.add_grains":  # one value for all, or a column
                    fresh = [f"{w.split(':')[0]}: Any = ..." for w in fresh]
                words += ["*", *fresh]
            elif p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                words.append(("**" if p.kind == p.VAR_KEYWORD else "*") + f"{p.name}: Any")
            else:
                default = "" if p.default is p.empty else " = ..."
                words.append(f"{p.name}: {PARAMETERS.get(p.name, 'Any')}{default}")
        return words, RESULTS.get(name, "int" if name.endswith("__len__") else
                                  "None" if name.endswith(("__init__", "__exit__")) else "Any")

    def function(self, name, function, indent="", where="", header=None):
        if header:
            words, answer = self.made_from_header(header, bool(where))
        else:
            words, answer = self.by_hand(function, where + name)
        return f"{indent}def {name}({', '.join(words)}) -> {answer}: ..."

    # ---- classes ----

    def enum_class(self, made):
        return [f"class {made.__name__}(enum.IntEnum):",
                *(f"    {m.name} = {m.value}" for m in made)]

    def record_class(self, made):
        lines = [f"class {made.__name__}:"]
        for field in self.types.fields(made._struct).values():
            name = "" if keyword.iskeyword(field.name) else field.name
            if name and field.type.kind != "function" and field.type.cname != "void *":
                lines.append(f"    {name}: {self.result(field.type, field.enum)}")
        return [*lines, "    def as_dict(self) -> Dict[str, Any]: ..."]

    def table_class(self, name):
        lines = [f"class {name.title()}:"]
        for field in self.types.fields("talus_" + name).values():
            kind = "int" if field.type.kind == "primitive" else "NDArray[Any]"
            lines.append(f"    {field.name}: {kind}")
        extra = ["    contact_force: NDArray[Any]"] if name == "grains" else []
        return [*lines, *extra, "    def __len__(self) -> int: ..."]

    def object_class(self, made):
        name = made.__name__
        bases = [b.__name__ for b in made.__bases__ if b is not object]
        lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
        lines += [f"    {a}: {kind}" for a, kind in ATTRIBUTES.get(name, {}).items()]
        for member, held in vars(made).items():
            if member.startswith("_") and member not in SPECIAL or member in ATTRIBUTES.get(name, {}):
                continue
            if isinstance(held, property):
                kind = PROPERTIES.get(member, "Any")
                lines += ["    @property", f"    def {member}(self) -> {kind}: ..."]
                if held.fset:
                    lines += [f"    @{member}.setter",
                              f"    def {member}(self, value: {kind}) -> None: ..."]
            elif isinstance(held, classmethod):
                lines += ["    @classmethod", self.function(member, held.__func__, "    ", name + ".")]
            elif callable(held):
                header = self.call.FUNCTIONS.get(f"{made._kind}_{member}") \
                    if hasattr(made, "_kind") and held.__name__ == member and \
                    held.__qualname__ == member else None
                lines.append(self.function(member, held, "    ", name + ".", header))
        return lines if len(lines) > 1 else [lines[0] + " ..."]

    def error_class(self, made):
        bases = ", ".join(b.__name__ for b in made.__bases__)
        body = ["    status: Any", "    lines: Tuple[str, ...]"] if made.__name__ == "Error" else ["    ..."]
        return [f"class {made.__name__}({bases}):", *body]

    def all(self):
        """Everything that `import talus` gives."""
        talus, blocks = self.talus, []
        public = {n: v for n, v in vars(talus).items() if not n.startswith("_")}
        classes = [v for v in public.values() if isinstance(v, type) and v.__module__.startswith("talus")]
        for made in classes:
            if issubclass(made, enum.Enum):
                blocks.append(self.enum_class(made))
            elif issubclass(made, BaseException):
                pass
            elif getattr(made, "_struct", None):
                if made.__name__ not in ("Grains", "Contacts"):
                    blocks.append(self.record_class(made))
        errors = sorted((c for c in classes if issubclass(c, BaseException)), key=lambda c: len(c.__mro__))
        blocks += [self.error_class(c) for c in errors]
        blocks += [self.table_class("grains"), self.table_class("contacts")]
        blocks += [self.object_class(c) for c in classes if not issubclass(c, BaseException) and
                   not issubclass(c, enum.Enum) and not getattr(c, "_struct", None)]
        for name, value in public.items():
            if inspect.isfunction(value):
                header = self.call.FUNCTIONS.get("talus_" + re.sub("_file$", "", name)) \
                    if value.__module__ == "talus" else None
                blocks.append([self.function(name, value, header=header)])
            elif isinstance(value, int):
                blocks.append([f"{name}: int"])
        return HEAD + "from . import measure as measure\n\n__version__: str\n\n\n" + \
            "\n\n".join("\n".join(block) for block in blocks) + "\n"

    def measures(self):
        lines = [HEAD, "from . import *", "from . import WorldView", ""]
        for name in self.talus.measure.__all__:
            value = getattr(self.talus.measure, name)
            header = self.call.FUNCTIONS.get("talus_measure_" + name) \
                if value.__module__ == "talus" else None
            lines.append(self.function(name, value, header=header))
        return "\n".join(lines) + "\n"


def main(folder):
    sys.path.insert(0, str(folder))
    import talus
    stubs, package = Stubs(talus), pathlib.Path(folder, "talus")
    (package / "__init__.pyi").write_text(stubs.all(), encoding="utf-8")
    (package / "measure.pyi").write_text(stubs.measures(), encoding="utf-8")
    (package / "py.typed").write_text("", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
