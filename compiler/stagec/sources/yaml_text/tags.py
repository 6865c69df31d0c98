"""The tags of the core schema; a value may say `!!str` and nothing outside the schema."""

from __future__ import annotations

from stagec.sources.yaml_text.nodes import Node
from stagec.sources.yaml_text.scalars import Scalar, meaning

_PREFIX = "tag:yaml.org,2002:"
_KINDS: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}


class TagError(ValueError):
    """A tag outside the core schema, or one that its value does not fit."""


def tagged(node: Node) -> Scalar:
    """Return what a scalar with a tag means."""
    name = node.tag.removeprefix(_PREFIX)
    if node.tag in {"!", _PREFIX + "str"}:
        return node.text
    if not node.tag.startswith(_PREFIX) or name not in _KINDS:
        raise TagError(node.tag)
    given = meaning(node.text)
    if name == "float" and type(given) is int:
        return float(given)
    if type(given) is not _KINDS[name]:
        raise TagError(node.tag)
    return given
