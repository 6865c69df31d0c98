"""Files of the project that agent files mean and that are not there: scripts of hooks, and imports."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from stagec.frontends.agent_files.claude_project import LostPath, OwnedHooks
from stagec.frontends.agent_files.document import AgentFile
from stagec.frontends.agent_files.hook_scripts import list_scripts
from stagec.frontends.agent_files.memory_imports import list_memory_imports, resolve_memory_import
from stagec.frontends.agent_files.workflow_facts import list_imports, resolve_import
from stagec.sources.read import Sources


def find_lost_scripts(sources: Sources, every: tuple[OwnedHooks, ...]) -> Iterator[LostPath]:
    """Yield the scripts of hooks that are in no folder in which a session may have begun."""
    for each in every:
        parts = each.home.split("/") if each.home else []
        homes = ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]
        for script in list_scripts(each.hooks, is_plugin=each.is_plugin):
            if not any(sources.exists(posixpath.join(home, script.name)) for home in homes):
                yield LostPath("script", posixpath.join(each.home, script.name), script.at)


def find_lost_memory(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a `CLAUDE.md` that read nothing."""
    for found in list_memory_imports(file.text, file.at.file):
        meant = resolve_memory_import(found.path, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("import", found.path, found.at)


def find_lost_parts(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a workflow of gh-aw that are in no file of the project."""
    for named in list_imports(file.members.get("imports"), file.at / "imports"):
        meant = resolve_import(named.name, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("workflow import", named.name, named.at)
