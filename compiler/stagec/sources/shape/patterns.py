"""Regular expressions of users, read from left to right and never run: is one well formed, and can it explode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache

from stagec.core.value import value

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
"""The characters that a dot matches."""


@lru_cache(maxsize=1024)
def read_escape(text: str) -> int:
    r"""Return the characters that an escape such as `\d` or `\x41` matches."""
    code = _code(text)
    return _CLASSES.get(text[1], EVERY) if code is None else between(code, code)


@lru_cache(maxsize=1024)
def read_brackets(text: str) -> int | None:
    """Return the characters that a set such as `[a-z_]` matches, or None when a range of it runs backwards."""
    negated = text.startswith("[^")
    items = _ITEM.findall(text[2 if negated else 1 : -1])
    mask, index = 0, 0
    while index < len(items):
        # the upper end of the range that an item begins, or nothing when it begins none
        upper = _code(items[index + 2]) if items[index + 1 : index + 2] == ["-"] and index + 2 < len(items) else None
        low, high = _code(items[index]), upper
        if low is None or high is None:
            mask |= read_escape(items[index]) if low is None else between(low, low)
            index += 1
            continue
        if low > high:
            return None
        mask |= between(low, high)
        index += 3
    return EVERY ^ mask if negated else mask


def _code(item: str) -> int | None:
    """Return the code point that one item of a set stands for, or None if it stands for many."""
    if not item.startswith("\\"):
        return ord(item)
    letter, rest = item[1], item[2:].strip("{}")
    if letter in "ux" and rest:
        return int(rest, 16)
    if letter in _CLASSES or letter in "pPkc" or letter in "123456789":
        return None
    return ord(_CONTROLS.get(letter, letter))


WORD = 8
"""How many characters of a piece's beginning are looked at."""
_MANY = 10
"""A group that may be repeated more often than this is as bad as one without a limit."""
_COMPARISONS = 64


@value
class Piece:
    """A stretch of a pattern: which characters it can begin with, and whether it can be empty.

    `more` are the characters with which it may go on where it could also end. `word` are the sets of characters of
    its beginning, one for each character, all of them when it is `fixed`. `clash` tells that it can match one text in
    several ways, which is harmless once and exponential when repeated.
    """

    first: int = 0
    empty: bool = True
    more: int = 0
    word: tuple[int, ...] = ()
    fixed: bool = True
    clash: bool = False

    def is_alike(self, other: Piece, first: int) -> bool:
        """Tell whether one text can be both, before a character of `first`."""
        short, long = sorted((self, other), key=lambda piece: len(piece.word))
        if not all(a & b for a, b in zip(short.word, long.word, strict=False)):
            return False
        if not (short.fixed and long.fixed) or len(short.word) == len(long.word):
            return bool(short.first & long.first)
        return bool(long.word[len(short.word)] & first)


NOTHING = Piece()
ANYTHING = Piece(EVERY, empty=True, fixed=False)
"""A part that is not examined: a reference back to a group."""


def single(mask: int) -> Piece:
    """Return the piece that matches one character of a set."""
    return Piece(mask, empty=False, word=(mask,))


def run(masks: Sequence[int], length: int) -> Piece:
    """Return the piece that matches so many characters, of which the first few are given."""
    return Piece(masks[0], empty=False, word=tuple(masks), fixed=length == len(masks))


def join(left: Piece, right: Piece) -> Piece:
    """Return one piece after the other."""
    word = (left.word + right.word)[:WORD] if left.fixed else left.word
    return Piece(
        left.first | right.first if left.empty else left.first,
        left.empty and right.empty,
        left.more | right.more if right.empty else right.more,
        word,
        left.fixed and right.fixed and len(word) < WORD,
        left.clash or right.clash or bool(left.more & right.first),
    )


def either(branches: Sequence[Piece]) -> Piece:
    """Return the choice between pieces."""
    if len(branches) == 1:
        return branches[0]
    first = more = 0
    for branch in branches:
        first |= branch.first
        more |= branch.more
    empty = any(branch.empty for branch in branches)
    clash = any(branch.clash for branch in branches) or _compete(branches, first)
    return Piece(first, empty, more, () if empty else (first,), fixed=False, clash=clash)


def repeat(piece: Piece, low: int, high: int | None) -> Piece:
    """Return a piece repeated from `low` to `high` times, `None` being without limit."""
    empty = piece.empty or low == 0
    exact = low == high
    return Piece(
        piece.first,
        empty,
        piece.more if exact else piece.more | piece.first,
        () if empty else (piece.first,),
        fixed=False,
        clash=piece.clash or (high != 1 and _again(piece)),
    )


def explodes(piece: Piece, high: int | None) -> bool:
    """Tell whether repeating a piece that often can take exponential time on a backtracking engine."""
    return (high is None or high > _MANY) and (piece.clash or _again(piece))


def _again(piece: Piece) -> bool:
    return bool(piece.more & piece.first)


def _compete(branches: Sequence[Piece], first: int) -> bool:
    """Tell whether two branches can match the same text; after a fixed number of comparisons they are let off."""
    seen, left = 0, _COMPARISONS
    for index, branch in enumerate(branches):
        earlier = branches[:index] if branch.first & seen else ()
        if any(branch.is_alike(other, first) for other in earlier[:left]):
            return True
        left = max(left - len(earlier), 0)
        seen |= branch.first
    return False


class PatternTrouble(StrEnum):
    """The mistakes in a regular expression."""

    SYNTAX = "pattern"
    ENGINE = "engine"
    LONG = "long"
    NESTED = "nested"
    SIZE = "size"
    TOTAL = "total"


_TOKEN = re.compile(
    r"""(?P<zero>\\[bB]|[\^$])
    | (?P<escape>\\(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k<[^>]*>|[^bB]))
    | (?P<set>\[\^?(?:\\.|[^\]\\])*\])
    | (?P<open>\((?:\?(?:<?[=!]|:|>|P?<[A-Za-z_$][\w$]*>|[a-z-]+:))?)
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<repeat>(?:[*+?]|\{(?P<low>\d+)(?P<to>,(?P<high>\d*))?\})[?+]?)
    | (?P<dot>\.)
    | (?P<run>[A-Za-z0-9 _/:@#-]{2,}(?![*+?{]))
    | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_LIMITS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")


def trouble(pattern: str, longest: int) -> PatternTrouble | None:
    """Return the mistake in a pattern, or None; the time is linear in its length."""
    if len(pattern) > longest:
        return PatternTrouble.LONG
    return _Reading().of(pattern)


class _Group:
    """A group while it is read: the branches behind it, and the one being read with its last piece apart."""

    def __init__(self, opened: str) -> None:
        self.looks = opened in _LOOKS
        self.branches: list[Piece] = []
        self.sequence = NOTHING
        self.last: Piece | None = None

    def add(self, piece: Piece | None) -> None:
        """Append a piece that a repetition may follow, or nothing when none may."""
        if self.last is not None:
            self.sequence = join(self.sequence, self.last)
        self.last = piece

    def branch(self) -> None:
        """Begin the next branch."""
        self.add(None)
        self.branches.append(self.sequence)
        self.sequence = NOTHING

    def whole(self) -> Piece:
        """Return the group as one piece; looking around matches nothing."""
        self.branch()
        return NOTHING if self.looks else either(self.branches)


class _Reading:
    """One pattern being read."""

    def __init__(self) -> None:
        self.groups = [_Group("")]
        self.nested = False

    def of(self, pattern: str) -> PatternTrouble | None:
        """Return the mistake in the pattern."""
        sound = all(self._token(match) for match in _TOKEN.finditer(pattern))
        if not sound or len(self.groups) > 1:
            return PatternTrouble.SYNTAX
        return PatternTrouble.NESTED if self.nested else None

    def _token(self, match: re.Match[str]) -> bool:
        """Take one token; false when it cannot stand where it does."""
        group, text = self.groups[-1], match.group()
        kind = match.lastgroup or ""
        if kind == "open":
            self.groups.append(_Group(text))
        elif kind == "close":
            return self._close()
        elif kind == "bar":
            group.branch()
        elif kind == "repeat":
            return self._repeat(group, match)
        else:
            piece = _piece(kind, text)
            group.add(piece)
            return kind == "zero" or piece is not None
        return True

    def _close(self) -> bool:
        if len(self.groups) == 1:
            return False
        piece = self.groups.pop().whole()
        self.groups[-1].add(piece)
        return True

    def _repeat(self, group: _Group, match: re.Match[str]) -> bool:
        if match["low"] is None:
            low, high = _LIMITS[match.group()[0]]
        else:
            bottom = int(match["low"])
            low, high = bottom, bottom if match["to"] is None else int(match["high"]) if match["high"] else None
        piece = group.last
        if piece is None or (high is not None and high < low):
            return False
        self.nested = self.nested or explodes(piece, high)
        group.last = repeat(piece, low, high)
        group.add(None)
        return True


def _piece(kind: str, text: str) -> Piece | None:
    """Return the piece that one token matches, or None when it matches no character or cannot stand there."""
    if kind == "dot":
        return single(DOT)
    if kind == "run":
        return run([between(ord(each), ord(each)) for each in text[:WORD]], len(text))
    if kind == "set":
        mask = read_brackets(text)
        return None if mask is None else single(mask)
    if kind == "escape":
        return ANYTHING if text[1] in "123456789k" else single(read_escape(text))
    return None if kind == "zero" or text in "[\\" else single(between(ord(text), ord(text)))
