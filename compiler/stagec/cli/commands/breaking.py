"""`stagec breaking`: what changes mean for runs in flight."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from stagec.change.comparison.compare import compare_flows
from stagec.change.comparison.kind import Grade
from stagec.change.comparison.situation import JudgedChange, JudgedFlow, judge_flow
from stagec.cli import options
from stagec.cli.differences import describe_change, quote_markdown, read_codes, write_judged
from stagec.cli.report import dump_document, put_as
from stagec.cli.sheet import Row, Sheet
from stagec.cli.sides import ComparedSide, read_sides
from stagec.cli.streams import show_progress
from stagec.cli.wording import shorten
from stagec.core.failure import Exit
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import format_count


def draw_flows(sheet: Sheet, flows: Iterable[JudgedFlow], allowed: Container[str]) -> None:
    """Write each flow that has changed: what breaks its runs, and what does not."""
    for flow in flows:
        for grade in Grade:
            found = [each for each in flow.changes if each.kind.grade is grade]
            if found:
                sheet.heading(f"{shorten(flow.flow)}: {format_count(len(found), f'{grade} change')}")
                sheet.table(_list_rows(found, allowed, sheet.arrow))


def _list_rows(found: Iterable[JudgedChange], allowed: Container[str], arrow: str) -> Iterator[Row]:
    for each in found:
        told = describe_change(each.change, arrow)
        if each.kind.grade is Grade.BREAKING:
            told = f"{each.sentence}{' (allowed)' if each.kind.code in allowed else ''}"
        yield (each.kind.code, each.kind.name), (told,)


def write_comment(
    before: ComparedSide, after: ComparedSide, flows: Iterable[JudgedFlow], allowed: Container[str]
) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    changed = [each for each in flows if each.changes]
    sides = f"from {quote_markdown(before.label)} to {quote_markdown(after.label)}"
    if not changed:
        return f"### Runs in flight\n\nNothing has changed {sides}.\n"
    blocks = "\n".join(line for each in changed for line in _write_flow_markdown(each, allowed))
    return f"### Runs in flight\n\n{format_count(len(changed), 'flow')} with changes {sides}.\n{blocks}\n"


def _write_flow_markdown(given: JudgedFlow, allowed: Container[str]) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for grade in Grade:
        found = [each for each in given.changes if each.kind.grade is grade]
        if found:
            yield f"\n**{format_count(len(found), f'{grade} change')}**\n"
        for each in found:
            told = each.sentence if grade is Grade.BREAKING else describe_change(each.change, "→")
            accepted = " (allowed)" if each.kind.code in allowed else ""
            yield f"- {each.kind.code} {each.kind.name}: {quote_markdown(told)}{accepted}"


def format_flows(
    before: ComparedSide, after: ComparedSide, flows: Iterable[JudgedFlow], allowed: Container[str]
) -> str:
    """Return the document."""
    made: list[Json] = [_write_flow_document(each, allowed) for each in flows]
    return dump_document({"version": 1, "against": before.label, "path": after.label, "flows": made})


def _write_flow_document(given: JudgedFlow, allowed: Container[str]) -> Json:
    grades = [each.kind.grade for each in given.changes if each.kind.code not in allowed]
    worst = next((each for each in Grade if each in grades), None)
    return {
        "flow": given.flow,
        "class": None if worst is None else worst.value,
        "changes": [write_judged(each, allowed) for each in given.changes],
    }


@value
class BreakingRequest:
    """The arguments and options as given; None where one is absent."""

    against: str
    path: str = "."
    flow: str | None = None
    allow: tuple[str, ...] = ()
    output_format: str = "text"


def run(request: BreakingRequest) -> Exit:
    """Print what the changes mean, and return the exit status."""
    allowed = read_codes(request.allow)
    with show_progress("comparing …"):
        before, after = read_sides(request.against, request.path, Path(), request.flow)
        flows = tuple(judge_flow(each) for each in compare_flows(before.plans, after.plans))
    put_as(
        request.output_format,
        lambda sheet: draw_flows(sheet, flows, allowed),
        json=lambda: format_flows(before, after, flows, allowed),
        markdown=lambda: write_comment(before, after, flows, allowed),
    )
    judged = (each for flow in flows for each in flow.changes)
    is_broken = any(each.kind.grade is Grade.BREAKING and each.kind.code not in allowed for each in judged)
    return Exit.FINDINGS if is_broken else Exit.CLEAN


@click.command(short_help="List which changes break runs in flight.")
@click.argument("path", metavar="[PATH|PLAN]", default=".")
@click.option(
    "--against",
    required=True,
    metavar="REV|PLAN",
    help="The version with which runs in flight were started: a revision, plan or folder.",
)
@click.option("--flow", metavar="ID", help="Compare only the flow with this id.")
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="Treat changes with this code as compatible; repeatable.",
)
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def breaking(context: click.Context, /, **given: Any) -> None:
    """List which changes of the flows in PATH, by default the current folder, break runs in flight.

    A change is breaking if the new flow cannot continue some state of a run in flight, or if stagec cannot exclude
    that. It is additive if every run continues as before, and compatible otherwise. `REV` is PATH as it was in that
    revision of git, `REV:PATH` another path in it; `-` reads a plan from standard input.

    Exit status: 0 no breaking change, 1 a breaking change, 2 usage, environment, or a flow with errors, 3 no flow, 4
    internal error.
    """
    context.exit(run(BreakingRequest(**given)))
