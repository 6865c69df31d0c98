"""Read files that a user names, and write files whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from stagec.core.disk import synchronised
from stagec.core.failure import Failure
from stagec.core.words import quote

STDIN = Path("-")
"""The path that stands for standard input."""


def read_file(path: Path) -> bytes:
    """Return the bytes of a file, or of standard input."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise Failure(f"cannot read {quote(path)}: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Put bytes in place of a file's, keeping its mode; what is no regular file, such as a pipe, is written to."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise Failure(f"cannot write {quote(path)}: {error.strerror or error}") from error


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file first, so that nobody ever sees half of it, not even after a power cut."""
    beside = path.parent / f".stagec-{os.getpid()}.tmp"
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
        synchronised(path.parent)
    finally:
        beside.unlink(missing_ok=True)
