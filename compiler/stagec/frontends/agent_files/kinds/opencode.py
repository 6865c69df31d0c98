"""Files of OpenCode: agents, modes, commands and skills."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below
from stagec.frontends.agent_files.loaders.opencode import load

_ANY = r"(?P<name>.+)\.md"

KINDS = AgentKinds(
    (
        AgentKind(
            "opencode-agent", "agent", "OpenCode", below(r"\.opencode/agents?", _ANY), load, keys="opencode-agent"
        ),
        AgentKind(
            "opencode-mode",
            "mode",
            "OpenCode",
            below(r"\.opencode/modes?", r"(?P<name>[^/]+)\.md"),
            load,
            keys="opencode-agent",
        ),
        AgentKind(
            "opencode-command",
            "command",
            "OpenCode",
            below(r"\.opencode/commands?", _ANY),
            load,
            keys="opencode-command",
        ),
        AgentKind(
            "opencode-skill",
            "skill",
            "OpenCode",
            below(r"\.opencode/skills?", r"(?:.+/)?(?P<name>[^/]+)/SKILL\.md"),
            load,
            keys="skill",
        ),
    )
)
