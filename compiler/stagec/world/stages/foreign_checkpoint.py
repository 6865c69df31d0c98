"""Checkpoints from elsewhere: judged, copied into the directory of a run, and marked with how far they are trusted.

What is copied is what is verified: each file is digested while it is copied to a directory of its own, and the outputs
become those of the stage only if every digest fits. Nothing is overwritten, and nothing is executed.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from pathlib import Path

from stagec.core.disk import OpenedFolder, RefusedWriteError
from stagec.core.folders import FileDigest, enter_folder, make_fresh, remove_tree
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.protocol.artifact_paths import place_artifact
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.protocol.manifest import ArtifactEntry, Manifest, TrustLevel, name_checkpoint
from stagec.protocol.manifest_shape import CheckpointFault
from stagec.world.stages.artifacts import ArtifactError, open_artifact
from stagec.world.stages.checkpoints import find_base, judge_checkpoint
from stagec.world.stages.publication import Publication, publish
from stagec.world.stages.run_folder import ATTEMPTS, CHECKPOINTS, REPORTS, RunFolder

OCCUPIED = "occupied-checkpoint"
UNFINISHED = "unfinished-checkpoint"
_CHUNK = 1 << 20


def judge_import(path: Path, source: TrustLevel, run: RunFolder, shown: str | None = None) -> JudgedCheckpoint:
    """Return what is wrong with a checkpoint, and what keeps it from being brought into a run."""
    judged = judge_checkpoint(path, source, shown)
    if judged.manifest is None or not judged.is_valid:
        return judged
    faults = []
    if not judged.manifest.is_done:
        faults.append(CheckpointFault(UNFINISHED, ("status",), facts={"status": judged.manifest.status}))
    taken = _find_taken(run, judged.manifest.stage)
    if taken is not None:
        faults.append(CheckpointFault(OCCUPIED, ("stageId",), facts={"stage": judged.manifest.stage, "taken": taken}))
    return replace(judged, faults=tuple(faults))


def _find_taken(run: RunFolder, stage: str) -> str | None:
    """Return what a run has of a stage already, as a path from the root of the project."""
    for name in (stage, f"{CHECKPOINTS}/{name_checkpoint(stage)}.json"):
        if os.path.lexists(os.path.join(run.path, name)):
            return f"{REPORTS}/{run.title}/{run.run}/{name}"
    return None


def import_checkpoint(path: Path, judged: JudgedCheckpoint, run: RunFolder) -> str:
    """Copy a valid checkpoint and its artifacts into a run; return its id there.

    Raises `OSError` for a file that has changed meanwhile and for what cannot be written.
    """
    manifest = judged.manifest
    if manifest is None or not judged.is_valid:
        raise RefusedWriteError("the checkpoint is not valid")
    attempt = f"{manifest.stage}-import"
    with run.enter(ATTEMPTS, make=True) as attempts:
        make_fresh(attempts, attempt)
        try:
            with enter_folder(attempts, attempt) as target:
                outputs = dict(_copy(each, find_base(path, manifest), judged, target) for each in manifest.artifacts)
            given = Publication(manifest.stage, attempt, 1, outputs, judged.trust)
            return publish(run, given, checkpoint=True) or ""
        finally:
            remove_tree(attempts, attempt)


def _copy(entry: ArtifactEntry, base: Path, judged: JudgedCheckpoint, target: OpenedFolder) -> tuple[str, Json]:
    """Copy one artifact, and return what it is as an output of its stage."""
    path = "" if judged.manifest is None else _choose_path(judged.manifest, entry)
    found: list[FileDigest] = []
    try:
        opened = open_artifact(base, entry, judged.trust)
    except ArtifactError as error:
        raise RefusedWriteError(f"{quote(entry.path)} has changed meanwhile") from error
    try:
        with enter_folder(target, posixpath.dirname(path), make=True) as folder:
            name = posixpath.basename(path)
            os.close(folder.create(name, lambda created: found.append(_copy_bytes(opened, created, entry.size))))
    finally:
        os.close(opened)
    if found != [FileDigest(entry.sha256.lower(), entry.size)]:
        raise RefusedWriteError(f"{quote(entry.path)} has changed meanwhile")
    return path, {"path": path, "sha256": entry.sha256.lower(), "sizeBytes": entry.size}


def _choose_path(manifest: Manifest, entry: ArtifactEntry) -> str:
    """Return the path of an artifact below its stage: as it was there, or as it was in the other project."""
    placed = place_artifact("/", entry.path)
    base = "/" if manifest.native else f"/{REPORTS}/{manifest.report}/{manifest.run}/"
    own = f"{base}{manifest.stage}/"
    return placed.removeprefix(own if placed.startswith(own) else "/")


def _copy_bytes(opened: int, created: int, most: int) -> FileDigest:
    """Copy a file into another, not much more than so many bytes, and return what was copied."""
    digest, size = hashlib.sha256(), 0
    while size <= most and (chunk := os.read(opened, _CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(created, rest) :]
    return FileDigest(digest.hexdigest(), size)
