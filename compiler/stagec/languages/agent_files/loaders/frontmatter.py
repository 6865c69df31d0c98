"""Frontmatter as tools read it: strictly, in the wrong place, or badly quoted."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.json import object_of
from stagec.core.place import START, Place, Span
from stagec.core.value import replace, value
from stagec.sources.formats.markdown import FORMAT, shift_span
from stagec.sources.tree import Fault, Format, Lines, Parsed, Tree

OF_YAML = frozenset({"invalid-yaml", "invalid-frontmatter", "repeated-key", "alias-expansion", "several-documents"})
"""Topics of faults that say what stagec's own reading of a frontmatter found."""
_REFUSED = frozenset({"invalid-yaml", "alias-expansion", "several-documents", "oversized-file", "deep-nesting"})
"""Topics of faults with which a text has no value."""


@value
class FrontmatterBlock:
    """The text of a frontmatter, and where in its file it begins."""

    file: str
    text: str
    start: int


def read_block(block: FrontmatterBlock, budgets: Budgets) -> Parsed:
    """Return the value of a frontmatter, `{}` of an empty one; ranges of faults count from the start of the file."""
    from stagec.sources.yaml_text.reading import read

    parsed = read(block.file, block.text, budgets)
    if any(fault.topic == "empty-file" for fault in parsed.faults):
        return Parsed({})
    moved: list[Fault] = []
    for fault in parsed.faults:
        related = tuple((shift_span(at, block.start), why) for at, why in fault.related)
        moved.append(replace(fault, at=shift_span(fault.at, block.start), related=related))
    return Parsed(parsed.value, tuple(moved))


def find_refusal(parsed: Parsed) -> Fault | None:
    """Return the fault because of which a text has no value."""
    return next((fault for fault in parsed.faults if fault.topic in _REFUSED), None)


def keep_others(tree: Tree) -> tuple[Fault, ...]:
    """Return the faults of a tree that are not about YAML, such as a byte order mark."""
    return tuple(fault for fault in tree.faults if fault.topic not in OF_YAML)


@value
class Quoted:
    """A frontmatter with quotes round some of its values: what they stand round, and where.

    `ranges` are offsets of the values in the text as it is written, `moved` those of the same values with their quotes
    in `text`; both count from the start of the frontmatter.
    """

    block: FrontmatterBlock
    text: str
    ranges: tuple[tuple[int, int], ...] = ()
    moved: tuple[tuple[int, int], ...] = ()

    def find_offset(self, at: int) -> int:
        """Return where in the text as it is written something is that has an offset in the one with quotes."""
        index = bisect_right([start for start, _ in self.moved], at) - 1
        if index < 0:
            return at
        (start, end), (begin, stop) = self.ranges[index], self.moved[index]
        return end + at - stop if at >= stop else min(start + at - begin, end)


def quote_values(block: FrontmatterBlock, find_value: Callable[[str], re.Match[str] | None]) -> Quoted:
    """Return a frontmatter with quotes round the values that are found in its lines, as the group `value`."""
    ranges: list[tuple[int, int]] = []
    moved: list[tuple[int, int]] = []
    lines: list[str] = []
    at = shift = 0
    for line in block.text.split("\n"):
        found = find_value(line)
        shown = line
        if found is not None:
            start, end = found.span("value")
            quoted = '"{}"'.format(line[start:end].replace("\\", "\\\\").replace('"', '\\"'))
            shown = f"{line[:start]}{quoted}{line[end:]}"
            ranges.append((at + start, at + end))
            moved.append((at + shift + start, at + shift + start + len(quoted)))
        lines.append(shown)
        shift += len(shown) - len(line)
        at += len(line) + 1
    return Quoted(block, "\n".join(lines), tuple(ranges), tuple(moved))


def move_back(fault: Fault, quoted: Quoted) -> Fault:
    """Return a fault of the text with quotes, whose ranges count from its start, as one of the file."""
    at, start = fault.at, quoted.block.start
    if at.range is None:
        return fault
    first, last = (quoted.find_offset(each) for each in at.range)
    return replace(fault, at=replace(at, range=(start + first, start + max(first, last))), related=())


def make_format(quoted: Quoted) -> Format:
    """Return the format of one file whose frontmatter is found, member by member, in the text with quotes."""
    return replace(FORMAT, suffixes=(), locate=partial(_locate, quoted), apply=partial(_apply, quoted))


def _locate(quoted: Quoted, data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.compose import compose
    from stagec.sources.yaml_text.members import find_range
    from stagec.sources.yaml_text.nodes import Finder

    lines, wanted = Lines(data.decode(errors="replace")), tuple(places)
    is_asked = any(place.range is None for place in wanted)
    root = compose(quoted.text, Budgets()).root if is_asked else None
    finder = Finder(root) if root else None
    found: dict[Place, Span] = {}
    for place in wanted:
        here = place.range
        if here is None and finder is not None:
            first, last = find_range(finder, place, 0)
            here = (quoted.block.start + quoted.find_offset(first), quoted.block.start + quoted.find_offset(last))
        found[place] = lines.span(*here) if here else START
    return found


def _apply(quoted: Quoted, text: str, edits: Iterable[Edit]) -> str:
    """Make edits of stretches; members cannot be edited before the frontmatter is YAML."""
    every = tuple(edits)
    if any(edit.at.range is None for edit in every):
        raise ValueError("a frontmatter that is no YAML has no members")
    start, end = quoted.block.start, quoted.block.start + len(quoted.block.text)
    from stagec.sources.yaml_text.edit import change

    inside = [replace(edit, at=shift_span(edit.at, -start)) for edit in every]
    return text[:start] + change(text[start:end], inside) + text[end:]


def list_needed(quoted: Quoted) -> tuple[tuple[tuple[int, int], str], ...]:
    """Return the ranges, in the file, of the values that mean something else without their quotes, and their texts.

    There are none where a value is a list or a map by itself: its author did not mean a text.
    """
    from stagec.sources.yaml_text.quick import quick

    found: list[tuple[tuple[int, int], str]] = []
    for start, end in quoted.ranges:
        written = quoted.block.text[start:end]
        alone = object_of(quick(f"value: {written}", 3)).get("value")
        if isinstance(alone, list | dict):
            return ()
        if alone != written:
            found.append(((quoted.block.start + start, quoted.block.start + end), written))
    return tuple(found)
