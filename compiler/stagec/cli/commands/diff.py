"""`stagec diff`: what has changed between two versions of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.comparison.change import Action
from stagec.change.comparison.compare import FlowChanges, compare_flows
from stagec.cli import options
from stagec.cli.differences import SIGNS, ReportedChange, describe_change, write_flows
from stagec.cli.figures import COMPARED, NAMES_IN_JSON, Moved, MovedFigure, format_dollars, list_moved
from stagec.cli.limits import load_configuration
from stagec.cli.markdown import MarkdownTable, fence_lines, quote_markdown
from stagec.cli.report import ReportForm
from stagec.cli.running.assumptions import CostOptions, assume, models
from stagec.cli.running.options import prices
from stagec.cli.sheet import Row, Sheet
from stagec.cli.sides import find_beside, read_sides
from stagec.cli.streams import show_progress
from stagec.cli.wording import shorten
from stagec.core.failure import Exit
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan.codec import HIDDEN, leaf, words

_VERBS = {Action.ADDED: "Added", Action.REMOVED: "Removed", Action.CHANGED: "Changed"}
_MOVED = MarkdownTable(("what runs take", "before", "after"), numbers=True)
_AMOUNT = leaf(
    lambda given: type(given) in {int, str}, "a number, or dollars as a text", {"type": ["integer", "string"]}
)
_FIGURES = tuple(NAMES_IN_JSON[each] for each in COMPARED)


@value
class FigureMove:
    """A figure of `stagec bounds` that has moved."""

    entry: Annotated[str, "The name that selects the entry."]
    figure: Annotated[str, "The quantity.", words(*_FIGURES)]
    case: Annotated[str, "The most of any run, or the least of a completed one.", words("worst", "shortest")]
    before: Annotated[int | str | None, "The old value: a number, dollars as a text, or null for no bound.", _AMOUNT]
    after: Annotated[int | str | None, "The new value: a number, dollars as a text, or null for no bound.", _AMOUNT]

    @classmethod
    def of(cls, given: MovedFigure) -> FigureMove:
        """Return the report of a figure."""
        is_money = given.measure is Quantity.COST
        told = [None if each is None else format_dollars(each) if is_money else each for each in given.amounts]
        return cls(given.entry, NAMES_IN_JSON[given.measure], given.case.removesuffix(" case"), told[0], told[1])


@value
class ComparedFlow:
    """A flow."""

    flow: Annotated[str, "The id of the flow."]
    action: Annotated[Action | None, "The change of the flow; null without any."]
    changes: Annotated[tuple[ReportedChange, ...], "The changes, if both sides have the flow."]
    figures: Annotated[
        tuple[FigureMove, ...],
        "The quantities of which runs take more or less, by the same assumptions for both sides.",
    ]
    moved: Annotated[Moved, HIDDEN]
    has_both: Annotated[bool, HIDDEN]

    @classmethod
    def of(cls, given: FlowChanges, moved: Moved) -> ComparedFlow:
        """Return the report of a flow."""
        has_both = given.old is not None and given.new is not None
        changes = tuple(map(ReportedChange.of, given.changes)) if has_both else ()
        return cls(given.flow, given.action, changes, tuple(map(FigureMove.of, moved)), moved, has_both)


@value
class DiffReport:
    """The changes in the meaning of flows."""

    old: Annotated[str, "The user's name of the old side."]
    new: Annotated[str, "The user's name of the new side."]
    flows: Annotated[tuple[ComparedFlow, ...], "Every flow of both sides, by name."]

    @property
    def changed(self) -> tuple[ComparedFlow, ...]:
        """The flows that have changed."""
        return tuple(each for each in self.flows if each.action is not None)

    def draw(self, sheet: Sheet) -> None:
        """Write each changed flow with its changes and the differences in cost of its runs."""
        for each in self.changed:
            if not each.has_both:
                sheet.heading(f"{shorten(each.flow)}: flow {each.action}")
                continue
            sheet.heading(f"{shorten(each.flow)}: {format_count(len(each.changes), 'change')}")
            rows: list[Row] = [
                (
                    (SIGNS[one.action], one.part.value),
                    (describe_change(one.found, sheet.arrow), *(f"  {line}" for line in one.lines)),
                )
                for one in each.changes
            ]
            told = tuple(one.describe(sheet.arrow) for one in each.moved)
            sheet.table((*rows, *([(("", "runs"), told)] if told else [])))

    def write_markdown(self) -> str:
        """Return the changes in Markdown; what people have written stands in it as code and never as markup."""
        return write_flows("Flows", self.old, self.new, [_write_flow(each) for each in self.changed])


FORM = ReportForm("diff", "diff", DiffReport)


def _write_flow(given: ComparedFlow) -> Iterator[str]:
    if not given.has_both:
        yield f"\n#### Flow {quote_markdown(given.flow)}: {given.action}"
        return
    yield f"\n#### Flow {quote_markdown(given.flow)}: {format_count(len(given.changes), 'change')}\n"
    for each in given.changes:
        yield f"- **{_VERBS[each.action]}** ({each.part.value}) {quote_markdown(describe_change(each.found, '→'))}"
        if each.lines:
            yield from ("", *fence_lines(each.lines), "")
    if given.moved:
        yield from ("", *_MOVED.head)
    for one in given.moved:
        yield _MOVED.row(f"{one.case} of {one.subject}", one.before, one.after)


@value
class DiffRequest:
    """The arguments and options as given; None where one is absent."""

    old: str
    new: str = "."
    flow: str | None = None
    prices: Path | None = None
    models: tuple[str, ...] = ()
    output_format: str = "text"

    def compare_figures(self, flows: Sequence[FlowChanges]) -> Sequence[Moved]:
        """Return for each flow what its runs take more or less of, by the assumptions of the current folder."""
        if not any(each.action is Action.CHANGED for each in flows):
            return [()] * len(flows)
        from stagec.ir.graph.bounds import bound  # imports networkx

        cost = CostOptions(prices=self.prices, models=self.models)
        given = assume(cost, load_configuration((Path(),))).assumptions
        return [
            ()
            if each.old is None or each.new is None or not each.changes
            else tuple(list_moved(bound(each.old, given).entries, bound(each.new, given).entries))
            for each in flows
        ]


def run(request: DiffRequest) -> Exit:
    """Print what has changed, and return the exit status."""
    with show_progress("comparing …"):
        before, after = read_sides(request.old, request.new, find_beside(request.old), request.flow)
        flows = compare_flows(before.plans, after.plans)
        figures = request.compare_figures(flows)
    report = DiffReport(before.label, after.label, tuple(map(ComparedFlow.of, flows, figures)))
    FORM.put(report, request.output_format, markdown=report.write_markdown)
    return Exit.FINDINGS if report.changed else Exit.CLEAN


@click.command(short_help="List what has changed between two versions of flows.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", default=".")
@click.option("--flow", metavar="ID", help="Compare only the flow with this id.")
@prices
@models
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def diff(context: click.Context, /, **given: Any) -> None:
    """List what has changed in the meaning of flows from OLD to NEW, by default the current folder.

    OLD and NEW are each the file of a plan, a file or folder of a project, or a git revision: `REV` is the other side
    (or the current folder) in that revision, `REV:PATH` a path in it. `-` reads a plan from standard input. stagec
    matches flows by name. It ignores moved files and layout. It also lists changed bounds of runs.

    Exit status: 0 no changes, 1 changes, 2 usage, environment, or a flow with errors, 3 no flow, 4 internal error.
    """
    context.exit(run(DiffRequest(**given)))
