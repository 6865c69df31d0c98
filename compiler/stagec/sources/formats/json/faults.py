"""Collect the faults of one text, and report no mistake twice."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.place import Part, Place, Pointer
from stagec.core.value import NOTHING, replace
from stagec.sources.tree import Fault

_MOST = 1_000
"""Faults of one file that are kept; nobody reads more, and a hostile file could have a million."""


_QUOTES = frozenset({"single-quotes", "smart-quotes"})
_COMMAS = frozenset({"extra-comma", "missing-comma", "trailing-comma"})
"""Structural faults behind which everything is where it should be."""


class Faults:
    """The faults found so far in one text.

    `broken` tells whether the text is no JSON, `hopeless` whether so much is wrong that reading on helps nobody. Set
    `doubtful` once the nesting of what follows is guesswork.
    """

    def __init__(self, file: str, text: str) -> None:
        self.found: list[Fault] = []
        self.broken = False
        self.doubtful = False
        self._file = file
        self._text = text
        self._last: int | None = None
        self._crooked: int | None = None
        self._tried = 0
        self._quoted: dict[str, int] = {}

    @property
    def hopeless(self) -> bool:
        """Whether more syntax faults were seen than anybody reads."""
        return self._tried >= _MOST

    @property
    def full(self) -> bool:
        """Whether further faults are dropped."""
        return len(self.found) >= _MOST

    def token(self, reason: str, start: int, end: int, facts: Mapping[str, object] = NOTHING) -> None:
        """Report a fault inside one token, which says nothing about its neighbours.

        A text whose strings stand in other quotes has one mistake: the first of them, which knows how many follow.
        """
        first = self._quoted.get(reason) if reason in _QUOTES else None
        if first is None:
            self._quoted[reason] = len(self.found)
            self._syntax(reason, (start, end), facts, None)
            return
        fault = self.found[first]
        self.found[first] = replace(fault, facts={**fault.facts, "more": int(str(fault.facts.get("more", 0))) + 1})
        self._last = end

    def leave_open(self, start: int) -> None:
        """Report a string without an end, unless a fault on its line tells it; brackets may lie inside the string."""
        if not self._same_line(self._last, start):
            self._syntax("unclosed-string", (start, start + 1), NOTHING, None)
        self.broken = self.doubtful = True

    def word(self, reason: str, start: int, end: int, facts: Mapping[str, object] = NOTHING) -> None:
        """Report a token of no known kind, unless it only continues the last fault or follows a misplaced token."""
        is_fresh = self._last is None or self._text[self._last : start].strip(" \t") or self._last == start
        if is_fresh and not self._same_line(self._crooked, start):
            self._syntax(reason, (start, end), facts, None)
        self._tried += 1
        self._last = end

    def structure(
        self,
        reason: str,
        where: tuple[int, int],
        facts: Mapping[str, object] = NOTHING,
        *,
        opened: int | None = None,
        noticed: int = 0,
    ) -> None:
        """Report a token at the wrong place, unless a fault on the same line is the likely cause.

        `opened` is where the bracket stands that the fault is about, `noticed` the token that told, if it came later.
        """
        if not self.doubtful and not self._same_line(self._last, max(noticed, where[0])):
            self._syntax(reason, where, facts, opened)
        self.broken = True
        self._crooked = self._crooked if reason in _COMMAS else where[1]
        self._tried += 1
        self._last = max(where[1], self._last or 0)

    def at(self, topic: str, place: tuple[Pointer, Part], where: tuple[int, int], **more: object) -> None:
        """Report a fault of something well-formed at its pointer; `more` are the facts, `reason` and `first` apart."""
        first = more.pop("first", None)
        reason = str(more.pop("reason", ""))
        related = ((Place(self._file, *place, first), "first"),) if isinstance(first, tuple) else ()
        self._keep(Fault(topic, Place(self._file, *place, where), reason, more or NOTHING, related))

    def deep(self, where: tuple[int, int], limit: int) -> None:
        """Report the first bracket that is nested too deep."""
        self.broken = True
        self._keep(Fault("deep-nesting", Place(self._file, range=where), facts={"limit": limit}))

    def _same_line(self, last: int | None, start: int) -> bool:
        if last is None:
            return False
        between = self._text[last:start]
        return "\n" not in between and "\r" not in between

    def _syntax(self, reason: str, where: tuple[int, int], facts: Mapping[str, object], opened: int | None) -> None:
        related = () if opened is None else ((Place(self._file, range=(opened, opened + 1)), "opened"),)
        self._keep(Fault("invalid-json", Place(self._file, range=where), reason, facts, related))
        self.broken = True
        self._tried += 1
        self._last = where[1]

    def _keep(self, fault: Fault) -> None:
        if not self.full:
            self.found.append(fault)
