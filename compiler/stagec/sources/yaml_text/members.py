"""The places of members in a YAML text, and edits that leave the rest as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import START, Part, Place, Span
from stagec.core.value import value
from stagec.sources.tree import Lines
from stagec.sources.yaml_text.compose import compose, compose_quickly
from stagec.sources.yaml_text.nodes import Finder, Kind, Member, YamlNode, meaning

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
    root = compose_quickly(text[start:end], Budgets()) if symbolic else None
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
    """The target of an edit: the collection, and its member unless that is still to be written."""

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
        """Return the beginnings and the ends of the members of the collection, this one's included."""
        parent = self.parent
        if parent is None:
            return [], []
        if parent.kind is Kind.MAPPING:
            pairs = list(parent.pairs)
            return [key.start for key, _ in pairs], [max(key.end, node.end) for key, node in pairs]
        starts = [item.start if parent.style else dash(text, item.start) for item in parent.items]
        return starts, [item.end for item in parent.items]


def spot(root: YamlNode, edit: Edit, text: str) -> Spot:
    """Return the target of an edit; raises `ValueError` if it is absent or written with an alias."""
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
    """Return the offset of the dash before a block sequence's element."""
    return text.rfind("-", 0, start)


def after_colon(text: str, key: YamlNode) -> int:
    """Return the offset just behind the colon of a key."""
    return text.index(":", key.end) + 1


def line_start(text: str, at: int) -> int:
    """Return the beginning of the line of an offset."""
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def line_end(text: str, at: int) -> int:
    """Return the end of the line of an offset, before its break."""
    found = _BREAK.search(text, at)
    return found.start() if found else len(text)


def next_line(text: str, at: int) -> int:
    """Return the beginning of the line after that of an offset."""
    found = _BREAK.search(text, at)
    return found.end() if found else len(text)


_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./-]*\w)?", re.ASCII)


def write_value(given: Json) -> str:
    """Return a value as text that may stand anywhere in a document, on one line."""
    if isinstance(given, str) and _PLAIN.fullmatch(given) and meaning(given) == given:
        return given
    shown = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return shown if shown.isprintable() else "".join(map(_escape, shown))


def _escape(character: str) -> str:
    """Return a character of a quoted text as it may stand there; JSON would write some as two that are none alone."""
    return character if character.isprintable() else f"\\U{ord(character):08x}"


Splice = tuple[int, int, str]


def change(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; an edit that cannot be made safely raises `ValueError`.

    Edits name members of the text as given, whatever the other edits do. Edits of ranges are for a text that cannot be
    read: each puts its value, in quotes where it needs them, in place of a range.
    """
    wanted = tuple(edits)
    if any(edit.at.range for edit in wanted):
        ranges = {edit.at.range: edit for edit in wanted if edit.at.range and edit.change is Change.REPLACE}
        if len(ranges) < len(wanted):
            raise ValueError("a text that cannot be read has no members")
        for (start, end), edit in sorted(ranges.items(), reverse=True):
            text = text[:start] + write_value(edit.value) + text[end:]
        return text
    whole = _root(text)
    root, changed = whole, len(text)
    for edit in sorted(wanted, key=lambda edit: _Splicing(text, whole, edit).position(), reverse=True):
        if not _Splicing(text, root, edit).still_holds(changed):
            root = _root(text)
        start, end, new = _Splicing(text, root, edit).splice()
        text, changed = text[:start] + new + text[end:], start
    _root(text)
    return text


@value
class _Splicing:
    """An edit of a text, whose root was read before."""

    text: str
    root: YamlNode
    edit: Edit

    def still_holds(self, changed: int) -> bool:
        """Tell whether nodes read before text was changed from an offset on still hold for an edit, which lies before.

        An edit that replaces a value or a name depends on that alone; one that adds or removes depends on the
        collection.
        """
        here = spot(self.root, self.edit, self.text)
        alone = self.edit.change in {Change.REPLACE, Change.RENAME} and here.member is not None
        return (here.node if alone else here.parent or self.root).end < changed

    def position(self) -> int:
        """Return the beginning of the edit, by which edits are ordered."""
        here = spot(self.root, self.edit, self.text)
        return here.parent.end if here.member is None and here.parent else here.start

    def splice(self) -> Splice:
        """Return the range of the text that another text takes the place of, and that text."""
        match self.edit.change:
            case Change.REPLACE:
                return self._replace()
            case Change.RENAME:
                return self._rename()
            case Change.REMOVE:
                return self._remove()
            case Change.INSERT:
                return self._insert()
            case _:
                raise ValueError(f"{self.edit.change} is a change of prose")

    def _replace(self) -> Splice:
        node = spot(self.root, self.edit, self.text).node
        if node.anchor:
            raise ValueError(f"the value at {self.edit.at.pointer} may be meant elsewhere by '*{node.anchor}'")
        return self._in_place(spot(self.root, self.edit, self.text), write_value(self.edit.value))

    def _rename(self) -> Splice:
        here = spot(self.root, self.edit, self.text)
        if here.key is None or here.key.kind is not Kind.SCALAR or here.key.anchor:
            raise ValueError(f"{self.edit.at.pointer} has no name that can be changed")
        return here.key.start, here.key.end, write_value(self.edit.value)

    def _remove(self) -> Splice:
        here = spot(self.root, self.edit, self.text)
        parent = here.parent
        if parent is None or parent.anchor or parent.tag:
            raise ValueError(f"{self.edit.at.pointer} cannot be taken away")
        starts, ends = here.siblings(self.text)
        if len(starts) == 1:
            owner = spot(
                self.root,
                Edit(self.edit.change, type(self.edit.at)(self.edit.at.file, self.edit.at.pointer[:-1])),
                self.text,
            )
            return self._in_place(owner, "{}" if parent.kind is Kind.MAPPING else "[]")
        index = starts.index(here.start)
        last = index == len(starts) - 1
        if parent.style:
            return (ends[index - 1], ends[index], "") if last else (starts[index], starts[index + 1], "")
        begin = line_start(self.text, starts[index])
        if not self.text[begin : starts[index]].strip():
            return begin, next_line(self.text, ends[index]), ""
        if index + 1 == len(starts):
            raise ValueError("the member shares its line with another")
        return starts[index], starts[index + 1], ""

    def _insert(self) -> Splice:
        here = spot(self.root, self.edit, self.text)
        parent, key = here.parent, self.edit.at.pointer[-1]
        mapping = parent is not None and parent.kind is Kind.MAPPING
        if parent is None or (mapping and here.member is not None) or mapping is not isinstance(key, str):
            raise ValueError(f"nothing can be added at {self.edit.at.pointer}")
        new = f"{write_value(key)}: {write_value(self.edit.value)}" if mapping else write_value(self.edit.value)
        if not parent.style:
            return self._insert_block(parent, here, new)
        if self.text[parent.end - 1] not in "]}":
            raise ValueError("the collection has no brackets")
        if not parent.items:
            return parent.end - 1, parent.end - 1, new
        if here.member is not None:
            return here.start, here.start, f"{new}, "
        return parent.items[-1].end, parent.items[-1].end, f", {new}"

    def _insert_block(self, parent: YamlNode, here: Spot, new: str) -> Splice:
        if parent.kind is Kind.SCALAR or not parent.items:
            raise ValueError("there is no collection to add to")
        first = parent.items[0].start if parent.kind is Kind.MAPPING else dash(self.text, parent.items[0].start)
        indent = " " * (first - line_start(self.text, first))
        entry = indent + (new if parent.kind is Kind.MAPPING else f"- {new}")
        line_break = "\r\n" if "\r\n" in self.text else "\n" if "\n" in self.text or "\r" not in self.text else "\r"
        if here.member is not None:
            begin = line_start(self.text, here.start)
            if self.text[begin : here.start].strip():
                raise ValueError("the element shares its line with another")
            return begin, begin, entry + line_break
        end = line_end(self.text, parent.end)
        return end, end, line_break + entry

    def _in_place(self, here: Spot, new: str) -> Splice:
        """Put new text where a value stands; what began on the next line moves up behind its key."""
        node = here.node
        block = node.kind in {Kind.SEQUENCE, Kind.MAPPING} and not node.style
        if here.key is not None and (block or node.start == node.end):
            return after_colon(self.text, here.key), node.end, f" {new}"
        return node.start, node.end, new


def _root(text: str) -> YamlNode:
    composed = compose(text, Budgets())
    if composed.root is None or composed.trouble is not None:
        raise ValueError("the text cannot be read as YAML")
    return composed.root
