"""Rules of Cursor, whose frontmatter is not YAML."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below
from stagec.frontends.agent_files.loaders.cursor import load

KINDS = AgentKinds(
    (
        AgentKind(
            "cursor-rule", "rule", "Cursor", below(r"\.cursor/rules", r"(?P<name>.+)\.mdc"), load, keys="cursor-rule"
        ),
    )
)
