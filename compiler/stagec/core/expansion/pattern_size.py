"""How large a regular expression becomes when it is compiled: repetitions multiply, and classes are large."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.core.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PATTERN_COST = 10_000
"""Steps that trying a pattern against one text counts for: engines that try are stopped after about so long."""

_TOKEN = re.compile(
    r"""(?P<escape>\\(?:[pP](?:\{[^}]*\}|.)|u\{[0-9A-Fa-f]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.))
    | (?P<set>\[)
    | (?P<open>\((?:\?(?:<?[=!]|<[^>]*>|P<[^>]*>|[A-Za-z-]*:|>)?)?)
    | (?P<close>\))
    | (?P<repeat>(?:[*+?]|\{\d*(?:,\d*)?\})[?+]?)
    | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_TRYING = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9k]|\((?:\?<?[=!]|\?>)|[*+?}]\+)")
_COUNT = re.compile(r"\d+")
_BRACKET = re.compile(r"\\.|\[\^?\]?|\]", re.DOTALL)
_CLASS = re.compile(r"\\[pP]")
_MANY = re.compile(r"[^\x00-\x7f]|\^|\\[DSWsux]")
"""Syntax that makes a set larger than its text."""

_PATTERN = 100
_UNICODE = 800
"""A class of Unicode, in units of about a microsecond and a hundred bytes."""
_WIDE = 25
"""The weight of sets that exclude characters, or name some beyond ASCII."""
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
    return _total(pattern, _PATTERN, _size)


@value
class Texts:
    """How many texts there are, how many characters they have, and the sum of the squares of their lengths."""

    count: int
    characters: int
    squares: int


def texts_of(texts: Iterable[str]) -> Texts:
    """Return how many texts there are, and how long they are."""
    lengths = [len(each) for each in texts]
    return Texts(len(lengths), sum(lengths), sum(each * each for each in lengths))


def pattern_steps(pattern: str, texts: Texts) -> int:
    """Return about how many steps of some 50 nanoseconds judging texts by a pattern takes at most.

    An automaton may be in every one of its states at each character. An engine that tries may run such automata from
    each character on; it counts what it tries, and not what they read.
    """
    states = _total(pattern, 0, lambda _: 1)
    if not backtracks(pattern):
        return texts.count + texts.characters * (states + 2) // 8
    return PATTERN_COST * texts.count + texts.squares * (states + 16) // 512


def _total(pattern: str, least: int, size: Callable[[str], int]) -> int:
    outer: list[tuple[int, int]] = []
    total, last = least, 0
    # the kinds and texts of the tokens of a pattern
    at = 0
    while match := _TOKEN.match(pattern, at):
        end = _end_of_set(pattern, at) if match.lastgroup == "set" else match.end()
        kind, text = match.lastgroup, pattern[at:end]
        if kind == "open":
            outer.append((total, last))
            total, last = 1, 0
        elif kind == "close" and outer:
            inside = total + last
            total, before = outer.pop()
            total, last = total + before, inside
        elif kind == "repeat":
            counts = [int(each) if len(each) < _DIGITS else _HUGE for each in _COUNT.findall(text)]
            last = min(_HUGE, last * (max(counts, default=1) or 1) + 1)
        else:
            total, last = total + last, size(text)
        at = end
    return min(_HUGE, total + last + sum(first + second for first, second in outer))


def _end_of_set(pattern: str, start: int) -> int:
    """Return the end of a set; engines read a bracket in a set as a set of its own."""
    depth = 0
    for match in _BRACKET.finditer(pattern, start):
        depth += {"[": 1, "]": -1}.get(match.group()[0], 0)
        if depth == 0:
            return match.end()
    return len(pattern)


def _size(text: str) -> int:
    """Return the size of what matches one character."""
    if text[0] == "[":
        classes = sum(1 for _ in _CLASS.finditer(text))
        return 1 + _UNICODE * classes + len(text) * (_WIDE if _MANY.search(text) else 1)
    if text[0] == "\\" and len(text) > 1:
        return _UNICODE if text[1] in "pP" else _WIDE if text[1] in "DSWsu" else 1
    return _WIDE if text == "." else 1
