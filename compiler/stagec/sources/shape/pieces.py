"""What a stretch of a regular expression can match, as far as the question needs whether two stretches compete."""

from __future__ import annotations

from collections.abc import Sequence

from stagec.core.value import value
from stagec.sources.shape.characters import EVERY

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


NOTHING = Piece()
ANYTHING = Piece(EVERY, empty=True, fixed=False)
"""What is not looked into: a reference back to a group."""


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
        if any(_alike(branch, other, first) for other in earlier[:left]):
            return True
        left = max(left - len(earlier), 0)
        seen |= branch.first
    return False


def _alike(one: Piece, other: Piece, first: int) -> bool:
    short, long = sorted((one, other), key=lambda piece: len(piece.word))
    if not all(a & b for a, b in zip(short.word, long.word, strict=False)):
        return False
    if not (short.fixed and long.fixed) or len(short.word) == len(long.word):
        return bool(short.first & long.first)
    return bool(long.word[len(short.word)] & first)
