"""Regular expressions of users, read from left to right and never run: is one well formed, and can it explode."""

from __future__ import annotations

import re
from enum import StrEnum

from stagec.sources.shape.pieces import (
    ANYTHING,
    DOT,
    NOTHING,
    WORD,
    Piece,
    between,
    either,
    explodes,
    join,
    read_brackets,
    read_escape,
    repeat,
    run,
    single,
)


class PatternTrouble(StrEnum):
    """What is wrong with a regular expression."""

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
    """Return what is wrong with a pattern, or nothing; the time is linear in its length."""
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
        """Return what is wrong with the pattern."""
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
    """Return what one token matches, or nothing when it matches no character or cannot stand there."""
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
