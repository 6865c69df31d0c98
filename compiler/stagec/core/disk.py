"""Write files and make folders: with `core.folders` the only module of stagec that changes the disk.

A file is written whole or not at all. It gets a name that nobody can guess, is created exclusively in an opened folder,
reaches the disk, and then takes the place of the old file. No link is followed at the end of a path, except where
`write_named` says so. What stagec refuses to do raises `RefusedWriteError`, an `OSError` like every other.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stagec.core.words import quote

_DESCRIPTORS = {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether names are looked up in an opened folder; elsewhere paths are used, and creation is exclusive all the same."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_BINARY", 0)
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class RefusedWriteError(OSError):
    """Something that the system would do, and stagec does not."""

    def __init__(self, sentence: str) -> None:
        super().__init__(errno.ELOOP, sentence)


class OpenedFolder:
    """An opened folder: its files stay the same ones, whatever becomes of the path that led to it."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a name in the folder; a link is an error."""
        return os.open(self._at(name), flags | _NO_LINK, mode, dir_fd=self.descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a name in the folder, without following links; None for a free name."""
        try:
            return os.stat(self._at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def replace(self, name: str, data: bytes) -> None:
        """Put bytes in place of a regular file, which keeps its mode, or under a free name."""
        status = self.status(name)
        _refuse_special(status)
        temporary = f".stagec-{os.urandom(16).hex()}.tmp"
        created = self.open(temporary, _NEW | os.O_WRONLY, 0o666 if status is None else 0o600)
        try:
            with open(created, "wb") as file:
                file.write(data)
                file.flush()
                if status is not None and hasattr(os, "fchmod"):
                    os.fchmod(created, stat.S_IMODE(status.st_mode))
                os.fsync(created)
            source, target = self._at(temporary), self._at(name)
            os.replace(source, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            with suppress(OSError):
                os.unlink(self._at(temporary), dir_fd=self.descriptor)
            raise
        self.synchronise()

    def create(
        self,
        name: str,
        write: Callable[[int], None],
        *,
        replace: bool = False,
        durable: bool = True,
        mode: int = 0o600,
    ) -> int:
        """Create a file that gets its name when `write` has filled it; return it, open for reading and writing.

        `FileExistsError` when the name is taken, unless the file is to replace what has it. One that is not `durable`
        need not survive a power cut.
        """
        temporary = f".stagec-{os.urandom(16).hex()}.tmp"
        created = self.open(temporary, _NEW | os.O_RDWR, mode)
        try:
            write(created)
            if durable:
                os.fsync(created)
            self._name(temporary, name, replace=replace)
        except BaseException:
            os.close(created)
            with suppress(OSError):
                os.unlink(self._at(temporary), dir_fd=self.descriptor)
            raise
        if durable:
            self.synchronise()
        return created

    def fill(self, name: str, data: bytes) -> None:
        """Write a new file (0600) of a folder that nobody reads yet: it has its name before it is whole."""
        created = self.open(name, _NEW | os.O_WRONLY)
        try:
            write_all(created, data)
        finally:
            os.close(created)

    def append(self, name: str) -> int:
        """Open a regular file to write at its end; one that is missing is made (0600)."""
        _refuse_special(self.status(name))
        return self.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_WAIT | getattr(os, "O_BINARY", 0))

    def _name(self, temporary: str, name: str, *, replace: bool) -> None:
        source, target = self._at(temporary), self._at(name)
        if not replace:
            try:
                os.link(source, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
            except FileExistsError:
                raise
            except (OSError, NotImplementedError):  # a file system without second names: the first is taken by a file
                os.close(self.open(name, _NEW | os.O_WRONLY))
            else:
                os.unlink(source, dir_fd=self.descriptor)
                return
        os.replace(source, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def synchronise(self) -> None:
        """Make the names in the folder survive a power cut, where the system can."""
        if self.descriptor is not None:
            with suppress(OSError):
                os.fsync(self.descriptor)

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else os.path.join(self.path, name)


@contextmanager
def open_folder(path: str | Path) -> Iterator[OpenedFolder]:
    """Open a folder that a user named, through whatever links lead to it."""
    descriptor = _descriptor(path) if _DESCRIPTORS else None
    try:
        yield OpenedFolder(str(path), descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def open_folder_inside(root: str | Path, folder: str) -> Iterator[OpenedFolder]:
    """Open a folder of a project; one that is reached through a link out of the project is a `RefusedWriteError`."""
    top = os.path.realpath(root)
    # the names on the real way to the folder
    if leads_out(top, folder):
        raise RefusedWriteError("its folder is reached through a link that leads out of the project")
    way = os.path.relpath(os.path.realpath(os.path.join(top, folder)), top)
    parts = [] if way == os.curdir else way.split(os.sep)
    if not _DESCRIPTORS:
        yield OpenedFolder(os.path.join(top, *parts), None)
        return
    descriptor = _descriptor(top)
    try:
        for part in parts:  # one by one: a link that appears meanwhile is an error
            below = _descriptor(part, descriptor, _NO_LINK)
            os.close(descriptor)
            descriptor = below
        yield OpenedFolder(os.path.join(top, *parts), descriptor)
    finally:
        os.close(descriptor)


def write_named(path: Path, data: bytes) -> None:
    """Write a file that a user named: replace a regular file, write to a pipe or device.

    The folder may be reached through any link. A link at the end is followed to a file in the same folder or below it,
    and where it is one of the system's own, such as `/dev/stdout`; any other is a `RefusedWriteError`, because
    whoever wrote the project may have put it there.
    """
    folder, name = os.path.split(path)
    with open_folder(folder or os.curdir) as opened:
        status = opened.status(name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            folder = os.path.realpath(folder)
            link = os.path.join(folder, name)
            if folder == "/dev" or (folder.startswith("/proc/") and folder.endswith("/fd")):
                _stream(os.open(link, os.O_WRONLY | os.O_TRUNC | _NO_WAIT), data)
            elif leads_out(folder, name):
                raise RefusedWriteError(f"it is a link to {quote(os.path.realpath(link))}; name that file to write it")
            else:
                write_inside(Path(folder), os.path.relpath(os.path.realpath(link), folder), data)
        elif status is None or stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            opened.replace(name, data)
        else:
            _stream(opened.open(name, os.O_WRONLY | _NO_WAIT), data)


def write_inside(root: Path, file: str, data: bytes, before: bytes | None = None) -> None:
    """Write a file whose name stagec chose or found, relative to a folder that it must not leave.

    A link at the end is a `RefusedWriteError`. So is a file that is to hold `before`, and does not, or is read-only.
    """
    folder, name = os.path.split(file)
    with open_folder_inside(root, folder) as opened:
        _refuse_changed(opened, name, before)
        opened.replace(name, data)


def check_inside(root: Path, file: str, before: bytes | None = None) -> None:
    """Raise what `write_inside` would raise before it writes anything."""
    folder, name = os.path.split(file)
    with open_folder_inside(root, folder) as opened:
        _refuse_special(opened.status(name))
        _refuse_changed(opened, name, before)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it; each is on the disk when this returns. `mode` is that of the new ones."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):  # somebody else was quicker; whoever uses it says if it is no folder
            each.mkdir(mode)
        sync_folder(each.parent)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for nobody but the user (0700)."""
    make_folder(folder, 0o700)


def create_private(path: Path, write: Callable[[int], None], *, replace: bool = False, durable: bool = True) -> int:
    """Create a file that nobody but the user may read (0600), whole or not at all; see `OpenedFolder.create`."""
    folder, name = os.path.split(path)
    with open_folder(folder or os.curdir) as opened:
        return opened.create(name, write, replace=replace, durable=durable)


def open_private(path: Path) -> int:
    """Return a regular file open for reading and writing; a link and what is no file is a `RefusedWriteError`."""
    folder, name = os.path.split(path)
    with open_folder(folder or os.curdir) as opened:
        _refuse_special(opened.status(name))
        return opened.open(name, os.O_RDWR | _NO_WAIT | getattr(os, "O_BINARY", 0))


def leads_out(root: str | Path, path: str | Path) -> bool:
    """Tell whether a path relative to a folder leads out of it, through a link or by itself."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    return real != top and not real.startswith(top.rstrip(os.sep) + os.sep)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can."""
    with suppress(OSError), open_folder(folder) as opened:
        opened.synchronise()


def _descriptor(path: str | Path, above: int | None = None, flags: int = 0) -> int:
    try:
        return os.open(path, _FOLDER | flags, dir_fd=above)
    except PermissionError:  # of a folder that cannot be listed, names can still be opened
        return os.open(path, _FOLDER | flags | getattr(os, "O_PATH", 0), dir_fd=above)


def _refuse_special(status: os.stat_result | None) -> None:
    if status is None or stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise RefusedWriteError(
        "it is a link, and only files are written" if stat.S_ISLNK(status.st_mode) else "it is not a file"
    )


def _refuse_changed(opened: OpenedFolder, name: str, before: bytes | None) -> None:
    if before is None:
        return
    with open(opened.open(name, os.O_RDONLY | _NO_WAIT | getattr(os, "O_BINARY", 0)), "rb") as file:
        if file.read(len(before) + 1) != before:
            raise RefusedWriteError("it changed while it was being checked")
        if not stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _WRITABLE:
            raise RefusedWriteError("it is read-only")


def _stream(opened: int, data: bytes) -> None:
    """Write to what is no regular file; a pipe that nobody reads was an error when it was opened."""
    with open(opened, "wb", buffering=0):
        if hasattr(os, "set_blocking"):
            os.set_blocking(opened, True)
        write_all(opened, data)


def write_all(opened: int, data: bytes) -> None:
    """Write all of some bytes to an open file."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(opened, rest) :]
