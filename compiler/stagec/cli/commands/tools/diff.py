"""Which tools differ between a lock and what servers offer now, or an older lock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.catalogue import Lock, LockedServer, LockedTool
from stagec.catalogue.lock import read_lock
from stagec.catalogue.read import lock_tree
from stagec.cli.commands.tools.listing import ToolProject, refuse_faults, require_lock
from stagec.cli.streams import put
from stagec.core.budgets import Budgets
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.sources.read import Sources


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
        from stagec.cli.commands.tools.servers import ask_servers

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
    """Yield what is different between two locks, by server and tool."""
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
