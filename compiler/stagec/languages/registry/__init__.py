"""Step registries: `steps_registry.json` with its agent definition, output schemas and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.languages import CalledAgent, Flow, FlowRights, FrontEnd, Sources, Tree
from stagec.languages.registry import files
from stagec.languages.registry.document import Registry
from stagec.languages.registry.lower import lower
from stagec.languages.registry.read import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft
    from stagec.ir.rights import Rights


class _Registries(FrontEnd[Registry]):
    name = "registry"
    paths = files.PATHS

    def claims(self, file: str) -> bool:
        return files.claims(file)

    def recognises(self, tree: Tree) -> bool:
        return files.recognises(tree)

    def read(self, sources: Sources, claimed: tuple[str, ...]) -> tuple[Registry, ...]:
        return read(sources, claimed)

    def lower(self, document: Registry) -> Flow | None:
        return lower(document)

    def freeze(self, document: Registry, flow: Flow, sources: Sources) -> Draft:
        from stagec.languages.registry.freezing import freeze  # most runs only check

        return freeze(document, flow, sources)

    def describe(self, document: Registry, flow: Flow) -> CalledAgent | None:
        from stagec.languages.registry.rights import describe  # few projects have files that call agents

        return describe(document, flow)

    def grant(self, document: Registry, flow: Flow | None, sources: Sources) -> tuple[FlowRights, ...]:
        def read() -> Mapping[str, Rights]:
            from stagec.languages.registry.rights import read_rights  # few runs ask for rights

            return read_rights(document, sources)

        return () if flow is None else (FlowRights(flow, read),)

    def list_asking(self, document: Registry, _flow: Flow) -> Iterable[str]:
        steps = document.steps.items()
        return [key for key, step in steps if not step.is_section and step.program is None]

    def list_names(self, document: Registry) -> Iterable[Occurrence]:
        from stagec.languages.registry.names import list_names  # only editors ask for names

        return list_names(document)


FRONTEND = _Registries()
