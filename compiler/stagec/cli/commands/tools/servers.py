"""Ask the MCP servers of a project for their tools, show the progress, and write the locks: all of them, or none."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Self

from stagec.catalogue import Catalogue, Lock, LockedServer, Server
from stagec.catalogue.lock import read_lock, render_lock
from stagec.catalogue.read import LOCK_ROOM, lock_tree
from stagec.cli.commands.tools.listing import ToolProject, refuse_faults
from stagec.cli.files import check_files, name_from_here, write_files
from stagec.cli.streams import put, put_error, say
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.words import format_count, listing, quote, visible
from stagec.sources.read import Sources
from stagec.sources.suppression import SIGN
from stagec.world.mcp import Question, ask
from stagec.world.server_errors import ServerFailure

_SELDOM = 0.1
"""Seconds between two drawings; a server with many pages would draw all the time."""
_ROWS = 20
"""Lines that are redrawn; more than a small terminal has could not be."""
_LONGEST = 60


class Display:
    """Shows servers and how many tools each has named; as a context it leaves no line behind on a terminal."""

    def __init__(self, servers: Sequence[Server]) -> None:
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

    def update(self, server: Server, tools: int) -> None:
        """Show that a server was started, or how many tools it has named so far."""
        self._states[id(server)] = format_count(tools, "tool") if tools else "starts"
        if self._live and monotonic() >= self._next:
            self._draw()

    def finish(self, server: Server, tools: int | None) -> None:
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
    """Return what the servers of each catalogue offer now, as locks by the file of the catalogue."""
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
        raise Failure(f"{quote(file)} would be read otherwise than written, because of the tool {listing(strange)}")
