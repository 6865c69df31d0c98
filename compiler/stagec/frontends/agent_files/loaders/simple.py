"""Files that their tool reads as a whole: one JSON object, TOML, or prose, and files that it does not read at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from stagec.core.budgets import Budgets
from stagec.core.failure import Failure
from stagec.core.json import object_of
from stagec.core.place import Place, Position, Span
from stagec.core.value import replace
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.frontmatter import keep_others
from stagec.project.toml import line_of, parse
from stagec.sources.tree import Fault, Lines, Tree


def load_json(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the members of a JSON object; another value is nothing."""
    if isinstance(tree.value, dict):
        return OwnerReading(LoadOutcome.READ, tree.value, tree.faults)
    return OwnerReading(LoadOutcome.LOST, faults=tree.faults)


_REMARK = re.compile(rb'"(?:[^"\\\n]|\\.)*"|(?P<remark>//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)
_LAST_COMMA = re.compile(rb'"(?:[^"\\\n]|\\.)*"|(?P<remark>,)(?=\s*[\]}])')


def load_jsonc(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the members of a JSON object that can have remarks, and commas behind the last members."""
    data = _blank(_LAST_COMMA, _blank(_REMARK, tree.data))
    parsed = tree.format.parse(tree.file, data, budgets)
    format_ = replace(tree.format, suffixes=(), locate=lambda _, places: tree.format.locate(data, places))
    outcome = LoadOutcome.READ if isinstance(parsed.value, dict) else LoadOutcome.LOST
    return OwnerReading(outcome, object_of(parsed.value), parsed.faults, format=format_)


def _blank(pattern: re.Pattern[bytes], data: bytes) -> bytes:
    """Return a text with blanks in place of what a pattern finds as a remark, of the same length."""
    return pattern.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]) if found["remark"] else found[0], data)


def load_prose(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return nothing of Markdown without frontmatter: all of it is text."""
    return OwnerReading(LoadOutcome.ABSENT, faults=keep_others(tree))


def load_unread(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return what a file says that its tool does not read, without saying anything of its mistakes."""
    return OwnerReading(LoadOutcome.ABSENT, object_of(tree.value))


_LINE = re.compile(r".*?:(?P<line>\d+): (?P<what>.*)", re.DOTALL)


def load_toml(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the tables of a TOML file; one that is no TOML is lost."""
    text = tree.data.decode(errors="replace")
    format_ = replace(tree.format, suffixes=(), locate=partial(_locate_lines, text))
    try:
        return OwnerReading(LoadOutcome.READ, parse(tree.file, text), tree.faults, format=format_)
    except Failure as failure:
        told = _LINE.fullmatch(str(failure))
        lines = text.splitlines(keepends=True) or [""]
        number = min(int(told["line"]), len(lines)) - 1 if told else 0
        start = len("".join(lines[:number]))
        at = Place(tree.file, range=(start, start + len(lines[number].rstrip("\r\n"))))
        fault = Fault("unstartable-configuration", at, facts={"what": told["what"] if told else str(failure)})
        return OwnerReading(LoadOutcome.LOST, faults=(*tree.faults, fault), format=format_)


def _locate_lines(text: str, _data: bytes, given: Iterable[Place]) -> Mapping[Place, Span]:
    """Return the whole line of each key, and stretches as they are."""
    lines, places = text.split("\n"), tuple(given)
    found: dict[Place, Span] = {place: Lines(text).span(*place.range) for place in places if place.range}
    for place in (each for each in places if not each.range):
        number = line_of(text, tuple(map(str, place.pointer)))
        found[place] = Span(Position(number, 1), Position(number, len(lines[number - 1]) + 1))
    return found
