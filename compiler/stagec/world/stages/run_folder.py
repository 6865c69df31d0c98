"""The directory of a run, `reports/{reportTitle}/{runId}`: what of it is where, entered without following a link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from stagec.core.disk import OpenedFolder, open_folder
from stagec.core.failure import Failure
from stagec.core.folders import enter_folder
from stagec.core.words import quote
from stagec.protocol.artifact_paths import find_segment_fault
from stagec.runtime.exchange import read_key

REPORTS = "reports"
ATTEMPTS = ".attempts"
CHECKPOINTS = "checkpoints"
LOG = "run.log"
_MOST = 1000
"""What keeps the numbers of the attempts of several visits apart."""


class RunFolder:
    """The directory of a run below the root of a project; its folders are made when they are first needed."""

    def __init__(self, root: str | os.PathLike[str], title: str, run: str) -> None:
        self.root = os.path.realpath(root)
        self.title, self.run = check_name(title, "report"), check_name(run, "run")
        self._way = f"{REPORTS}/{title}/{run}"
        self.path = os.path.join(self.root, self._way)

    @property
    def log(self) -> str:
        """The path of the file that has the output of the stages."""
        return os.path.join(self.path, LOG)

    @contextmanager
    def enter(self, path: str = "", *, make: bool = False) -> Iterator[OpenedFolder]:
        """Open a folder of the run by its path in it; with `make` those that are missing are made (0700)."""
        with open_folder(self.root) as root, enter_folder(root, f"{self._way}/{path}", make=make) as opened:
            yield opened

    def make(self) -> None:
        """Make the directory; raise `Failure` where that is not possible."""
        try:
            with self.enter(make=True):
                return
        except OSError as error:
            raise Failure(f"cannot make {quote(self.path)}: {error.strerror or error}") from error


def check_name(name: str, kind: str) -> str:
    """Return a name that can be one part of a path; raise `Failure` for another."""
    fault = find_segment_fault(name)
    if fault is not None:
        raise Failure(f"the {kind} {quote(name)} cannot have a folder: its name {fault.words}")
    return name


def number_attempt(key: str) -> int:
    """Return the number of the attempt that a request belongs to: 2, and on a second visit of the stage 1002."""
    parts = read_key(key)
    return (parts.visit - 1) * _MOST + parts.attempt


def name_attempt(key: str) -> str:
    """Return the name of the attempt that a request belongs to: `S01_load_data-2`."""
    return f"{check_name(read_key(key).node, 'stage')}-{number_attempt(key)}"
