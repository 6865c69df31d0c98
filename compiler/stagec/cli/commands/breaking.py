"""`stagec breaking`: what changes mean for runs in flight."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.comparison.compare import compare_flows
from stagec.change.comparison.kind import Grade
from stagec.change.comparison.situation import JudgedFlow, judge_flow
from stagec.cli import options
from stagec.cli.differences import ReportedJudgement, describe_change, read_codes, write_flows
from stagec.cli.markdown import quote_markdown
from stagec.cli.report import ReportForm
from stagec.cli.sheet import Sheet
from stagec.cli.sides import read_sides
from stagec.cli.streams import show_progress
from stagec.cli.wording import shorten
from stagec.core.failure import Exit
from stagec.core.value import value
from stagec.core.words import format_count


@value
class BreakingFlow:
    """A flow."""

    flow: Annotated[str, "The id of the flow."]
    class_: Annotated[Grade | None, "The worst class of the changes that are not allowed; null when there is none."]
    changes: Annotated[tuple[ReportedJudgement, ...], "Every change, the worst first."]

    @classmethod
    def of(cls, given: JudgedFlow, allowed: Container[str]) -> BreakingFlow:
        """Return the report of a flow; `allowed` are the codes that are let through."""
        changes = tuple(ReportedJudgement.of(each, allowed) for each in given.changes)
        grades = [each.class_ for each in changes if not each.allowed]
        return cls(given.flow, next((each for each in Grade if each in grades), None), changes)

    def group(self) -> Iterator[tuple[str, list[ReportedJudgement]]]:
        """Yield the number of changes of each class and then the changes, the worst class first."""
        for grade in Grade:
            found = [each for each in self.changes if each.class_ is grade]
            if found:
                yield format_count(len(found), f"{grade} change"), found


@value
class BreakingReport:
    """The effects of changes of flows on runs in flight."""

    against: Annotated[str, "The user's name of the side with which runs in flight began."]
    path: Annotated[str, "The user's name of the side with which they would continue."]
    flows: Annotated[tuple[BreakingFlow, ...], "Every flow of both sides, by name."]

    def draw(self, sheet: Sheet) -> None:
        """Write each changed flow: the changes that break its runs, and the others."""
        for flow in self.flows:
            for counted, found in flow.group():
                sheet.heading(f"{shorten(flow.flow)}: {counted}")
                told = ((each, f"{_describe(each, sheet.arrow)}{_mark_allowed(each)}") for each in found)
                sheet.table(((each.code, each.kind), (text,)) for each, text in told)

    def write_markdown(self) -> str:
        """Return the changes in Markdown; what people have written stands in it as code and never as markup."""
        changed = [_write_flow(each) for each in self.flows if each.changes]
        return write_flows("Runs in flight", self.against, self.path, changed)


FORM = ReportForm("breaking", "breaking", BreakingReport)


def _write_flow(given: BreakingFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for counted, found in given.group():
        yield f"\n**{counted}**\n"
        for each in found:
            yield f"- {each.code} {each.kind}: {quote_markdown(_describe(each, '→'))}{_mark_allowed(each)}"


def _describe(given: ReportedJudgement, arrow: str) -> str:
    return given.message if given.class_ is Grade.BREAKING else describe_change(given.found, arrow)


def _mark_allowed(given: ReportedJudgement) -> str:
    return " (allowed)" if given.allowed else ""


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
        judged = [judge_flow(each) for each in compare_flows(before.plans, after.plans)]
    flows = tuple(BreakingFlow.of(each, allowed) for each in judged)
    report = BreakingReport(before.label, after.label, flows)
    FORM.put(report, request.output_format, markdown=report.write_markdown)
    return Exit.FINDINGS if any(each.class_ is Grade.BREAKING for each in flows) else Exit.CLEAN


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
