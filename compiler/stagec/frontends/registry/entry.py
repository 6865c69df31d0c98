"""Where runs begin: which verdict types have an entry, and which key was meant to be one."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.nearest import Names
from stagec.frontends.registry.document import VERDICTS, Registry

_KNOWN = Names(VERDICTS)


def entry_mapping(registry: Registry) -> Json:
    """Return what stands under `entryStepMapping`, whatever it is; an empty mapping where nothing does."""
    return registry.body.get("entryStepMapping", {})


def unserved_verdict(registry: Registry) -> str | None:
    """Return the agent's verdict type when it is a known one and has no entry, although others have."""
    verdict, mapping = registry.agent.verdict if registry.agent is not None else None, entry_mapping(registry)
    if verdict not in VERDICTS or "entryStep" in registry.body or not isinstance(mapping, dict):
        return None
    return verdict if mapping and verdict not in mapping else None


def misspelt_verdict(registry: Registry) -> str | None:
    """Return the key of `entryStepMapping` that was most likely meant to be the unserved verdict type."""
    unserved, mapping = unserved_verdict(registry), entry_mapping(registry)
    if unserved is None or not isinstance(mapping, dict):
        return None
    return next((key for key in mapping if key not in VERDICTS and _KNOWN.nearest(key) == unserved), None)
