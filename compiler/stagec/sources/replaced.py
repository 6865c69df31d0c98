"""The result of edits in the text of a file: the part that changes, and its new text."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.diagnostic import Edit
from stagec.core.place import Span
from stagec.core.value import value
from stagec.sources.tree import Lines, Tree


@value
class Replacement:
    """A stretch of a text, and the new text."""

    span: Span
    text: str


def find_replacement(tree: Tree, edits: Iterable[Edit]) -> Replacement | None:
    """Return the smallest stretch of a file in which edits change something; nothing if they cannot be made."""
    old = tree.data.decode(errors="replace")
    try:
        new = tree.format.apply(old, edits)
    except ValueError:
        return None
    if new == old:
        return None
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    return Replacement(Lines(old).span(start, len(old) - end), new[start : len(new) - end])


def _count_equal(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
