"""The settings file of an agent has another shape than climpt 1.14 reads.

## Why this matters
climpt 1.14 reads the file at the first step that asks a model. It ends the run where `permissions` is no object,
`allow` is no list of texts, or `defaultMode` is none of the modes.

## How to fix
Write `{"permissions": {"allow": ["Read"], "defaultMode": "default"}}`. The modes are `default`, `plan`,
`acceptEdits`, `bypassPermissions` and `dontAsk`.
"""

from collections.abc import Iterator

from stagec.core.json import list_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:settings.permissions",
        "climpt-1.14:settings.allow",
        "climpt-1.14:settings.default-mode",
        "AC-LOAD-003",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    if settings is None or not settings.is_readable:
        return
    if not isinstance(settings.content, dict) or not isinstance(settings.permissions, dict):
        at = settings.at if not isinstance(settings.content, dict) else settings.at / "permissions"
        yield Finding(at, "the settings of an agent must be an object with an object 'permissions'")
        return
    at, given = settings.at / "permissions", settings.permissions
    allow, mode = given.get("allow", []), given.get("defaultMode", _MODES[0])
    odd = next((index for index, each in enumerate(list_of(allow)) if not isinstance(each, str)), None)
    if not isinstance(allow, list) or odd is not None:
        yield Finding(
            at / "allow" if odd is None else at / "allow" / odd, "'permissions.allow' must be a list of texts"
        )
    if mode not in _MODES:
        what = f", found {quote(mode)}{hint(mode, NameIndex(_MODES))}" if isinstance(mode, str) else ""
        yield Finding(at / "defaultMode", f"'permissions.defaultMode' must be {listing(_MODES, 'or')}{what}")


_MODES = ("default", "plan", "acceptEdits", "bypassPermissions", "dontAsk")
