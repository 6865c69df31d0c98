"""What is different between the locked tools and those that the servers offer now, or since another lock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.catalogue import Lock, LockedServer, LockedTool
from stagec.catalogue.files import lock_tree
from stagec.catalogue.lock import read_lock
from stagec.cli.commands.tools.listing import ToolProject, lock_of, refuse_faults
from stagec.cli.streams import put
from stagec.core.budgets import Budgets
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.visible import visible
from stagec.core.words import quote
from stagec.sources.read import Sources


@value
class Change:
    """One difference: `sign` is `+`, `-` or `~`; `tool` is None where the server as a whole is meant."""

    sign: str
    server: str
    tool: str | None
    details: tuple[str, ...] = ()


def compare(project: ToolProject, timeout: float, against: Path | None, output_format: str) -> Exit:
    """Print the differences of every catalogue that names servers or has a lock; return 1 when there are any."""
    catalogues = tuple(each for each in project.catalogues if each.servers or each.lock is not None)
    for each in catalogues:
        refuse_faults(each, lock=True)
    locked = {each.file: lock_of(each) for each in catalogues}
    if not locked:
        raise Failure("nothing to compare: no MCP server is named", Exit.NOTHING)
    if against is None:
        before, after = locked, _live(project, timeout)
    else:
        before, after = dict.fromkeys(locked, _read(against)), locked
    found = {file: tuple(changes(old, after[file])) for file, old in before.items()}
    put(_json(found) if output_format == "json" else _text(found))
    return Exit.FINDINGS if any(found.values()) else Exit.CLEAN


def changes(before: Lock, after: Lock) -> Iterator[Change]:
    """Yield what is different between two locks, by server and tool."""
    for name in sorted({*before.servers, *after.servers}):
        old, new = before.servers.get(name), after.servers.get(name)
        if old is None or new is None:
            yield Change("+" if old is None else "-", name, None)
        if old is not None and new is not None and old.launch != new.launch:
            yield Change("~", name, None, ("started otherwise",))
        yield from _tools(name, _offered(old), _offered(new))


def _offered(server: LockedServer | None) -> Mapping[str, LockedTool]:
    return {} if server is None else server.tools


def _tools(server: str, old: Mapping[str, LockedTool], new: Mapping[str, LockedTool]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield Change("+" if name in new else "-", server, name)
        elif details := tuple(_details(old[name], new[name])):
            yield Change("~", server, name, details)


def _details(old: LockedTool, new: LockedTool) -> Iterator[str]:
    if old.schema != new.schema:
        yield "schema"
    if old.effects != new.effects:
        yield f"effects: {old.effects} to {new.effects}"


def _live(project: ToolProject, timeout: float) -> Mapping[str, Lock]:
    from stagec.cli.commands.tools.servers import live_locks

    return live_locks(project, project.catalogues, timeout)


def _read(path: Path) -> Lock:
    full = os.path.realpath(path)
    tree = lock_tree(Sources(Path(os.path.dirname(full)), Budgets()), os.path.basename(full))
    if tree is None or tree.faults:
        raise Failure(f"{quote(path)} is no lock of tools that can be read")
    return read_lock(tree.at, tree.value)


def _text(found: Mapping[str, tuple[Change, ...]]) -> str:
    return "".join(_line(each, file if len(found) > 1 else "") for file, changed in found.items() for each in changed)


def _line(change: Change, file: str) -> str:
    where = f"{visible(file)}: " if file else ""
    who = f"{change.server}" if change.tool is None else f"{change.server}: {change.tool}"
    details = f" ({', '.join(change.details)})" if change.details else ""
    return f"{where}{change.sign} {visible(who)}{details}\n"


def _json(found: Mapping[str, tuple[Change, ...]]) -> str:
    from json import dumps

    def facts(each: Change) -> dict[str, object]:
        return {"change": _WORDS[each.sign], "server": each.server, "tool": each.tool, "details": list(each.details)}

    files = [{"file": file, "changes": [facts(each) for each in changed]} for file, changed in found.items()]
    return dumps(files, indent=2) + "\n"


_WORDS = {"+": "added", "-": "removed", "~": "changed"}
