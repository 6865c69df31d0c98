"""Write the locks of a project: all of them, or none."""

from __future__ import annotations

from stagec.catalogue.lock import written
from stagec.cli.commands.tools.asking import live_locks
from stagec.cli.commands.tools.project import ToolProject
from stagec.cli.files import write_files
from stagec.cli.streams import put
from stagec.core.failure import Exit, Failure
from stagec.core.visible import visible
from stagec.core.words import counted, listing


def lock(project: ToolProject, timeout: float) -> None:
    """Ask every server of the project and write what it offers beside the catalogue that names it."""
    catalogues = tuple(each for each in project.catalogues if each.servers or each.lock is not None)
    if not catalogues:
        files = listing([each.file for each in project.catalogues])
        verb = "names" if len(project.catalogues) == 1 else "name"
        raise Failure(f"nothing to lock: {files} {verb} no MCP server", Exit.NOTHING)
    locks = live_locks(project, catalogues, timeout)
    write_files(project.root, {each.lock_file: written(locks[each.file]) for each in catalogues})
    for each in catalogues:
        found = locks[each.file]
        tools = counted(sum(len(server.tools) for server in found.servers.values()), "tool")
        put(f"{visible(each.lock_file)}: {tools} of {counted(len(found.servers), 'server')}\n")
