"""Sets of characters as bits of a number: one for each of ASCII, and one that all others share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_ASCII = 128
_OTHERS = 1 << _ASCII
EVERY = (_OTHERS << 1) - 1
"""Every character."""

_ITEM = re.compile(r"\\(?:u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|.)|.", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0", "b": "\b"}


def between(low: int, high: int) -> int:
    """Return the set of the characters from one code point to another, both included."""
    mask = (1 << min(high + 1, _ASCII)) - (1 << min(low, _ASCII))
    return mask | _OTHERS if high >= _ASCII else mask


def _of(characters: Iterable[str]) -> int:
    mask = 0
    for each in characters:
        mask |= between(ord(each), ord(each))
    return mask


_DIGIT = between(ord("0"), ord("9"))
_WORD = _DIGIT | between(ord("a"), ord("z")) | between(ord("A"), ord("Z")) | _of("_")
_BLANK = _of(" \t\n\r\f\v")
_CLASSES = {
    "d": _DIGIT,
    "w": _WORD,
    "s": _BLANK | _OTHERS,
    "D": EVERY ^ _DIGIT,
    "W": EVERY ^ _WORD,
    "S": EVERY ^ _BLANK,
}
DOT = EVERY ^ _of("\n\r")
"""What a dot matches."""


@lru_cache(maxsize=1024)
def escaped(text: str) -> int:
    r"""Return what an escape such as `\d` or `\x41` matches."""
    code = _code(text)
    return _CLASSES.get(text[1], EVERY) if code is None else between(code, code)


@lru_cache(maxsize=1024)
def bracketed(text: str) -> int | None:
    """Return what a set such as `[a-z_]` matches, or nothing when a range of it runs backwards."""
    negated = text.startswith("[^")
    items = _ITEM.findall(text[2 if negated else 1 : -1])
    mask, index = 0, 0
    while index < len(items):
        low, high = _code(items[index]), _upper(items, index)
        if low is None or high is None:
            mask |= escaped(items[index]) if low is None else between(low, low)
            index += 1
            continue
        if low > high:
            return None
        mask |= between(low, high)
        index += 3
    return EVERY ^ mask if negated else mask


def _upper(items: Sequence[str], index: int) -> int | None:
    """Return the upper end of the range that an item begins, or nothing when it begins none."""
    return _code(items[index + 2]) if items[index + 1 : index + 2] == ["-"] and index + 2 < len(items) else None


def _code(item: str) -> int | None:
    """Return the code point that one item of a set stands for, or nothing when it stands for many."""
    if not item.startswith("\\"):
        return ord(item)
    letter, rest = item[1], item[2:].strip("{}")
    if letter in "ux" and rest:
        return int(rest, 16)
    if letter in _CLASSES or letter in "pPkc" or letter in "123456789":
        return None
    return ord(_CONTROLS.get(letter, letter))
