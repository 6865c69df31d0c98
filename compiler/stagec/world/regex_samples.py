"""Make a short text that matches a regular expression, where that is simple."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_LONGEST = 1_000
"""Characters of the longest text that is written."""
_CATEGORIES = {"SPACE": " ", "NOT_DIGIT": "a", "NOT_WORD": "-", "NOT_SPACE": "a"}
_PLAIN = "abcxyzABCXYZ0123456789-_ .,:;/"


def make_matching_text(pattern: str) -> str:
    """Return a text for a pattern; one that cannot be read, or asks for what is around a place, may not be found."""
    try:
        todo: list[Any] = [*reversed(import_module("re._parser").parse(pattern))]
    except (re.error, OverflowError, RecursionError):
        return "text"
    text = ""
    while todo and len(text) < _LONGEST:
        operation, given = todo.pop()
        if str(operation) in _INSIDE:
            todo += reversed(_INSIDE[str(operation)](given))
        else:
            text += _CHARACTERS.get(str(operation), lambda _: "")(given)
    return text


_INSIDE: Mapping[str, Callable[[Any], list[Any]]] = {
    **dict.fromkeys(
        ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"), lambda given: [*given[2]] * min(given[0], _LONGEST)
    ),
    "SUBPATTERN": lambda given: [*given[-1]],
    "ATOMIC_GROUP": lambda given: [*given],
    "BRANCH": lambda given: [*given[1][0]],
}
"""What the parts of a pattern are made of that are made of others; of alternatives the first."""


def _choose(members: list[Any]) -> str:
    """Return a character of a class; of one that names what is not in it, the first usual one that is not."""
    named = [_expand(str(kind), given) for kind, given in members if str(kind) != "NEGATE"]
    if str(members[0][0]) != "NEGATE":
        return named[0][0] if named and named[0] else "x"
    return next((each for each in _PLAIN if all(each not in some for some in named)), "é")


def _expand(kind: str, given: Any) -> str:
    """Return characters that a member of a class stands for."""
    if kind == "LITERAL":
        return chr(given)
    if kind == "RANGE":
        return "".join(map(chr, range(given[0], min(given[1], given[0] + 200) + 1)))
    name = str(given).removeprefix("CATEGORY_")
    if name == "DIGIT":
        return "1234567890"
    if name == "WORD":
        return "".join(each for each in _PLAIN if each.isalnum() or each == "_")
    return _CATEGORIES.get(name, "x")


_CHARACTERS: Mapping[str, Callable[[Any], str]] = {
    "LITERAL": chr,
    "ANY": lambda _: "x",
    "NOT_LITERAL": lambda given: "b" if given == ord("a") else "a",
    "IN": _choose,
}
"""A character for each part of a pattern that stands for one."""
