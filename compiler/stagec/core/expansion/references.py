"""What references of a schema that stands by itself can mean: of several possible meanings, all."""

from __future__ import annotations

import re

from stagec.core.json import Json, Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ALIKE = 8
"""Schemas of one name that a reference may mean; no text has more, and the last ones count."""


class LocalReferences:
    """The names that parts of one schema give themselves."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._base: dict[int, Json] = {}
        self._addresses: dict[str, list[Object]] = {}
        self._anchors: dict[str, list[Object]] = {}
        self._outermost: list[Object] = []
        for body, base in _bodies(root):
            self._base[id(body)] = base
            self._name(body)

    def resolve(self, body: Object, keyword: str, text: str) -> Sequence[Object]:
        """Return the schemas that a reference in a schema can mean, none where it leads nowhere inside."""
        address, _, fragment = text.partition("#")
        bases: list[Json] = self._find(address) if address else [self._base.get(id(body), self._root), self._root]
        if fragment and not fragment.startswith("/"):
            found = self._anchors.get(_decode(fragment), [])
        else:
            found = [each for base in bases if isinstance(each := _down(base, fragment), dict)]
        if keyword == "$recursiveRef":
            found = [*found, *self._outermost]
        return list({id(each): each for each in found}.values())

    def _find(self, address: str) -> list[Json]:
        return [*self._addresses.get(_last(address), [])]

    def _name(self, body: Object) -> None:
        for key in ("$id", "id"):
            named = body.get(key)
            if isinstance(named, str):
                address, _, anchor = named.partition("#")
                _keep(self._addresses, _last(address), body)
                _keep(self._anchors, anchor, body)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(named := body.get(key), str):
                _keep(self._anchors, named, body)
        if body.get("$recursiveAnchor") is True and len(self._outermost) < _ALIKE:
            self._outermost.append(body)


def patterns_in(root: Json) -> Iterator[str]:
    """Yield every text in a schema that may be compiled as a regular expression."""
    for body, _ in _bodies(root):
        pattern, named = body.get("pattern"), body.get("patternProperties")
        if isinstance(pattern, str):
            yield pattern
        yield from named if isinstance(named, dict) else ()


def _bodies(root: Json) -> Iterator[tuple[Object, Json]]:
    """Yield every object in a schema with the innermost one around it that has an address."""
    todo: list[tuple[Json, Json]] = [(root, root)]
    while todo:
        given, base = todo.pop()
        if isinstance(given, dict):
            base = given if isinstance(given.get("$id"), str) or isinstance(given.get("id"), str) else base
            yield given, base
        inner = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
        todo.extend((each, base) for each in inner if isinstance(each, dict | list))


def _keep(names: dict[str, list[Object]], name: str, body: Object) -> None:
    known = names.setdefault(name, []) if name else []
    known.append(body)
    del known[:-_ALIKE]


def _last(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def _down(given: Json, pointer: str) -> Json:
    for token in pointer.split("/")[1:]:
        key = _decode(token).replace("~1", "/").replace("~0", "~")
        if isinstance(given, dict):
            given = given.get(key)
        elif isinstance(given, list) and key.isdecimal() and len(key) < _ALIKE and int(key) < len(given):
            given = given[int(key)]
        else:
            return None
    return given


def _decode(text: str) -> str:
    if "%" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1", "replace").decode(errors="replace")
