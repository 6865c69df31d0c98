"""The tags of retry prompts: holes, and blocks that are opened and closed; which of them mean nothing, and why."""

from __future__ import annotations

import re
from enum import StrEnum

from stagec.core.place import Place
from stagec.core.value import replace, value

DEEPEST = 32
"""Blocks inside each other; deeper ones are text."""
_NAME = r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*"
_TAG = re.compile(
    rf"\{{\{{(?:#(?P<opened>each|if)\s+(?P<of>{_NAME})|/(?P<closed>each|if)|(?P<name>{_NAME}))\}}\}}"
    r"|\{\{\s*[#/][^{}\n]*(?:\}\})?"
)
_ELSE = "else"


class TagRole(StrEnum):
    """What a tag does; one with `NONE` stands as it is written."""

    HOLE = "hole"
    OPEN = "open"
    TURN = "turn"
    CLOSE = "close"
    NONE = "none"


class Defect(StrEnum):
    """Why a tag of a block means nothing."""

    UNREADABLE = "unreadable"
    UNCLOSED = "unclosed"
    UNOPENED = "unopened"
    STRAY_ELSE = "stray-else"
    SECOND_ELSE = "second-else"
    TOO_DEEP = "too-deep"


@value
class PromptTag:
    """One tag of a text: where it begins and ends, what it does, the kind of its block, and the name in it."""

    start: int
    end: int
    role: TagRole
    kind: str = ""
    name: str = ""
    defect: Defect | None = None


@value
class BrokenBlock:
    """A tag of a block in a retry prompt that means nothing: where it stands, as it is written, and why."""

    at: Place
    text: str
    defect: Defect


@value
class PromptReading:
    """A name that a retry prompt reads of what a validator extracted, and where.

    `is_asked` tells that the prompt asks by `{{#if name}}` whether it is there, and can do without.
    """

    name: str
    at: Place
    is_asked: bool = False


def find_tags(text: str) -> tuple[PromptTag, ...]:
    """Return every tag of a text in order; tags that open, turn and close a block are balanced. Linear."""
    pairing = _Pairing()
    for match in _TAG.finditer(text):
        pairing.add(match)
    pairing.close(0)
    return tuple(pairing.found)


class _Pairing:
    """The tags so far, and the indexes of those that opened a block which is still open."""

    def __init__(self) -> None:
        self.found: list[PromptTag] = []
        self._open: list[int] = []
        self._kinds = {"each": 0, "if": 0}
        self._turned: dict[int, int] = {}

    def add(self, match: re.Match[str]) -> None:
        """Add a tag."""
        start, end = match.span()
        if match["opened"] is not None:
            self._begin(PromptTag(start, end, TagRole.OPEN, match["opened"], match["of"]))
        elif match["closed"] is not None:
            self._end(PromptTag(start, end, TagRole.CLOSE, match["closed"]))
        elif match["name"] == _ELSE:
            self._turn(PromptTag(start, end, TagRole.TURN, "if"))
        elif match["name"] is not None:
            self.found.append(PromptTag(start, end, TagRole.HOLE, name=match["name"]))
        else:
            self.found.append(PromptTag(start, end, TagRole.NONE, defect=Defect.UNREADABLE))

    def close(self, depth: int) -> None:
        """Give up all blocks that are open below the outermost so many: nothing closes them."""
        while len(self._open) > depth:
            at = self._open.pop()
            self._kinds[self.found[at].kind] -= 1
            if self.found[at].defect is None:
                self._strike(at, Defect.UNCLOSED)
            if at in self._turned:  # its `else` belongs to no block either
                self._strike(self._turned[at], None)

    def _begin(self, tag: PromptTag) -> None:
        deep = len(self._open) >= DEEPEST
        self._open.append(len(self.found))
        self._kinds[tag.kind] += 1
        self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.TOO_DEEP) if deep else tag)

    def _end(self, tag: PromptTag) -> None:
        if not self._kinds[tag.kind]:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.UNOPENED))
            return
        while self.found[self._open[-1]].kind != tag.kind:
            self.close(len(self._open) - 1)
        opened = self.found[self._open.pop()]
        self._kinds[tag.kind] -= 1
        self.found.append(tag if opened.defect is None else replace(tag, role=TagRole.NONE))

    def _turn(self, tag: PromptTag) -> None:
        at = self._open[-1] if self._open else None
        if at is None or self.found[at].kind != tag.kind:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.STRAY_ELSE))
        elif at in self._turned:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.SECOND_ELSE))
        else:
            self._turned[at] = len(self.found)
            self.found.append(tag if self.found[at].defect is None else replace(tag, role=TagRole.NONE))

    def _strike(self, at: int, defect: Defect | None) -> None:
        self.found[at] = replace(self.found[at], role=TagRole.NONE, defect=defect)


def read_retry_prompt(
    text: str, file: Place, start: int, end: int
) -> tuple[tuple[BrokenBlock, ...], tuple[PromptReading, ...]]:
    """Return the tags that mean nothing in a retry prompt, a stretch of a file, and the names that the others read."""
    broken: list[BrokenBlock] = []
    found: dict[str, PromptReading] = {}
    for tag in find_tags(text[start:end]) if "{{" in text else ():
        span = (start + tag.start, start + tag.end)
        name = tag.name.partition(".")[0]
        if tag.defect is not None:
            broken.append(BrokenBlock(replace(file, range=span), text[slice(*span)], tag.defect))
        elif name and name != "this":
            reading = found.setdefault(name, PromptReading(name, replace(file, range=span)))
            found[name] = replace(reading, is_asked=reading.is_asked or (tag.role, tag.kind) == (TagRole.OPEN, "if"))
    return tuple(broken), tuple(found.values())
