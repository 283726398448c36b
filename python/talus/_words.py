"""Comments of the headers in words of Python: what they say about memory, NULL and pointers is
left out or said as it is here, and names of C become those of this package."""
import os.path
import re
import textwrap

from ._header import HEADER

NAME = re.compile(r"talus_(\w+)(\(\))?")


def short(name):
    """talus_step_result without its prefix."""
    return re.sub(r"^(talus|TALUS)_", "", name)


def camel(name):
    """The Python name of a type: talus_step_result is StepResult."""
    return "".join(word.capitalize() for word in short(name).split("_"))


def member_names(listed):
    """TALUS_STOP_RIGID, ... of an enum as RIGID, ...: without the common prefix."""
    listed = [name for name in listed if not name.endswith("_COUNT")]
    common = os.path.commonprefix(listed) if len(listed) > 1 else "TALUS_"
    return {name: name[common.rfind("_") + 1:] for name in listed}


MEMBERS = {}
for _listed in HEADER["members"].values():
    if all(name.startswith("TALUS_") for name in _listed):
        MEMBERS.update(member_names(_listed))

# Sentences and clauses about what Python does itself; blanks stand for any white space.
_DROPPED = [re.compile(text.replace(" ", r"\s+"), re.DOTALL) for text in (
    r"\s*Fill with talus_\w+\(\)[^.]*\.", r"\s*(Zero-initialise; )?[Ff]ree with talus_\w+\(\)\.",
    r"\s*The caller owns \*\w+( and ends it with talus_\w+\(\))?\.",
    r"\s*[^.]* belongs? to the struct: talus_\w+\(\)\.", r"\s*(`def`|\*result) may be NULL\.",
    r"(?<!`)(, which |; | )may be NULL\b|^may be NULL(; )?", r"[,;] copied on use",
    r"\s*Valid as long as the \w+\.", r"[,;] valid as long as the \w+",
    r" in \*(index|id|out)\b", r"\s*\*report \(may be NULL\)[^.]*\.")]
_SAID = [(re.compile(said.replace(" ", r"\s+")), meant) for said, meant in (
    (r"goes to \*\w+", "is returned"), (r"\b[Rr]eturns TALUS_OK", "succeeds"),
    (r"(^|\. )\*(result|out)\b", r"\1The result"),
    (r"\*(result|out)\b", "the result"), (r"\bNULL\b", "None"), (r"\bdef->(\w+)", r"`\1`"),
    (r"`def`", "the options"), (r"2D: \[2\] is the angle", "2D: one angle"),
    (r"2D: \[2\]$", "2D: one number"), (r"On TALUS_ERR_SCENE \*report lists", "SceneError lists"),
    (r"\bTALUS_ERR_IO\b", "FileError"), (r"\bTALUS_ERR_MEMORY\b", "OutOfMemory"),
    (r"\bthe caller's\b", "yours"), (r"\b3 doubles\b", "3 numbers"),
    (r"\bdoubles in a row\b", "numbers in a row"))]


def _python_name(found):
    name, called = found.group(1), found.group(2) or ""
    if not called and found.group(0) in HEADER["members"]:
        return camel(name)
    name = re.sub(r"^measure_", "measure.", name) if called else name
    return re.sub(r"^(world|figure|recording|scene)_", "", name) + called if called else name


def python_words(text):
    """A comment of the header for a reader of Python."""
    new = text
    for dropped in _DROPPED:
        new = dropped.sub("", new)
    for said, meant in _SAID:
        new = said.sub(meant, new)
    new = re.sub(r"\bTALUS_ERR_(\w+)", lambda found: found.group(1).capitalize() + "Error", new)
    new = re.sub(r"\bTALUS_\w+", lambda found: f'"{MEMBERS[found.group(0)].lower()}"'
                 if found.group(0) in MEMBERS else short(found.group(0)), new)
    new = NAME.sub(_python_name, new).strip()
    return new if new == text or "\n" not in text else textwrap.fill(new, 96)


def enum_words(text, members):
    """The comment of an option that is one of `members`: with their words for it, and with all of
    them unless the comment names those that count."""
    named = re.compile(r"\b(" + "|".join(members) + r")\b")
    listed = named.search(text.split("[default")[0])
    text = named.sub(lambda found: f'"{found.group(0).lower()}"', text)
    return text if listed else f"{text} ({', '.join(m.lower() for m in members)})".strip()


def kind_words(text):
    """VELOCITY: m/s, said of a field that counts for one member of an enum."""
    known = set(MEMBERS.values())
    found = re.match(r"[A-Z]{3,}(, [A-Z]{3,})*(?=:)", text)
    if found and all(word in known for word in found.group(0).split(", ")):
        return found.group(0).lower() + text[found.end():]
    return text
