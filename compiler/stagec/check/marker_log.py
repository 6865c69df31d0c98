"""The markers of a log, judged while it is written: findings come with their lines, and memory does not grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from stagec.check.rules.markers import FAMILY
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import START, Position, Span
from stagec.core.rule import AnyRule, Finding
from stagec.core.value import value
from stagec.ir.protocol.markers import BrokenMarker, MarkedLine, Marker, MarkerParser
from stagec.sources.project.settings import Selection, Settings

_MOST = 1_000
"""Findings of one rule that are reported one by one, and types of markers that are remembered."""
_MOST_IN_LINE = 10
"""Findings of one rule in one line."""
_MOST_FAULTLESS = 10_000
"""Markers without faults that are remembered."""
_LONGEST = 100
"""Characters by which two types are told apart, and of markers that are remembered."""


@value
class JudgedLine:
    """A line with a marker in which rules found something, and what they found."""

    marker: Marker | BrokenMarker
    diagnostics: tuple[Diagnostic, ...]

    @property
    def excerpt(self) -> str:
        """The line as it is shown: white space is plain."""
        return " " * (self.marker.column - 1) + self.marker.text


class MarkerLog:
    """Judges the markers in the bytes of one log, in whatever pieces it comes; keeps counts only.

    `markers` counts them, `found` counts what was reported by severity, `folded` what was left out by code, because
    a rule had found the same too often.
    """

    def __init__(self, file: str, selection: Selection, stage: str | None = None) -> None:
        every = ((rule, selection.severity(rule)) for rule in FAMILY.rules())
        self.rules = tuple((rule, severity) for rule, severity in every if severity is not None)
        self.markers = 0
        self.found: Counter[Severity] = Counter()
        self.folded: Counter[str] = Counter()
        self._file = file
        self._selection = selection
        self._stage = stage
        self._parser = MarkerParser()
        self._types: set[str] = set()
        self._said: Counter[str] = Counter()
        self._faultless: set[tuple[str, str]] = set()

    @property
    def lines(self) -> int:
        """Return how many lines have come."""
        return self._parser.lines

    def feed(self, piece: bytes) -> list[JudgedLine]:
        """Return the mistakes in the lines that end in a further piece."""
        found = self._parser.scan(piece)
        self.markers += sum(isinstance(each, Marker) for each in found)
        judged = (JudgedLine(each, self._judge(each)) for each in found if not self._is_like_faultless(each))
        return [each for each in judged if each.diagnostics]

    def close(self) -> list[JudgedLine]:
        """Return the mistakes in the last line if no line feed has ended it."""
        return self.feed(b"\n") if self._parser.is_in_line else []

    def _is_like_faultless(self, marker: Marker | BrokenMarker) -> bool:
        """Tell whether nothing was wrong with an equal marker; content decides nothing, and progress repeats itself."""
        return type(marker) is Marker and (marker.type, marker.written) in self._faultless

    def _judge(self, marker: Marker | BrokenMarker) -> tuple[Diagnostic, ...]:
        found = [*self._ask_rules(marker)]
        can_be_kept = not found and len(self._faultless) < _MOST_FAULTLESS
        if type(marker) is Marker and can_be_kept and len(marker.written) <= _LONGEST:
            self._faultless.add((marker.type, marker.written))
        return tuple(self._make_diagnostic(*each) for each in found if self._is_reported(*each))

    def _ask_rules(self, marker: Marker | BrokenMarker) -> Iterator[tuple[AnyRule, Severity, Finding]]:
        name = marker.type[:_LONGEST]
        line = MarkedLine(self._file, marker, self._stage, name not in self._types)
        if len(self._types) < _MOST:
            self._types.add(name)
        for rule, severity in self.rules:
            yield from ((rule, severity, finding) for finding in islice(rule.check(line), _MOST_IN_LINE))

    def _is_reported(self, rule: AnyRule, severity: Severity, _: Finding) -> bool:
        """Count a finding, and tell whether its rule has not been reported too often."""
        if self._said[rule.code] >= _MOST:
            self.folded[rule.code] += 1
            return False
        self._said[rule.code] += 1
        self.found[severity] += 1
        return True

    def _make_diagnostic(self, rule: AnyRule, severity: Severity, finding: Finding) -> Diagnostic:
        # the span of a stretch of a line: the pointer has its index, the range its columns
        at = finding.at
        if at.range is None:
            span = START
        else:
            (index,) = at.pointer
            start, end = at.range
            span = Span(Position(int(index) + 1, start + 1), Position(int(index) + 1, end + 1))
        return Diagnostic(
            code=rule.code,
            name=rule.name,
            severity=severity,
            origin=rule.origin,
            at=finding.at,
            span=span,
            message=finding.message,
            related=(),
            folded=0,
            fix=None,
            url=self._selection.locate_page(rule),
        )


def check_markers(
    pieces: Iterable[bytes], file: str = "<log>", settings: Settings | None = None, stage: str | None = None
) -> Iterator[Diagnostic]:
    """Yield the mistakes in the markers of a log, as soon as each line is complete; `file` is its name.

    `stage` is the stage that has written the log, if it was one. Of each rule 1,000 findings are reported.
    """
    log = MarkerLog(file, Selection.of(settings or Settings(), (FAMILY,)), stage)
    for piece in pieces:
        for judged in log.feed(piece):
            yield from judged.diagnostics
    for judged in log.close():
        yield from judged.diagnostics
