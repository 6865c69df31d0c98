"""Files beside a pipeline that cannot be opened, and may be the stages that it mentions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from stagec.core.json import Json, list_of, object_of, text_in
from stagec.frontends.stages.recognise import MARKDOWN
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

_ENTRIES = ("entry", "entryStage")
_CONDUCT = ("next", "checks", "gate", "hooks")


def closed_stages(sources: Sources, pipeline: Tree, stages: Iterable[Tree]) -> Iterator[str]:
    """Yield such files where a pipeline mentions a stage that no other file can be; their trees say what is wrong."""
    known = {name for tree in stages for name in _names_of(tree)}
    if known.issuperset(_mentioned(pipeline)):
        return
    folder = posixpath.dirname(pipeline.file)
    for file in sources.below(folder, ""):
        is_beside = posixpath.dirname(file) == folder and file.endswith(MARKDOWN)
        if is_beside and sources.is_closed(file):
            yield file


def _names_of(tree: Tree) -> Iterator[str]:
    yield posixpath.splitext(posixpath.basename(tree.file))[0]
    yield text_in(object_of(tree.value), "id") or ""


def _mentioned(pipeline: Tree) -> Iterator[str]:
    """Yield the names of stages that a pipeline says: where runs begin, what it speaks of, and where cases lead."""
    body = object_of(pipeline.value)
    yield from filter(None, (text_in(body, name) for name in _ENTRIES))
    for member in _CONDUCT:
        yield from object_of(body.get(member))
    for way in object_of(body.get("next")).values():
        for case in list_of(way) if isinstance(way, list) else (way,):
            yield from _targets(case)


def _targets(case: Json) -> Iterator[str]:
    given = object_of(case)
    for each in (case, *list_of(given.get("stages")), given.get("stages"), given.get("join")):
        if isinstance(each, str):
            yield each
