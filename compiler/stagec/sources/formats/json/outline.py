"""Where the members of a JSON text are written, found by descending only where somebody asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from stagec.core.place import Key, Part, Place, Pointer, Span
from stagec.sources.tree import Lines

Wanted: TypeAlias = "dict[Key, Wanted]"
"""A tree of the pointers that somebody asks for."""

_SPACE = re.compile(r"[\s\ufeff]*")
_MEMBER = re.compile(r'[\s,]*"((?:[^"\\]+|\\.)*+)"\s*:\s*', re.DOTALL)
_ITEM = re.compile(r"[\s,]*(?=[^\s,\]}])")
_CLOSER = re.compile(r"[\s,]*[\]}]")
_SCALAR = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[^\s,{}\[\]"]+', re.DOTALL)
_FLAT = re.compile(
    r"""(?:[^"{}\[\]]+ | "(?:[^"\\]+|\\.)*+(?:"|\Z) | [{\[](?:[^"{}\[\]]+|"(?:[^"\\]+|\\.)*+")*+[}\]])*+""",
    re.DOTALL | re.VERBOSE,
)


_LARGE = 200_000
"""Characters of a text from which on values are read to find where they end."""


class JsonNode:
    """A value in the text: where it and its name begin and end, and its members when it was descended into.

    `children` are all members in order; `members` finds them by name or index, the last of those with one name.
    """

    __slots__ = ("children", "end", "key", "members", "start")

    def __init__(self, start: int, key: tuple[int, int] | None = None) -> None:
        self.start = start
        self.end = start
        self.key = key
        self.children = _NO_CHILDREN
        self.members = _NO_MEMBERS

    @property
    def begin(self) -> int:
        """Where the member begins: at its name, if it has one."""
        return self.start if self.key is None else self.key[0]

    def nearest(self, pointer: Pointer) -> tuple[JsonNode, int]:
        """Return the member a pointer leads to, or its last ancestor that is there, and how many keys led to it."""
        node = self
        for depth, key in enumerate(pointer):
            if key not in node.members:
                return node, depth
            node = node.members[key]
        return node, len(pointer)

    def range_of(self, place: Place) -> tuple[int, int]:
        """Return where a place is in the text."""
        node, depth = self.nearest(place.pointer)
        if depth == len(place.pointer):
            return node.key if node.key and place.part is Part.KEY else (node.start, node.end)
        return node.key or (node.start, min(node.start + 1, node.end))


def pointer_tree(pointers: Iterable[Pointer]) -> Wanted:
    """Return the tree of some pointers."""
    root: Wanted = {}
    for pointer in pointers:
        branch = root
        for key in pointer:
            branch = branch.setdefault(key, {})
    return root


def outline(text: str, pointers: Iterable[Pointer]) -> JsonNode:
    """Return the root value with every container opened that a pointer leads through, in one pass over the text.

    A malformed text gives whatever can be made of it.
    """
    return _Walk(text).outline(pointer_tree(pointers))


_NO_CHILDREN: list[JsonNode] = []
_NO_MEMBERS: dict[Key, JsonNode] = {}
"""What nodes that were not opened share; never written to."""


class _Walk:
    """One pass over a text. `_open` are the containers around the position, innermost last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[JsonNode, Wanted]] = []
        self._read: Callable[[str, int], tuple[object, int]] | None = None
        if len(text) > _LARGE:
            from json import JSONDecoder  # worth its import for large texts only

            self._read = JSONDecoder(strict=False).raw_decode

    def outline(self, tree: Wanted) -> JsonNode:
        match = _SPACE.match(self._text)
        root = JsonNode(match.end() if match else 0)
        position = self._enter(root, tree)
        while self._open:
            position = self._step(position, *self._open[-1])
        return root

    def _step(self, position: int, node: JsonNode, tree: Wanted) -> int:
        """Read the next member of the innermost container, or its end."""
        if self._text[node.start] == "{":
            match = _MEMBER.match(self._text, position)
            key: Key = _name(match[1]) if match else ""
        else:
            match = _ITEM.match(self._text, position)
            key = len(node.children)
        if match is None:
            self._open.pop()
            closer = _CLOSER.match(self._text, position)
            node.end = closer.end() if closer else _after(self._text, node.start)
            return max(node.end, position)
        child = JsonNode(match.end(), (match.start(1) - 1, match.end(1) + 1) if match.re is _MEMBER else None)
        node.children.append(child)
        node.members[key] = child
        return self._enter(child, tree.get(key))

    def _enter(self, node: JsonNode, tree: Wanted | None) -> int:
        """Open a container that leads to something wanted, and go past any other value."""
        if tree and self._text[node.start : node.start + 1] in {"{", "["}:
            node.children, node.members = [], {}
            self._open.append((node, tree))
            return node.start + 1
        node.end = self._skip(node.start)
        return node.end

    def _skip(self, start: int) -> int:
        """Return where a value ends: a container by reading it, which is faster, until one is malformed."""
        if self._read is not None and self._text[start : start + 1] in {"{", "["}:
            try:
                return self._read(self._text, start)[1]
            except (ValueError, RecursionError):
                self._read = None
        return _after(self._text, start)


def _after(text: str, start: int) -> int:
    """Return where the value that begins at `start` ends."""
    if text[start : start + 1] not in {"{", "["}:
        match = _SCALAR.match(text, start)
        return match.end() if match else start
    depth = 0
    position = start
    while position < len(text):
        found = text[position]
        depth += 1 if found in "{[" else -1 if found in "}]" else 0
        position += 1
        if depth == 0:
            return position
        match = _FLAT.match(text, position)
        position = match.end() if match else position
    return len(text)


def _name(raw: str) -> str:
    if "\\" not in raw:
        return raw
    from json import loads

    from stagec.sources.formats.json.tokens import without_surrogates

    try:
        return without_surrogates(loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw


def locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    """Return the span of each place of one file.

    For a place that is not there it is the name of the nearest ancestor that is, or its opening bracket when it has
    no name. Of several members with one name the last counts, as it does for the value.
    """
    text = data.decode(errors="replace")
    every = tuple(places)
    lines = Lines(text)
    spans = {place: lines.span(*place.range) for place in every if place.range is not None}
    symbolic = [place for place in every if place.range is None]
    if symbolic:
        root = outline(text, [place.pointer for place in symbolic])
        spans.update((place, lines.span(*root.range_of(place))) for place in symbolic)
    return spans
