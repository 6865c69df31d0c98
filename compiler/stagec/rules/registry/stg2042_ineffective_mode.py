"""The settings file of an agent has the permission mode `dontAsk`.

## Why this matters
climpt 1.14 accepts the mode and acts as if `default` were written.

## How to fix
Write the mode that is meant: `default`, `plan`, `acceptEdits` or `bypassPermissions`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:settings.default-mode",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    given = settings.permissions if settings is not None else None
    if settings is not None and isinstance(given, dict) and given.get("defaultMode") == "dontAsk":
        yield Finding(settings.at / "permissions" / "defaultMode", "the permission mode 'dontAsk' acts as 'default'")
