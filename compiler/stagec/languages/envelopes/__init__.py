"""Stage plans: envelopes of the stage protocol, in one document or in the files of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.languages import Flow, FlowRights, FrontEnd, Sources, Tree
from stagec.languages.envelopes import recognise
from stagec.languages.envelopes.document import StagePlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft
    from stagec.ir.rights import Rights


class _Envelopes(FrontEnd[StagePlan]):
    name = "envelopes"

    def considers(self, file: str) -> bool:
        return recognise.considers(file)

    def sees(self, sources: Sources, file: str) -> bool:
        return recognise.sees(sources, file)

    def recognises(self, tree: Tree) -> bool:
        return recognise.recognises(tree)

    def read(self, sources: Sources, files: tuple[str, ...]) -> tuple[StagePlan, ...]:
        if not files:  # of most projects
            return ()
        from stagec.languages.envelopes.read import read  # only a project with stage plans needs it

        return read(sources, files)

    def lower(self, document: StagePlan) -> Flow | None:
        from stagec.languages.envelopes.lower import lower  # so here

        return lower(document)

    def freeze(self, document: StagePlan, flow: Flow, sources: Sources) -> Draft:
        from stagec.languages.envelopes.lower import freeze  # most runs only check

        return freeze(document, flow, sources)

    def grant(self, document: StagePlan, flow: Flow | None, sources: Sources) -> tuple[FlowRights, ...]:
        def read() -> Mapping[str, Rights]:
            from stagec.languages.envelopes.lower import read_rights  # few runs ask for rights

            return read_rights(document, sources)

        return () if flow is None else (FlowRights(flow, read),)

    def list_names(self, document: StagePlan) -> Iterable[Occurrence]:
        from stagec.languages.envelopes.lower import list_names  # only editors ask for names

        return list_names(document)


FRONTEND = _Envelopes()
