"""The folder in which bundled tools work: what is in it is read, written and listed, and nothing leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from stagec.core.bounded import read_stream
from stagec.core.disk import open_folder
from stagec.core.failure import Failure
from stagec.core.folders import descriptor_of, enter_folder, open_file
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.tools.protected_places import ProtectedError, ProtectedPlaces, Protection
from stagec.world.tools.toolbox import ToolError

_SKIPPED = {"node_modules", "__pycache__", ".venv"}
"""Folders that no search enters, beside those that no tool may use."""
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

    def __init__(self, root: Path, limits: FolderLimits, protection: Protection) -> None:
        self._root = os.path.realpath(root)
        self._places = ProtectedPlaces(self._root, protection)
        self.limits = limits
        try:
            self._places.check_root()
        except ProtectedError as error:
            raise Failure(f"--tools-in {quote(root)} {error}") from error

    def locate(self, given: str, *, writes: bool = False) -> str:
        """Return where a path really leads, relative to the folder; refuse one that leads out, or is protected."""
        real = os.path.realpath(os.path.join(self._root, given))
        path = os.path.relpath(real, self._root)
        if path == os.pardir or path.startswith(os.pardir + os.sep):
            raise ToolError(f"{quote(given)} lies outside the working folder")
        try:
            self._places.check_path(path, writes=writes)
        except ProtectedError as error:
            raise ToolError(f"{quote(given)} {error}") from error
        return path

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        with open_folder(self._root) as top, open(open_file(top, path, self._admit), "rb", buffering=0) as file:
            self._check_file(os.fstat(file.fileno()), writes=False)
            return read_stream(file, self.limits.size)

    def write(self, path: str, data: bytes, before: bytes | None = None) -> None:
        """Write a file with its folders, as a whole; with `before`, only if the file still has these bytes."""
        if len(data) > self.limits.size:
            raise ToolError(f"the file would have more than {self.limits.size:,} bytes")
        folder, name = os.path.split(path)
        with (
            open_folder(self._root) as top,
            enter_folder(top, folder, make=True, mode=_FOLDER_MODE, admit=self._admit) as opened,
        ):
            status = opened.status(name)
            if status is not None:
                self._check_file(status, writes=True)
            if before is not None and self.read(path) != before:
                raise ToolError("the file has changed meanwhile")
            if self._places.is_shared(name):
                self._check_shared(path, self.read(path) if status is not None else b"", data)
            opened.replace(name, data)

    def _check_shared(self, path: str, before: bytes, after: bytes) -> None:
        try:
            self._places.check_shared(before, after)
        except ProtectedError as error:
            raise ToolError(f"{quote(path)} {error}") from error

    def _admit(self, descriptor: int) -> None:
        """Refuse an opened folder that is protected, whatever it is called."""
        try:
            self._places.check_folder(descriptor)
        except ProtectedError as error:
            raise ToolError(f"its folder {error}") from error

    def _check_file(self, status: os.stat_result, *, writes: bool) -> None:
        try:
            self._places.check_file(status, writes=writes)
        except ProtectedError as error:
            raise ToolError(f"the file {error}") from error

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
                enter_folder(top, folder, admit=self._admit) as opened,
                os.scandir(descriptor_of(opened)) as found,
            ):
                return [each for each in _name_entries(found) if self._is_free(os.path.join(folder, each.rstrip("/")))]
        except (OSError, ToolError):
            return []

    def _is_free(self, path: str) -> bool:
        try:
            self._places.check_path(path, writes=False)
        except ProtectedError:
            return False
        return True


def _name_entries(found: Iterator[os.DirEntry[str]]) -> Iterator[str]:
    for each in found:
        if each.is_dir(follow_symlinks=False):
            if each.name not in _SKIPPED:
                yield each.name + "/"
        elif each.is_file(follow_symlinks=False):
            yield each.name
