"""Folders below an opened one: entered, made, moved and removed name by name, so that no link is ever followed.

What is looked up in an opened folder stays below it, whatever others do to the path meanwhile. A link on the way is a
`RefusedWriteError`. POSIX only, as the running of programs is.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from stagec.core.disk import OpenedFolder, RefusedWriteError
from stagec.core.value import value

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_OWN = 0o700


@value
class FileDigest:
    """The digest of a file: the SHA-256 of its bytes in lower-case digits, and their number."""

    sha256: str
    size: int


def split_path(path: str) -> list[str]:
    """Return the names on the way that a relative path leads; one that leads upwards is a `RefusedWriteError`."""
    parts = [part for part in path.split("/") if part]
    if path.startswith("/") or "." in parts or ".." in parts:
        raise RefusedWriteError("its path does not lead straight down")
    return parts


@contextmanager
def enter_folder(
    above: OpenedFolder,
    path: str,
    *,
    make: bool = False,
    mode: int = _OWN,
    admit: Callable[[int], None] | None = None,
) -> Iterator[OpenedFolder]:
    """Open a folder below another; with `make` those that are missing are made, by default for the user alone.

    `admit` is given each folder as it is opened, and raises what forbids to go further.
    """
    opened: list[OpenedFolder] = []
    try:
        for part in split_path(path):
            opened.append(_enter(opened[-1] if opened else above, part, mode if make else None))
            if admit is not None:
                admit(descriptor_of(opened[-1]))
        yield opened[-1] if opened else above
    finally:
        for each in opened:
            os.close(descriptor_of(each))


def make_below(above: OpenedFolder, path: str) -> None:
    """Make a folder and those on the way that are missing (0700); each is on the disk when this returns."""
    with enter_folder(above, path, make=True):
        return


def make_fresh(above: OpenedFolder, name: str) -> None:
    """Make an empty folder (0700) in the place of whatever has the name."""
    remove_tree(above, name)
    os.mkdir(name, _OWN, dir_fd=descriptor_of(above))


def open_file(above: OpenedFolder, path: str, admit: Callable[[int], None] | None = None) -> int:
    """Return a regular file below a folder, open for reading; a link anywhere is a `RefusedWriteError`.

    `admit` is given each folder on the way, as by `enter_folder`.
    """
    *folders, name = split_path(path) or [""]
    with enter_folder(above, "/".join(folders), admit=admit) as folder:
        status = folder.status(name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            raise RefusedWriteError("it is a link")
        opened = folder.open(name, _READ)
        if stat.S_ISREG(os.fstat(opened).st_mode):
            return opened
        os.close(opened)
        raise RefusedWriteError("it is not a regular file")


def digest_file(opened: int, *, sync: bool = False) -> FileDigest:
    """Return the digest of an open file from its beginning, after a sync if asked; the file is closed."""
    with open(opened, "rb", buffering=0) as file:
        if sync:
            os.fsync(opened)
        digest = hashlib.file_digest(file, "sha256")
        return FileDigest(digest.hexdigest(), file.tell())


def move(name: str, source: OpenedFolder, target: OpenedFolder, new: str) -> None:
    """Give something another name, in another folder; both folders are on the disk when this returns."""
    os.rename(name, new, src_dir_fd=descriptor_of(source), dst_dir_fd=descriptor_of(target))
    target.synchronise()
    source.synchronise()


def remove_file(folder: OpenedFolder, name: str) -> None:
    """Remove a file or a link; that it is gone is on the disk when this returns."""
    try:
        os.unlink(name, dir_fd=descriptor_of(folder))
    except FileNotFoundError:
        return
    folder.synchronise()


def remove_empty(folder: OpenedFolder, name: str) -> None:
    """Remove a folder if nothing is in it."""
    with suppress(OSError):
        os.rmdir(name, dir_fd=descriptor_of(folder))


def remove_tree(folder: OpenedFolder, name: str) -> None:
    """Remove what has a name, with everything below it; links are removed and lead nowhere."""
    status = folder.status(name)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=descriptor_of(folder))
        return
    _open_up(folder, name)
    with enter_folder(folder, name) as top:
        while found := _list(top):
            for each, is_folder in found:
                _empty(top, each, is_folder=is_folder)
    os.rmdir(name, dir_fd=descriptor_of(folder))


def _list(folder: OpenedFolder) -> list[tuple[str, bool]]:
    """Return the names in a folder, and whether each is a folder itself; most systems tell this with the names."""
    with os.scandir(descriptor_of(folder)) as entries:
        return [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]


def _empty(top: OpenedFolder, name: str, *, is_folder: bool) -> None:
    """Remove a name; folders below it move up first, so that however deep they are, two are open at a time."""
    if not is_folder:
        os.unlink(name, dir_fd=descriptor_of(top))
        return
    _open_up(top, name)
    with enter_folder(top, name) as folder:
        for each, is_below in _list(folder):
            if is_below:
                _open_up(folder, each)
                new = f".stagec-{os.urandom(16).hex()}.tmp"
                os.rename(each, new, src_dir_fd=folder.descriptor, dst_dir_fd=top.descriptor)
            else:
                os.unlink(each, dir_fd=descriptor_of(folder))
    os.rmdir(name, dir_fd=descriptor_of(top))


def _open_up(folder: OpenedFolder, name: str) -> None:
    """Let the user do everything in a folder: its modes may forbid what removing it takes."""
    status = folder.status(name)
    if status is not None and status.st_mode & _OWN != _OWN:
        os.chmod(name, _OWN, dir_fd=descriptor_of(folder))


def _enter(above: OpenedFolder, name: str, mode: int | None) -> OpenedFolder:
    if mode is not None and above.status(name) is None:
        with suppress(FileExistsError):  # somebody else was quicker; what it is shows when it is opened
            os.mkdir(name, mode, dir_fd=descriptor_of(above))
        above.synchronise()
    try:
        opened = above.open(name, _FOLDER)
    except OSError:
        status = above.status(name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            raise RefusedWriteError(f"the folder {name!r} is a link") from None
        raise
    return OpenedFolder(os.path.join(above.path, name), opened)


def descriptor_of(folder: OpenedFolder) -> int:
    """Return the descriptor of an opened folder, which every system has on which programs are run."""
    if folder.descriptor is None:
        raise RefusedWriteError("this system cannot look names up in an opened folder")
    return folder.descriptor
