"""The names in a pipeline and its stages."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.ir.flow import NameKind, Occurrence
from stagec.languages.stages.document import Pipeline, Stage
from stagec.sources.contract.schemas import Schema

_CONTEXT = "ctx"


def list_names(document: Pipeline) -> Iterator[Occurrence]:
    """Yield every place at which a name is defined or mentioned."""
    owner = document.at.file
    for stage in document.stages:
        if stage.id is not None:
            yield Occurrence(NameKind.STAGE, stage.id, owner, stage.id_at, stage.at)
        yield from _list_tools(document, stage)
        for read in stage.body.placeholders:
            if read.path[:1] == (_CONTEXT,) and len(read.path) > 1 and read.path[1] in (document.context or {}):
                yield Occurrence(NameKind.VARIABLE, str(read.path[1]), owner, read.at)
    for each in _list_mentions(document):
        # a member is named by its key, a target by a text
        is_key = any(each is routed for routed in document.routed)
        yield Occurrence(NameKind.STAGE, each.name, owner, each.at.key if is_key else each.at)
    for name in document.context or {}:
        at = document.at / "context" / name
        yield Occurrence(NameKind.VARIABLE, name, owner, at.key, at)
    yield from _list_files(document)


def _list_mentions(document: Pipeline) -> Iterator[Mention]:
    if document.entry is not None:
        yield document.entry
    yield from document.routed
    yield from document.configured
    for stage in document.stages:
        for case in stage.conduct.cases:
            yield from case.targets


def _list_tools(document: Pipeline, stage: Stage) -> Iterator[Occurrence]:
    catalogue = document.catalogue
    for each in stage.allowed or ():
        owner = "" if catalogue is None else catalogue.file
        yield Occurrence(NameKind.TOOL, each.name, owner, each.at)
    if stage.completion is not None:
        # a stage defines the tool by which it completes
        yield Occurrence(
            NameKind.COMPLETION_TOOL, stage.completion.name, stage.name, stage.completion.at, stage.completion.at
        )


def _list_files(document: Pipeline) -> Iterator[Occurrence]:
    for each in document.references:
        if isinstance(each.found, Schema):
            yield Occurrence(NameKind.FILE, each.found.at.file, "", each.at)
    files = {stage.at.file for stage in document.stages}
    for pattern in document.patterns:
        plain = pattern.text.removeprefix("./")
        named = (file for file in files if file == plain or file.endswith(f"/{plain}"))
        yield from (Occurrence(NameKind.FILE, file, "", pattern.at) for file in named)
    if document.tools is not None and document.catalogue is not None:
        yield Occurrence(NameKind.FILE, document.catalogue.file, "", document.tools.at)
