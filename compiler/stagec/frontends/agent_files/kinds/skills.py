"""Skills in the folders that several tools share, `.agents/skills` and `.github/skills`, and in plugins of Copilot."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below, either, inside_plugin
from stagec.frontends.agent_files.loaders.strict import load

_SKILL = r"(?P<name>[^/]+)/SKILL\.md"

_SKILLS = either(below(r"\.(?:agents|github)/skills", _SKILL), inside_plugin("skills", _SKILL, "Copilot"))

KINDS = AgentKinds((AgentKind("shared-skill", "skill", "Codex", _SKILLS, load, keys="skill"),))
