"""`stagec tools`: list the tools of a project, lock what its MCP servers offer, and compare."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Self

import click

from stagec.cli import options
from stagec.cli.files import check_files, name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import ExistingPath, Group
from stagec.cli.streams import put, put_error, say
from stagec.core.budgets import Budgets
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import ellipsis, format_count, listing, quote, visible
from stagec.ir.catalogue import Catalogue, CatalogueServer, CatalogueTool, Lock, LockedServer, LockedTool
from stagec.ir.catalogue.lock import digest, read_lock, render_lock
from stagec.ir.catalogue.read import LOCK_ROOM, lock_tree
from stagec.languages.tools import FRONTEND
from stagec.runtime.world.mcp import Question, ServerFailure, ask
from stagec.sources.contract.schemas import Schema
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import Sources
from stagec.sources.suppression import SIGN


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


def _find_digest(tool: CatalogueTool) -> str | None:
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


_SELDOM = 0.1
"""Seconds between two drawings; a server with many pages would draw all the time."""
_ROWS = 20
"""Lines that are redrawn; more than a small terminal has could not be."""
_LONGEST = 60


class Display:
    """Shows servers and how many tools each has named; as a context it leaves no line behind on a terminal."""

    def __init__(self, servers: Sequence[CatalogueServer]) -> None:
        self._live = sys.stderr.isatty()
        self._states = {id(each): "waits" for each in servers}
        self._names = {id(each): visible(each.name[:_LONGEST], sys.stderr.encoding or "ascii") for each in servers}
        self._drawn = 0
        self._next = 0.0

    def __enter__(self) -> Self:
        """Begin with nothing shown."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what was drawn."""
        self._wipe()

    def update(self, server: CatalogueServer, tools: int) -> None:
        """Show that a server was started, or how many tools it has named so far."""
        self._states[id(server)] = format_count(tools, "tool") if tools else "starts"
        if self._live and monotonic() >= self._next:
            self._draw()

    def finish(self, server: CatalogueServer, tools: int | None) -> None:
        """Show that a server has named all its tools, or did not answer."""
        state = "no answer" if tools is None else format_count(tools, "tool")
        self._states[id(server)] = f"{state}, done" if tools is not None else state
        if self._live:
            self._draw()
        else:
            say(f"{self._names[id(server)]}: {state}")

    def _draw(self) -> None:
        self._wipe()
        lines = [f"{self._names[each]}: {state}" for each, state in self._states.items()][:_ROWS]
        put_error("".join(f"{line}\n" for line in lines))
        self._drawn = len(lines)
        self._next = monotonic() + _SELDOM

    def _wipe(self) -> None:
        if self._drawn:
            put_error(f"\r\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0


def ask_servers(project: ToolProject, catalogues: tuple[Catalogue, ...], timeout: float) -> Mapping[str, Lock]:
    """Return the present tools of the servers of each catalogue, as locks by the file of the catalogue."""
    for each in catalogues:
        refuse_faults(each, lock=False)
    asked = [(each, server) for each in catalogues for server in each.servers.values()]
    questions = [Question(server, project.folder_of(server.at.file), timeout) for _, server in asked]
    with Display([server for _, server in asked]) as display:
        answers = ask(questions, display.update, display.finish)
    troubles = [each for each in answers if isinstance(each, ServerFailure)]
    if troubles:
        lines = [line for each in troubles for line in _describe(each)]
        raise Failure("\n".join((*lines, f"{format_count(len(troubles), 'server')} of {len(answers)} did not answer")))
    found: dict[str, dict[str, LockedServer]] = {each.file: {} for each in catalogues}
    for (catalogue, server), answer in zip(asked, answers, strict=True):
        if isinstance(answer, LockedServer):
            found[catalogue.file][server.name] = answer
    return {file: Lock(Place(file), servers) for file, servers in found.items()}


def _describe(trouble: ServerFailure) -> Iterator[str]:
    server = trouble.server
    yield f"MCP server {quote(server.name)} of {quote(server.at.file)} {trouble.what}"
    if trouble.said:
        yield "  the end of its standard error:"
        yield from (f"  | {line}" for line in trouble.said)


def write_locks(project: ToolProject, timeout: float) -> None:
    """Ask every server of the project and write what it offers beside the catalogue that names it."""
    catalogues = tuple(each for each in project.catalogues if each.servers or each.lock is not None)
    if not catalogues:
        files = listing([each.file for each in project.catalogues])
        verb = "names" if len(project.catalogues) == 1 else "name"
        raise Failure(f"nothing to lock: {files} {verb} no MCP server", Exit.NOTHING)
    check_files(project.root, [each.lock_file for each in catalogues])
    locks = ask_servers(project, catalogues, timeout)
    written = {each.lock_file: render_lock(locks[each.file]) for each in catalogues}
    for each in catalogues:
        _refuse_unreadable(project, each.lock_file, written[each.lock_file], locks[each.file])
    write_files(project.root, written)
    name_file = name_from_here(project.root)
    for each in catalogues:
        found = locks[each.file]
        tools = format_count(sum(len(server.tools) for server in found.servers.values()), "tool")
        put(f"{visible(name_file(each.lock_file))}: {tools} of {format_count(len(found.servers), 'server')}\n")


def _refuse_unreadable(project: ToolProject, file: str, data: bytes, lock: Lock) -> None:
    """Raise `Failure` for a lock that `validate` would refuse, or read otherwise than it was meant."""
    most = project.budgets.file_size * LOCK_ROOM
    if len(data) > most:
        raise Failure(
            f"{quote(file)} would have {len(data):,} bytes, more than the {most:,} that are read",
            hints=["--budget file-size=SIZE raises what is read"],
        )
    tree = lock_tree(Sources(project.root, project.budgets, {file: data}), file)
    if tree is None or tree.faults:
        topics = listing(sorted({each.topic for each in tree.faults})) if tree is not None else "absent"
        raise Failure(f"{quote(file)} would not be readable with the limits of this project: {topics}")
    if render_lock(read_lock(tree.at, tree.value)) != data:
        strange = sorted(name for server in lock.servers.values() for name in server.tools if SIGN.decode() in name)
        raise Failure(f"{quote(file)} would be read differently than written, because of the tool {listing(strange)}")


@value
class ToolChange:
    """One difference: `sign` is `+`, `-` or `~`; `tool` is None where the server as a whole is meant."""

    sign: str
    server: str
    tool: str | None
    details: tuple[str, ...] = ()

    def format(self, file: str) -> str:
        """Return the line that says it."""
        where = f"{visible(file)}: " if file else ""
        who = f"{self.server}" if self.tool is None else f"{self.server}: {self.tool}"
        details = f" ({', '.join(self.details)})" if self.details else ""
        return f"{where}{self.sign} {visible(who)}{details}\n"


def compare(project: ToolProject, timeout: float, against: Path | None, output_format: str) -> Exit:
    """Print the differences of every catalogue that names servers or has a lock; return 1 when there are any."""
    catalogues = tuple(each for each in project.catalogues if each.servers or each.lock is not None)
    for each in catalogues:
        refuse_faults(each, lock=True)
    locked = {each.file: require_lock(each) for each in catalogues}
    if not locked:
        raise Failure("nothing to compare: no MCP server is named", Exit.NOTHING)
    if against is None:
        before, after = locked, ask_servers(project, project.catalogues, timeout)
    else:
        full = os.path.realpath(against)
        tree = lock_tree(Sources(Path(os.path.dirname(full)), Budgets()), os.path.basename(full))
        if tree is None or tree.faults:
            raise Failure(f"{quote(against)} is not a readable lock of tools")
        before, after = dict.fromkeys(locked, read_lock(tree.at, tree.value)), locked
    found = {file: tuple(find_changes(old, after[file])) for file, old in before.items()}
    put(_format_json(found) if output_format == "json" else _format_text(found))
    return Exit.FINDINGS if any(found.values()) else Exit.CLEAN


def find_changes(before: Lock, after: Lock) -> Iterator[ToolChange]:
    """Yield the differences between two locks, by server and tool."""
    for name in sorted({*before.servers, *after.servers}):
        old, new = before.servers.get(name), after.servers.get(name)
        if old is None or new is None:
            yield ToolChange("+" if old is None else "-", name, None)
        if old is not None and new is not None and old.launch != new.launch:
            yield ToolChange("~", name, None, ("started differently",))
        yield from _compare_tools(name, _list_offered(old), _list_offered(new))


def _list_offered(server: LockedServer | None) -> Mapping[str, LockedTool]:
    return {} if server is None else server.tools


def _compare_tools(server: str, old: Mapping[str, LockedTool], new: Mapping[str, LockedTool]) -> Iterator[ToolChange]:
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield ToolChange("+" if name in new else "-", server, name)
        elif details := tuple(_list_details(old[name], new[name])):
            yield ToolChange("~", server, name, details)


def _list_details(old: LockedTool, new: LockedTool) -> Iterator[str]:
    if old.schema != new.schema:
        yield "schema"
    if None not in {old.description, new.description} and old.description != new.description:  # older locks have none
        yield "description"
    if old.effects != new.effects:
        yield f"effects: {old.effects} to {new.effects}"
    if old.is_open != new.is_open:
        yield f"world: {_name_world(old)} to {_name_world(new)}"


def _name_world(tool: LockedTool) -> str:
    return "unknown" if tool.is_open is None else "open" if tool.is_open else "closed"


def _format_text(found: Mapping[str, tuple[ToolChange, ...]]) -> str:
    return "".join(each.format(file if len(found) > 1 else "") for file, changed in found.items() for each in changed)


def _format_json(found: Mapping[str, tuple[ToolChange, ...]]) -> str:
    from json import dumps

    def facts(each: ToolChange) -> dict[str, object]:
        return {"change": _WORDS[each.sign], "server": each.server, "tool": each.tool, "details": list(each.details)}

    files = [{"file": file, "changes": [facts(each) for each in changed]} for file, changed in found.items()]
    return dumps(files, indent=2) + "\n"


_WORDS = {"+": "added", "-": "removed", "~": "changed"}


COMMAND = Group(
    "tools",
    help="List the tools of a project, and lock the tools of its MCP servers.",
    short_help="List, lock and compare the tools of a project.",
)
_paths = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="The time limit for each server.",
)
_formats = options.output_format("text", "json", default="text")


@COMMAND.subcommand("list", "List the known tools.")
@_paths
@options.root
@_formats
def _list(paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """List the tools in the catalogues and locks of a project; start no server."""
    print_tools(open_project(paths, root), output_format)


@COMMAND.subcommand("lock", "Ask the MCP servers for their tools and write tools.lock.json.")
@_paths
@options.root
@_timeout
def _lock(paths: tuple[Path, ...], root: Path | None, timeout: float) -> None:
    """Start every MCP server, ask it for all its tools, and write tools.lock.json beside the catalogue.

    stagec writes nothing unless every server answers. A server gets the variables in its `env`, and HOME, LOGNAME,
    PATH, SHELL, TERM and USER. stagec always stops the servers.
    """
    write_locks(open_project(paths, root), timeout)


@COMMAND.subcommand("diff", "Compare the locked tools with the tools of the servers.")
@_paths
@options.root
@_timeout
@click.option(
    "--against",
    type=ExistingPath(folder=False),
    metavar="FILE",
    help="An older lock to compare with; no server is started.",
)
@_formats
def _diff(paths: tuple[Path, ...], root: Path | None, timeout: float, against: Path | None, output_format: str) -> None:
    """Report which tools were added, removed or changed since they were locked; exit with 1 if there are any.

    Like `lock`, it starts and asks the servers. With --against, it compares with FILE, an older lock, and starts no
    server.
    """
    click.get_current_context().exit(compare(open_project(paths, root), timeout, against, output_format))
