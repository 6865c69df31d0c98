"""A place: a file and a JSON Pointer into it; lines and columns are computed only for printing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from stagec.core.value import value

Key = str | int
Pointer = tuple[Key, ...]
"""The steps from the root of a document to one of its members: names and indexes, unescaped."""


class Part(StrEnum):
    """The part of a member that a place means."""

    VALUE = "value"
    KEY = "key"


@value
class Place:
    """A symbolic address, stable under reformatting.

    `file` is relative to the project root, with `/`. `range` counts characters of the decoded text from zero, end
    exclusive; it is there only for what no pointer can name, such as a syntax error.
    """

    file: str
    pointer: Pointer = ()
    part: Part = Part.VALUE
    range: tuple[int, int] | None = None

    def __truediv__(self, key: Key) -> Place:
        """Return the place of a member of this one."""
        return Place(self.file, (*self.pointer, key))

    def __contains__(self, other: Place) -> bool:
        """Tell whether another place is this one, or inside it."""
        return self.file == other.file and other.pointer[: len(self.pointer)] == self.pointer

    @property
    def key(self) -> Place:
        """The same member's name instead of its value."""
        return Place(self.file, self.pointer, Part.KEY)


@value
class Position:
    """A point in a text: line and column count from one, columns in Unicode code points."""

    line: int
    column: int


@value
class Span:
    """A stretch of text; `end` is the position just behind its last character."""

    start: Position
    end: Position


START = Span(Position(1, 1), Position(1, 1))
"""The place of a diagnostic about a file as a whole."""


def pointer_text(pointer: Pointer) -> str:
    """Return a pointer as RFC 6901 writes it: `()` is the empty text, `("a/b", 0)` is `/a~1b/0`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in pointer)


def spell_path(path: Iterable[Key]) -> str:
    """Return a path as people write it: `("ctx", "upstream", 0)` is `ctx.upstream[0]`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


@value
class Mention:
    """A name as written, and where; the name may be wrong, and that is a fact."""

    name: str
    at: Place


def list_mentions(given: Iterable[object], at: Place) -> tuple[Mention, ...]:
    """Return the names in a list that lies at a place; what is no text, or an empty one, is none."""
    return tuple(Mention(each, at / index) for index, each in enumerate(given) if isinstance(each, str) and each)
