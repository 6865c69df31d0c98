"""Why a run was interrupted: a file beside its journal, as long as no process executes the run."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from stagec.core.disk import create_private, open_folder, write_all
from stagec.core.folders import open_file, remove_file
from stagec.core.json import object_of, text_in
from stagec.drivers.following import Interruption

SUFFIX = ".interruption"
"""What is put behind the name of a journal for the file with the reason."""
_LARGEST = 100_000
"""Bytes that are read of it."""
_LATEST = 253_402_300_799
"""The last second of the year 9999."""


def keep_interruption(journal: Path, given: Interruption) -> None:
    """Write why a run is interrupted; without room for that, the run can be resumed nevertheless."""
    data = json.dumps({"reason": given.reason, "retryAt": given.retry_at}).encode()
    with suppress(OSError):
        os.close(create_private(_locate(journal), lambda opened: write_all(opened, data), replace=True, durable=False))


def read_interruption(journal: Path) -> Interruption | None:
    """Return why a run was interrupted; nothing where nobody has written it, or not in this form."""
    try:
        with open_folder(journal.parent) as folder, open(open_file(folder, _locate(journal).name), "rb") as file:
            found = object_of(json.loads(file.read(_LARGEST)))
    except (OSError, ValueError, RecursionError):
        return None
    reason, retry_at = text_in(found, "reason"), found.get("retryAt")
    if not isinstance(retry_at, int | float) or not 0 <= retry_at < _LATEST:
        retry_at = None
    return None if reason is None else Interruption(reason, retry_at)


def forget_interruption(journal: Path) -> None:
    """Remove the reason: a process executes the run again."""
    with suppress(OSError), open_folder(journal.parent) as folder:
        remove_file(folder, _locate(journal).name)


def _locate(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}{SUFFIX}")
