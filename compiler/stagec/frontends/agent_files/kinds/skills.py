"""Skills in the folders that several tools share: `.agents/skills` and `.github/skills`."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below
from stagec.frontends.agent_files.loaders.strict import load

_SKILL = r"(?P<name>[^/]+)/SKILL\.md"

KINDS = AgentKinds(
    (AgentKind("shared-skill", "skill", "Codex", below(r"\.(?:agents|github)/skills", _SKILL), load, keys="skill"),)
)
