"""Read and write files that a user names; what goes wrong is a failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from stagec.cli.options import find_limit
from stagec.core.bounded import OversizedError, read_path, read_stream
from stagec.core.disk import check_inside, write_inside, write_named
from stagec.core.failure import Failure
from stagec.core.value import NOTHING
from stagec.core.words import quote

STDIN = Path("-")
"""The path that stands for standard input."""


def read_file(path: Path, budget: str = "plan-size", room: int = 1) -> bytes:
    """Return the bytes of a file, or of standard input; `room` is how many times a budget it may have."""
    try:
        most = find_limit(budget) * room
        return read_stream(sys.stdin.buffer, most) if path == STDIN else read_path(path, most)
    except OversizedError as error:
        named = "standard input" if path == STDIN else quote(path)
        raise Failure(f"{named} {error}; --budget {budget}=SIZE raises what is read") from error
    except OSError as error:
        raise Failure(f"cannot read {quote(path)}: {error.strerror or error}") from error


def write_file(path: Path, data: bytes) -> None:
    """Write a file that a user named; see `core.disk.write_named`."""
    with _explain_failures(path):
        write_named(path, data)


def check_files(folder: Path, files: Iterable[str], before: Mapping[str, bytes] = NOTHING) -> None:
    """Raise the `Failure` that writing such files would be."""
    for file in files:
        with _explain_failures(os.path.relpath(folder / file)):
            check_inside(folder, file, before.get(file))


def write_files(folder: Path, files: Mapping[str, bytes], before: Mapping[str, bytes] = NOTHING) -> None:
    """Write files in a folder whose names stagec chose or found: nothing unless all of them can be written.

    A file of which `before` knows something else than it holds now is not written.
    """
    check_files(folder, files, before)
    for file, data in files.items():
        with _explain_failures(os.path.relpath(folder / file)):
            write_inside(folder, file, data, before.get(file))


@contextmanager
def _explain_failures(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(f"cannot write {quote(path)}: {error.strerror or error}") from error
