"""Where members of collections stand in a YAML text: from places to lines and columns, and for edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.place import START, Part, Place, Span
from stagec.core.value import value
from stagec.sources.tree import Lines
from stagec.sources.yaml_text.compose import compose
from stagec.sources.yaml_text.nodes import Finder, Kind, Member, YamlNode

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
        here = place.range or (find_range(finder, place, start) if finder else None)
        found[place] = lines.span(*here) if here else START
    return found


def find_range(finder: Finder, place: Place, shift: int) -> Range:
    """Return the offsets of a place, or of what is shown for one that is not written, moved by so many characters."""
    path = finder.find(place.pointer)
    member, there = path[-1], len(path) > len(place.pointer)
    shown = member.key if member.key and not (there and place.part is Part.VALUE) else member.node
    if shown.start == shown.end:
        shown = member.key or shown
    end = shown.end if there or member.key else min(shown.start + 1, shown.end)
    return shown.start + shift, end + shift


_BREAK = re.compile(r"\r\n|\n|\r")


@value
class Spot:
    """What an edit points at: the collection, and its member unless that is still to be written."""

    parent: YamlNode | None
    member: Member | None
    start: int

    @property
    def node(self) -> YamlNode:
        """The member's value."""
        if self.member is None:
            raise ValueError("the member is not written")
        return self.member.node

    @property
    def key(self) -> YamlNode | None:
        """The node of the member's name, in a mapping."""
        return self.member.key if self.member else None

    def siblings(self, text: str) -> tuple[list[int], list[int]]:
        """Return where the members of the collection begin and end, this one's included."""
        parent = self.parent
        if parent is None:
            return [], []
        if parent.kind is Kind.MAPPING:
            pairs = list(parent.pairs)
            return [key.start for key, _ in pairs], [max(key.end, node.end) for key, node in pairs]
        starts = [item.start if parent.style else dash(text, item.start) for item in parent.items]
        return starts, [item.end for item in parent.items]


def spot(root: YamlNode, edit: Edit, text: str) -> Spot:
    """Return what an edit points at; raises `ValueError` when it is not there or written with an alias."""
    pointer = edit.at.pointer
    path = Finder(root).find(pointer)
    there = len(path) > len(pointer)
    parents = [each.node for each in (path[:-1] if there else path)]
    if len(path) < len(pointer) or (not there and edit.change is not Change.INSERT):
        raise ValueError(f"nothing is written at {pointer}")
    if any(node.kind is Kind.ALIAS for node in parents):
        raise ValueError(f"{pointer} is written where an anchor stands")
    parent = parents[-1] if parents else None
    if not there:
        return Spot(parent, None, parent.end if parent else 0)
    member = path[-1]
    if member.key is not None:
        return Spot(parent, member, member.key.start)
    if parent is None or parent.style:
        return Spot(parent, member, member.node.start)
    return Spot(parent, member, dash(text, member.node.start))


def dash(text: str, start: int) -> int:
    """Return where the dash before a block sequence's element stands."""
    return text.rfind("-", 0, start)


def after_colon(text: str, key: YamlNode) -> int:
    """Return the offset just behind the colon of a key."""
    return text.index(":", key.end) + 1


def line_start(text: str, at: int) -> int:
    """Return where the line of an offset begins."""
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line of an offset ends, before its break."""
    found = _BREAK.search(text, at)
    return found.start() if found else len(text)


def next_line(text: str, at: int) -> int:
    """Return where the line after that of an offset begins."""
    found = _BREAK.search(text, at)
    return found.end() if found else len(text)
