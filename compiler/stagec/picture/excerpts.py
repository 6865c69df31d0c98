"""What the files say at a place: the definition of a node, its prompt, its schema."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.place import Key, Place, pointer_text
from stagec.core.value import value
from stagec.model.flow import Node
from stagec.sources.tree import Tree


@value
class _Absent:
    """Nothing is written there, or it cannot be read."""


_ABSENT = _Absent()


def definition_at(node: Node, trees: Mapping[str, Tree]) -> Place:
    """Return the place of the object that defines a node: its place, or what that is a member of."""
    at = Place(node.at.file, node.at.pointer)
    if at.pointer and not isinstance(_value(at, trees), dict):
        return Place(at.file, at.pointer[:-1])
    return at


def details(node: Node, trees: Mapping[str, Tree]) -> dict[str, Json]:
    """Return what is known of a node by heading: `place`, `definition`, and its parts such as `prompt` and `schema`."""
    at = definition_at(node, trees)
    pointer = pointer_text(at.pointer)
    found: dict[str, Json] = {"place": f"{at.file}#{pointer}" if pointer else at.file}
    for heading, place in (("definition", at), *node.parts):
        written = _find(place, trees)
        if not isinstance(written, _Absent):
            found[heading] = written
    return found


def _find(at: Place, trees: Mapping[str, Tree]) -> Json | _Absent:
    """Return a value, or the text of a place that is no value."""
    tree = trees.get(at.file)
    if tree is None:
        return _ABSENT
    if at.range is not None or (not at.pointer and tree.value is None):
        text = tree.data.decode("utf-8-sig", errors="replace")
        return text[slice(*at.range)] if at.range is not None else text
    return _value(at, trees)


def _value(at: Place, trees: Mapping[str, Tree]) -> Json | _Absent:
    tree = trees.get(at.file)
    if tree is None:
        return _ABSENT
    found: Json | _Absent = tree.value
    for key in at.pointer:
        found = _member(found, key)
    return found


def _member(found: Json | _Absent, key: Key) -> Json | _Absent:
    inside: Json | _Absent = _ABSENT
    if isinstance(found, dict):
        inside = found.get(str(key), _ABSENT)
    elif isinstance(found, list) and isinstance(key, int) and 0 <= key < len(found):
        inside = found[key]
    return inside
