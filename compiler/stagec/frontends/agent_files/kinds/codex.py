"""Instructions for agents that Codex and others read: `AGENTS.md` in any folder."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below
from stagec.frontends.agent_files.loaders.prose import LOADER

KINDS = AgentKinds(
    (AgentKind("agents-file", "instructions", "Codex", below("", r"(?P<name>AGENTS(?:\.override)?)\.md"), LOADER),)
)
