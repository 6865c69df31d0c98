"""Files of Claude Code that are no agents: settings, hooks of plugins, servers, and `CLAUDE.md`."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below, inside_plugin
from stagec.frontends.agent_files.loaders.json_file import LOADER as JSON
from stagec.frontends.agent_files.loaders.prose import LOADER as PROSE

KINDS = AgentKinds(
    (
        AgentKind(
            "claude-settings",
            "settings",
            "Claude Code",
            below(r"\.claude", r"(?P<name>settings(?:\.local)?)\.json"),
            JSON,
        ),
        AgentKind("claude-hooks", "hooks", "Claude Code", inside_plugin("hooks", r"(?P<name>hooks)\.json"), JSON),
        AgentKind(
            "claude-servers", "servers", "Claude Code", below("", r"(?P<name>\.mcp)\.json"), JSON, is_shared=True
        ),
        AgentKind("claude-memory", "memory", "Claude Code", below("", r"(?P<name>CLAUDE(?:\.local)?)\.md"), PROSE),
    )
)
