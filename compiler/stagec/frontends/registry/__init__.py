"""Step registries: `steps_registry.json` with its agent definition, output schemas and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.frontends import Flow, FrontEnd, Sources
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.files import claims, recognises
from stagec.frontends.registry.lower import lower
from stagec.frontends.registry.read import read

if TYPE_CHECKING:
    from stagec.plan.document import Draft


def _freeze(document: Registry, flow: Flow, sources: Sources) -> Draft:
    from stagec.frontends.registry.freezing.draft import freeze  # most runs only check

    return freeze(document, flow, sources)


FRONTEND = FrontEnd("registry", claims, recognises, read, lower, freeze=_freeze)
