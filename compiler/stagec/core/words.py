"""How messages name things: quoted, escaped, and never so long that the sentence drowns."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

_LONGEST = 80
_MOST = 8
_DIGITS = 12


def quote(text: object) -> str:
    """Return a user's text in quotes, with control characters escaped and the middle of a long one left out."""
    whole = str(text)
    shown = whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST // 2]}…{whole[-_LONGEST // 4 :]}"
    return repr(shown)


def listing(names: Collection[object], last: str = "and") -> str:
    """Return `'a', 'b' and 'c'`, and how many more there are when there are many."""
    quoted = [quote(name) for name in islice(names, _MOST)]
    if len(names) > _MOST:
        quoted.append(f"{len(names) - _MOST} more")
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def format_count(number: int, noun: str) -> str:
    """Return `1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shorten_digest(digest: str) -> str:
    """Return a digest such as `sha256:…` with its first twelve digits, enough to tell a few apart."""
    kind, _, digits = digest.rpartition(":")
    return f"{kind}:{digits[:_DIGITS]}" if kind else digits[:_DIGITS]
