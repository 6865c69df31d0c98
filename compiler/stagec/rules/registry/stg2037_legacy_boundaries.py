"""An agent of climpt 1.14 states its tools or its permission mode in `boundaries`.

## Why this matters
Since climpt 1.14 both are in a settings file: `permissions.allow` and `permissions.defaultMode` of
`.agent/climpt/config/claude.settings.climpt.agents.NAME.json`, or of `claude.settings.climpt.agents.json` for all
agents. What `agent.json` says is ignored, so the agent may have fewer tools or more than it seems.

## How to fix
Move `allowedTools` to `permissions.allow` and `permissionMode` to `permissions.defaultMode`. Only `sandbox` stays.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:agent.legacy-boundaries",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is None or agent.generation is Generation.V1_13:
        return
    given = [name for name in ("allowedTools", "permissionMode") if name in (agent.conduct.boundaries or {})]
    if given:
        at = (agent.at / "runner" / "boundaries" / given[0]).key
        yield Finding(at, f"climpt 1.14 ignores {listing(given)} of 'boundaries': the settings file decides")
