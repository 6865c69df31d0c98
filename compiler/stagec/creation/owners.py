"""The tools whose agent files stagec writes: how they name tools, and what they read besides a name and a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.core.value import value
from stagec.frontends.agent_files.known import Known, read_data

_KNOWN = Known(read_data(), Memo())
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_GROUPS: Mapping[str, str] = {
    "Read": "read",
    "Edit": "edit",
    "Bash": "execute",
    "Grep": "search",
    "WebFetch": "web",
    "TodoWrite": "todo",
}
_WIDER: Mapping[str, str] = {
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Glob": "search",
    "WebSearch": "web",
}


@value
class NamedTool:
    """The name of a tool in an agent file, None where there is none, and what is lost with it."""

    name: str | None
    loss: str = ""


@value
class AgentOwner:
    """A tool that owns agent files: where they are, how they end, and how a tool is named in them.

    `name_tool(tool, server)` is asked for each tool of a stage; `values` tells which metadata of a stage the owner
    reads. `turns` is its key for the most turns, `none` the line that allows no tool.
    """

    folder: str
    suffix: str
    name_tool: Callable[[str, str | None], NamedTool]
    values: Callable[[str, Json], bool]
    none: str
    turns: str | None = None
    has_handoffs: bool = False
    longest: int | None = None


def _name_claude(tool: str, server: str | None) -> NamedTool:
    if server is not None:
        return NamedTool(f"mcp__{_OUTSIDE.sub('_', server)}__{_OUTSIDE.sub('_', tool)}")
    if tool in _KNOWN.names("never-for-subagents") or tool in _KNOWN.names("only-when-planning"):
        return NamedTool(None, "no agent of Claude Code is given it")
    is_known = tool in _KNOWN.names("tools")
    return NamedTool(tool) if is_known else NamedTool(None, "Claude Code has no tool of that name")


def _name_copilot(tool: str, server: str | None) -> NamedTool:
    if server is not None:
        return NamedTool(f"{server}/{tool}")
    if tool in _WIDER:
        return NamedTool(_WIDER[tool], f"became {_WIDER[tool]!r}, which allows more")
    return NamedTool(_GROUPS[tool]) if tool in _GROUPS else NamedTool(tool, "is kept: Copilot ignores unknown names")


def _reads_claude(key: str, given: Json) -> bool:
    lists = {"color": "colors", "effort": "efforts", "memory": "memory"}
    if key == "initialPrompt":
        return isinstance(given, str)
    return key in lists and isinstance(given, str) and given in _KNOWN.names(lists[key])


def _reads_copilot(key: str, given: Json) -> bool:
    return key == "argument-hint" and isinstance(given, str)


OWNERS: Mapping[str, AgentOwner] = {
    "claude": AgentOwner(
        ".claude/agents",
        ".md",
        _name_claude,
        _reads_claude,
        "tools: [] # stagec: ignore[emptied-tools] the stage calls no tool",
        turns="maxTurns",
    ),
    "copilot": AgentOwner(
        ".github/agents",
        ".agent.md",
        _name_copilot,
        _reads_copilot,
        "tools: []",
        has_handoffs=True,
        longest=30_000,
    ),
}
"""The tools that stages are exported to, by the word that chooses one."""
