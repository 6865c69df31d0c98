"""Checkpoints on a disk: list those of a run, and verify them with the artifacts that they name.

A resume asks `judge_checkpoint` for each of `list_manifests(run_folder)`, and keeps the stages whose checkpoint
`is_valid` and whose manifest `is_done`. Nothing in a manifest is ever executed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from stagec.core.bounded import OversizedError, open_to_read, read_stream
from stagec.protocol.checkpoint import FOREIGN_DEPTH, JudgedCheckpoint, find_place_faults
from stagec.protocol.manifest import (
    CHANGED,
    MISPLACED,
    REPEATED,
    UNREADABLE,
    UNSAFE,
    Manifest,
    TrustLevel,
    read_manifest,
)
from stagec.protocol.manifest_shape import CheckpointFault
from stagec.world.stages.artifacts import ArtifactError, check_artifact

FOLDER = "checkpoints"
"""The folder of a run in which its checkpoints lie."""
LARGEST = 8_000_000
"""Bytes of a manifest."""
_FOREIGN_NAME = "checkpoint.json"
_OWN_NAME = re.compile(r"ckpt-.*\.json", re.DOTALL)


def judge_checkpoint(path: Path, source: TrustLevel = TrustLevel.LOCAL, shown: str | None = None) -> JudgedCheckpoint:
    """Read and verify one checkpoint, at the stricter of the trust in its source and the one that it claims."""
    file = str(path) if shown is None else shown
    try:
        data = _read(path)
    except (OSError, ValueError) as error:
        return JudgedCheckpoint(file, source, faults=(CheckpointFault(UNREADABLE, (), *_explain(path, error)),))
    read = read_manifest(data)
    if read.manifest is None:
        return JudgedCheckpoint(file, source, data, None, read.faults)
    trust = source.tighten(read.manifest.trust)
    faults = read.faults or find_place_faults(read.manifest, Path(os.path.abspath(path)).as_posix())
    # whether it is known which files a manifest means: not if it has changed, or its paths start elsewhere
    elsewhere = {each.reason for each in faults if each.topic == MISPLACED}
    knows_artifacts = not (
        any(each.topic == CHANGED for each in faults) or "layout" in elsewhere or (read.manifest.native and elsewhere)
    )
    if knows_artifacts:
        skipped = {each.pointer[1] for each in faults if each.topic in {UNSAFE, REPEATED} and len(each.pointer) > 1}
        checked = _check_artifacts(find_base(path, read.manifest), read.manifest, trust, skipped)
        faults = (*faults, *checked)
    return JudgedCheckpoint(file, trust, data, read.manifest, faults)


def find_base(path: Path, manifest: Manifest) -> Path:
    """Return the folder that the paths in a manifest start from: the run, or the project in the foreign layout."""
    parents = Path(os.path.abspath(path)).parents
    depth = 1 if manifest.native else FOREIGN_DEPTH - 1
    return parents[min(depth, len(parents) - 1)]


def _read(path: Path) -> bytes:
    if not stat.S_ISREG(os.lstat(path).st_mode):  # opening a device may already do something
        raise ValueError("link" if path.is_symlink() else "special")
    with open(open_to_read(str(path)), "rb", buffering=0) as opened:
        try:
            return read_stream(opened, LARGEST)
        except OversizedError as error:
            raise ValueError("oversized") from error


def _explain(path: Path, error: OSError | ValueError) -> tuple[str, dict[str, object]]:
    """Return why a manifest cannot be read: the reason, and what its sentence needs."""
    if isinstance(error, OSError):
        return "link" if path.is_symlink() else "system", {"error": error.strerror or type(error).__name__}
    return str(error), {"limit": LARGEST}


def _check_artifacts(
    base: Path, manifest: Manifest, trust: TrustLevel, skipped: set[str | int]
) -> Iterator[CheckpointFault]:
    for index, entry in enumerate(manifest.artifacts):
        if index in skipped:
            continue
        try:
            check_artifact(base, entry, trust)
        except ArtifactError as error:
            member = _MEMBERS.get(error.reason, "relativePath")
            facts = {"path": entry.path, **error.facts}
            yield CheckpointFault(error.topic, ("artifacts", index, member), error.reason, facts)


_MEMBERS = {"size": "sizeBytes", "digest": "sha256"}
"""The members that differ from a file, by the reason for which it is refused."""


def list_manifests(folder: Path) -> tuple[Path, ...]:
    """Return the files below a folder that lie where manifests do, in both layouts, by path; no link is followed."""
    found: list[Path] = []
    folders = [] if folder.is_symlink() else [folder]
    while folders:
        base = folders.pop()
        is_own = os.path.basename(os.path.abspath(base)) == FOLDER
        for entry in _entries(base):
            if entry.is_dir(follow_symlinks=False):
                folders += [] if entry.name.startswith(".") else [Path(entry.path)]
            elif entry.name == _FOREIGN_NAME or (is_own and _OWN_NAME.fullmatch(entry.name)):
                found.append(Path(entry.path))
    return tuple(sorted(found))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what lies in a folder: nothing in one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
