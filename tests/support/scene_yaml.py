"""Scenes as Python values, with numbers and truth values as the scene reader takes them (YAML 1.2
core, where 1e-3 is a number and yes is a text; PyYAML follows 1.1)."""
import json
import re

import yaml


class SceneLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


NUMBER = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
SceneLoader.add_implicit_resolver("scene:number", NUMBER, list("-+.0123456789"))
SceneLoader.add_implicit_resolver("scene:bool", re.compile("^(true|True|TRUE|false|False|FALSE)$"),
                                  list("tTfF"))
SceneLoader.add_implicit_resolver("scene:null", re.compile("^(~|null|Null|NULL|)$"),
                                  ["~", "n", "N", ""])
SceneLoader.add_constructor("scene:number", lambda loader, node: float(node.value))
SceneLoader.add_constructor("scene:bool", lambda loader, node: node.value.lower() == "true")
SceneLoader.add_constructor("scene:null", lambda loader, node: None)


def load(text):
    """A scene's text as maps, lists, texts, floats, truth values and None."""
    return yaml.load(text, SceneLoader)


def dump(value):
    """The shortest text that load() and the scene reader take for `value`: YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump(str(k))}: {dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(dump(v) for v in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:.17g}"
    return json.dumps(value, ensure_ascii=False)
