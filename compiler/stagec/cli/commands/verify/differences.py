"""Which parts of two plans differ, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.cli.commands.verify.roots import move
from stagec.core.json import Json, Object, object_of
from stagec.core.words import quote
from stagec.plan.load import unframed

_TABLES = {
    "entries": "entry",
    "nodes": "node",
    "inputs": "input",
    "validators": "validator",
    "tools": "tool",
    "servers": "server",
    "sources": "source",
}
"""What one member of each table of a plan is called."""
_SOURCES = "sources"
_ACT = "act"
_IMPLIED = "contents"
"""Texts under their digests: whatever refers to another text differs itself."""


def differences(held: bytes, made: bytes, root: Path) -> Iterator[str]:
    """Yield the parts in which the plan that a file holds differs from the one its sources at `root` were compiled to.

    Where that was done from another root this is told once, instead of every source.
    """
    one, other = _payload(held), _payload(made)
    moved = move(object_of(one.get(_SOURCES)), object_of(other.get(_SOURCES)), root)
    found = bool(moved.names)
    if found:
        yield moved.told
        named = {moved.names.get(name, name): digest for name, digest in object_of(other[_SOURCES]).items()}
        other = {**other, _SOURCES: named}
    for sentence in (*_members(one, other), *_in_tables(one, other)):
        found = True
        yield sentence
    if not found and held != made:
        yield "contents differ"


def _payload(data: bytes) -> Object:
    _, payload = unframed(data)
    return object_of(json.loads(payload))


def _members(one: Object, other: Object) -> Iterator[str]:
    for name in _differing(one, other):
        if name not in _TABLES and name != _IMPLIED:
            yield f"{name} {'differ' if name.endswith('s') else 'differs'}"


def _in_tables(one: Object, other: Object) -> Iterator[str]:
    for name, noun in _TABLES.items():
        held, made = object_of(one.get(name)), object_of(other.get(name))
        for member in _differing(held, made):
            thing = f"{noun} {quote(member)}"
            if member not in made:
                yield f"{thing} is in the plan only"
            elif member not in held:
                yield f"{thing} is not in the plan"
            else:
                parts = ", ".join(_parts(held[member], made[member]))
                yield f"{thing} differs" + (f": {parts}" if parts else "")


def _parts(held: Json, made: Json) -> Iterator[str]:
    """Yield the members in which two objects differ; what a node does is taken apart too, if it does the same."""
    one, other = object_of(held), object_of(made)
    for name in _differing(one, other):
        inside = _differing(object_of(one.get(name)), object_of(other.get(name))) if name == _ACT else ["is"]
        yield from [name] if "is" in inside else inside


def _differing(one: Mapping[str, Json], other: Mapping[str, Json]) -> list[str]:
    """Return the names of members that are not the same on both sides, sorted; one that is absent is none."""
    return [name for name in sorted({*one, *other}) if name not in one or name not in other or one[name] != other[name]]
