"""`stagec paths`: scenarios that cover a flow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.flow_tests.document import ENDINGS, is_flow_test, write_flow_tests
from stagec.change.flow_tests.paths.finder import PathSet, find_paths
from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.files import STDIN, create_files, read_file
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.report import ReportForm
from stagec.cli.running.options import entry
from stagec.cli.sheet import Sheet
from stagec.cli.streams import say, show_progress
from stagec.cli.testing import CoveredCount, count_covered, list_covered
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.failure import Exit, Failure
from stagec.core.json import Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan import Plan, PlanError
from stagec.ir.plan.codec import HIDDEN, Count
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Program, load


@value
class FoundRun:
    """A run, and the scenario in which it comes about."""

    name: Annotated[str, "A name for a test."]
    outcome: Annotated[Outcome, "The end of the run."]
    reason: Annotated[str, "Why it ends, in a sentence."]
    path: Annotated[tuple[str, ...], "The nodes that run, in the order in which they end."]
    executions: Annotated[Count, "How many executions of nodes it has."]
    turns: Annotated[Count, "How often models are asked."]
    scenario: Annotated[Object, "The scenario; see `stagec schema scenario`."]


@value
class MissingPart:
    """A part of a flow that no run covers."""

    what: Annotated[str, "The node, the edge, the rule or the pair of edges, for people."]
    why: Annotated[str, "Why no run covers it."]


@value
class FlowPaths:
    """A flow and the runs that cover it."""

    flow: Annotated[str, "The id of the flow."]
    percent: Annotated[float, "The part of the flow that the runs cover, from 0 to 100."]
    nodes: Annotated[CoveredCount, "Its nodes."]
    edges: Annotated[CoveredCount, "Its edges without conditions."]
    cases: Annotated[CoveredCount, "Its edges with conditions, and the nodes that an answer may choose."]
    rules: Annotated[CoveredCount, "The checks that judge results, and the validators."]
    runs: Annotated[tuple[FoundRun, ...], "The runs; those that end as done come first."]
    missing: Annotated[tuple[MissingPart, ...], "The parts that no run covers."]
    found: Annotated[PathSet, HIDDEN]

    @classmethod
    def of(cls, plan: Plan, found: PathSet) -> FlowPaths:
        """Return the report of a flow."""
        runs = (
            FoundRun(
                each.test.name,
                Outcome(str(each.found.outcome)),
                each.found.reason,
                each.found.path,
                each.found.executions,
                each.found.turns,
                each.test.scenario,
            )
            for each in found.paths
        )
        missing = tuple(MissingPart(each.told, each.why) for each in found.missing)
        percent, counts = round(found.coverage.percent, 1), count_covered(found.coverage)
        return cls(flow=plan.id, percent=percent, runs=tuple(runs), missing=missing, found=found, **counts)

    def draw_tests(self) -> str:
        """Return a file of flow tests; nothing where no run was found."""
        notes = [f"not covered: {each.what}: {each.why}" for each in self.missing]
        return write_flow_tests(self.flow, [path.test for path in self.found.paths], notes) if self.runs else ""


@value
class PathsReport:
    """Few runs that cover flows."""

    flows: Annotated[tuple[FlowPaths, ...], "Every flow."]

    def draw(self, sheet: Sheet) -> None:
        """Write the runs for people."""
        for flow in self.flows:
            covered = ", ".join(list_covered(flow.found.coverage))
            sheet.line(f"{flow.flow}: {format_count(len(flow.runs), 'run')} with {covered}", Style.MESSAGE)
            for number, each in enumerate(flow.runs, 1):
                begin = f"from {each.scenario['entry']}: " if each.scenario.get("entry") is not None else ""
                reason = "" if each.outcome == each.reason else f": {each.reason}"
                sheet.line(f"  {number}  {begin}{' → '.join(each.path) or 'no node'}")
                sheet.line(f"     {each.outcome}{reason}, {format_count(each.executions, 'execution')}")
            for missing in flow.missing:
                sheet.line(f"  not covered: {missing.what}", Style.WARNING)
                sheet.line(f"     {missing.why}")


FORM = ReportForm("paths", "paths", PathsReport)


@value
class PathsRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    flow: str | None = None
    entry: str | None = None
    to: str | None = None
    pairs: bool = False
    output: Path | None = None
    output_format: str = "text"

    def find(self, program: Program) -> PathSet:
        """Return the runs of a flow that are asked for; raise `Failure` for a name that it does not have."""
        plan = program.plan
        for name, known, noun in ((self.entry, plan.entries, "entry"), (self.to, plan.nodes, plan.names.node)):
            if name is not None and name not in known:
                raise Failure(f"{quote(plan.id)} has no {noun} {quote(name)}{hint(name, NameIndex(known))}")
        return find_paths(program, entry=self.entry, to=self.to, pairs=self.pairs)

    def compile_programs(self, paths: tuple[Path, ...]) -> Iterator[Program]:
        """Yield the programs of the flows of the project."""
        freezer = Freezer(load_configuration(paths, self.root), paths)
        meanings = [each for each in freezer.compilation.meanings if each.has_plan]
        if not meanings:
            raise explain_missing_flow("cover", freezer.project, freezer.compilation)
        chosen = {id(flow) for flow in choose_flows(self.flow, [each.flow for each in meanings])}
        for meaning in meanings:
            if id(meaning.flow) in chosen:
                made = freezer.freeze(meaning)
                if isinstance(made, Refused):
                    why = made.advice
                    raise Failure(f"the flow {quote(made.flow.id)} is not compiled: {why}", Exit.FINDINGS)
                yield load(made.data)

    def load_programs(self) -> Iterator[Program]:
        """Yield the programs of the plans that are named, then those of the flows of the project."""
        plans = [path for path in self.paths if path == STDIN or path.name.endswith(".plan.json")]
        for path in plans:
            try:
                yield load(read_file(path))
            except PlanError as error:
                raise Failure(f"{quote(path)} is refused: {error}", Exit.FINDINGS) from error
        paths = tuple(path for path in self.paths if path not in plans)
        if paths or not plans:
            yield from self.compile_programs(paths)


def run(request: PathsRequest) -> Exit:
    """Write the runs; return the exit status."""
    if request.to is not None and request.pairs:
        raise Failure("--pairs covers everything, --to one node: give one of the two")
    if request.output is not None and not is_flow_test(request.output.name):
        raise Failure(f"{quote(request.output)} is not a file of tests: its name must end in {listing(ENDINGS, 'or')}")
    programs = [*request.load_programs()]
    if (request.output is not None or request.output_format == "flow-test") and len(programs) > 1:
        names = listing(sorted(each.plan.id for each in programs))
        raise Failure(f"one file has the tests of one flow: --flow names one of {names}")
    with show_progress("searching …"):
        report = PathsReport(tuple(FlowPaths.of(each.plan, request.find(each)) for each in programs))
    if request.output is not None:
        _write(request.output, report.flows[0])
    else:
        FORM.put(report, request.output_format, **{"flow-test": report.flows[0].draw_tests})
    return Exit.FINDINGS if any(each.missing for each in report.flows) else Exit.CLEAN


def _write(path: Path, covered: FlowPaths) -> None:
    """Write the tests to a new file, and say what they cover."""
    if not covered.runs:
        raise Failure(f"no run of {quote(covered.flow)} was found: {covered.missing[0].why}", Exit.FINDINGS)
    folder, name = os.path.split(path)
    create_files(
        Path(folder or os.curdir), {name: covered.draw_tests().encode()}, "name another file, or remove this one"
    )
    say(f"stagec: {path}: {format_count(len(covered.runs), 'test')}; 'stagec test {path}' runs them")
    for each in covered.missing:
        say(f"stagec: not covered: {each.what}: {each.why}")


@click.command(short_help="Write a small set of scenarios that covers a flow, or the shortest run to a node.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@entry
@click.option("--to", metavar="NODE", help="Write only the shortest run to this node.")
@click.option("--pairs", is_flag=True, help="Also cover every pair of edges that can follow each other.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the runs of one flow as flow tests; FILE ends in '.flow-test.yaml' and must not exist.",
)
@options.output_format("text", "flow-test", "json", default="text")
@click.pass_context
def paths(context: click.Context, /, **given: Any) -> None:
    r"""Write a small set of scenarios that runs every node and every edge of each flow in PATHS, or of each PLAN.

    No smaller set exists, unless limits end runs early or a set needs more than
    6,000 executions. stagec runs each scenario, and writes it only if it takes the
    expected path. Answers satisfy their schemas. With -o, or --format flow-test, stagec writes tests that 'stagec test'
    passes. It names each uncovered part with the reason. `-` reads a plan from standard input.

    Exit status: 0 all parts are covered, 1 a part is not covered or a flow has errors, 2 usage or environment, 3 no
    flow, 4 internal error.

    \b
    Examples:
      stagec paths
      stagec paths demo -o demo/all.flow-test.yaml
      stagec paths demo --to review --format flow-test
    """
    context.exit(run(PathsRequest(**given)))
