"""The questions that stagec asks a disk while it checks a project: recorded, so that they can be asked again.

What a check says follows from its arguments and from these answers alone. Whoever records them can therefore tell
later, by asking the same questions, whether the check would say the same. What nobody asked cannot matter.
"""

from __future__ import annotations

import errno
import os
import stat
from _blake2 import blake2b

from stagec.core.bounded import OversizedError, open_to_read, read_path, read_stream

TYPE_CHECKING = False  # the real one costs the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self, TypeVar

    T = TypeVar("T")

Observations = dict[tuple[str, str], str]
"""The answer to each question, which is its kind and a path; errors and absences are answers, too."""

_CHANGED = "changed"
"""The answer to a question that had two different ones in one run: no later answer is equal to it."""


class FolderEntry:
    """A name in a folder: whether it is a folder itself, or a link."""

    __slots__ = ("is_folder", "is_link", "name", "path")

    def __init__(self, folder: str, entry: os.DirEntry[str]) -> None:
        self.name = entry.name
        self.path = os.path.join(folder, entry.name)
        self.is_folder = entry.is_dir(follow_symlinks=False)
        self.is_link = entry.is_symlink()


class Recording:
    """Collects the answers to the questions that are asked while its block is executed."""

    def __init__(self) -> None:
        self.observations: Observations = {}

    def __enter__(self) -> Self:
        _active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _active.remove(self)


_active: list[Recording] = []
"""The recordings that are going on."""


def _note(kind: str, path: str, answer: str) -> None:
    for each in _active:
        if each.observations.setdefault((kind, path), answer) != answer:
            each.observations[kind, path] = _CHANGED


def find_type(path: str | os.PathLike[str], *, follow: bool = True) -> int:
    """Return the type of what has a path, as `stat.S_IFMT` gives it; a link is followed or not."""
    return int(_ask("type" if follow else "own-type", os.fspath(path)))


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path leads to a folder."""
    return _find_type_or_none(path, follow=True) == stat.S_IFDIR


def is_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path leads to a regular file."""
    return _find_type_or_none(path, follow=True) == stat.S_IFREG


def is_link(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a link itself."""
    return _find_type_or_none(path, follow=False) == stat.S_IFLNK


def has_name(path: str | os.PathLike[str]) -> bool:
    """Tell whether something has a path, be it a link to nothing."""
    return _find_type_or_none(path, follow=False) is not None


def _find_type_or_none(path: str | os.PathLike[str], *, follow: bool) -> int | None:
    try:
        return find_type(path, follow=follow)
    except (OSError, ValueError):
        return None


def identify(path: str | os.PathLike[str]) -> str:
    """Return a key that is equal for two paths if, and only if, they lead to the same thing."""
    return _ask("identity", os.fspath(path))


def resolve(path: str | os.PathLike[str]) -> str:
    """Return the path without links on the way to it."""
    return _ask("real", os.fspath(path))


def read_link(path: str | os.PathLike[str]) -> str:
    """Return the target of a link."""
    return _ask("link", os.fspath(path))


def list_folder(path: str | os.PathLike[str]) -> list[FolderEntry]:
    """Return the entries of a folder, by name."""
    folder = os.fspath(path)
    return _observe("list", folder, lambda: _list(folder), _describe_entries)


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of a file that is no link, or raise `OversizedError` with its size."""
    file = os.fspath(path)
    return _observe(f"read {most}", file, lambda: _read(file, most), _digest)


def read_head(path: str | os.PathLike[str], most: int) -> bytes:
    """Return so many first bytes of a file that is no link; fewer are all of it."""
    file = os.fspath(path)
    return _observe(f"head {most}", file, lambda: _read_head(file, most), _digest)


def read_named(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of what a user named, whatever it is; those of what is no file cannot be asked for again."""
    file = os.fspath(path)
    return _observe(f"named {most}", file, lambda: read_path(file, most), _digest)


def find_changes(observations: Observations) -> Iterator[tuple[str, str]]:
    """Yield the questions that have another answer now."""
    for (kind, path), answer in observations.items():
        if answer_again(kind, path) != answer:
            yield kind, path


def answer_again(kind: str, path: str) -> str:
    """Return the present answer to a question; one that nobody knows has none."""
    word, _, most = kind.partition(" ")
    try:
        if word in _ANSWERS:
            return _ANSWERS[word](path)
        if word == "list":
            return _describe_entries(_list(path))
        if word in _READERS:
            return _digest(_READERS[word](path, int(most)))
    except (OSError, OversizedError) as error:
        return _describe_error(error)
    except ValueError:
        pass
    return "unknown"


def _ask(kind: str, path: str) -> str:
    return _observe(kind, path, lambda: _ANSWERS[kind](path), str)


def _observe(kind: str, path: str, ask: Callable[[], T], describe: Callable[[T], str]) -> T:
    if not _active:
        return ask()
    try:
        answer = ask()
    except (OSError, OversizedError) as error:
        _note(kind, path, _describe_error(error))
        raise
    _note(kind, path, describe(answer))
    return answer


def _describe_error(error: OSError | OversizedError) -> str:
    return f"size {error.size}" if isinstance(error, OversizedError) else f"error {error.errno}"


def _identify(path: str) -> str:
    status = os.stat(path)
    return f"{status.st_dev} {status.st_ino}"


_AGAIN = 8
"""How often a path is resolved again when it changes during the resolution."""


def _find_real_path(path: str) -> str:
    """Return the real path; Python fails if a link on the way becomes a folder meanwhile."""
    for _ in range(_AGAIN):
        try:
            return os.path.realpath(path)
        except OSError:
            pass
    return os.path.realpath(path)


_ANSWERS: dict[str, Callable[[str], str]] = {
    "type": lambda path: str(stat.S_IFMT(os.stat(path).st_mode)),
    "own-type": lambda path: str(stat.S_IFMT(os.lstat(path).st_mode)),
    "identity": _identify,
    "real": _find_real_path,
    "link": os.readlink,
}


def _list(path: str) -> list[FolderEntry]:
    with os.scandir(path) as entries:
        return sorted((FolderEntry(path, entry) for entry in entries), key=lambda entry: entry.name)


def _describe_entries(entries: list[FolderEntry]) -> str:
    names = (f"{each.name}/{each.is_folder:d}{each.is_link:d}" for each in entries)
    return _digest("\0".join(names).encode(errors="surrogateescape"))


def _open_there(path: str) -> int:
    """Open a file by its real path; fail where a folder on the way has become a link since that was found out.

    Linux tells where an opened file lies. Other systems do not.
    """
    opened = open_to_read(path)
    try:
        place = os.readlink(f"/proc/self/fd/{opened}")
    except OSError:
        return opened
    if place.startswith("/") and place.removesuffix(" (deleted)").casefold() != path.casefold():
        os.close(opened)
        raise OSError(errno.ESTALE, "it was replaced while it was looked for")
    return opened


def _read(path: str, most: int) -> bytes:
    with open(_open_there(path), "rb", buffering=0) as opened:
        size = os.fstat(opened.fileno()).st_size
        try:
            if size <= most:
                return read_stream(opened, most)
        except OversizedError:  # it has grown
            size = os.fstat(opened.fileno()).st_size
    raise OversizedError(most, size)


def _read_head(path: str, most: int) -> bytes:
    head = b""
    with open(_open_there(path), "rb", buffering=0) as opened:
        # less than was asked for may come at a time, and nothing of a pipe that took the place of the file
        while len(head) < most and (more := opened.read(most - len(head))):
            head += more
    return head


def _read_again(path: str, most: int) -> bytes:
    if stat.S_IFMT(os.stat(path).st_mode) not in {stat.S_IFREG, stat.S_IFDIR}:  # a pipe can be read once
        raise ValueError
    return read_path(path, most)


_READERS: dict[str, Callable[[str, int], bytes]] = {"read": _read, "head": _read_head, "named": _read_again}


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=20).hexdigest()
