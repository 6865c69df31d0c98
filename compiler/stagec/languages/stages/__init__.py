"""Stage definitions and pipelines: Markdown files with frontmatter, and what joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stagec.languages import Flow, FlowRights, FrontEnd, Sources
from stagec.languages.stages.document import Pipeline
from stagec.languages.stages.recognise import PATHS, claims, considers, recognises, sees

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft
    from stagec.ir.rights import Rights


def _read(sources: Sources, files: tuple[str, ...]) -> tuple[Pipeline, ...]:
    if not files:  # of most projects
        return ()
    from stagec.languages.stages.read import read  # only a project with stages needs it

    return read(sources, files)


def _lower(document: Pipeline) -> Flow | None:
    from stagec.languages.stages.lower import lower  # so here

    return lower(document)


def _freeze(document: Pipeline, flow: Flow, sources: Sources) -> Draft:
    from stagec.languages.stages.freezing import freeze  # most runs only check

    return freeze(document, flow, sources)


def _grant(document: Pipeline, flow: Flow | None, _sources: Sources) -> tuple[FlowRights, ...]:
    def read() -> Mapping[str, Rights]:
        from stagec.languages.stages.lower import read_rights  # few runs ask for rights

        return read_rights(document)

    return () if flow is None else (FlowRights(flow, read),)


def _list_names(document: Pipeline) -> Iterable[Occurrence]:
    from stagec.languages.stages.names import list_names  # only editors ask for names

    return list_names(document)


FRONTEND = FrontEnd(
    "stages",
    claims,
    recognises,
    _read,
    _lower,
    sees,
    considers,
    paths=PATHS,
    freeze=_freeze,
    grant=_grant,
    list_names=_list_names,
)
