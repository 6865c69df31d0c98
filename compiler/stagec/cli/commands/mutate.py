"""`stagec mutate`: change one thing of a flow at a time, and tell which changes no test notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.mutation.trial import SourcePlaces, Trial, choose_sample, list_mutants, list_operators, try_mutants
from stagec.cli import options
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.report import ReportForm
from stagec.cli.running.inputs import locate_place
from stagec.cli.sheet import Sheet
from stagec.cli.streams import show_progress
from stagec.cli.testing import RunTest, TestedFlow, TestedFlows, count_jobs, read_files, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import START, Position
from stagec.core.terminal import Style
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan.codec import HIDDEN, PATH, Count, Positive
from stagec.sources.project.configuration import Configuration


class MutantState(StrEnum):
    """The result of a change."""

    NOTICED = "noticed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@value
class FoundMutant:
    """One change."""

    operator: Annotated[str, "The kind of change."]
    state: Annotated[MutantState, "The result."]
    node: Annotated[str | None, "The node that differs; null where the run as a whole does."]
    pointer: Annotated[tuple[str | int, ...], PATH, "The changed part of the plan."]
    file: Annotated[str, "The file that has it."]
    line: Annotated[Positive, "The line, from 1."]
    column: Annotated[Positive, "The column, from 1."]
    change: Annotated[str, "The change, in a sentence."]
    wanted: Annotated[str | None, "The difference that a test could detect; of changes that survived."] = None
    reason: Annotated[str | None, "Why no run can differ; of equivalent changes."] = None
    test: Annotated[str | None, "The test that notices it."] = None
    message: Annotated[str | None, "The message of that test."] = None

    @classmethod
    def of(cls, verdict: Trial, at: tuple[str, Position], test: str | None) -> FoundMutant:
        """Return the report of a mutant, its place in the sources, and the test that detects it."""
        mutant, (file, position) = verdict.mutant, at
        place = (file, position.line, position.column)
        told = (mutant.node, (*mutant.at,), *place, mutant.told)
        if verdict.survives:
            return cls(mutant.operator, MutantState.SURVIVED, *told, wanted=mutant.wanted)
        if test is None:
            return cls(mutant.operator, MutantState.EQUIVALENT, *told, reason=verdict.equivalent)
        return cls(mutant.operator, MutantState.NOTICED, *told, test=test, message=verdict.told)


@value
class MutatedFlow:
    """A flow, and what became of the changes."""

    id: Annotated[str, "The id of the flow."]
    tests: Annotated[Count, "How many tests it has."]
    known: Annotated[Count, "How many changes there are."]
    tried: Annotated[Count, "How many of them were tried."]
    noticed: Annotated[Count, "How many some test notices."]
    survived: Annotated[Count, "How many no test notices, and some run may."]
    equivalent: Annotated[Count, "How many no run can tell from the flow."]
    percent: Annotated[float, "The share noticed of those that are not equivalent."]
    mutants: Annotated[tuple[FoundMutant, ...], "Every change that was tried."]

    @classmethod
    def of(cls, flow: str, tests: int, known: int, mutants: tuple[FoundMutant, ...]) -> MutatedFlow:
        """Return the report of a flow: the numbers of its tests and mutants, and the mutants that were tried."""
        counts = {state.value: sum(each.state == state for each in mutants) for state in MutantState}
        made = cls(id=flow, tests=tests, known=known, tried=len(mutants), percent=0.0, mutants=mutants, **counts)
        return replace(made, percent=round(made.share, 1))

    @property
    def share(self) -> float:
        """The exact share in percent."""
        different = self.tried - self.equivalent
        return 100.0 * self.noticed / different if different else 100.0


@value
class MutationReport:
    """The changes of flows that the tests detect."""

    flows: Annotated[tuple[MutatedFlow, ...], "Every flow that has tests."]
    lists_all: Annotated[bool, HIDDEN] = False
    wanted: Annotated[float | None, HIDDEN] = None
    """The least score in percent."""

    @property
    def unnoticed(self) -> tuple[MutatedFlow, ...]:
        """The flows of which too little is noticed."""
        return tuple(each for each in self.flows if self.wanted is not None and each.share < self.wanted)

    def draw(self, sheet: Sheet) -> None:
        """Write what became of the changes, for people."""
        for flow in self.flows:
            for each in flow.mutants:
                if self.lists_all or each.state == MutantState.SURVIVED:
                    _draw_mutant(sheet, each)
            different = format_count(flow.noticed + flow.survived, "change")
            score = f"{flow.noticed} of {different} noticed, {flow.share:.1f} %"
            sheet.line(f"{flow.id}: {format_count(flow.tests, 'test')}, {score}", Style.MESSAGE)
            reasons = Counter(each.reason for each in flow.mutants if each.state == MutantState.EQUIVALENT)
            for why, count in sorted(reasons.items(), key=lambda each: (-each[1], str(each[0]))):
                sheet.line(f"  {format_count(count, 'change')} without effect: {why}")
            if flow.known > flow.tried:
                sheet.line(f"  {flow.tried} of {flow.known} were tried")
        for flow in self.unnoticed:
            sheet.line(f"{flow.id}: less than the required {self.wanted:g} %", Style.ERROR)


def _draw_mutant(sheet: Sheet, given: FoundMutant) -> None:
    survives = given.state == MutantState.SURVIVED
    said = f"{given.state}: {given.change} [{given.operator}]"
    sheet.line(f"{given.file}:{given.line}:{given.column}: {said}", Style.ERROR if survives else None)
    if survives:
        sheet.line(f"  a test would notice it by {given.wanted}")
    else:
        sheet.line(f"  {given.reason or f'{given.test}: {given.message}'}")


FORM = ReportForm("mutation", "mutate", MutationReport)


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
            FoundMutant.of(each, (name(place.file), start), None if each.test is None else names[each.test])
            for each, place, start in zip(verdicts, at, starts, strict=True)
        )
        return MutatedFlow.of(flow.plan.id, len(own), len(every), shown)


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
    FORM.put(report, request.output_format)
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
