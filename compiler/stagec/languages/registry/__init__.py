"""Step registries: `steps_registry.json` with its agent definition, output schemas and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.languages import CalledAgent, Flow, FlowRights, FrontEnd, Sources
from stagec.languages.registry.document import Registry
from stagec.languages.registry.files import PATHS, claims, recognises
from stagec.languages.registry.lower import lower
from stagec.languages.registry.read import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft
    from stagec.ir.rights import Rights


def _freeze(document: Registry, flow: Flow, sources: Sources) -> Draft:
    from stagec.languages.registry.freezing.draft import freeze  # most runs only check

    return freeze(document, flow, sources)


def _describe(document: Registry, flow: Flow) -> CalledAgent | None:
    from stagec.languages.registry.rights import describe  # few projects have files that call agents

    return describe(document, flow)


def _grant(document: Registry, flow: Flow | None, sources: Sources) -> tuple[FlowRights, ...]:
    def read() -> Mapping[str, Rights]:
        from stagec.languages.registry.rights import read_rights  # few runs ask for rights

        return read_rights(document, sources)

    return () if flow is None else (FlowRights(flow, read),)


def _list_names(document: Registry) -> Iterable[Occurrence]:
    from stagec.languages.registry.names import list_names  # only editors ask for names

    return list_names(document)


FRONTEND = FrontEnd(
    "registry",
    claims,
    recognises,
    read,
    lower,
    paths=PATHS,
    freeze=_freeze,
    describe=_describe,
    grant=_grant,
    list_names=_list_names,
)
