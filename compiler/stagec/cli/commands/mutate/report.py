"""Say which mutants survive: to people, and as JSON."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from stagec.cli.streams import find_canvas
from stagec.cli.tables import draw_lines
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.mutation.trial import Trial

_VERSION = 1


@value
class FoundMutant:
    """A mutant that was tried, where in the sources it is, and the name of the test that notices it."""

    verdict: Trial
    at: tuple[str, int, int]
    test: str | None = None

    @property
    def state(self) -> str:
        """What became of it: `noticed`, `equivalent` or `survived`."""
        return "survived" if self.verdict.survives else "equivalent" if self.test is None else "noticed"

    def list_lines(self) -> Iterator[tuple[str, Style | None]]:
        """Yield the lines that say what became of it."""
        mutant, verdict = self.verdict.mutant, self.verdict
        where = ":".join(map(str, self.at))
        yield f"{where}: {self.state}: {mutant.told} [{mutant.operator}]", Style.ERROR if verdict.survives else None
        if verdict.survives:
            yield f"  a test would notice it by {mutant.wanted}", None
        else:
            yield f"  {verdict.equivalent or f'{self.test}: {verdict.told}'}", None

    def describe(self) -> Mapping[str, object]:
        """Return it as JSON."""
        mutant, verdict = self.verdict.mutant, self.verdict
        file, line, column = self.at
        more: dict[str, object] = {"wanted": mutant.wanted}
        if verdict.equivalent is not None:
            more = {"reason": verdict.equivalent}
        elif self.test is not None:
            more = {"test": self.test, "message": verdict.told}
        return {
            "operator": mutant.operator,
            "state": self.state,
            "node": mutant.node,
            "pointer": [*mutant.at],
            "file": file,
            "line": line,
            "column": column,
            "change": mutant.told,
            **more,
        }


@value
class MutatedFlow:
    """A flow, how many tests it has, how many mutants there are, and those that were tried."""

    id: str
    tests: int
    known: int
    mutants: tuple[FoundMutant, ...]

    def count(self, state: str) -> int:
        """Return how many mutants became this."""
        return sum(each.state == state for each in self.mutants)

    @property
    def percent(self) -> float:
        """The share of the mutants that are noticed, of those that some run can tell from the plan."""
        different = len(self.mutants) - self.count("equivalent")
        return 100.0 * self.count("noticed") / different if different else 100.0


@value
class MutationReport:
    """What became of all mutants; `wanted` is the least score in percent."""

    flows: tuple[MutatedFlow, ...]
    lists_all: bool = False
    wanted: float | None = None

    @property
    def unnoticed(self) -> tuple[MutatedFlow, ...]:
        """The flows of which too little is noticed."""
        return tuple(each for each in self.flows if self.wanted is not None and each.percent < self.wanted)

    def list_lines(self) -> Iterator[tuple[str, Style | None]]:
        """Yield the lines of the report, each with its style."""
        for flow in self.flows:
            for each in flow.mutants:
                if self.lists_all or each.state == "survived":
                    yield from each.list_lines()
            different = len(flow.mutants) - flow.count("equivalent")
            score = f"{flow.count('noticed')} of {format_count(different, 'change')} noticed, {flow.percent:.1f} %"
            yield f"{flow.id}: {format_count(flow.tests, 'test')}, {score}", Style.MESSAGE
            reasons = Counter(each.verdict.equivalent for each in flow.mutants if each.state == "equivalent")
            for why, count in sorted(reasons.items(), key=lambda each: (-each[1], str(each[0]))):
                yield f"  {format_count(count, 'change')} without effect: {why}", None
            if flow.known > len(flow.mutants):
                yield f"  {len(flow.mutants)} of {flow.known} were tried", None
        for flow in self.unnoticed:
            yield f"{flow.id}: less than the {self.wanted:g} % that are demanded", Style.ERROR


def draw_text(report: MutationReport) -> str:
    """Return the report for people."""
    return draw_lines(find_canvas(sys.stdout, os.environ), report.list_lines())


def draw_json(report: MutationReport) -> str:
    """Return the report as JSON."""
    flows = [
        {
            "id": flow.id,
            "tests": flow.tests,
            "known": flow.known,
            "tried": len(flow.mutants),
            **{state: flow.count(state) for state in ("noticed", "survived", "equivalent")},
            "percent": round(flow.percent, 1),
            "mutants": [each.describe() for each in flow.mutants],
        }
        for flow in report.flows
    ]
    return json.dumps({"version": _VERSION, "flows": flows}, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[MutationReport], str]] = {"text": draw_text, "json": draw_json}
