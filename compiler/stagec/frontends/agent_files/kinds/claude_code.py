"""Files of Claude Code: agents, skills, commands and rules, of a project and of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, Where, below, inside_plugin
from stagec.frontends.agent_files.loaders.claude_code import load
from stagec.frontends.agent_files.loaders.unread import load as leave

_ANY = r"(?P<name>.+)\.md"
_SKILL = r"(?P<name>[^/]+)/SKILL\.md"
_MISPLACED = r"(?P<name>[^/]+\.md|[^/]+/(?!SKILL\.md)(?i:skill\.md)|[^/]+/(?:[^/]+/)+SKILL\.md)"


def either(folder: str, name: str) -> Callable[[str], Iterator[Where]]:
    """Return how files are found in a folder of `.claude`, and in the folder of that name of a plugin."""
    of_project, of_plugin = below(rf"\.claude/{folder}", name), inside_plugin(folder, name)
    return lambda file: chain(of_project(file), of_plugin(file))


KINDS = AgentKinds(
    (
        AgentKind("claude-agent", "agent", "Claude Code", either("agents", _ANY), load, keys="agent"),
        AgentKind("claude-skill", "skill", "Claude Code", either("skills", _SKILL), load, keys="skill"),
        AgentKind("claude-command", "command", "Claude Code", either("commands", _ANY), load, keys="skill"),
        AgentKind(
            "claude-misplaced-skill",
            "skill",
            "Claude Code",
            below(r"\.claude/skills", _MISPLACED),
            leave,
            is_read=False,
        ),
        AgentKind("claude-rule", "rule", "Claude Code", below(r"\.claude/rules", _ANY), load, keys="rule"),
    )
)
