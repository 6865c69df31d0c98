"""Files of Claude Code: agents, skills, commands and rules, of a project and of plugins."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, Where, below, inside_plugin
from stagec.frontends.agent_files.loaders.claude_code import LOADER

_ANY = r"(?P<name>.+)\.md"
_SKILL = r"(?P<name>[^/]+)/SKILL\.md"


def _find_agent(file: str) -> Iterator[Where]:
    yield from _PROJECT_AGENTS(file)
    yield from _PLUGIN_AGENTS(file)


def _find_skill(file: str) -> Iterator[Where]:
    yield from _PROJECT_SKILLS(file)
    yield from _PLUGIN_SKILLS(file)


def _find_command(file: str) -> Iterator[Where]:
    yield from _PROJECT_COMMANDS(file)
    yield from _PLUGIN_COMMANDS(file)


_PROJECT_AGENTS, _PLUGIN_AGENTS = below(r"\.claude/agents", _ANY), inside_plugin("agents", _ANY)
_PROJECT_SKILLS, _PLUGIN_SKILLS = below(r"\.claude/skills", _SKILL), inside_plugin("skills", _SKILL)
_PROJECT_COMMANDS, _PLUGIN_COMMANDS = below(r"\.claude/commands", _ANY), inside_plugin("commands", _ANY)

KINDS = AgentKinds(
    (
        AgentKind("claude-agent", "agent", "Claude Code", _find_agent, LOADER, keys="agent"),
        AgentKind("claude-skill", "skill", "Claude Code", _find_skill, LOADER, keys="skill"),
        AgentKind("claude-command", "command", "Claude Code", _find_command, LOADER, keys="skill"),
        AgentKind("claude-rule", "rule", "Claude Code", below(r"\.claude/rules", _ANY), LOADER, keys="rule"),
    )
)
