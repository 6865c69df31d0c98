"""How the outputs of an attempt become those of their stage: in one rename, of which a checkpoint is the record.

The order is such that a crash at any moment leaves the old publication whole, or none, or the new one whole:

1. Every output is compared with its recorded digest, and reaches the disk, and so do the folders it lies in.
2. The checkpoint of an older publication is removed, so that nothing vouches for what is about to go.
3. The directory of the older publication moves aside; then the attempt takes its name, in one rename.
4. The checkpoint is written: it is the record that the stage is complete. Then what moved aside is removed.

Doing it again finishes what was begun: without the attempt, its outputs must be in the directory of the stage.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from stagec.core.clock import LATEST, read_clock
from stagec.core.disk import OpenedFolder, RefusedWriteError, write_all
from stagec.core.folders import enter_folder, move, remove_file, remove_tree, split_path
from stagec.core.json import Json, object_of
from stagec.core.value import value
from stagec.core.words import quote
from stagec.protocol.checkpoint import format_instant
from stagec.protocol.manifest import ArtifactEntry, Manifest, TrustLevel, encode_manifest, name_checkpoint
from stagec.protocol.manifest_text import read_json
from stagec.world.stages.run_folder import ATTEMPTS, CHECKPOINTS, RunFolder
from stagec.world.stages.stage_files import collect_outputs, find_other_outputs


@value
class Publication:
    """What is to be published: by which stage, in which attempt, and what `Execute` has recorded of the outputs.

    `trust` is how far its checkpoint is trusted: one that was made elsewhere is not local.
    """

    stage: str
    attempt: str
    number: int
    outputs: Mapping[str, Json]
    trust: TrustLevel = TrustLevel.LOCAL


def publish(run: RunFolder, given: Publication, *, checkpoint: bool) -> str | None:
    """Publish the outputs of an attempt, or finish that; return the id of the checkpoint if one is wanted."""
    aside = f"{given.stage}-replaced"
    with run.enter() as folder, run.enter(ATTEMPTS, make=True) as attempts:
        if attempts.status(given.attempt) is None:
            with enter_folder(folder, given.stage) as published:
                _refuse_others(published, given.outputs)
        else:
            with enter_folder(attempts, given.attempt) as attempt:
                _refuse_others(attempt, given.outputs)
                _synchronise_folders(attempt, given.outputs)
            withdraw_checkpoint(folder, given.stage)
            if folder.status(given.stage) is not None:
                remove_tree(attempts, aside)
                move(given.stage, folder, attempts, aside)
            move(given.attempt, attempts, folder, given.stage)
        written = _write_checkpoint(run, folder, given, "saved") if checkpoint else None
        remove_tree(attempts, aside)
    return written


def preserve(run: RunFolder, given: Publication, reason: str) -> str | None:
    """Write an emergency checkpoint of the outputs that an attempt has left; return its id, None if there are none."""
    with run.enter() as folder, run.enter(ATTEMPTS, make=True) as attempts:
        if attempts.status(given.attempt) is None:
            return None
        paths = {name: str(path) for name, path in given.outputs.items()}
        with enter_folder(attempts, given.attempt) as attempt:
            found, _ = collect_outputs(attempt, paths, sync=True)
            _synchronise_folders(attempt, found)
        attempts.synchronise()
        if not found:
            return None
        left = Publication(given.stage, f"{ATTEMPTS}/{given.attempt}", given.number, found)
        return _write_checkpoint(run, folder, left, "interrupted", reason)


def withdraw_checkpoint(folder: OpenedFolder, stage: str) -> None:
    """Remove the record that a stage is complete, if there is one."""
    if folder.status(CHECKPOINTS) is not None:
        with enter_folder(folder, CHECKPOINTS) as checkpoints:
            remove_file(checkpoints, f"{name_checkpoint(stage)}.json")


def discard(run: RunFolder, stage: str) -> None:
    """Remove what a stage has published, first of all the record that it is complete."""
    with run.enter(make=True) as folder:
        withdraw_checkpoint(folder, stage)
        if folder.status(stage) is not None:
            remove_tree(folder, stage)
            folder.synchronise()


def _write_checkpoint(
    run: RunFolder, folder: OpenedFolder, given: Publication, status: str, reason: str | None = None
) -> str:
    base = given.stage if status == "saved" else given.attempt
    entries = []
    for each in given.outputs.values():
        told = object_of(each)
        path, size = "/".join(split_path(str(told.get("path")))), told.get("sizeBytes")
        entries.append(ArtifactEntry(f"{base}/{path}", str(told.get("sha256")), size if isinstance(size, int) else 0))
    manifest = Manifest(
        report=run.title,
        run=run.run,
        stage=given.stage,
        created=format_instant((read_clock() or LATEST) / 1e9),
        artifacts=tuple(entries),
        status=status,
        reason=reason,
        attempt=given.number,
        trust=given.trust,
    )
    write_durably(folder, f"{CHECKPOINTS}/{manifest.checkpoint}.json", encode_manifest(manifest))
    return manifest.checkpoint


def write_durably(folder: OpenedFolder, path: str, data: bytes) -> None:
    """Write a file (0600) below a folder, whole or not at all, and on the disk; a name that ends in `.json` holds JSON.

    Folders that are missing are made. Raises `RefusedWriteError` for what is no JSON.
    """
    if path.endswith(".json"):
        try:
            read_json(data)
        except ValueError as error:
            raise RefusedWriteError(f"its content would not be JSON: {error}") from error
    *folders, name = split_path(path)
    with enter_folder(folder, "/".join(folders), make=True) as opened:
        os.close(opened.create(name, partial(write_all, data=data), replace=True))


def _refuse_others(folder: OpenedFolder, outputs: Mapping[str, Json]) -> None:
    """Bring outputs on the disk; raise an error for those that are not what was recorded of them."""
    faults = find_other_outputs(folder, outputs, sync=True)
    for name, words in faults.items():
        raise RefusedWriteError(f"the output {quote(name)} cannot be published: {words}")


def _synchronise_folders(attempt: OpenedFolder, outputs: Mapping[str, Json]) -> None:
    """Bring the names of outputs on the disk: every folder on the way to one, and the attempt itself."""
    ways = {""}
    for each in outputs.values():
        *parts, _ = split_path(str(object_of(each).get("path")))
        ways.update("/".join(parts[: length + 1]) for length in range(len(parts)))
    for way in sorted(ways, reverse=True):
        with enter_folder(attempt, way) as folder:
            folder.synchronise()
