"""The catalogues of a project, found as `validate` finds them, and the list of their tools."""

from __future__ import annotations

import os
import posixpath
import sys
from pathlib import Path

from stagec.catalogue import Catalogue, Lock, Tool
from stagec.catalogue.lock import digest
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.streams import put, say
from stagec.contract.schemas import Schema
from stagec.core.budgets import Budgets
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import ellipsis, listing, quote, visible
from stagec.frontends.tools import FRONTEND
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import Sources


@value
class ToolProject:
    """A project with its catalogues, of which there is at least one, and the limits within which files are read."""

    root: Path
    catalogues: tuple[Catalogue, ...]
    budgets: Budgets

    def folder_of(self, file: str) -> str:
        """Return the absolute folder of a file of the project."""
        return os.path.join(self.root, posixpath.dirname(file))


def open_project(paths: tuple[Path, ...], root: Path | None) -> ToolProject:
    """Return the catalogues under the paths that a user named; raise `Failure` when there is none."""
    configuration = load_configuration(paths, root)
    scope = configuration.settings.scope
    named = tuple(path.absolute() for path in paths)
    found = discover(configuration.root, named, scope, (FileWish(FRONTEND.claims),))
    sources = Sources(configuration.root, configuration.settings.budgets)
    (claimed,) = found.claimed
    files = [file for file in claimed if file in found.named or FRONTEND.sees(sources, file)]
    unclaimed = [tree for file in found.unclaimed if (tree := sources.tree(file, "file")) is not None]
    meant = [tree.file for tree in unclaimed if tree.faults or FRONTEND.recognises(tree)]
    catalogues = FRONTEND.read(sources, tuple(sorted({*files, *meant})))
    if not catalogues:
        where = listing([os.path.relpath(path) for path in paths or (configuration.root,)])
        raise Failure(f"no tools: {where} holds no tool catalogue and no '.mcp.json'", Exit.NOTHING)
    return ToolProject(configuration.root, catalogues, configuration.settings.budgets)


def refuse_faults(catalogue: Catalogue, *, lock: bool) -> None:
    """Raise `Failure` when a catalogue cannot be trusted because a file of it is broken; a lock may be replaced."""
    faulty = sorted(catalogue.faulty if lock else catalogue.faulty - {catalogue.lock_file})
    if faulty:
        raise Failure(f"{listing(faulty)} cannot be used as written; 'stagec validate' says what is wrong")


def require_lock(catalogue: Catalogue) -> Lock:
    """Return the lock of a catalogue; raise `Failure` when there is none."""
    if catalogue.lock is None:
        raise Failure(f"there is no {quote(catalogue.lock_file)}; 'stagec tools lock' writes it")
    return catalogue.lock


_WIDEST = 60
"""Columns of a name; servers may call their tools anything."""
_DIGITS = 12


def print_tools(project: ToolProject, output_format: str) -> None:
    """Print the tools of every catalogue, and say what is not known."""
    if output_format == "json":
        from json import dumps

        put(dumps([_collect_facts(each) for each in project.catalogues], indent=2) + "\n")
        return
    name_file = name_from_here(project.root)
    headed = len(project.catalogues) > 1
    tables = [_draw_table(each, name_file(each.file) if headed else None) for each in project.catalogues]
    put("\n".join(tables))
    for each in project.catalogues:
        if each.unlocked:
            names = listing([server.name for server in each.unlocked])
            who = f"MCP server {names} offers" if len(each.unlocked) == 1 else f"MCP servers {names} offer"
            say(f"stagec: note: what {who} is not known; 'stagec tools lock' asks")


def _collect_facts(catalogue: Catalogue) -> dict[str, object]:
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
                "schema": _find_digest(tool),
            }
            for tool in catalogue.tools
        ],
    }


def _find_digest(tool: Tool) -> str | None:
    return digest(tool.schema.value) if isinstance(tool.schema, Schema) else tool.digest


def _draw_table(catalogue: Catalogue, title: str | None) -> str:
    rows: list[tuple[str, str, str, str]] = []
    for tool in catalogue.tools:
        origin = str(tool.origin) if tool.server is None else f"{tool.origin}: {_make_cell(tool.server)}"
        rows.append((_make_cell(tool.name), origin, str(tool.effects), (_find_digest(tool) or "")[:_DIGITS]))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    heading = [] if title is None else [f"{_make_cell(title)}:"]
    return "".join(f"{line}\n" for line in (*heading, *(_join_cells(row, widths) for row in rows)))


def _join_cells(row: tuple[str, str, str, str], widths: list[int]) -> str:
    cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
    return "  ".join((*cells, row[-1])).rstrip()


def _make_cell(text: str) -> str:
    """Return a name as it can be shown in a column."""
    encoding = sys.stdout.encoding or "ascii"
    shown = visible(text[: _WIDEST + 1], encoding)
    return shown if len(shown) <= _WIDEST else shown[:_WIDEST] + ellipsis(encoding)
