"""The programs that tests find: a shell, coreutils and Python, and each other one where a test says that it needs it.

`@pytest.mark.needs("git")` skips a test where git is missing, and puts git on its `PATH`. Without the marker, neither
the test nor a process that it starts finds git, on any machine. `python3 tests/programs.py FOLDER` fills a folder with
links to what every test finds: as a `PATH`, it is that of a machine with nothing else.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pytest

WHOLE = os.environ.get("PATH", os.defpath)
"""The `PATH` of whoever runs the tests."""

_COREUTILS = """
    [ arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dirname du
    echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo
    mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf ptx pwd readlink realpath rm rmdir
    sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee
    test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes
"""
_FOR_ALL = ("sh", *_COREUTILS.split())

NAMES = {
    "bash": ("bash",),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "dot": ("dot",),
    "fish": ("fish",),
    "git": ("git",),
    "mount": ("mount",),
    "node": ("node",),
    "npm": ("npm",),
    "nvim": ("nvim",),
    "postgres": ("initdb", "psql"),  # `tests/postgres.py` finds the server, which may be on no PATH
    "sed": ("sed",),
    "ssh-keygen": ("ssh-keygen",),
    "strace": ("strace",),
    "systemd-analyze": ("systemd-analyze",),
    "umount": ("umount",),
    "zsh": ("zsh",),
}
"""What a test may need, and the names that it has on the machines of users; the first that is there counts."""

_STARTED_BY = {"git": ("grep", "sed"), "npm": ("node",)}
"""What programs that are scripts start in turn."""

Function = TypeVar("Function", bound=Callable[..., object])


def starts(*names: str) -> Callable[[Function], Function]:
    """Mark the function of a fixture: whoever uses the fixture needs these programs without saying so."""

    def mark(function: Function) -> Function:
        vars(function)["programs"] = names
        return function

    return mark


def list_needed(item: pytest.Item) -> list[str]:
    """Return the programs that a test or one of its fixtures says it needs."""
    found = {name for marker in item.iter_markers("needs") for name in marker.args}
    info = getattr(item, "_fixtureinfo", None)  # what is no function has none
    for each in chain.from_iterable(info.name2fixturedefs.values() if info else ()):
        found.update(getattr(each.func, "programs", ()))
    return sorted(found)


@cache
def find(name: str) -> str | None:
    """Return where a program is, or None where it is missing."""
    return next(filter(None, (shutil.which(each, path=WHOLE) for each in NAMES[name])), None)


def link(folder: Path) -> None:
    """Fill a folder with links to what every test finds."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FOR_ALL:
        found = shutil.which(name, path=WHOLE)
        if found is not None:
            (folder / name).symlink_to(found)
    (folder / "python3").symlink_to(Path(sys.executable).resolve())  # never a script that looks for it on a PATH


class Guard:
    """The folders with links that the tests of a process find, and what the present test says that it needs."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="programs")
        self._top = Path(self._folder.name)
        link(self._top / "bare")
        self.needed: Collection[str] = ()
        os.environ["PATH"] = str(self._top / "bare")

    @contextmanager
    def give(self, needed: Collection[str]) -> Iterator[None]:
        """Have the body find the programs that are needed, and no others."""
        before = os.environ["PATH"]
        self.needed = needed
        os.environ["PATH"] = os.pathsep.join([before, *(str(self._link(name)) for name in needed)])
        try:
            yield
        finally:
            self.needed = ()
            os.environ["PATH"] = before

    def _link(self, name: str) -> Path:
        folder, found = self._top / name, find(name)
        if not folder.exists():
            folder.mkdir()
            for each in (found, *(shutil.which(other, path=WHOLE) for other in _STARTED_BY.get(name, ()))):
                if each is not None:
                    (folder / Path(each).name).symlink_to(each)
        return folder


_GUARDS: list[Guard] = []


def guard() -> Guard:
    """Return the guard of this process, which begins with the first call."""
    if not _GUARDS:
        _GUARDS.append(Guard())
    return _GUARDS[0]


def demand(name: str) -> None:
    """Fail a test that starts a program by its path, and does not say that it needs the program."""
    needed = _GUARDS[0].needed if _GUARDS else (name,)
    assert name in needed, f"a test that starts {name} must have the marker needs({name!r})"


if __name__ == "__main__":
    link(Path(sys.argv[1]))
