"""Bounds as a comment on a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.cli.commands.bounds.measured import BoundedFlow, UnboundedFlow, describe_basis
from stagec.cli.commands.bounds.page import describe_way
from stagec.cli.differences import quote_markdown
from stagec.cli.figures import NAMES, describe_least, describe_most, explain_lack, list_shown
from stagec.graph.figures import EntryBounds
from stagec.graph.usage import Quantity
from stagec.graph.way import Way

_ERRORS = 8


def write_comment(flows: Iterable[BoundedFlow | UnboundedFlow]) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    lines = ["### Bounds"]
    for each in flows:
        lines += _write_flow(each) if isinstance(each, BoundedFlow) else _write_refusal(each)
    return "\n".join(lines) + "\n"


def _write_flow(given: BoundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for entry in given.bounds.entries:
        if len(given.bounds.entries) > 1:
            yield f"\n##### Entry {quote_markdown(entry.entry)}"
        yield from _write_entry(entry)
    basis = [*describe_basis(given)]
    if basis:
        yield ""
    yield from (f"- Assumes {quote_markdown(each)}" for each in basis)


def _write_entry(entry: EntryBounds) -> Iterator[str]:
    yield from ("", "| | at least | without retries | at most |", "|---|---:|---:|---:|")
    for measure in list_shown(entry):
        figure = entry.figures[measure]
        unknown = any(each.kind in _UNPRICED for each in figure.lacks)
        least, most = "unknown" if unknown else describe_least(measure, figure), describe_most(measure, figure)
        first = figure.upper.first if measure is not Quantity.MILLISECONDS or not figure.lacks else None
        without = "" if first is None or first == figure.upper.most else format_first(measure, first)
        yield f"| {NAMES[measure]} | {least} | {without} | {'unknown' if unknown else most} |"
    yield ""
    if entry.is_cut:
        yield "- The limit of executions ends the longest runs."
    if entry.executions.most is None:
        yield "- Nothing limits how often a run repeats; a limit of executions would."
    for cycle in entry.cycles[:_ERRORS]:
        yield f"- Repeats: {', '.join(map(quote_markdown, cycle))}"
    for measure in list_shown(entry):
        for lack in entry.figures[measure].lacks:
            yield f"- No bound of {NAMES[measure]}: {quote_markdown(explain_lack(lack))}"
    figure = entry.figures[Quantity.EXECUTIONS]
    yield from _write_way("Longest", figure.longest)
    yield from _write_way("Shortest", figure.shortest)


_UNPRICED = {"model-name", "price"}


def format_first(measure: Quantity, amount: int) -> str:
    """Return an amount of a run without retries."""
    from stagec.cli.figures import format_amount, round_dollars

    return f"${round_dollars(amount, up=True)}" if measure is Quantity.COST else format_amount(measure, amount)


def _write_way(name: str, way: Way) -> Iterator[str]:
    for text in describe_way(way, "→"):
        yield f"- {name}: {quote_markdown(text)}"


def _write_refusal(given: UnboundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.refused.flow.id)}"
    yield f"\nNo bound: it has no plan, {given.refused.reason}.\n"
    for each in given.errors[:_ERRORS]:
        start = each.span.start
        where = f"{given.name_file(each.at.file)}:{start.line}:{start.column}"
        yield f"- {quote_markdown(f'{where}: {each.code} {each.message}')}"
