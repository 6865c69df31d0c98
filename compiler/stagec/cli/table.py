"""Rules as a table whose columns line up."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from stagec.cli.catalogue import Entry

_NARROWEST = 24
"""Columns without which a summary goes below its rule instead of beside it."""


def table(every: Iterable[Entry], width: int | None) -> str:
    """Return the code, name, severity (in brackets where a rule must be asked for) and summary of every rule.

    On a terminal of some width, summaries are broken to fit.
    """
    rows = [(each.rule.code, each.rule.name, _severity(each), each.summary) for each in every]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(_line(row, widths, width) for row in rows)


def _severity(each: Entry) -> str:
    return f"({each.rule.severity})" if each.family.optional else str(each.rule.severity)


def _line(row: tuple[str, ...], widths: Iterable[int], width: int | None) -> str:
    lead = "  ".join(f"{cell:<{column}}" for cell, column in zip(row, widths, strict=False)) + "  "
    if width is None:
        return f"{lead}{row[-1]}\n"
    if width - len(lead) < _NARROWEST:
        return f"{lead.rstrip()}\n" + fill(row[-1], width, initial_indent="    ", subsequent_indent="    ") + "\n"
    return fill(row[-1], width, initial_indent=lead, subsequent_indent=" " * len(lead)) + "\n"
