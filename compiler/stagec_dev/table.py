"""Tables as Markdown: what every tool prints them as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with its columns aligned; numbers stand right."""
    body = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    right = [all(row[index][:1].isdigit() for row in body) for index in range(len(head))]
    rule = "|".join("-" * (width + 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
    return "\n".join([_line(head, widths, right), f"|{rule}|", *(_line(row, widths, right) for row in body)]) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    placed = zip(cells, widths, right, strict=True)
    return f"| {' | '.join(cell.rjust(width) if end else cell.ljust(width) for cell, width, end in placed)} |"
