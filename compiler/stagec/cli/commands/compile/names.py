"""The names of the files that plans are written to."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

SUFFIX = ".plan.json"
_REFUSED = frozenset('/\\:*?"<>|')
"""What some file system takes for something else than a part of a name."""
_MOST = 100
"""Bytes of a name before its suffix; file systems allow 255 in all."""


def file_names(ids: Iterable[str]) -> tuple[str, ...]:
    """Return a file name for each id, all different on every file system: a second `a` becomes `a-2.plan.json`."""
    taken: set[str] = set()
    last: dict[str, int] = {}
    return tuple(f"{_free(_safe(each), taken, last)}{SUFFIX}" for each in ids)


def _safe(name: str) -> str:
    kept = "".join("_" if each in _REFUSED or not each.isprintable() else each for each in name)
    bare = kept.strip(" ")
    return _cut(f"_{bare[1:]}" if bare.startswith(".") else bare, _MOST) or "flow"


def _free(name: str, taken: set[str], last: dict[str, int]) -> str:
    """Return a name, numbered if it is taken, and remember it as taken."""
    chosen, number = name, last.get(_folded(name), 1)
    while _folded(chosen) in taken:
        number += 1
        chosen = f"{_cut(name, _MOST - len(f'-{number}'))}-{number}"
    last[_folded(name)] = number
    taken.add(_folded(chosen))
    return chosen


def _folded(name: str) -> str:
    """Return what file systems compare that know no case, and write accents as they like."""
    return normalize("NFKC", name).casefold()


def _cut(name: str, most: int) -> str:
    return name.encode()[:most].decode(errors="ignore").strip(" ")
