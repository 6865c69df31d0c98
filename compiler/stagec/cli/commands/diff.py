"""`stagec diff`: what has changed between two versions of flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from stagec.change.comparison.change import Action
from stagec.change.comparison.compare import FlowChanges, compare_flows
from stagec.cli import options
from stagec.cli.differences import SIGNS, describe_change, fence_lines, quote_markdown, write_change
from stagec.cli.figures import NAMES_IN_JSON, Moved, MovedFigure, format_dollars, list_moved
from stagec.cli.limits import load_configuration
from stagec.cli.report import dump_document, put_as
from stagec.cli.running.assumptions import CostOptions, assume, models
from stagec.cli.running.options import prices
from stagec.cli.sheet import Row, Sheet
from stagec.cli.sides import ComparedSide, find_beside, read_sides
from stagec.cli.streams import show_progress
from stagec.cli.wording import shorten
from stagec.core.failure import Exit
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.ir.graph.usage import Quantity


def draw_flows(sheet: Sheet, flows: Iterable[FlowChanges], figures: Iterable[Moved]) -> None:
    """Write each changed flow with its changes and the differences in cost of its runs."""
    for each, moved in zip(flows, figures, strict=True):
        if each.action is None:
            continue
        if each.old is None or each.new is None:
            sheet.heading(f"{shorten(each.flow)}: flow {each.action}")
            continue
        sheet.heading(f"{shorten(each.flow)}: {format_count(len(each.changes), 'change')}")
        rows: list[Row] = [
            (
                (SIGNS[one.action], one.part.value),
                (describe_change(one, sheet.arrow), *(f"  {line}" for line in one.lines)),
            )
            for one in each.changes
        ]
        told = tuple(one.describe(sheet.arrow) for one in moved)
        sheet.table((*rows, *([(("", "runs"), told)] if told else [])))


_VERBS = {Action.ADDED: "Added", Action.REMOVED: "Removed", Action.CHANGED: "Changed"}


def write_comment(
    before: ComparedSide, after: ComparedSide, flows: Iterable[FlowChanges], figures: Iterable[Moved]
) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    changed = [each for each in zip(flows, figures, strict=True) if each[0].action is not None]
    sides = f"from {quote_markdown(before.label)} to {quote_markdown(after.label)}"
    if not changed:
        return f"### Flows\n\nNothing has changed {sides}.\n"
    blocks = "\n".join(line for each, moved in changed for line in _write_flow_markdown(each, moved))
    return f"### Flows\n\n{format_count(len(changed), 'flow')} with changes {sides}.\n{blocks}\n"


def _write_flow_markdown(given: FlowChanges, moved: Moved) -> Iterator[str]:
    if given.old is None or given.new is None:
        yield f"\n#### Flow {quote_markdown(given.flow)}: {given.action}"
        return
    yield f"\n#### Flow {quote_markdown(given.flow)}: {format_count(len(given.changes), 'change')}\n"
    for each in given.changes:
        yield f"- **{_VERBS[each.action]}** ({each.part.value}) {quote_markdown(describe_change(each, '→'))}"
        if each.lines:
            yield from ("", *fence_lines(each.lines), "")
    if moved:
        yield from ("", "| what runs take | before | after |", "|---|---:|---:|")
    for one in moved:
        yield f"| {one.case} of {one.subject} | {one.before} | {one.after} |"


def format_flows(
    before: ComparedSide, after: ComparedSide, flows: Iterable[FlowChanges], figures: Iterable[Moved]
) -> str:
    """Return the document."""
    made: list[Json] = [_write_flow_document(each, moved) for each, moved in zip(flows, figures, strict=True)]
    return dump_document({"version": 1, "old": before.label, "new": after.label, "flows": made})


def _write_flow_document(given: FlowChanges, moved: Moved) -> Json:
    action = given.action
    changes = given.changes if given.old is not None and given.new is not None else ()
    return {
        "flow": given.flow,
        "action": None if action is None else action.value,
        "changes": [write_change(each) for each in changes],
        "figures": [_write_figure(each) for each in moved],
    }


def _write_figure(given: MovedFigure) -> Json:
    is_money = given.measure is Quantity.COST
    told = [None if each is None else format_dollars(each) if is_money else each for each in given.amounts]
    return {
        "entry": given.entry,
        "figure": NAMES_IN_JSON[given.measure],
        "case": given.case.removesuffix(" case"),
        "before": told[0],
        "after": told[1],
    }


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
    put_as(
        request.output_format,
        lambda sheet: draw_flows(sheet, flows, figures),
        json=lambda: format_flows(before, after, flows, figures),
        markdown=lambda: write_comment(before, after, flows, figures),
    )
    return Exit.FINDINGS if any(each.action is not None for each in flows) else Exit.CLEAN


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
