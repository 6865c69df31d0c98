"""The settings file of an agent allows no tool.

## Why this matters
Since climpt 1.14 an agent may use exactly the tools in `permissions.allow`. Where the list is empty or missing, every
tool is refused. In 1.13 a missing list allowed them all.

## How to fix
List the tools that the agent needs, such as `["Read", "Grep", "Bash"]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:settings.allow",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    given = settings.permissions if settings is not None and isinstance(settings.content, dict) else None
    if settings is not None and isinstance(given, dict) and given.get("allow", []) == []:
        at = settings.at / "permissions" / "allow"
        yield Finding(at, "agents with these settings may use no tool: 'permissions.allow' lists none")
