"""What the stages of a pipeline may do: the tools that they allow, and what their catalogue says of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.catalogue.labels import LabelBook
from stagec.core.place import Mention
from stagec.frontends.stages.document import Pipeline, Profile, Stage
from stagec.model.rights import Right, Rights


def read_rights(pipeline: Pipeline) -> Mapping[str, Rights]:
    """Return what each stage may do."""
    book = LabelBook(pipeline.catalogue)
    return {
        name: Rights(
            tools=tuple(Right(each.name, each.at, book.find(each.name)) for each in _list_allowed(pipeline, stage)),
            is_open=stage.allowed is None and pipeline.catalogue is None and stage.profile is Profile.OBJECT,
            prompts=(stage.body.text,),
        )
        for name, stage in pipeline.by_id.items()
    }


def _list_allowed(pipeline: Pipeline, stage: Stage) -> Iterator[Mention]:
    """Yield the tools that a stage may call, each once; a stage object that does not say may call all there are."""
    known = set[str]()
    for each in stage.allowed or ():
        if each.name not in known:
            known.add(each.name)
            yield each
    if stage.allowed is None and stage.profile is Profile.OBJECT and pipeline.catalogue is not None:
        yield from (Mention(name, stage.id_at) for name in pipeline.catalogue.by_name)
