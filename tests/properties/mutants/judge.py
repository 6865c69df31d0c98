"""What is made of a mutant: whether it is told, by one error, and where it was made."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from properties.mutants.projects import Change, Pointer, Project, Stage, load_project, walk

from stagec.check.pipeline import Project as Checked
from stagec.check.pipeline import compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

SILENT, SEVERAL, ELSEWHERE = "not told", "several errors", "told elsewhere"
SEPARATORS = re.compile(r"[./#\[\]{}\s:,~]+")


class Verdict(NamedTuple):
    """What is wrong with the diagnostics of a mutant (empty if nothing is), and those that its base does not have."""

    what: str
    added: tuple[Diagnostic, ...]


class Bench:
    """A copy of one project, in which one mutant after the other is put and judged."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.base = load_project(root)
        self.root = folder / root.name
        shutil.copytree(root, self.root)
        self._normalise()
        self._known = self._found = self.compile()

    @property
    def is_sound(self) -> bool:
        """Whether the project has no error of its own."""
        return all(each.severity is not Severity.ERROR for each in self._known)

    def _normalise(self) -> None:
        """Write every file as mutants are written, so that a mutant differs by its change alone."""
        for file, found in self.base.files.items():
            if not isinstance(found, str):
                (self.root / file).write_bytes(self.base.write(file, self.base.data(file)))

    def compile(self) -> tuple[Diagnostic, ...]:
        return compile_project(Checked(self.root, (self.root,), Settings())).diagnostics

    def added(self, change: Change) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a mutant that its base does not have."""
        kept = {file: self._read(file) for file in change.files}
        try:
            self._write(change.files)
            self._found = self.compile()
            return tuple(self._find_new(self._found))
        finally:
            self._write(kept)

    def _find_new(self, found: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield what was not told of the base in these words at this place."""
        known = {(each.code, each.at.file, each.at.pointer, each.message) for each in self._known}
        return (each for each in found if (each.code, each.at.file, each.at.pointer, each.message) not in known)

    def _count_more(self, added: Sequence[Diagnostic]) -> Counter[str]:
        """Count of each rule how much more often it speaks: what is known may stand elsewhere, in other words."""
        before = Counter(each.code for each in self._known)
        kept = {(each.code, each.at.file, each.at.pointer, each.message) for each in self._found}
        stayed = Counter(
            each.code for each in self._known if (each.code, each.at.file, each.at.pointer, each.message) in kept
        )
        new = Counter(each.code for each in added)
        return Counter({code: count - (before[code] - stayed[code]) for code, count in new.items()})

    def _read(self, file: str) -> bytes | None:
        path = self.root / file
        return path.read_bytes() if path.exists() else None

    def _write(self, files: Mapping[str, bytes | None]) -> None:
        for file, data in files.items():
            path = self.root / file
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def judge(self, change: Change) -> Verdict:
        """Tell whether a mistake is told, once and in the right place."""
        added = self.added(change)
        more = self._count_more(added)
        places = {*change.places, *references(self.base, change.words)}
        told = [each for each in added if more[each.code] > 0 or meets(each, places) or names_one(each, change.words)]
        errors = {each.code for each in told if each.severity is Severity.ERROR}
        if not told:
            return Verdict(SILENT, added)
        if sum(max(more[code], 0) for code in errors) > 1:
            return Verdict(SEVERAL, added)
        worst = [each for each in told if each.severity is not Severity.NOTE] or told
        is_met = any(meets(each, places) or names_one(each, change.words) for each in worst)
        return Verdict("" if is_met else ELSEWHERE, added)

    def find_accusations(self, change: Change) -> tuple[Diagnostic, ...]:
        """Return what an edit is told that changes nothing."""
        added = self.added(change)
        more = self._count_more(added)
        return tuple(each for each in added if more[each.code] > 0)


def names_one(each: Diagnostic, words: frozenset[str]) -> bool:
    """Tell whether a diagnostic names what was changed; of what a file lacks all is told in one place."""
    return any(f"'{word}'" in each.message for word in words)


def meets(each: Diagnostic, places: set[tuple[str, Pointer]]) -> bool:
    """Tell whether a diagnostic stands at a place, inside it, or one level above; a file as a whole is met anywhere."""
    return any(
        each.at.file == file and (not path or each.at.pointer == path[:-1] or each.at.pointer[: len(path)] == path)
        for file, path in places
    )


def references(base: Project, words: frozenset[str]) -> Iterator[tuple[str, Pointer]]:
    """Yield everything in a project that names one of the words, as a whole or as one part of a path."""
    for word in words:
        yield from (place for name, places in names(base).items() if name == word for place in places)


def names(base: Project) -> dict[str, list[tuple[str, Pointer]]]:
    return _names(base.root)


@cache
def _names(root: Path) -> dict[str, list[tuple[str, Pointer]]]:
    found: dict[str, list[tuple[str, Pointer]]] = {}
    for file, held in load_project(root).files.items():
        if isinstance(held, Stage):
            for part in set(SEPARATORS.split(held.body)):
                found.setdefault(part, []).append((file, ()))
        for at, value in walk(held.head if isinstance(held, Stage) else held):
            for text in (at[-1] if at else None, value):
                if isinstance(text, str):
                    for part in {text, *SEPARATORS.split(text)}:
                        found.setdefault(part, []).append((file, at))
    return found
