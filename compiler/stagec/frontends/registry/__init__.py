"""Step registries: `steps_registry.json` with its agent definition, output schemas and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.frontends import CalledAgent, Flow, FrontEnd, Sources
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.files import claims, recognises
from stagec.frontends.registry.lower import lower
from stagec.frontends.registry.read import read

if TYPE_CHECKING:
    from stagec.plan.document import Draft


def _freeze(document: Registry, flow: Flow, sources: Sources) -> Draft:
    from stagec.frontends.registry.freezing.draft import freeze  # most runs only check

    return freeze(document, flow, sources)


def _describe(document: Registry, flow: Flow) -> CalledAgent | None:
    from stagec.frontends.registry.called import describe  # few projects have files that call agents

    return describe(document, flow)


FRONTEND = FrontEnd("registry", claims, recognises, read, lower, freeze=_freeze, describe=_describe)
