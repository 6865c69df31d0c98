"""Which files the `stages` of a pipeline mean, and which files that cannot be opened may be stages."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from stagec.core.json import list_of, object_of, text_in
from stagec.core.value import value
from stagec.frontends.stages.recognise import MARKDOWN, PIPELINES, sees
from stagec.sources.ignore import Patterns
from stagec.sources.read import Sources, join
from stagec.sources.tree import Tree

_SPECIAL = frozenset("*?[")
MOST_COMPARED = 1_000_000
"""Comparisons of patterns with files for one pipeline; the pattern that passes the limit is compared to the end."""

_OTHERS = frozenset({"pipeline", "registry", "agent"})
"""What a file that a pattern matches may have turned out to be, and is then no stage."""


@value
class Listed:
    """One path or pattern of a pipeline's `stages`, and the files found under it.

    `index` is where it stands in the list, None for all that lies beside a pipeline which lists nothing.
    `searched` is False for a pattern that is left out because those before it were compared with too many files.
    """

    index: int | None
    text: str
    files: tuple[str, ...]
    searched: bool = True


def find_listed(sources: Sources, pipeline: Tree) -> tuple[Listed, ...]:
    """Return the stage files that a pipeline lists; where it lists none, every stage definition beside it."""
    body = object_of(pipeline.value)
    search = _Search(sources, pipeline.file)
    if "stages" in body:
        return tuple(
            search.find(index, each)
            for index, each in enumerate(list_of(body["stages"]))
            if isinstance(each, str) and each
        )
    beside = [file for suffix in MARKDOWN for file in search.find(None, f"*{suffix}").files]
    seen = tuple(file for file in beside if not is_prompt(sources, file) and sees(sources, file))
    return (Listed(None, "", seen),)


class _Search:
    """The search for the files of one pipeline: each folder is walked once, and each pattern is compared once."""

    def __init__(self, sources: Sources, pipeline: str) -> None:
        self._sources = sources
        self._pipeline = pipeline
        self._left = MOST_COMPARED
        self._below: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}

    def find(self, index: int | None, text: str) -> Listed:
        """Return the files that a path means, relative to a pipeline; `*` stays in a name, `**` goes into folders."""
        path = join(posixpath.dirname(self._pipeline), text)
        if path is None:
            return Listed(index, text, ())
        if not _SPECIAL.intersection(path):
            if path not in self._found:
                is_there = path != self._pipeline and (self._sources.exists(path) or self._sources.has_folder(path))
                self._found[path] = (path,) if is_there else ()
            return Listed(index, text, self._found[path])
        if path not in self._found:
            if self._left <= 0:
                return Listed(index, text, (), searched=False)
            self._found[path] = tuple(self._matching(path))
        return Listed(index, text, self._found[path])

    def _matching(self, path: str) -> Iterator[str]:
        names = path.split("/")
        fixed = "/".join(names[: next(index for index, name in enumerate(names) if _SPECIAL.intersection(name))])
        if fixed not in self._below:
            self._below[fixed] = self._sources.below(fixed, "")
        self._left -= len(self._below[fixed]) + 1
        suffix = posixpath.splitext(path)[1]
        ending = "" if _SPECIAL.intersection(suffix) else suffix
        pattern = Patterns.of([f"/{path}"])
        for file in self._below[fixed]:
            if file.endswith(ending) and pattern.verdict(file, folder=False):
                tree = self._sources.find_tree(file)
                if posixpath.basename(file) not in PIPELINES and (tree is None or tree.kind not in _OTHERS):
                    yield file


def is_prompt(sources: Sources, file: str) -> bool:
    """Tell whether a file is a prompt of a step registry, and a stage only where a pipeline lists it."""
    tree = sources.find_tree(file)
    return tree is not None and tree.kind == "prompt"


_ENTRIES = ("entry", "entryStage")
_CONDUCT = ("next", "checks", "gate", "hooks")


def find_closed_stages(sources: Sources, pipeline: Tree, stages: Iterable[Tree]) -> Iterator[str]:
    """Yield such files where a pipeline mentions a stage that no other file can be; their trees say what is wrong."""
    known = {name for tree in stages for name in _names_of(tree)}
    # the names of stages that a pipeline says: where runs begin, what it speaks of, and where cases lead
    mentioned: list[str] = []
    body = object_of(pipeline.value)
    mentioned.extend(filter(None, (text_in(body, name) for name in _ENTRIES)))
    for member in _CONDUCT:
        mentioned.extend(object_of(body.get(member)))
    for way in object_of(body.get("next")).values():
        for case in list_of(way) if isinstance(way, list) else (way,):
            to = object_of(case)
            named = (case, *list_of(to.get("stages")), to.get("stages"), to.get("join"))
            mentioned.extend(each for each in named if isinstance(each, str))
    if known.issuperset(mentioned):
        return
    folder = posixpath.dirname(pipeline.file)
    for file in sources.below(folder, ""):
        is_beside = posixpath.dirname(file) == folder and file.endswith(MARKDOWN)
        if is_beside and sources.is_closed(file):
            yield file


def _names_of(tree: Tree) -> Iterator[str]:
    yield posixpath.splitext(posixpath.basename(tree.file))[0]
    yield text_in(object_of(tree.value), "id") or ""
