"""Checkpoints of stages: how they are published, read and brought in."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from stagec.core.bounded import OversizedError, open_to_read, read_stream
from stagec.core.clock import LATEST, read_clock
from stagec.core.disk import OpenedFolder, RefusedWriteError, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import (
    FileDigest,
    digest_file,
    enter_folder,
    make_fresh,
    move,
    open_file,
    remove_file,
    remove_tree,
    split_path,
)
from stagec.core.json import Json, Object, object_of
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.plan.act import Process
from stagec.ir.plan.document import Plan
from stagec.ir.protocol.checkpoint import (
    CHANGED,
    FOREIGN_DEPTH,
    MISPLACED,
    REPEATED,
    UNREADABLE,
    UNSAFE,
    ArtifactEntry,
    CheckpointFault,
    JudgedCheckpoint,
    Manifest,
    TrustLevel,
    encode_manifest,
    find_newest,
    find_place_faults,
    format_instant,
    name_checkpoint,
    read_json,
    read_manifest,
)
from stagec.ir.protocol.stage_ids import is_contained, place_artifact
from stagec.runtime.machine.exchange import Answered, Effect, Event, Execute, Interrupt, Preserve, Publish
from stagec.runtime.machine.state import State, StepResult
from stagec.runtime.world.stage_files import (
    ATTEMPTS,
    CHECKPOINTS,
    REPORTS,
    RunFolder,
    collect_outputs,
    find_other_outputs,
)

MISSING_FILE = "missing-artifact"
LINKED = "linked-artifact"
ESCAPING = "escaping-artifact"
IRREGULAR = "irregular-artifact"
CHANGED_FILE = "changed-artifact"


class ArtifactError(Exception):
    """A file is not the one that was vouched for; `topic` is the rule that speaks of it, `facts` what it needs."""

    def __init__(self, topic: str, reason: str = "", **facts: object) -> None:
        super().__init__(topic, reason)
        self.topic = topic
        self.reason = reason
        self.facts = facts


def check_artifact(root: Path, entry: ArtifactEntry, trust: TrustLevel) -> None:
    """Raise `ArtifactError` unless a file below a folder is what a manifest says; the path has been found safe.

    From imported checkpoints on, no folder on the way may be a link. At every level the file may not be one, must be
    regular, and must lie inside the folder when all links are resolved.
    """
    found = digest_file(open_artifact(root, entry, trust)).sha256
    if found != entry.sha256.lower():
        raise ArtifactError(CHANGED_FILE, "digest", found=found, expected=entry.sha256)


def open_artifact(root: Path, entry: ArtifactEntry, trust: TrustLevel) -> int:
    """Return a file below a folder that is what a manifest says but perhaps for its content, open for reading."""
    descriptor = _open(os.path.realpath(root), entry.path, trust)
    size = os.fstat(descriptor).st_size
    if size == entry.size:
        return descriptor
    os.close(descriptor)
    raise ArtifactError(CHANGED_FILE, "size", found=size, expected=entry.size)


def _open(top: str, path: str, trust: TrustLevel) -> int:
    *folders, name = (part for part in place_artifact("/", path).split("/") if part)
    try:
        # the way to a folder without links; raise `ArtifactError` if it leads out
        if trust is TrustLevel.LOCAL:
            real = os.path.realpath(os.path.join(top, *folders))
            if not is_contained(real, top):
                raise ArtifactError(ESCAPING, target=real)
            way = [part for part in real.removeprefix(top).split(os.sep) if part]
        else:
            way = folders
        with open_folder(top) as opened:
            return open_file(opened, "/".join([*way, name]))
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError) as error:
        raise ArtifactError(MISSING_FILE) from error
    except RefusedWriteError as error:
        raise _explain_refusal(top, [*folders, name]) from error
    except OSError as error:
        raise ArtifactError(IRREGULAR, "system", error=error.strerror or type(error).__name__) from error


def _explain_refusal(top: str, parts: Sequence[str]) -> ArtifactError:
    """Return why a file was not opened: because of the first link on the way, or because it is no regular file."""
    mode = 0
    with suppress(OSError):  # it is gone meanwhile
        for length in range(1, len(parts) + 1):
            mode = os.lstat(os.path.join(top, *parts[:length])).st_mode
            if stat.S_ISLNK(mode):
                is_folder = length < len(parts)
                return ArtifactError(LINKED, "folder" if is_folder else "file", link="/".join(parts[:length]))
    return ArtifactError(IRREGULAR, "folder" if stat.S_ISDIR(mode) else "special")


@value
class Publication:
    """A publication: its stage, its attempt, and the outputs as `Execute` recorded them.

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
    """Return the entries of a folder: none of an unreadable one."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


OCCUPIED = "occupied-checkpoint"
UNFINISHED = "unfinished-checkpoint"
_CHUNK = 1 << 20


def judge_import(path: Path, source: TrustLevel, run: RunFolder, shown: str | None = None) -> JudgedCheckpoint:
    """Return the faults of a checkpoint, and what prevents its import into a run."""
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
    """Return the present files of a stage in a run, as a path from the root of the project."""
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


_ANSWERS: Mapping[type[Effect], Mapping[str, Json]] = {
    Execute: {"exit": None, "interrupted": "abort"},
    Publish: {"error": "the run was cancelled"},
    Preserve: {"checkpoint": None, "valid": False},
    Interrupt: {},
}


class InterruptedStages:
    """Answers what is asked about stages as if all of them were interrupted."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether a request is about a stage."""
        return type(effect) in _ANSWERS

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return _ANSWERS[type(effect)]

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nothing takes time."""
        return False

    def cancel(self, key: str) -> None:
        """Stop nothing."""

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""


Outputs = Mapping[str, Json]
"""The published outputs of a stage, by name: `{"path", "sha256", "sizeBytes"}`."""


@value
class Resumption:
    """The base of a resumed run: the published outputs of its complete stages, and the newest checkpoint among theirs.

    `warnings` are the checkpoints that are not this machine's own, `refused` the stages whose results do not count,
    with the reason.
    """

    published: Mapping[str, Outputs]
    checkpoint: str | None
    warnings: tuple[str, ...]
    refused: Mapping[str, str]


def list_published(steps: Iterable[tuple[Event, StepResult]]) -> Mapping[str, Outputs]:
    """Return the last published outputs of stages in the journal of a run."""
    before, found = State(), dict[str, Outputs]()
    for event, step in steps:
        effect = before.pending.get(event.key) if isinstance(event, Answered) else None
        if isinstance(event, Answered) and isinstance(effect, Publish) and "error" not in object_of(event.answer):
            found[effect.node] = effect.outputs
        before = step.state
    return found


class Verifier:
    """Verifies what the stages of a run have left, at the trust that somebody has in checkpoints from elsewhere."""

    def __init__(self, run: RunFolder, plan: Plan, trust: TrustLevel) -> None:
        self._run, self._plan, self._trust = run, plan, trust
        self._refused: dict[str, str] = {}
        self._warnings: list[str] = []
        self._manifests: dict[str, Manifest] = {}

    def verify(self, needs: Mapping[str, tuple[str, ...]], recorded: Mapping[str, Outputs]) -> Resumption:
        """Return the base of a resumed run, and remove the published outputs of other stages.

        `recorded` is what the journal says of stages without checkpoints. A valid checkpoint that is trusted less than
        allowed is a `Failure`.
        """
        found = dict(self._list_vouched())
        for stage, outputs in recorded.items():
            act = self._plan.nodes[stage].act
            if isinstance(act, Process) and not act.checkpoint and self._is_there(stage, outputs):
                found[stage] = outputs
        kept = _close(found, needs)
        for stage in needs:
            if stage not in kept:
                discard(self._run, stage)
        newest = find_newest(self._manifests[each] for each in kept if each in self._manifests)
        checkpoint = None if newest is None else newest.checkpoint
        return Resumption(kept, checkpoint, tuple(self._warnings), self._refused)

    def _list_vouched(self) -> Iterator[tuple[str, Outputs]]:
        """Yield the stages with a valid checkpoint, and what that says of their outputs."""
        for path in list_manifests(Path(self._run.path) / CHECKPOINTS):
            judged = judge_checkpoint(path)
            manifest = judged.manifest
            if manifest is None or not manifest.is_done or manifest.stage not in self._plan.nodes:
                continue
            why = self._find_fault(judged, manifest)
            if why is not None:
                self._refused[manifest.stage] = why
                continue
            if judged.trust is not TrustLevel.LOCAL:
                self._warnings.append(f"{manifest.checkpoint} is {judged.trust}: it was not written by this run")
            self._manifests[manifest.stage] = manifest
            yield manifest.stage, self._describe(manifest)

    def _find_fault(self, judged: JudgedCheckpoint, manifest: Manifest) -> str | None:
        """Return why a checkpoint does not count, or None."""
        if not judged.is_valid:
            return f"{manifest.checkpoint} is not valid: 'stagec checkpoint verify' says why"
        if judged.trust.tighten(self._trust) is not self._trust:  # nothing has been removed so far
            told = f"--trust {judged.trust} accepts it; if you remove its file, the stage runs again"
            raise Failure(f"{manifest.checkpoint} is {judged.trust}: {told}")
        act = self._plan.nodes[manifest.stage].act
        outputs = act.outputs.values() if isinstance(act, Process) else ()
        named = {each.path for each in manifest.artifacts}
        missing = [path for path in outputs if f"{manifest.stage}/{path}" not in named]
        return f"{manifest.checkpoint} does not list {missing[0]}" if missing else None

    def _describe(self, manifest: Manifest) -> Outputs:
        """Return the outputs of a stage in a manifest, by the names that the plan gives them."""
        act = self._plan.nodes[manifest.stage].act
        outputs = act.outputs if isinstance(act, Process) else {}
        entries = {each.path: each for each in manifest.artifacts}
        own = {name: (path, entries[f"{manifest.stage}/{path}"]) for name, path in outputs.items()}
        found: dict[str, Object] = {}
        for name, (path, each) in own.items():
            found[name] = {"path": path, "sha256": each.sha256.lower(), "sizeBytes": each.size}
        return found

    def _is_there(self, stage: str, outputs: Outputs) -> bool:
        try:
            with self._run.enter(stage) as folder:
                return not find_other_outputs(folder, outputs)
        except OSError:
            return False


def _close(found: Mapping[str, Outputs], needs: Mapping[str, tuple[str, ...]]) -> Mapping[str, Outputs]:
    """Return the stages among some whose needs are all among them, directly or not."""
    dependents: dict[str, list[str]] = {}
    for stage, needed in needs.items():
        for each in needed:
            dependents.setdefault(each, []).append(stage)
    lost = [stage for stage in needs if stage not in found]
    seen = set(lost)
    while lost:
        for each in dependents.get(lost.pop(), ()):
            if each not in seen:
                seen.add(each)
                lost.append(each)
    return {stage: found[stage] for stage in needs if stage not in seen}
