"""What a document and a workspace consist of: definitions, and the parts of a text that can be folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stagec.core.place import Place
from stagec.core.value import value
from stagec.lsp.name_places import FileSpot, read_places
from stagec.lsp.positions import TextLines
from stagec.lsp.workspace import CheckedProject
from stagec.model.occurrence import NameKind, Occurrence
from stagec.sources.formats.markdown import split

_OUTLINED = frozenset(NameKind) - {NameKind.COMPLETION_TOOL}


@value
class Symbol:
    """A definition: where all of it stands, and where its name does."""

    kind: NameKind
    name: str
    whole: FileSpot
    named: FileSpot
    file: str


def list_symbols(project: CheckedProject, file: str) -> Iterator[Symbol]:
    """Yield the definitions in a file, in the order in which they are written."""
    places = read_places(project)
    found = [each for each in places.list_definitions() if each.at.file == file and each.kind in _OUTLINED]
    yield from sorted(_place(project, found), key=lambda each: each.whole.where.start.line)


def find_symbols(projects: Sequence[CheckedProject], words: str) -> Iterator[Symbol]:
    """Yield the definitions of projects whose names have the letters of some words in this order."""
    pattern = re.compile(".*".join(map(re.escape, "".join(words.split()))), re.IGNORECASE)
    for project in projects:
        found = [
            each
            for each in read_places(project).list_definitions()
            if each.kind in _OUTLINED and pattern.search(each.name)
        ]
        yield from _place(project, found)


def _place(project: CheckedProject, found: Sequence[Occurrence]) -> Iterator[Symbol]:
    places = read_places(project)
    for file in dict.fromkeys(each.at.file for each in found):
        own = [each for each in found if each.at.file == file]
        # a member begins at its name, and the whole of it has to hold the name
        wholes = [Place(each.whole.file, each.whole.pointer) for each in own if each.whole is not None]
        spots = places.locate(file, [*(each.at for each in own), *wholes])
        for each, whole in zip(own, wholes, strict=True):
            if each.at in spots and whole in spots:
                yield Symbol(each.kind, each.name, _join(spots[each.at], spots[whole]), spots[each.at], file)


def _join(named: FileSpot, whole: FileSpot) -> FileSpot:
    first, second = named.where, whole.where
    begins = min((first.start.line, first.start.character), (second.start.line, second.start.character))
    ends = max((first.end.line, first.end.character), (second.end.line, second.end.character))
    start = first.start if (first.start.line, first.start.character) == begins else second.start
    end = first.end if (first.end.line, first.end.character) == ends else second.end
    return FileSpot(named.path, type(first)(start, end))


def list_folds(text: str, syntax: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each part of a text that can be folded, by its indentation."""
    lines = TextLines(text)
    first, last = 0, lines.count
    if syntax == "markdown":
        fenced = split(text)
        if fenced is None:
            return
        first = lines.stretch(fenced.start, fenced.start).start.line
        last = lines.stretch(fenced.end, fenced.end).start.line
        yield first - 1, last
    opened: list[tuple[int, int]] = []
    previous = first
    for number in range(first, last):
        line = lines.line(number)
        content = line.lstrip(" \t")
        if not content:
            continue
        indent = len(line) - len(content)
        while opened and indent <= opened[-1][0]:
            begin = opened.pop()[1]
            if previous > begin:
                yield begin, previous
        opened.append((indent, number))
        previous = number
    yield from ((begin, previous) for _, begin in reversed(opened) if previous > begin)
