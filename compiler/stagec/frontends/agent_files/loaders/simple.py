"""Files that their tool reads as a whole: one JSON object, TOML, or prose, and files that it does not read at all."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial

from stagec.core.budgets import Budgets
from stagec.core.json import Json, object_of
from stagec.core.place import START, Place, Span
from stagec.core.value import replace
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.frontmatter import keep_others
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


_UNREADABLE = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)")
_TABLE = re.compile(r"^[ \t]*\[\[?(?P<path>[^\]\n]+)\]\]?", re.MULTILINE)
_KEY = re.compile(
    r"""^[ \t]*(?P<key>[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=[ \t]*(?P<value>[^\n]*?)[ \t\r]*$""", re.MULTILINE
)


def load_toml(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the tables of a TOML file; one that is no TOML is lost."""
    text = tree.data.decode(errors="replace")
    format_ = replace(tree.format, suffixes=(), locate=partial(_locate, _list_members(text)))
    try:
        return OwnerReading(LoadOutcome.READ, tomllib.loads(text), tree.faults, format=format_)
    except tomllib.TOMLDecodeError as error:
        found = _UNREADABLE.fullmatch(str(error))
        line = int(found["line"]) - 1 if found else text.count("\n")
        start = sum(len(each) for each in text.splitlines(keepends=True)[:line])
        at = Place(tree.file, range=(start, start + len((text[start:].splitlines() or [""])[0])))
        fault = Fault("unstartable-configuration", at, facts={"what": found["what"] if found else str(error)})
        return OwnerReading(LoadOutcome.LOST, faults=(*tree.faults, fault), format=format_)


def _list_members(text: str) -> Mapping[tuple[str, ...], tuple[int, int]]:
    """Return where the values of keys are that stand on a line of their own, by the path of each."""
    tables = [((), 0), *((_split(each["path"]), each.start("path")) for each in _TABLE.finditer(text))]
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for index, (path, start) in enumerate(tables):
        end = tables[index + 1][1] if index + 1 < len(tables) else len(text)
        found.setdefault(path, (start, start + len(".".join(path))))
        for each in _KEY.finditer(text, start, end):
            found.setdefault((*path, each["key"].strip("\"'")), each.span("value"))
    return found


def _split(path: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"""[^."'\s]+|"[^"]*"|'[^']*'""", path))


def _locate(
    members: Mapping[tuple[str, ...], tuple[int, int]], data: bytes, places: Iterable[Place]
) -> Mapping[Place, Span]:
    lines = Lines(data.decode(errors="replace"))
    found: dict[Place, Span] = {}
    for place in places:
        path: tuple[Json, ...] = tuple(place.pointer)
        while path and path not in members:
            path = path[:-1]
        where = place.range or members.get(tuple(map(str, path)))
        found[place] = lines.span(*where) if where and (place.range or path) else START
    return found
