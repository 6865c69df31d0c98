"""Edits that write what a name was most likely meant to be, wherever the misspelt one really stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.guess import Guess
from stagec.core.json import Json
from stagec.core.place import Part, Place, Pointer
from stagec.core.words import quote
from stagec.sources.tree import Tree


def resolve_guess(guess: Guess, at: Place, trees: Mapping[str, Tree]) -> Fix | None:
    """Return the fix that writes what was meant at a place and at the others, unless something else stands at one."""
    edits: dict[Place, Edit] = {}
    for place in (at, *guess.others):
        tree = trees.get(place.file)
        edit = _find_edit(guess, place, tree) if tree is not None and tree.readable else None
        if edit is None:
            return None
        edits[edit.at] = edit
    is_name = all(each.change is Change.RENAME and each.value == guess.meant for each in edits.values())
    verb = "rename it to" if is_name else "write"
    return Fix(f"{verb} {quote(guess.meant)}", tuple(edits.values()), is_safe=False)


def _find_edit(guess: Guess, at: Place, tree: Tree) -> Edit | None:
    if at.range is not None:
        start, end = at.range
        if start < (tree.body or (0, 0))[0] or tree.format.name not in _PROSE:
            return None
        new = _put(guess, tree.data.decode(errors="surrogateescape")[start:end])
        return None if new is None else Edit(Change.WRITE, Place(at.file, range=at.range), new)
    if not at.pointer or not _exists(tree.value, at.pointer):
        return None
    plain = Place(at.file, at.pointer)
    given = _look_up(tree.value, at.pointer)
    if at.part is Part.VALUE and isinstance(given, str):
        new = _put(guess, given)
        return None if new is None else Edit(Change.REPLACE, plain, new)
    key = at.pointer[-1]
    new = _put(guess, key) if isinstance(key, str) else None
    is_free = new is not None and new not in _look_up(tree.value, at.pointer[:-1])
    return Edit(Change.RENAME, plain, new) if is_free else None


_PROSE = frozenset({"markdown", "plain"})
"""The formats in which ranges of the body are plain text."""


def _put(guess: Guess, text: str) -> str | None:
    """Return a text with what was meant instead of the name, which must stand in it as a word, and once."""
    if text == guess.name:
        return guess.meant
    parts = re.split(rf"(?:(?<=uv-)|(?<![\w-])){re.escape(guess.name)}(?![\w-])", text) if guess.name in text else []
    once = 2
    return guess.meant.join(parts) if len(parts) == once else None


def _exists(given: Json, pointer: Pointer) -> bool:
    try:
        _look_up(given, pointer)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _look_up(given: Any, pointer: Pointer) -> Any:
    for key in pointer:
        given = given[key]
    return given
