"""An agent of climpt 1.14 has no settings file.

## Why this matters
The settings file lists the tools that the agent may use, and its permission mode. climpt 1.14 reads it at the first
step that asks a model, and ends the run where there is none.

## How to fix
Write `.agent/climpt/config/claude.settings.climpt.agents.NAME.json`, or `claude.settings.climpt.agents.json` for all
agents, such as `{"permissions": {"allow": ["Read", "Grep"], "defaultMode": "default"}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import lacks_settings
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:settings.missing", "AC-LOAD-001"))
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is not None and agent.conduct.has_folder and lacks_settings(registry):
        yield Finding(
            agent.at, f"agent {quote(agent.name)} has no settings file: there is no {quote(agent.conduct.tried[0])}"
        )
