"""What a project leaves out, as seen from one of its folders: settings, and the `.gitignore` files on the way there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from stagec.core.scope import Scope
from stagec.core.value import replace, value
from stagec.sources.ignore import Patterns

GITIGNORE = ".gitignore"
_LONGEST = 100_000
_MOST = 1_000
"""Bytes and lines of a `.gitignore` that are read; no list that people keep is longer."""


@value
class Layer:
    """The patterns of one `.gitignore`; `base` is how many characters of a path lead to its folder."""

    base: int
    patterns: Patterns


@value
class Outlook:
    """Every pattern that counts in one folder; of several `.gitignore` files the nearest that speaks decides."""

    include: Patterns | None
    exclude: Patterns | None
    gitignore: bool
    layers: tuple[Layer, ...] = ()

    @classmethod
    def above(cls, root: Path, scope: Scope, file: str) -> Outlook:
        """Return what counts in a folder that a user named, before its own `.gitignore`.

        Who names a folder wants to see it: a `.gitignore` or a setting that leaves out the folder itself, or one
        above it, does not count inside it.
        """
        include = Patterns.of(scope.include) if scope.include else None
        exclude = Patterns.of(scope.exclude) if scope.exclude else None
        outlook = cls(include, exclude, scope.gitignore)
        for path in _ways(file):
            outlook = outlook.inside(root, path.rpartition("/")[0])
            if _verdict(outlook.exclude, path, folder=True):
                outlook = replace(outlook, exclude=None)
            if outlook.ignores(path, folder=True):
                outlook = replace(outlook, layers=())
        return outlook

    def inside(self, root: Path, folder: str) -> Outlook:
        """Return what counts in a folder once its own `.gitignore`, if it has one, is read."""
        lines = _lines(os.path.join(root, folder, GITIGNORE)) if self.gitignore else []
        if not lines:
            return self
        layer = Layer(len(folder) + 1 if folder else 0, Patterns.of(lines))
        return replace(self, layers=(*self.layers, layer))

    def prunes(self, file: str, *, folder: bool) -> bool:
        """Tell whether a file or folder is left out."""
        return bool(_verdict(self.exclude, file, folder=folder)) or self.ignores(file, folder=folder)

    def ignores(self, file: str, *, folder: bool) -> bool:
        """Tell whether a `.gitignore` leaves out a file or folder."""
        for layer in reversed(self.layers):
            verdict = layer.patterns.verdict(file[layer.base :], folder=folder)
            if verdict is not None:
                return verdict
        return False

    def includes(self, file: str) -> bool:
        """Tell whether `include` names a file or a folder above it; where it is not set, every file is included."""
        if self.include is None:
            return True
        verdict = self.include.verdict(file, folder=False)
        for path in reversed(list(_ways(file))[:-1]):
            verdict = self.include.verdict(path, folder=True) if verdict is None else verdict
        return bool(verdict)


def _verdict(patterns: Patterns | None, file: str, *, folder: bool) -> bool | None:
    return None if patterns is None else patterns.verdict(file, folder=folder)


def _ways(file: str) -> Iterator[str]:
    """Yield `a`, `a/b`, `a/b/c`."""
    parts = file.split("/") if file else []
    for length in range(1, len(parts) + 1):
        yield "/".join(parts[:length])


def _lines(path: str) -> list[str]:
    """Return the lines of a `.gitignore`; as for git, a link or anything that is no file is none."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return []
        with open(path, "rb") as file:
            data = file.read(_LONGEST)
    except OSError:
        return []
    return os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n")[:_MOST]
