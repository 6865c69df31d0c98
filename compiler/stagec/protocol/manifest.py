"""Manifests of checkpoints: what they say, what is wrong with them, and how stagec writes its own.

A manifest has one of two forms. The native form, `stagec.checkpoint/1`, is canonical JSON; its artifacts are relative
to the directory of the run, and it lies at `{run}/checkpoints/{checkpointId}.json`. The other one is that of the
protocol's reference implementation; its artifacts are relative to the root of the project, and it lies at
`reports/{reportTitle}/checkpoints/{runId}/{checkpointId}/checkpoint.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from stagec.core.canonical import canonical
from stagec.core.json import Json, Object, kind_of
from stagec.core.value import value
from stagec.protocol.artifact_paths import PathCheck, find_artifact_fault, find_path_fault, find_segment_fault
from stagec.protocol.artifact_paths import place_artifact as place
from stagec.protocol.manifest_shape import (
    MISTYPED,
    NATIVE,
    CheckpointFault,
    find_shape_faults,
    is_native,
)
from stagec.protocol.manifest_text import DIGEST, digest_canonical, digest_stringified, read_json


class TrustLevel(StrEnum):
    """Where a checkpoint comes from, and so how strictly it is verified; the later, the stricter."""

    LOCAL = "local"
    IMPORTED = "imported"
    UNTRUSTED = "untrusted"

    def tighten(self, other: TrustLevel) -> TrustLevel:
        """Return the stricter of two levels: a manifest cannot make itself more trusted than its source."""
        return max(self, other, key=list(TrustLevel).index)


@value
class ArtifactEntry:
    """A file that a checkpoint vouches for: its path below the base of the manifest, its digest and its size."""

    path: str
    sha256: str
    size: int


@value
class Manifest:
    """What a manifest says; `status` is `saved`, `interrupted` or `emergency`, `reason` why it was not `saved`.

    `checkpoint` is its own id. `created` is a time in UTC as ISO 8601 writes it.
    """

    report: str
    run: str
    stage: str
    created: str
    artifacts: tuple[ArtifactEntry, ...]
    status: str = "saved"
    reason: str | None = None
    attempt: int = 1
    trust: TrustLevel = TrustLevel.LOCAL
    native: bool = True
    foreign_id: str | None = None

    @property
    def checkpoint(self) -> str:
        """The id: of a native manifest it follows from what it is about."""
        return name_checkpoint(self.stage, self.attempt, self.status) if self.foreign_id is None else self.foreign_id

    @property
    def is_done(self) -> bool:
        """Whether it says that its stage is complete; one that was interrupted never does."""
        return self.status == "saved"


class ManifestError(ValueError):
    """A manifest was to be written that nobody could read or verify."""

    def __init__(self, faults: Sequence[CheckpointFault]) -> None:
        told = [f"{each.topic} at /{'/'.join(map(str, each.pointer))} {each.reason}".rstrip() for each in faults]
        super().__init__("; ".join(told))
        self.faults = tuple(faults)


UNREADABLE = "unreadable-checkpoint"
CHANGED = "changed-manifest"
MISPLACED = "misplaced-checkpoint"
REPEATED = "repeated-artifact"
UNSAFE = "unsafe-artifact-path"


@value
class JudgedManifest:
    """What a manifest says, where it could be read, and everything that is wrong with it by itself."""

    manifest: Manifest | None
    faults: tuple[CheckpointFault, ...] = ()


def name_checkpoint(stage: str, attempt: int = 1, status: str = "saved") -> str:
    """Return the id of a native checkpoint."""
    return f"ckpt-{stage}" if status == "saved" else f"ckpt-emergency-{stage}-{attempt}"


def read_manifest(data: bytes) -> JudgedManifest:
    """Return what the bytes of a manifest of either form say, and what is wrong with them."""
    try:
        given = read_json(data)
    except ValueError as error:
        return JudgedManifest(None, (CheckpointFault(UNREADABLE, (), "json", {"error": str(error)}),))
    if not isinstance(given, dict):
        return JudgedManifest(None, (CheckpointFault(MISTYPED, (), "object", {"found": kind_of(given)}),))
    return _judge(given)


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a native manifest; `ManifestError` for one that would be refused when it is read."""
    given: dict[str, Json] = {
        "format": NATIVE,
        "algorithm": "sha256",
        "pathBase": "run",
        "checkpointId": manifest.checkpoint,
        "reportTitle": manifest.report,
        "runId": manifest.run,
        "stageId": manifest.stage,
        "attempt": manifest.attempt,
        "createdAt": manifest.created,
        "status": manifest.status,
        **({} if manifest.reason is None else {"reason": manifest.reason}),
        "trustLevel": manifest.trust.value,
        "artifacts": [
            {"relativePath": each.path, "sha256": each.sha256, "sizeBytes": each.size} for each in manifest.artifacts
        ],
    }
    given[DIGEST] = digest_canonical(given) or ""
    faults = _judge(given).faults
    if faults:
        raise ManifestError(faults)
    return canonical(given)


def _judge(given: Object) -> JudgedManifest:
    faults = find_shape_faults(given)
    if faults:
        return JudgedManifest(None, faults)
    manifest = _build(given)
    return JudgedManifest(manifest, tuple(_find_faults(given, manifest)))


def _build(given: Any) -> Manifest:
    """Return what a manifest of the right shape says."""
    native = is_native(given)
    listed = [(each["relativePath"], each["sha256"], int(each["sizeBytes"])) for each in given["artifacts"]]
    return Manifest(
        report=given["reportTitle"],
        run=given["runId"],
        stage=given["stageId"],
        created=given["createdAt"],
        artifacts=tuple(ArtifactEntry(*each) for each in listed),
        status=given["status"],
        reason=given.get("reason"),
        attempt=int(given["attempt"]) if native else 1,
        trust=TrustLevel(given.get("trustLevel", TrustLevel.LOCAL)),
        native=native,
        foreign_id=None if native else given["checkpointId"],
    )


def _find_faults(given: Object, manifest: Manifest) -> Iterator[CheckpointFault]:
    computed = digest_canonical(given) if manifest.native else digest_stringified(given)
    if given[DIGEST] != computed:
        yield CheckpointFault(CHANGED, (DIGEST,), facts={"found": given[DIGEST], "computed": computed})
        return  # nothing else in it can be believed
    yield from _find_bad_names(given, manifest)
    firsts: dict[str, int] = {}
    for index, entry in enumerate(manifest.artifacts):
        at = ("artifacts", index, "relativePath")
        fault = find_path_fault(entry.path) if manifest.native else find_artifact_fault(entry.path)
        if fault is not None and fault.check is not PathCheck.PORTABILITY:
            facts = {"path": entry.path, "words": fault.words, "check": fault.check}
            yield CheckpointFault(UNSAFE, at, "path", facts)
            continue
        first = firsts.setdefault(place("/", entry.path), index)
        if first != index:
            yield CheckpointFault(REPEATED, at, facts={"path": entry.path, "first": first})


NAMES = {"checkpointId": "checkpoint", "reportTitle": "report", "runId": "run", "stageId": "stage"}
"""The members that name something, and the fields that they are read into."""


def _find_bad_names(given: Object, manifest: Manifest) -> Iterator[CheckpointFault]:
    """Yield ids that cannot be names of files or folders, and one that does not follow from the stage."""
    for member in NAMES:
        fault = find_segment_fault(given[member])
        if fault is not None:
            yield CheckpointFault(UNSAFE, (member,), "name", {"path": given[member], "words": fault.words})
    if manifest.native and given["checkpointId"] != manifest.checkpoint:
        yield CheckpointFault(
            MISPLACED, ("checkpointId",), "id", {"found": given["checkpointId"], "expected": manifest.checkpoint}
        )
