"""Put the plan of a registry together."""

from __future__ import annotations

from stagec.frontends.registry.document import Registry
from stagec.model.flow import Flow
from stagec.plan.draft import Draft
from stagec.sources.read import Sources


def freeze(registry: Registry, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a registry without errors."""
    raise NotImplementedError
