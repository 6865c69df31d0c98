"""`stagec mutate`: change one thing of a flow at a time, and tell which changes no test notices."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stagec.change.mutation.trial import SourcePlaces, Trial, choose_sample, list_mutants, list_operators, try_mutants
from stagec.cli import options
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import locate_place
from stagec.cli.sheet import draw_lines
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.cli.testing import RunTest, TestedFlow, TestedFlows, count_jobs, read_files, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import START
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.sources.project.configuration import Configuration

_VERSION = 1


@value
class FoundMutant:
    """A mutant that was tried, its place in the sources, and the name of the test that detects it."""

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


@value
class MutationRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    only: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    jobs: int | None = None
    lists_all: bool = False
    fail_under: float | None = None
    output_format: str = "text"

    def mutate(self, flow: TestedFlow, found: tuple[Configuration, TestedFlows, tuple[RunTest, ...]]) -> MutatedFlow:
        """Try the mutants of a flow."""
        configuration, flows, tested = found
        own = [each for each in tested if each.flow is flow]
        every = [*list_mutants(flow.plan, self.only or None)]
        mutants = choose_sample(every, self.limit, self.seed)
        places, name = SourcePlaces(flow.meaning.flow, flows.trees), name_from_here(configuration.root)
        verdicts = []
        count = format_count(len(mutants), "change")
        with show_progress(f"{flow.plan.id}: trying {count} …") as tell:
            tests, seen = [each.test for each in own], [each.found for each in own]
            for each in try_mutants(flow.data, tests, seen, mutants, count_jobs(self.jobs)):
                verdicts.append(each)
                tell(f"{flow.plan.id}: tried {len(verdicts)} of {count} …")

        at = [places.find(each.mutant) for each in verdicts]
        starts = [
            START.start if each.file not in flows.trees else locate_place(flows.trees[each.file], each) for each in at
        ]
        names = [each.test.name for each in own]
        shown = tuple(
            FoundMutant(
                each, (name(place.file), start.line, start.column), None if each.test is None else names[each.test]
            )
            for each, place, start in zip(verdicts, at, starts, strict=True)
        )
        return MutatedFlow(flow.plan.id, len(own), len(every), shown)


def run(request: MutationRequest) -> Exit:
    """Try the mutants; return the exit status."""
    _refuse_unknown(request.only)
    configuration = load_configuration(request.paths, request.root)
    trees = read_files(configuration, request.paths)
    flows = TestedFlows(configuration)
    with show_progress("testing …"):
        tested = run_tests(trees, flows, None, request.jobs)
    failing = [each.test.name for each in tested if any(each.list_complaints())]
    if failing:
        raise Failure(f"the tests must pass without a change: {listing(failing)} fail", Exit.FINDINGS, _HINTS)
    mutated = tuple(request.mutate(flow, (configuration, flows, tested)) for flow in flows.found.values())
    report = MutationReport(mutated, request.lists_all, request.fail_under)
    put(FORMATS[request.output_format](report))
    return Exit.FINDINGS if report.unnoticed else Exit.CLEAN


_HINTS = ("'stagec test' says why",)


def _refuse_unknown(only: Sequence[str]) -> None:
    names = NameIndex(each.name for each in list_operators())
    for each in only:
        if each not in names:
            known = ", ".join(one.name for one in list_operators())
            raise Failure(f"there is no operator {quote(each)}{hint(each, names) or f'; there are {known}'}")


@click.command("mutate", short_help="List the changes of a flow that its tests miss.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("--only", multiple=True, metavar="OPERATOR", help="Only this kind of change; repeatable.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Try at most N changes of each flow, at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed chooses the same changes.")
@options.jobs
@click.option("--all", "lists_all", is_flag=True, help="List every change, with the test that notices it.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the tests notice less than this part of the changes of a flow.",
)
@options.output_format("text", "json", default="text")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Make one change to each tested flow at a time, and list the changes that no test notices.

    The tests are those in the files '*.flow-test.yaml' (or '.json') in PATHS, or in the configured roots. All of them
    must pass. stagec changes the compiled plan in memory: an edge has another target, a limit is one lower, a schema
    lacks a constraint, and so on. Then it runs the tests that reach the change. If all tests pass, the change survives:
    the tests miss this kind of mistake. stagec counts changes without effect separately.

    Exit status: 0 done, 1 the tests notice less than --fail-under, or a test fails without a change, 2 usage or
    environment, 3 no tests, 4 internal error.
    """
    context.exit(run(MutationRequest(**given)))
