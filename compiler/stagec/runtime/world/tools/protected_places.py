"""The places that bundled tools for files may not use, or not change: one set, asked about every path and every file.

Whoever could write there would answer questions of the run, change its history, or change with what it continues. A
place is known by its path and by its device and number on the disk, so it is the same through links and other names.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.value import NOTHING, replace, value
from stagec.sources.project.toml import parse

_OWN = {".git": "the data of git", ".hg": "the data of a repository", ".svn": "the data of a repository"}
_STAGEC = ".stagec"
_REPORTS = "reports"
_KEPT_OF_STAGES = {"checkpoints", ".attempts", "run.log"}
_RUN = ".run"
_BESIDE_RUNS = (".run.messages", ".run.commands", ".run-wal", ".run-shm", ".run-journal")
_OWN_FILE, _SHARED = "stagec.toml", "pyproject.toml"
_FIXED = {_OWN_FILE: "the configuration of stagec", "tools.lock.json": "the lock of the tools"}
_GIT_FOLDER = ("HEAD", "objects", "refs")
"""The entries by which a folder of git's data is known, whatever its name."""
_MOST = 100_000
"""Files of protected places that are looked at for the other name of a file."""
RUNS = "the runs of stagec"

_Identity = tuple[int, int]


class ProtectedError(Exception):
    """A file or a folder that no tool may use so; `str()` is a clause that follows its path."""


@value
class Protection:
    """The places that tools may not use (`hidden`), and the files and folders that they may not write (`fixed`).

    Each has words for what it is. What does not exist yet is protected all the same. Only a folder of runs may hold the
    working folder: of what lies directly in it, runs are protected.
    """

    hidden: Mapping[str, str] = NOTHING
    fixed: Mapping[str, str] = NOTHING

    def extend(self, fixed: Iterable[str], what: str) -> Protection:
        """Return a protection with more that may not be written."""
        return replace(self, fixed={**self.fixed, **dict.fromkeys(fixed, what)})


class ProtectedPlaces:
    """Tells for a working folder what in it is protected; of the disk nothing is remembered: places come and go."""

    def __init__(self, root: str, protection: Protection) -> None:
        self._root = os.path.realpath(root)
        self._hidden = {os.path.realpath(each): what for each, what in protection.hidden.items()}
        self._fixed = {os.path.realpath(each): what for each, what in protection.fixed.items()}

    def check_root(self) -> None:
        """Raise `ProtectedError` for a working folder that is or lies in what tools may not use."""
        real = _fold_path(self._root)
        inside = (what for place, what in self._hidden.items() if what != RUNS and _is_below(real, _fold_path(place)))
        what = next((each for each in map(_name_place, real.split("/")) if each is not None), next(inside, None))
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not use")

    def check_path(self, path: str, *, writes: bool) -> None:
        """Raise `ProtectedError` for a real path, relative to the working folder, by its names."""
        names = [] if path == os.curdir else [_fold(each) for each in path.split(os.sep)]
        root = _fold_path(self._root)
        whole = "/".join((root.rstrip("/"), *names))
        what = next((each for each in map(_name_place, names) if each is not None), None)
        if what is None and any(_is_of_stages(names[: at + 1]) for at in range(len(names))):
            what = "checkpoints and attempts of stages"
        for place, known in self._hidden.items() if what is None else ():
            above = _fold_path(place)
            if _is_below(root, above):
                what = known if len(names) == 1 and root == above and names[0].endswith(_RUN) else what
            elif _is_below(whole, above):
                what = known
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not use")
        if writes and names:
            self._check_fixed(whole, names[-1])

    def _check_fixed(self, whole: str, name: str) -> None:
        inside = (what for place, what in self._fixed.items() if _is_below(whole, _fold_path(place)))
        what = _FIXED.get(name) or next(inside, None)
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not change")

    def is_shared(self, name: str) -> bool:
        """Tell whether a file has the configuration of stagec beside that of others."""
        return _fold(name) == _SHARED

    def check_shared(self, before: bytes, after: bytes) -> None:
        """Raise `ProtectedError` for a file that others share with stagec, if the part of stagec would be another."""
        if _read_own_part(before) != _read_own_part(after):
            raise ProtectedError(f"has {_FIXED[_OWN_FILE]} in [tool.stagec], which tools may not change")

    def check_folder(self, descriptor: int) -> None:
        """Raise `ProtectedError` for an opened folder, by what it is: its names may hide that."""
        what = self._find(self._hidden, os.fstat(descriptor))
        if what is not None and not self._is_root_or_above(os.fstat(descriptor)):
            raise ProtectedError(f"belongs to {what}, which tools may not use")
        if all(_exists(name, descriptor) for name in _GIT_FOLDER):
            raise ProtectedError("belongs to the data of git, which tools may not use")

    def check_file(self, status: os.stat_result, *, writes: bool) -> None:
        """Raise `ProtectedError` for a file, by what it is, also under another name of it."""
        what = self._find(self._hidden, status)
        if what is None and writes:
            what = self._find(self._fixed, status)
        if what is None and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            what = self._find_other_name(status)
        if what is not None:
            raise ProtectedError(f"is another name of {what}, which tools may not use")

    def _find(self, places: Mapping[str, str], status: os.stat_result) -> str | None:
        own = _identify(status)
        return next((what for place, what in places.items() if own == _identify_path(place)), None)

    def _is_root_or_above(self, status: os.stat_result) -> bool:
        above = [self._root, *map(str, Path(self._root).parents)]
        return _identify(status) in {_identify_path(each) for each in above}

    def _find_other_name(self, status: os.stat_result) -> str | None:
        """Return in which protected place another name of a file lies; one with too many files counts as such."""
        own, left = _identify(status), _MOST
        above = (self._root, *map(str, Path(self._root).parents))
        git = {os.path.join(each, ".git"): "the data of git" for each in above}
        for place, what in {**self._hidden, os.path.join(self._root, _STAGEC): RUNS, **git}.items():
            at_root = os.path.realpath(place) == self._root
            for name, other in _list_files(place):
                left -= 1
                if left < 0 or (other == own and (not at_root or _RUN in _fold(name))):
                    return what
        return None


def _read_own_part(data: bytes) -> object:
    """Return the configuration of stagec in a `pyproject.toml`; of one that cannot be read, all of it."""
    if b"stagec" not in data:  # nearly every one, and only such a file counts
        return None
    try:
        tools = parse(_SHARED, data.decode("utf-8-sig")).get("tool")
    except (Failure, UnicodeDecodeError):
        return data
    return tools.get("stagec") if isinstance(tools, dict) else None


def _name_place(name: str) -> str | None:
    """Return what a folder or a file with a folded name is that is protected wherever it lies; else nothing."""
    return RUNS if name == _STAGEC or name.endswith(_BESIDE_RUNS) else _OWN.get(name)


def _is_of_stages(names: list[str]) -> bool:
    """Tell whether a path ends with `reports/TITLE/RUN/checkpoints`, or with another place in which stages are kept."""
    return names[-4:-3] == [_REPORTS] and names[-1] in _KEPT_OF_STAGES


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _fold(name: str) -> str:
    """Return what all names have in common that some file system takes for the same."""
    if name.isascii():
        return name.lower().rstrip(". ") or name
    kept = "".join(each for each in name if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold()).rstrip(". ") or name


def _fold_path(path: str) -> str:
    return "/".join(map(_fold, path.split(os.sep)))


def _identify(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _identify_path(path: str, *, follow: bool = True) -> _Identity | None:
    try:
        return _identify(os.stat(path, follow_symlinks=follow))
    except (OSError, ValueError):
        return None


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _list_files(place: str) -> Iterator[tuple[str, _Identity | None]]:
    """Yield the name of each file in a place, or of the file that it is, and what it is."""
    if os.path.isfile(place):
        yield os.path.basename(place), _identify_path(place)
    for folder, _, names in os.walk(place):
        yield from ((name, _identify_path(os.path.join(folder, name), follow=False)) for name in names)
