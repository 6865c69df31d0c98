"""Which files the `stages` of a pipeline mean."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from stagec.core.json import list_of, object_of
from stagec.core.value import value
from stagec.frontends.stages.recognise import MARKDOWN, PIPELINES, sees
from stagec.sources.ignore import Patterns
from stagec.sources.read import Sources, join
from stagec.sources.tree import Tree

_SPECIAL = frozenset("*?[")
_OTHERS = frozenset({"pipeline", "registry", "agent"})
"""What a file that a pattern matches may have turned out to be, and is then no stage."""


@value
class Listed:
    """One path or pattern of a pipeline's `stages`, and the files found under it.

    `index` is where it stands in the list, None for all that lies beside a pipeline which lists nothing.
    """

    index: int | None
    text: str
    files: tuple[str, ...]


def listed(sources: Sources, pipeline: Tree) -> tuple[Listed, ...]:
    """Return the stage files that a pipeline lists; where it lists none, every stage definition beside it."""
    body = object_of(pipeline.value)
    if "stages" in body:
        return tuple(
            Listed(index, each, tuple(_files(sources, pipeline.file, each)))
            for index, each in enumerate(list_of(body["stages"]))
            if isinstance(each, str) and each
        )
    beside = [file for suffix in MARKDOWN for file in _files(sources, pipeline.file, f"*{suffix}")]
    seen = tuple(file for file in beside if not is_prompt(sources, file) and sees(sources, file))
    return (Listed(None, "", seen),)


def _files(sources: Sources, pipeline: str, text: str) -> Iterator[str]:
    """Yield the files that a path means, relative to a pipeline; `*` stays within a name, `**` goes into folders."""
    path = join(posixpath.dirname(pipeline), text)
    if path is None:
        return
    if not _SPECIAL.intersection(path):
        if path != pipeline and (sources.exists(path) or sources.has_folder(path)):
            yield path
        return
    names = path.split("/")
    fixed = next(index for index, name in enumerate(names) if _SPECIAL.intersection(name))
    suffix = posixpath.splitext(path)[1]
    pattern = Patterns.of([f"/{path}"])
    for file in sources.below("/".join(names[:fixed]), "" if _SPECIAL.intersection(suffix) else suffix):
        if pattern.verdict(file, folder=False) and not _is_other(sources, file):
            yield file


def _is_other(sources: Sources, file: str) -> bool:
    tree = sources.known(file)
    return posixpath.basename(file) in PIPELINES or (tree is not None and tree.kind in _OTHERS)


def is_prompt(sources: Sources, file: str) -> bool:
    """Tell whether a file is a prompt of a step registry, and a stage only where a pipeline lists it."""
    tree = sources.known(file)
    return tree is not None and tree.kind == "prompt"
