"""How large a regular expression becomes when it is compiled: repetitions multiply, and classes are large."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets

PATTERN_COST = 10_000
"""Steps that trying a pattern against one text counts for: engines that try are stopped after about so long."""

_TOKEN = re.compile(
    r"""(?P<property>\\[pP](?:\{[^}]*\}|.))
    | (?P<escape>\\(?:u\{[0-9A-Fa-f]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.))
    | (?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<open>\((?:\?(?:<?[=!]|<[^>]*>|P<[^>]*>|[A-Za-z-]*:|>)?)?)
    | (?P<close>\))
    | (?P<repeat>(?:[*+?]|\{(?P<low>\d*)(?P<to>,(?P<high>\d*))?\})[?+]?)
    | (?P<dot>\.)
    | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_TRYING = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9k]|\((?:\?<?[=!]|\?>)|[*+?}]\+)")
_CLASS = re.compile(r"\\[pP]")

_PATTERN = 100
_UNICODE = 800
"""A class of Unicode, in units of about a microsecond and a hundred bytes."""
_WIDE = 25
"""What excludes characters, and what names some beyond ASCII."""
_HUGE = 1 << 60
_DIGITS = 9


class PatternTally:
    """Patterns that are to be compiled for one project or plan, each counted once."""

    def __init__(self, budgets: Budgets) -> None:
        self._most = budgets.pattern_size
        self._left = budgets.patterns
        self._known: dict[str, str] = {}

    def excess(self, pattern: str) -> str:
        """Return `size` for a pattern that is too large to compile, `total` for one too many, else an empty text."""
        if pattern not in self._known:
            size = pattern_size(pattern)
            self._left -= size if size <= self._most else 0
            self._known[pattern] = "size" if size > self._most else "total" if self._left < 0 else ""
        return self._known[pattern]


def backtracks(pattern: str) -> bool:
    """Tell whether an engine can only judge a pattern by trying: it looks around, or back at what it has found."""
    return _TRYING.search(pattern) is not None


def pattern_size(pattern: str) -> int:
    """Return about how many microseconds compiling a pattern takes; linear in its length, whatever is in it."""
    outer: list[tuple[int, int]] = []
    total, last = _PATTERN, 0
    for match in _TOKEN.finditer(pattern):
        kind = match.lastgroup
        if kind == "open":
            outer.append((total, last))
            total, last = 1, 0
        elif kind == "close" and outer:
            inside = total + last
            total, before = outer.pop()
            total, last = total + before, inside
        elif kind == "repeat":
            last = min(_HUGE, last * _times(match) + 1)
        else:
            total, last = total + last, _size(kind, match.group())
    return min(_HUGE, total + last + sum(first + second for first, second in outer))


def _times(match: re.Match[str]) -> int:
    counts = [each for each in (match["low"], match["high"]) if each]
    return max((int(each) if len(each) < _DIGITS else _HUGE for each in counts), default=1) or 1


def _size(kind: str | None, text: str) -> int:
    if kind == "property":
        return _UNICODE
    if kind == "set":
        return (
            1
            + _UNICODE * (_CLASS.search(text) is not None)
            + (len(text) if text.isascii() and text[1] != "^" else _WIDE * len(text))
        )
    if kind == "escape":
        return _WIDE if text[1] in "DSWsu" else 1
    return _WIDE if kind == "dot" else 1
