"""From places to lines and columns of a YAML text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.place import START, Part, Place, Span
from stagec.sources.lines import Lines
from stagec.sources.yaml_text.compose import compose
from stagec.sources.yaml_text.nodes import Finder

Range = tuple[int, int]


def spans(text: str, places: Iterable[Place], within: Range | None = None) -> Mapping[Place, Span]:
    """Return the span of each place; `within` is the part of the text that is YAML.

    A place that is not written has the span of the name of its nearest written ancestor,
    or of that one's first character.
    """
    lines = Lines(text)
    wanted = tuple(places)
    start, end = within or (0, len(text))
    symbolic = any(place.range is None for place in wanted)
    root = compose(text[start:end], Budgets()).root if symbolic else None
    finder = Finder(root) if root else None
    found: dict[Place, Span] = {}
    for place in wanted:
        here = place.range or (_range(finder, place, start) if finder else None)
        found[place] = lines.span(*here) if here else START
    return found


def _range(finder: Finder, place: Place, shift: int) -> Range:
    path = finder.find(place.pointer)
    member, there = path[-1], len(path) > len(place.pointer)
    shown = member.key if member.key and not (there and place.part is Part.VALUE) else member.node
    if shown.start == shown.end:
        shown = member.key or shown
    end = shown.end if there or member.key else min(shown.start + 1, shown.end)
    return shown.start + shift, end + shift
