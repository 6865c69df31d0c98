"""Changes of files as editors make them: a new text for one part of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.value import value
from stagec.lsp.positions import Stretch, TextLines
from stagec.lsp.workspace import CheckedProject


@value
class FileEdit:
    """A new text for a part of a file, which is named by its path."""

    path: str
    where: Stretch
    text: str


def find_difference(path: str, before: str, after: str) -> FileEdit:
    """Return the smallest change of one part of a text that makes another one of it."""
    shortest = min(len(before), len(after))
    start = 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    # an editor cannot change one half of a line break
    if before[start - 1 : start] == "\r" and start:
        start -= 1
    if end and before[-end] == "\n":
        end -= 1
    return FileEdit(path, TextLines(before).stretch(start, len(before) - end), after[start : len(after) - end])


def list_file_edits(project: CheckedProject, files: Mapping[str, tuple[bytes, bytes]]) -> Iterable[FileEdit]:
    """Yield the changes of the files of a project, which are given as bytes before and after."""
    for file, (before, after) in files.items():
        texts = [each.decode("utf-8-sig", errors="replace") for each in (before, after)]
        yield find_difference(project.path(file), *texts)
