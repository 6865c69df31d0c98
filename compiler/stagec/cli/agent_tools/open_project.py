"""The project that agents ask about: checked again when a file has changed, and with texts in place of files."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.check.fixes import list_edits, make_edits
from stagec.check.pipeline import Compilation, compile_project
from stagec.cli.limits import make_loader
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Failure
from stagec.core.observations import resolve
from stagec.core.value import value
from stagec.core.words import quote
from stagec.lsp.workspace import CheckedProject, Workspace


class OpenProject:
    """One project. Nothing outside its root is read, whatever an agent asks for."""

    def __init__(self, folder: Path) -> None:
        load = make_loader()
        self.root = resolve(load(folder).root)
        self._workspace = Workspace(load)
        self._workspace.open_folders([resolve(folder)])

    def check(self, texts: Mapping[str, str] | None = None) -> CheckedProject:
        """Return the project as `stagec validate` checks it, with some texts in place of files."""
        (checked, *_) = self._workspace.check()
        if texts:
            overlay = {self.name(file): text.encode(errors="replace") for file, text in texts.items()}
            checked = checked.compile(overlay, _continue)
        if checked.failure:
            raise Failure(checked.failure)
        return checked

    def name(self, path: str) -> str:
        """Return a path as the project calls the file; raise `Failure` for one that lies outside."""
        inside = posixpath.normpath(path.replace(os.sep, "/"))
        whole = os.path.join(self.root, inside)
        real = resolve(whole)
        if posixpath.isabs(inside) or not (real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)):
            raise Failure(f"{quote(path)} is not inside the project")
        return inside


def _continue() -> None:
    pass


def compile_checked(checked: CheckedProject) -> Compilation:
    """Return the compilation of a project that could be checked."""
    if checked.compilation is None:
        return compile_project(checked.as_open())
    return checked.compilation


@value
class Hunk:
    """A change of whole lines: `old` begins at a line, and `new` takes its place."""

    file: str
    line: int
    old: str
    new: str


def list_hunks(compilation: Compilation, found: Diagnostic) -> Iterator[Hunk]:
    """Yield the changes of files that the fix of a finding makes; nothing where it cannot be made alone."""
    try:
        files = make_edits(list_edits((found,)), compilation.trees)
    except (KeyError, ValueError):  # a text in which these places cannot be changed alone
        return
    for file, texts in files.items():
        before, after = (each.decode(errors="replace").splitlines(keepends=True) for each in texts)
        start = _count_equal(before, after)
        end = _count_equal(before[start:][::-1], after[start:][::-1])
        old, new = before[start : len(before) - end], after[start : len(after) - end]
        yield Hunk(file, start + 1, "".join(old), "".join(new))


def _count_equal(one: list[str], other: list[str]) -> int:
    """Return how many members at the beginning of two lists are equal."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count
