"""Which tools of Claude Code's agents the settings of their project deny."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from stagec.core.value import value
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import Known
from stagec.languages.agent_files.mcp_names import MCP_PREFIX, split_mcp_name
from stagec.languages.agent_files.permission_rules import PermissionRule, translate_wildcards
from stagec.languages.agent_files.tool_names import ToolEntry, ToolGroup, list_tools


@value
class DisarmedAgent:
    """An agent, the entries of its tools that are denied with the rules that do so, and whether any other is left."""

    file: AgentFile
    denied: tuple[tuple[ToolEntry, PermissionRule], ...]
    has_nothing_left: bool


def find_denied_tools(files: AgentFiles) -> Iterator[DisarmedAgent]:
    """Yield every agent with a tool that the settings beside it deny."""
    for agent in files.of("claude-agent"):
        homes = [settings for home, settings in files.claude.settings if home == agent.where.home]
        rules = [rule for each in homes for rule in each.list_denied() if not agent.where.is_plugin]
        entries = list_tools(agent, files.known) if rules else ()
        standing = [entry for entry in entries if entry.group is ToolGroup.KNOWN]
        denials = Denials(rules, files.known)
        found = [(entry, denials.find(entry.name)) for entry in standing]
        denied = tuple((entry, denial) for entry, denial in found if denial is not None)
        if denied:
            yield DisarmedAgent(agent, denied, len(denied) == len(found))


class Denials:
    """The rules that take tools from agents, by what they name: a tool, a server, or a pattern with `*`."""

    def __init__(self, rules: Iterable[PermissionRule], known: Known) -> None:
        self._aliases = known.aliases("tool-aliases")
        self._named: dict[str, PermissionRule] = {}
        wide: dict[str, PermissionRule] = {}
        for each in rules:
            chosen = wide if "*" in each.tool else self._named
            chosen.setdefault(self._aliases.get(each.tool) or each.tool, each)
        self._pattern = re.compile("|".join(f"({translate_wildcards(each)})" for each in wide), re.DOTALL)
        self._ranked = tuple(wide.values())

    def find(self, tool: str) -> PermissionRule | None:
        """Return the rule that denies a tool."""
        name = self._aliases.get(tool) or tool
        server = split_mcp_name(name)
        found = self._named.get(name) or (self._named.get(f"{MCP_PREFIX}{server[0]}") if server is not None else None)
        if found is None and self._ranked:
            match = self._pattern.fullmatch(name)
            return None if match is None or match.lastindex is None else self._ranked[match.lastindex - 1]
        return found
