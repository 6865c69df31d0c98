"""Values put at the paths of rows about values, with all that has to be beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_MEMBER = re.compile(r"\{(?P<name>[^=}]*)(?:=(?P<text>[^}]*))?\}")
_NEEDED = re.compile(r"map(?:\{[^}]*\})?!(?P<names>\S+)")
_ANY = "a"
_RIGHT: Mapping[str, Any] = {"boolean": True, "list": [], "texts": [], "count": 1, "number": 1, "size": 1, "span": 1}
"""A value of a type, if it is no text."""


class Placing:
    """Puts values at paths; `types` are those of the rows, by path.

    `*` is the first element of a list, and a member of a map, its first if it has one. `{a=b}` gives the map that it
    stands for that member. What is no map or list on the way becomes one, with the members that its row needs.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types

    def put(self, given: Any, path: str, each: Any) -> Any:
        """Return a document with a value at a path."""
        return self._put(given, path.split(".") if path else [], "", each)

    def spell(self, path: str) -> str:
        """Return the path of what `put` puts into an empty document, with the names in the place of each `*`."""
        held, names = self.put({}, path, None), []
        for name in path.split("."):
            key = 0 if isinstance(held, list) else next(iter(held)) if name == "*" else name
            names.append(str(key))
            held = held[key]
        return ".".join(names)

    def _put(self, held: Any, names: Sequence[str], path: str, each: Any) -> Any:
        if not names:
            return each
        name, *rest = names
        path = f"{path}.{name}".lstrip(".")
        member = _MEMBER.fullmatch(name)
        if member is not None:
            marked = held if member["text"] is None else {**held, member["name"]: member["text"]}
            return self._put(marked, rest, path, each) if rest or not isinstance(each, dict) else {**marked, **each}
        if isinstance(held, list):
            return [self._put(self._open(held[0] if held else None, path), rest, path, each), *held[1:]]
        key = next(iter(held), _ANY) if name == "*" else name
        return {**held, key: self._put(self._open(held.get(key), path), rest, path, each)}

    def _open(self, inside: Any, path: str) -> Any:
        """Return the value that can have members at a path, with the members that it needs."""
        if isinstance(inside, dict | list):
            return inside
        given = self._types.get(path, "map").split(" | ")
        if given[0] in {"list", "texts"}:
            return []
        needed = next((found for each in given if (found := _NEEDED.fullmatch(each))), None)
        names = needed["names"].split(",") if needed is not None else []
        return {name: self._choose(f"{path}.{name}") for name in names}

    def _choose(self, path: str) -> Any:
        """Return a value of the type that stands at a path."""
        first = self._types.get(path, "text").split(" | ")[0]
        if first[0] == "'":
            return first.strip("'")
        return self._open(None, path) if first.startswith("map") else _RIGHT.get(first, "x")


def list_words(type_: str) -> Sequence[str]:
    """Return the words that a type names."""
    return [each.strip("'") for each in type_.split(" | ") if each[0] == "'"]
