"""Imports in `CLAUDE.md`: `@path` in prose, outside of code, and the file of the project that each means."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect
from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.value import value

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_INDENTED = re.compile(r"^(?:\t| {4})[^\n]*", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMPORT = re.compile(r"(?<!\S)@(?P<path>(?:[^\s\\]|\\ )+)")
_TRAILING = ".,;:!?)]}'\""
_NAMED = re.compile(
    r"(?:\.\.?/)+[\w./-]+\.\w+|[\w.][\w./-]*\.(?:md|mdc|markdown|txt)|[\w-]+\.(?:json|ya?ml|toml)", re.ASCII
)
"""What is certainly meant as a file: other words behind an `@` are handles, packages and decorators."""


@value
class MemoryImport:
    """One import: the path as written, without `@`, and where."""

    path: str
    at: Place


def list_memory_imports(text: str, file: str) -> Iterator[MemoryImport]:
    """Yield the imports of a text that are certainly paths of files."""
    prose = _COMMENT.sub(_blank, blank_spans(_INDENTED.sub(_blank, blank_fences(text))))
    for found in _IMPORT.finditer(prose):
        path = found["path"].rstrip(_TRAILING)
        if _NAMED.fullmatch(path):
            start = found.start("path")
            yield MemoryImport(path, Place(file, range=(start - 1, start + len(path))))


def resolve_memory_import(path: str, file: str) -> str | None:
    """Return the file of the project that an import means; nothing for one that lies outside."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    return None if found.startswith(("../", "/")) else found


def blank_fences(text: str) -> str:
    """Return a text with blanks in place of its fenced blocks of code, of the same length."""
    kept, position = [], 0
    while (opening := _FENCE.search(text, position)) is not None:
        mark = opening["mark"]
        closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        stop = len(text) if end is None else end.end()
        kept += [text[position : opening.start()], " " * (stop - opening.start())]
        position = stop
    return "".join((*kept, text[position:]))


def blank_spans(text: str) -> str:
    """Return a text with blanks in place of what stands between equal runs of backticks in one paragraph."""
    ends = [found.start() for found in _PARAGRAPH.finditer(text)]
    runs = list(_TICKS.finditer(text))
    closing: dict[tuple[int, int], list[int]] = {}
    numbered = [(bisect(ends, run.start()), len(run[0])) for run in runs]
    for index, key in enumerate(numbered):
        closing.setdefault(key, []).append(index)
    kept, position, index = [], 0, 0
    while index < len(runs):
        later = closing[numbered[index]]
        rank = bisect(later, index)
        if rank < len(later):
            start, index = runs[index].start(), later[rank]
            kept += [text[position:start], " " * (runs[index].end() - start)]
            position = runs[index].end()
        index += 1
    return "".join((*kept, text[position:]))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
