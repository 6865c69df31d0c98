"""The known tools of a project as a table or as JSON."""

from __future__ import annotations

import sys

from stagec.catalogue import Catalogue, Tool
from stagec.catalogue.lock import digest
from stagec.cli.commands.tools.project import ToolProject
from stagec.cli.streams import put, say
from stagec.contract.schemas import Schema
from stagec.core.visible import ellipsis, visible
from stagec.core.words import listing

_WIDEST = 60
"""Columns of a name; servers may call their tools anything."""
_DIGITS = 12


def show(project: ToolProject, output_format: str) -> None:
    """Print the tools of every catalogue, and say what is not known."""
    if output_format == "json":
        from json import dumps

        put(dumps([_facts(each) for each in project.catalogues], indent=2) + "\n")
        return
    tables = [_table(each, headed=len(project.catalogues) > 1) for each in project.catalogues]
    put("\n".join(tables))
    for each in project.catalogues:
        if each.unlocked:
            names = listing([server.name for server in each.unlocked])
            who = f"MCP server {names} offers" if len(each.unlocked) == 1 else f"MCP servers {names} offer"
            say(f"stagec: note: what {who} is not known; 'stagec tools lock' asks")


def _facts(catalogue: Catalogue) -> dict[str, object]:
    return {
        "file": catalogue.file,
        "lock": None if catalogue.lock is None else catalogue.lock_file,
        "unlocked": [each.name for each in catalogue.unlocked],
        "tools": [
            {
                "name": tool.name,
                "origin": tool.origin,
                "server": tool.server,
                "effects": tool.effects,
                "schema": _digest(tool),
            }
            for tool in catalogue.tools
        ],
    }


def _digest(tool: Tool) -> str | None:
    return digest(tool.schema.value) if isinstance(tool.schema, Schema) else tool.digest


def _table(catalogue: Catalogue, *, headed: bool) -> str:
    rows = [_row(tool) for tool in catalogue.tools]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    heading = [f"{_cell(catalogue.file)}:"] if headed else []
    return "".join(f"{line}\n" for line in (*heading, *(_line(row, widths) for row in rows)))


def _line(row: tuple[str, str, str, str], widths: list[int]) -> str:
    cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
    return "  ".join((*cells, row[-1])).rstrip()


def _row(tool: Tool) -> tuple[str, str, str, str]:
    origin = str(tool.origin) if tool.server is None else f"{tool.origin}: {_cell(tool.server)}"
    return _cell(tool.name), origin, str(tool.effects), (_digest(tool) or "")[:_DIGITS]


def _cell(text: str) -> str:
    """Return a name as it can be shown in a column."""
    encoding = sys.stdout.encoding or "ascii"
    shown = visible(text[: _WIDEST + 1], encoding)
    return shown if len(shown) <= _WIDEST else shown[:_WIDEST] + ellipsis(encoding)
