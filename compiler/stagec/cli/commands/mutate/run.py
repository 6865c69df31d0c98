"""Run the tests of flows against mutants of the plans, and report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stagec.cli.commands.mutate.report import FORMATS, FoundMutant, MutatedFlow, MutationReport
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import locate_place
from stagec.cli.streams import put, show_progress
from stagec.cli.testing.files import read_files
from stagec.cli.testing.flows import TestedFlow, TestedFlows
from stagec.cli.testing.runs import RunTest, count_jobs, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import START
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.mutation.places import SourcePlaces
from stagec.mutation.trial import choose_sample, list_mutants, list_operators, try_mutants
from stagec.project.configuration import Configuration


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
