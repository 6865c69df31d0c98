"""Files of Claude Code: agents, skills, commands and rules, of a project and of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stagec.core.value import replace
from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, Where, below, either, inside_plugin
from stagec.frontends.agent_files.loaders.claude_code import load
from stagec.frontends.agent_files.loaders.unread import load as leave

_ANY = r"(?P<name>.+)\.md"
_SKILL = r"(?P<name>[^/]+)/SKILL\.md"
_MISPLACED = r"(?P<name>[^/]+\.md|[^/]+/(?!SKILL\.md)(?i:skill\.md)|[^/]+/(?:[^/]+/)+SKILL\.md)"


def in_both(folder: str, name: str) -> Callable[[str], Iterator[Where]]:
    """Return how files are found in a folder of `.claude`, and in the folder of that name of a plugin."""
    return either(below(rf"\.claude/{folder}", name), inside_plugin(folder, name))


def find_misplaced(file: str) -> Iterator[Where]:
    """Yield what the path of a skill says that Claude Code does not find; what is below a skill is a part of it."""
    for each in _MISPLACED_SKILLS(file):
        folder = file.removesuffix(each.name)
        yield replace(each, refutation=f"{folder}{each.name.partition('/')[0]}/SKILL.md")


_MISPLACED_SKILLS = below(r"\.claude/skills", _MISPLACED)

KINDS = AgentKinds(
    (
        AgentKind("claude-agent", "agent", "Claude Code", in_both("agents", _ANY), load, keys="agent"),
        AgentKind("claude-skill", "skill", "Claude Code", in_both("skills", _SKILL), load, keys="skill"),
        AgentKind("claude-command", "command", "Claude Code", in_both("commands", _ANY), load, keys="skill"),
        AgentKind(
            "claude-misplaced-skill",
            "skill",
            "Claude Code",
            find_misplaced,
            leave,
            is_read=False,
        ),
        AgentKind("claude-rule", "rule", "Claude Code", below(r"\.claude/rules", _ANY), load, keys="rule"),
    )
)
