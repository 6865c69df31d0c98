"""The folder of runs: one file for each, with a name that every file system accepts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from stagec.core.clock import stamp_clock
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote
from stagec.runtime.drivers.following import StoredHistory
from stagec.runtime.drivers.local import Journal, JournalError, Reason, open_journal
from stagec.runtime.drivers.local.live_journal import read_stored


def explain_journal_error(name: str, error: JournalError) -> Failure:
    """Return the failure for a journal that cannot be used."""
    if error.reason is Reason.BUSY:
        return Failure(f"run {quote(name)} is being executed by another process; Ctrl-C interrupts it there")
    if error.reason is Reason.TAKEN:
        hint = "'stagec resume' resumes it, --run gives a new run another name"
        return Failure(f"there is a run {quote(name)} already: {hint}")
    return Failure(f"run {quote(name)} cannot be used: {error}")


SUFFIX = ".run"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST = 100
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")
_MOST = 60
"""Characters of a plan's id in the name that a run gets by itself."""


def check_name(name: str, what: str, most: int = _LONGEST) -> str:
    """Return the name of a run, a tenant or a schedule; raise `Failure` for one that not every system takes."""
    if not _NAME.fullmatch(name) or len(name) > most:
        raise Failure(f"{quote(name)} cannot name a {what}: letters, digits, '.', '_' and '-', {most} at most")
    return name


class Runs:
    """The runs that are kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[Path]:
        """Yield the files of all runs, by name."""
        try:
            names = sorted(os.listdir(self.folder))
        except FileNotFoundError:
            return
        except OSError as error:
            raise Failure(f"cannot read {quote(self.folder)}: {error.strerror or error}") from error
        yield from (self.folder / name for name in names if name.endswith(SUFFIX))

    def new(self, name: str | None, plan: str) -> Path:
        """Return the file of a run that is to begin: of a name, or of one made of a plan's id, the time and chance."""
        if name is None:
            begun = _FOREIGN.sub("-", plan).strip("-._")[:_MOST].strip("-._")
            name = f"{begun or 'run'}-{stamp_clock('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
        return self.folder / f"{check_name(name, 'run')}{SUFFIX}"

    def find(self, named: str) -> Path:
        """Return the file of the run that somebody names, by its name or by its path."""
        path = Path(named)
        if named.endswith(SUFFIX) and os.path.isfile(path):  # unlike `is_file`, never raises
            return path
        inside = self.folder / f"{named}{SUFFIX}"
        if _NAME.fullmatch(named) and os.path.isfile(inside):
            return inside
        near = hint(named, NameIndex(name for name in map(name_of, self) if name != named))
        raise Failure(f"no run is called {quote(named)} in {quote(self.folder)}{near}")


def name_of(path: Path) -> str:
    """Return the name of the run in a file."""
    return path.name.removesuffix(SUFFIX)


def turns_of(path: Path, child: str = "") -> Path:
    """Return the lock file, beside the journal, of the commands of a run, or of one of its requests."""
    mark = f".{sha256(child.encode()).hexdigest()[:16]}" if child else ""
    return path.with_name(f"{path.name}{mark}.commands")


def open_run(path: Path) -> Journal:
    """Open the journal of a run, or say why it cannot be used."""
    try:
        return open_journal(path)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error


def read_run(path: Path) -> StoredHistory:
    """Return the history in the journal of a run, also while it is executed, or tell why it cannot be read."""
    try:
        return read_stored(path)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
