"""Why a path that a user named cannot be read, in the same words for every command."""

from __future__ import annotations

import os
from pathlib import Path

from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote


def describe_absence(path: Path) -> str:
    """Return the sentence for a path that does not exist, with the neighbour that was probably meant."""
    try:
        neighbours = sorted(os.listdir(path.parent))
    except OSError:
        neighbours = []
    return f"{quote(path)} does not exist{hint(path.name, NameIndex(neighbours))}"


def explain_unread(path: Path, error: OSError) -> str:
    """Return the sentence for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return describe_absence(path)
    if isinstance(error, IsADirectoryError):
        return f"{quote(path)} is a folder, and a file is expected"
    return f"cannot read {quote(path)}: {error.strerror or error}"
