"""Read TOML, with the line of each key, which the standard library does not tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from stagec.core.expansion import extent
from stagec.core.failure import Failure

_WHERE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
_NAME = re.compile(r"""\s*(?:"(?P<basic>(?:[^"\\]|\\.)*)"|'(?P<literal>[^']*)'|(?P<bare>[A-Za-z0-9_-]+))\s*""")
_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){60}""", re.ASCII)
"""A key of so many parts; the time the standard library takes for it grows with the square of their number."""
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)

_DEEPEST = 64
"""Tables and arrays inside each other; what is done with them recurses."""


def parse(file: str, text: str) -> dict[str, Any]:
    """Return a document, or raise `Failure` with the line of the mistake."""
    from tomllib import loads  # most projects have no configuration

    deep = Failure(f"{file}: nested too deeply")
    if _DEEP.search(text):
        raise deep
    try:
        found = loads(text)
    except RecursionError:
        raise deep from None
    except ValueError as error:
        message = str(error)
        where = _WHERE.search(message)
        line = where["line"] if where and where["line"] else text.count("\n") + 1 if where else 1
        said = _WHERE.sub("", message)
        conflict = "; a merge conflict?" if _CONFLICT.search(text) else ""
        raise Failure(f"{file}:{line}: {said[:1].lower()}{said[1:]}{conflict}") from None
    if extent(found, len(text)).depth > _DEEPEST:
        raise deep
    return found


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the line on which a key, or the nearest table around it, is written; line 1 when none is."""
    lines = _list_lines(text)
    around = (path[:size] for size in range(len(path), 0, -1))
    return next((lines[each] for each in around if each in lines), 1)


@lru_cache(maxsize=1)
def _list_lines(text: str) -> Mapping[tuple[str, ...], int]:
    """Return the first line of each key and table; somebody asks for the lines of many keys of one text."""
    table: tuple[str, ...] = ()
    found: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        head = line.lstrip()
        opens = head.startswith("[")
        names = _names(head.lstrip("["), "]" if opens else "=")
        here = names if opens else (*table, *names)
        table = here if opens and names else table
        if names:
            found.setdefault(here, number)
    return found


def _names(text: str, end: str) -> tuple[str, ...]:
    """Return the parts of a dotted key that is followed by `end`, or nothing when there is none."""
    names: list[str] = []
    at = 0
    while match := _NAME.match(text, at):
        names.append(next(group for group in match.groups() if group is not None))
        at = match.end()
        if text[at : at + 1] == end:
            return tuple(names)
        if text[at : at + 1] != ".":
            break
        at += 1
    return ()
