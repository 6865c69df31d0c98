"""The folder in which bundled tools work: what is in it is read, written and listed, and nothing leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from stagec.core.bounded import read_stream
from stagec.core.disk import open_folder
from stagec.core.folders import descriptor_of, enter_folder, open_file
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.tools.toolbox import ToolError

_SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".stagec"}
"""Folders that no search enters."""
_OWN = ".stagec"
"""Where stagec keeps runs: whoever could write there could change what has happened."""
_FOLDER_MODE = 0o777


@value
class FolderLimits:
    """Bytes of a file that is read or written, files and folders that a search looks at, and its seconds."""

    size: int = 10_000_000
    entries: int = 100_000
    seconds: float = 30


class WorkingFolder:
    """Looks names up one by one in opened folders: a link that appears meanwhile is refused, and never followed.

    Links that were there before may lead to other places in the folder. `OSError`, `ValueError` and `ToolError` say why
    something cannot be done.
    """

    def __init__(self, root: Path, limits: FolderLimits) -> None:
        self._root = os.path.realpath(root)
        self.limits = limits

    def locate(self, given: str) -> str:
        """Return where a path really leads, relative to the folder; refuse one that leads out, or to runs."""
        real = os.path.realpath(os.path.join(self._root, given))
        path = os.path.relpath(real, self._root)
        if path == os.pardir or path.startswith(os.pardir + os.sep):
            raise ToolError(f"{quote(given)} lies outside the working folder")
        if _OWN in path.split(os.sep):
            raise ToolError(f"{quote(given)} lies in the folder of runs, which tools may not use")
        return path

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        with open_folder(self._root) as top, open(open_file(top, path), "rb", buffering=0) as file:
            return read_stream(file, self.limits.size)

    def write(self, path: str, data: bytes, before: bytes | None = None) -> None:
        """Write a file with its folders, as a whole; with `before`, only if the file still has these bytes."""
        if len(data) > self.limits.size:
            raise ToolError(f"the file would have more than {self.limits.size:,} bytes")
        folder, name = os.path.split(path)
        with open_folder(self._root) as top, enter_folder(top, folder, make=True, mode=_FOLDER_MODE) as opened:
            if before is not None and self.read(path) != before:
                raise ToolError("the file has changed meanwhile")
            opened.replace(name, data)

    def walk(self, base: str) -> Iterator[str]:
        """Yield the regular files below a folder, or a file itself, in the order of their paths."""
        if os.path.isfile(os.path.join(self._root, base)):
            yield base
            return
        end, count = monotonic() + self.limits.seconds, 0
        left = ["" if base == os.curdir else base + "/"]
        while left:
            path = left.pop()
            if monotonic() > end:
                raise ToolError(f"the search takes more than {self.limits.seconds:g} seconds: name a folder")
            if not path.endswith("/") and path:
                yield path
                continue
            names = self._list(path.rstrip("/"))
            count += len(names)
            if count > self.limits.entries:
                raise ToolError(f"there are more than {self.limits.entries:,} files and folders: name a folder")
            left += sorted((path + each for each in names), reverse=True)

    def _list(self, folder: str) -> list[str]:
        """Return the regular files in a folder, and its folders with a slash; nothing of one that cannot be listed."""
        try:
            with (
                open_folder(self._root) as top,
                enter_folder(top, folder) as opened,
                os.scandir(descriptor_of(opened)) as found,
            ):
                return [*_name_entries(found)]
        except OSError:
            return []


def _name_entries(found: Iterator[os.DirEntry[str]]) -> Iterator[str]:
    for each in found:
        if each.is_dir(follow_symlinks=False):
            if each.name not in _SKIPPED:
                yield each.name + "/"
        elif each.is_file(follow_symlinks=False):
            yield each.name
