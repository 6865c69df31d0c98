"""Stage definitions and pipelines: Markdown files with frontmatter, and what joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.languages import Flow, FlowRights, FrontEnd, Sources, Tree
from stagec.languages.stages import recognise
from stagec.languages.stages.document import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft
    from stagec.ir.rights import Rights


class _Stages(FrontEnd[Pipeline]):
    name = "stages"
    paths = recognise.PATHS

    def claims(self, file: str) -> bool:
        return recognise.claims(file)

    def considers(self, file: str) -> bool:
        return recognise.considers(file)

    def sees(self, sources: Sources, file: str) -> bool:
        return recognise.sees(sources, file)

    def recognises(self, tree: Tree) -> bool:
        return recognise.recognises(tree)

    def read(self, sources: Sources, files: tuple[str, ...]) -> tuple[Pipeline, ...]:
        if not files:  # of most projects
            return ()
        from stagec.languages.stages.read import read  # only a project with stages needs it

        return read(sources, files)

    def lower(self, document: Pipeline) -> Flow | None:
        from stagec.languages.stages.lower import lower  # so here

        return lower(document)

    def freeze(self, document: Pipeline, flow: Flow, sources: Sources) -> Draft:
        from stagec.languages.stages.freezing import freeze  # most runs only check

        return freeze(document, flow, sources)

    def grant(self, document: Pipeline, flow: Flow | None, _sources: Sources) -> tuple[FlowRights, ...]:
        def read() -> Mapping[str, Rights]:
            from stagec.languages.stages.lower import read_rights  # few runs ask for rights

            return read_rights(document)

        return () if flow is None else (FlowRights(flow, read),)

    def list_asking(self, _document: Pipeline, flow: Flow) -> Iterable[str]:
        return flow.nodes

    def list_names(self, document: Pipeline) -> Iterable[Occurrence]:
        from stagec.languages.stages.document import list_names  # only editors ask for names

        return list_names(document)


FRONTEND = _Stages()
