"""Which tools of Claude Code's agents the settings of their project deny."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import value
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.permission_rules import PermissionRule
from stagec.frontends.agent_files.tool_names import ToolEntry, ToolGroup, list_tools


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
        denials = [rule for each in homes for rule in each.list_denied() if not agent.where.is_plugin]
        entries = list_tools(agent, files.known) if denials else ()
        standing = [entry for entry in entries if entry.group is ToolGroup.KNOWN]
        found = [(entry, _find_denial(entry, denials, files.known)) for entry in standing]
        denied = tuple((entry, denial) for entry, denial in found if denial is not None)
        if denied:
            yield DisarmedAgent(agent, denied, len(denied) == len(found))


def _find_denial(entry: ToolEntry, denials: list[PermissionRule], known: Known) -> PermissionRule | None:
    aliases = known.aliases("tool-aliases")
    name = aliases.get(entry.name) or entry.name
    for denial in denials:
        meant = aliases.get(denial.tool)
        if denial.covers(name) or denial.covers(entry.name) or (meant is not None and meant == name):
            return denial
    return None
