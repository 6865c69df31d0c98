"""Suppressions in files, with their reasons: comments of YAML and Markdown, members of JSON objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.json import Json
from stagec.core.place import Place, Pointer
from stagec.core.value import replace, value

MEMBER = "x-stagec-ignore"
"""The member of a JSON object that suppresses findings in it."""
SIGN = b"stagec"
"""A word in every suppression."""

_SUBSCHEMAS = frozenset(
    {"$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords of schemas whose members have names that users chose: one of these may be ours."""
_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords of schemas below which everything is data."""


@value
class Suppression:
    """One rule that is not to speak, and why.

    `selector` is the rule as written. A suppression covers the members of `inside`; without it, what begins on `line`
    or, with `below`, whatever stands from there on. `flaw` says why it is none: a `comment` or a `member` of another
    form.
    """

    at: Place
    selector: str = ""
    reason: str = ""
    inside: Pointer | None = None
    line: int = 0
    below: bool = False
    flaw: str = ""

    @property
    def has_reason(self) -> bool:
        """Whether there is more than punctuation to it."""
        return any(each.isalnum() for each in self.reason)


UNUSED = "unused-suppression"
"""The rule about suppressions that are well formed and cover nothing."""


@value
class JudgedSuppression:
    """A suppression and what is wrong with it.

    `fault` is the name of the rule that speaks of it. `known` are the rules that there are, by code and name.
    """

    suppression: Suppression
    fault: str
    known: tuple[str, ...] = ()


def take_members(file: str, given: Json) -> tuple[Suppression, ...]:
    """Take the members that suppress findings out of a JSON value, and return what they say.

    A schema may describe a member of this name: names of properties and values of constants stay what they are.
    """
    found: list[Suppression] = []
    waiting: list[tuple[Pointer, Json, bool]] = [((), given, False)]
    while waiting:
        pointer, each, is_named = waiting.pop()
        if isinstance(each, list):
            waiting.extend(((*pointer, index), item, False) for index, item in enumerate(each))
        if not isinstance(each, dict):
            continue
        if MEMBER in each and not is_named:
            found.extend(_read_member(Place(file, pointer), each.pop(MEMBER)))
        inside = ((name, item) for name, item in each.items() if is_named or name not in _DATA)
        waiting.extend(((*pointer, name), item, name in _SUBSCHEMAS and not is_named) for name, item in inside)
    return tuple(found)


def _read_member(owner: Place, given: Json) -> Iterator[Suppression]:
    at = owner / MEMBER
    if not isinstance(given, dict) or not given:
        yield Suppression(at, flaw="member")
        return
    for selector, reason in given.items():
        each = Suppression(at / selector, selector, reason if isinstance(reason, str) else "", owner.pointer)
        yield replace(each, at=each.at.key) if each.has_reason else each


_COMMENT = re.compile(r"(?<![^\s])#[ \t]*(?P<text>stagec(?P<colon>[ \t]*:)?[ \t]*(?P<rest>[^\r\n]*))", re.IGNORECASE)
_MEANT = re.compile(r"ignore\b|[\w-]+[ \t]*\[[ \t]*stg\d", re.IGNORECASE)
_DIRECTIVE = re.compile(r"ignore[ \t]*\[(?P<rules>[^\[\]]*)\](?P<reason>.*)")
_RULE = re.compile(r"[^,\s](?:[^,]*[^,\s])?")


def may_have_comments(text: str) -> bool:
    """Tell whether a text has what looks like a comment about stagec, wherever in it that stands."""
    return _COMMENT.search(text) is not None


def match_comment(text: str, start: int) -> re.Match[str] | None:
    """Return the comment that begins at an offset if it is meant to suppress findings."""
    match = _COMMENT.match(text, start)
    is_meant = match is not None and _MEANT.match(match["rest"]) and (match["colon"] or "[" in match["rest"])
    return match if is_meant else None


def read_comment(match: re.Match[str], at: Place, line: int, *, below: bool = False) -> Iterator[Suppression]:
    """Yield the suppressions in a comment; `at` is its file with the offset at which the searched text begins."""
    shift = at.range[0] if at.range else 0
    directive = _DIRECTIVE.fullmatch(match["rest"]) if match["text"].startswith("stagec") and match["colon"] else None
    rules = tuple(_RULE.finditer(directive["rules"])) if directive else ()
    if directive is None or not rules:
        whole = (match.start() + shift, match.start() + len(match[0].rstrip()) + shift)
        yield Suppression(Place(at.file, range=whole), flaw="comment")
        return
    start = match.start("rest") + directive.start("rules") + shift
    for each in rules:
        here = Place(at.file, range=(start + each.start(), start + each.end()))
        yield Suppression(here, each[0], directive["reason"].strip(), line=line, below=below)
