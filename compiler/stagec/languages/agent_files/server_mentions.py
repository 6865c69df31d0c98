"""Where files of Claude Code name MCP servers by the names of their tools, and which of these nobody declares."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.languages.agent_files.document import AgentFiles
from stagec.languages.agent_files.mcp_names import split_mcp_name
from stagec.languages.agent_files.tool_names import list_tools

_LISTS = (
    ("claude-agent", ("tools", "disallowedTools")),
    ("claude-skill", ("allowed-tools", "disallowed-tools")),
    ("claude-command", ("allowed-tools", "disallowed-tools")),
)
_FOREIGN = ("plugin_", "claude_ai_")
"""How the servers begin that plugins and accounts bring along."""


def list_undeclared_servers(files: AgentFiles) -> Iterator[Mention]:
    """Yield the servers that are named and that no file of the project declares, in tools and in permission rules."""
    for mention in list_named_tools(files):
        parts = split_mcp_name(mention.name)
        server = "*" if parts is None else parts[0]
        if "*" not in server and server not in files.claude.declared and not server.startswith(_FOREIGN):
            yield Mention(server, mention.at)


def list_named_tools(files: AgentFiles) -> Iterator[Mention]:
    """Yield every tool that the files of Claude Code name, in lists and in permission rules."""
    for kind, keys in _LISTS:
        lists = (list_tools(file, files.known, key) for file in files.of(kind) for key in keys)
        yield from (Mention(entry.name, entry.at) for entries in lists for entry in entries)
    for _, settings in files.claude.settings:
        yield from (Mention(each.tool, each.at) for each in settings.rules if each.refusal is None)


def fold_server(name: str) -> str:
    """Return a name of a server without what is easily confused: its case, `-` and `_`."""
    return name.lower().replace("-", "").replace("_", "")
