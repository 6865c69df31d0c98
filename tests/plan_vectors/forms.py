"""Hold a payload against the tables of the page: which members each object has, and of which form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "plan-format.md"
_MOST = 2**53 - 1
_LINK = re.compile(r"\[(\w+)\]\(#\w+\)")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CALLABLE = re.compile(r"[^:]+:[^:]+")
_WORDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "whole number": lambda value: type(value) is int and 0 <= value <= _MOST,
    "positive whole number": lambda value: type(value) is int and 0 < value <= _MOST,
    "anything": lambda _: True,
    "digest": lambda value: isinstance(value, str) and _DIGEST.fullmatch(value) is not None,
    "callable": lambda value: isinstance(value, str) and _CALLABLE.fullmatch(value) is not None,
    "path": lambda value: isinstance(value, list) and all(map(_is_part, value)),
}

_NON_EMPTY, _LIST, _OBJECT = "non-empty ", "list of ", "object of "


def _is_part(part: Any) -> bool:
    return isinstance(part, str) or _WORDS["whole number"](part)


Found = tuple[str, str, Any]
"""Where in the plan something stands, the name of its table or its form, and the value."""


def misshapen(plan: Any) -> Iterator[str]:
    """Yield a sentence for each member that the page does not name, that is missing or has another form."""
    for where, name, value in _walk("[Plan](#plan)", plan, "plan"):
        if name not in tables():
            if not _simple(name, value):
                yield f"{where} is not {name}"
        else:
            yield from (f"{where}.{member} is not known" for member in value if member not in tables()[name])
            lacking = (member for member, form in tables()[name].items() if form == _bare(form) and member not in value)
            yield from (f"{where}.{member} is missing" for member in lacking)


def objects(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a plan of the right form, with the name of its table."""
    return ((name, value) for _, name, value in _walk("[Plan](#plan)", plan, "plan") if name in tables())


@cache
def tables() -> dict[str, dict[str, str]]:
    """Return the form of every member of every object, as the page writes it."""
    text = PAGE.read_text(encoding="utf-8")
    text = text.partition("<!-- members: begin -->")[2].partition("<!-- members: end -->")[0]
    sections = (section.partition("\n") for section in text.split("\n#### ")[1:])
    return {name.strip(): dict(_rows(body)) for name, _, body in sections}


def _rows(body: str) -> Iterator[tuple[str, str]]:
    for line in body.splitlines():
        if line.startswith("| `"):
            member, form, _ = line.strip("| ").split(" | ", 2)
            yield member.strip().strip("`"), form.strip()


def _bare(form: str) -> str:
    """Return a form without what makes it optional."""
    return form.partition(", ")[0]


def _walk(form: str, value: Any, where: str) -> Iterator[Found]:
    """Yield what stands at a place and below it; of what has another form, the form and the value."""
    group = form.removeprefix(_NON_EMPTY) if value else form
    if group.startswith(_LIST) and isinstance(value, list):
        for index, each in enumerate(value):
            yield from _walk(group.removeprefix(_LIST), each, f"{where}.{index}")
    elif group.startswith(_OBJECT) and isinstance(value, dict):
        for name, each in value.items():
            yield from _walk(group.removeprefix(_OBJECT), each, f"{where}.{name}")
    elif (name := _table(form, value)) is not None:
        yield where, name, value
        yield from _members(tables()[name], value, where)
    else:
        yield where, form, value


def _members(table: dict[str, str], value: dict[str, Any], where: str) -> Iterator[Found]:
    for member, form in table.items():
        if member in value:
            yield from _walk(_bare(form), value[member], f"{where}.{member}")


def _table(form: str, value: Any) -> str | None:
    """Return the table of an object of one kind, or of one of several, which their member `is` tells apart."""
    names = [] if form.startswith((_NON_EMPTY, _LIST, _OBJECT)) else _LINK.findall(form)
    kinds = {tables()[name].get("is", "").strip("`"): name for name in names}
    kind = value.get("is", "") if isinstance(value, dict) else None
    return kinds.get(kind) if isinstance(kind, str) else None


def _simple(form: str, value: Any) -> bool:
    """Say whether a value has one of several simple forms: a constant, or one that has a word."""
    constants, words = zip(*((word.strip("`"), word) for word in form.split(" or ")), strict=True)
    return value in constants if form.startswith("`") else any(word in _WORDS and _WORDS[word](value) for word in words)
