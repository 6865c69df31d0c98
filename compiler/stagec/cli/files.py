"""Write files whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.words import quote


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
    """Write beside the file first, so that nobody ever sees half of it."""
    beside = path.parent / f".stagec-{os.getpid()}.tmp"
    try:
        beside.write_bytes(data)
        if path.exists():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
