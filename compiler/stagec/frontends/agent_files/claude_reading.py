"""From the files of Claude Code to what they say together, and to the files of the project that they mean."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from stagec.core.json import list_of, object_of
from stagec.core.place import Place
from stagec.frontends.agent_files.claude_project import ClaudeProject, LostPath, NameClash, OwnedHooks
from stagec.frontends.agent_files.document import AgentFile
from stagec.frontends.agent_files.hook_scripts import list_scripts
from stagec.frontends.agent_files.hooks import read_hooks
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.loaders import LoadOutcome
from stagec.frontends.agent_files.mcp_servers import McpServer, read_servers
from stagec.frontends.agent_files.memory_imports import list_memory_imports, resolve_memory_import
from stagec.frontends.agent_files.plugins import read_aside, read_manifest
from stagec.frontends.agent_files.settings import read_settings
from stagec.frontends.agent_files.workflow_facts import list_imports, resolve_import
from stagec.sources.read import Sources

_ADDRESS = "ANTHROPIC_BASE_URL"
_OWNER = "Claude Code"
_SETTINGS = ("settings.json", "settings.local.json")
_LISTED = frozenset({"commands", "skills"})
"""Keys with which the manifest of a plugin lists what it has."""


def read_claude_project(sources: Sources, files: tuple[AgentFile, ...], known: Known) -> ClaudeProject:
    """Return what the files of a project say together."""
    settings = [each for each in files if each.kind.name == "claude-settings"]
    servers = tuple(server for each in files for server in _list_servers(each, known))
    homes = sorted({"", *(each.where.home for each in files if each.kind.owner == _OWNER)})
    hooks = tuple(owned for each in files for owned in _list_hooks(each))
    memory = (lost for each in files if each.kind.name == "claude-memory" for lost in _find_lost_memory(sources, each))
    parts = (lost for each in files if each.kind.name == "gh-aw-workflow" for lost in _find_lost_parts(sources, each))
    return ClaudeProject(
        settings=tuple(
            (each.where.home, read_settings(each.tree, known, is_object=each.reading.outcome is LoadOutcome.READ))
            for each in settings
        ),
        hooks=hooks,
        servers=servers,
        lost=(*_find_lost_scripts(sources, hooks), *memory, *parts),
        imported=frozenset(_list_imported(sources, files)),
        shadowed_commands=tuple(_find_shadowed_commands(sources, files)),
        shadowed_skills=tuple(_find_shadowed_skills(sources, files)),
        declared=frozenset(each.tool_name for each in (*servers, *_list_servers_beside(sources, homes))),
        is_redirected=any(_is_redirecting(sources, home) for home in homes),
    )


def _list_imported(sources: Sources, files: tuple[AgentFile, ...]) -> Iterator[str]:
    """Yield the workflows of gh-aw that others import, also others that nobody asked to check."""
    known = {each.at.file: each.members for each in files if each.kind.name == "gh-aw-workflow"}
    folders = {posixpath.dirname(file) for file, members in known.items() if "on" not in members}
    others = {file for folder in folders for file in sources.below(folder, ".md")} - known.keys()
    for file, members in (*known.items(), *((each, read_aside(sources, each)) for each in sorted(others))):
        for named in list_imports(members.get("imports"), Place(file)):
            meant = resolve_import(named.name, file)
            if meant is not None:
                yield meant


def _is_redirecting(sources: Sources, home: str) -> bool:
    """Tell whether settings send requests to another address, also those that nobody asked to check."""
    files = (posixpath.join(home, ".claude", name) for name in _SETTINGS)
    return any(_ADDRESS in object_of(read_aside(sources, file).get("env")) for file in files)


def _list_servers_beside(sources: Sources, homes: Iterable[str]) -> Iterator[McpServer]:
    """Yield the servers of folders, also of files that nobody asked to check."""
    for home in homes:
        file = posixpath.join(home, ".mcp.json")
        for name in object_of(read_aside(sources, file).get("mcpServers")):
            yield McpServer(name, Place(file), ())


def _find_shadowed_commands(sources: Sources, files: tuple[AgentFile, ...]) -> Iterator[NameClash]:
    """Yield the commands of projects whose name a skill beside them has."""
    for each in files:
        if each.kind.name == "claude-command" and not each.where.is_plugin and "/" not in each.where.name:
            skill = posixpath.join(each.where.home, ".claude", "skills", each.where.name, "SKILL.md")
            if sources.exists(skill):
                yield NameClash(each.where.name, each.at, skill)


def _find_shadowed_skills(sources: Sources, files: tuple[AgentFile, ...]) -> Iterator[NameClash]:
    """Yield the skills of plugins whose name a command has; a manifest that lists either may leave files out."""
    for each in files:
        name, home = each.where.name, each.where.home
        is_called_so = each.members.get("name", name) == name
        if each.kind.name == "claude-skill" and each.where.is_plugin and is_called_so:
            command = posixpath.join(home, "commands", f"{name}.md")
            if sources.exists(command) and _LISTED.isdisjoint(read_manifest(sources, home)):
                yield NameClash(name, each.at, command)


_HOOKED = frozenset({"claude-agent", "claude-skill", "claude-command"})


def _list_hooks(file: AgentFile) -> Iterator[OwnedHooks]:
    name, given = file.kind.name, file.members.get("hooks")
    counts = name in {"claude-settings", "claude-hooks"} or (name in _HOOKED and not file.where.is_plugin)
    is_lost = name == "claude-agent" and given is not None  # of the other kinds the type of `hooks` is judged elsewhere
    if counts and (isinstance(given, dict) or is_lost):
        yield OwnedHooks(read_hooks(given, file.at / "hooks"), file.where.home, name, file.where.is_plugin)


def _list_servers(file: AgentFile, known: Known) -> Iterator[McpServer]:
    if file.kind.name == "claude-servers":
        yield from read_servers(file.tree, known)
    elif file.kind.name == "claude-agent":
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            yield from (McpServer(name, file.at / "mcpServers" / index / name, ()) for name in object_of(each))


def _find_lost_scripts(sources: Sources, every: tuple[OwnedHooks, ...]) -> Iterator[LostPath]:
    """Yield the scripts of hooks that are in no folder in which a session may have begun."""
    for each in every:
        parts = each.home.split("/") if each.home else []
        homes = ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]
        for script in list_scripts(each.hooks, is_plugin=each.is_plugin):
            if not any(sources.exists(posixpath.join(home, script.name)) for home in homes):
                yield LostPath("script", posixpath.join(each.home, script.name), script.at)


def _find_lost_memory(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a `CLAUDE.md` that read nothing."""
    for found in list_memory_imports(file.text, file.at.file):
        meant = resolve_memory_import(found.path, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("import", found.path, found.at)


def _find_lost_parts(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a workflow of gh-aw that are in no file of the project."""
    for named in list_imports(file.members.get("imports"), file.at / "imports"):
        meant = resolve_import(named.name, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("workflow import", named.name, named.at)
