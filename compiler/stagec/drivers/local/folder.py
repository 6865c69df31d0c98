"""Folders that are still there after a power cut."""

from __future__ import annotations

from pathlib import Path

from stagec.core.disk import synchronised


def made(folder: Path) -> None:
    """Make a folder and those above it, and see to it that each is on the disk."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        synchronised(each.parent)
