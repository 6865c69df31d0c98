"""The folder of kept results: bounded, written whole or not at all, and marked as a cache for other programs."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from stagec.core.disk import create_private, make_private_folder, write_all

_MARKS = {
    "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n# The results of stagec. Remove them at any time.\n",
    ".gitignore": b"*\n",
}
"""The files that tell backup programs and git to ignore the folder."""
_MOST_ENTRIES = 400
_MOST_BYTES = 64_000_000
_SUFFIX = ".tmp"
_OWN_KEY = "secret"


class ResultShelf:
    """Entries in the folder `results` of a cache folder."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._results = self._folder / "results"

    @classmethod
    def make_secret(cls, folder: str, size: int) -> None:
        """Make the user's secret if there is none; of two that make one at the same time, the first counts."""
        if not os.path.lexists(os.path.join(folder, _OWN_KEY)):
            cls(folder).prepare(**{_OWN_KEY: os.urandom(size)})

    def put(self, name: str, data: bytes) -> None:
        """Keep an entry in the place of an older one, and remove the oldest ones where there are too many."""
        self.prepare()
        self._make_room(len(data))
        _write(self._results / name, data, replace=True)

    def prepare(self, **more: bytes) -> None:
        """Make the folders and the files that belong into them, those that are missing."""
        make_private_folder(self._results)
        for name, data in {**_MARKS, **more}.items():
            if not os.path.lexists(self._folder / name):
                with suppress(FileExistsError):
                    _write(self._folder / name, data, replace=False)

    def _make_room(self, size: int) -> None:
        with os.scandir(self._results) as entries:
            found = [(each.stat(follow_symlinks=False), each.name) for each in entries if _is_ours(each.name)]
        files = sorted(
            (status.st_mtime_ns, status.st_size, name) for status, name in found if stat.S_ISREG(status.st_mode)
        )
        count, total = len(files), sum(each for _, each, _ in files) + size
        for _, length, name in files:
            if count < _MOST_ENTRIES and total <= _MOST_BYTES:
                return
            self._remove(name)
            count, total = count - 1, total - length

    def _remove(self, name: str) -> None:
        from stagec.core.disk import open_folder
        from stagec.core.folders import remove_file  # most runs find room

        with open_folder(self._results) as opened:
            remove_file(opened, name)


def _is_ours(name: str) -> bool:
    """Tell whether a name is that of an entry, or of one whose writing was interrupted; others' files stay."""
    digits = name.removeprefix(".stagec-").removesuffix(_SUFFIX)
    return len(digits) in {32, 40} and set(digits) <= set("0123456789abcdef")


def _write(path: Path, data: bytes, *, replace: bool) -> None:
    os.close(create_private(path, lambda opened: write_all(opened, data), replace=replace, durable=False))
