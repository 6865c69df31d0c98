"""From the files of Claude Code to what they say together, and to the files of the project that they mean."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import list_of, object_of
from stagec.frontends.agent_files.claude_project import ClaudeProject, OwnedHooks
from stagec.frontends.agent_files.document import AgentFile
from stagec.frontends.agent_files.hooks import read_hooks
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.loaders import LoadOutcome
from stagec.frontends.agent_files.lost_files import find_lost_memory, find_lost_parts, find_lost_scripts
from stagec.frontends.agent_files.mcp_servers import McpServer, read_servers
from stagec.frontends.agent_files.settings import read_settings
from stagec.sources.read import Sources

_ADDRESS = "ANTHROPIC_BASE_URL"


def read_claude_project(sources: Sources, files: tuple[AgentFile, ...], known: Known) -> ClaudeProject:
    """Return what the files of a project say together."""
    settings = [each for each in files if each.kind.name == "claude-settings"]
    hooks = tuple(owned for each in files for owned in _list_hooks(each))
    memory = (lost for each in files if each.kind.name == "claude-memory" for lost in find_lost_memory(sources, each))
    parts = (lost for each in files if each.kind.name == "gh-aw-workflow" for lost in find_lost_parts(sources, each))
    return ClaudeProject(
        settings=tuple(
            (each.where.home, read_settings(each.tree, known, is_object=each.reading.outcome is LoadOutcome.READ))
            for each in settings
        ),
        hooks=hooks,
        servers=tuple(server for each in files for server in _list_servers(each, known)),
        lost=(*find_lost_scripts(sources, hooks), *memory, *parts),
        is_redirected=any(_ADDRESS in object_of(each.members.get("env")) for each in settings),
    )


_HOOKED = frozenset({"claude-agent", "claude-skill", "claude-command"})


def _list_hooks(file: AgentFile) -> Iterator[OwnedHooks]:
    name, given = file.kind.name, file.members.get("hooks")
    counts = name in {"claude-settings", "claude-hooks"} or (name in _HOOKED and not file.where.is_plugin)
    if isinstance(given, dict) and counts:
        yield OwnedHooks(read_hooks(given, file.at / "hooks"), file.where.home, name, file.where.is_plugin)


def _list_servers(file: AgentFile, known: Known) -> Iterator[McpServer]:
    if file.kind.name == "claude-servers":
        yield from read_servers(file.tree, known)
    elif file.kind.name == "claude-agent":
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            yield from (McpServer(name, file.at / "mcpServers" / index / name, ()) for name in object_of(each))
