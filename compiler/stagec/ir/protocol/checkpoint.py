"""Checkpoints: their manifests, and how they are judged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from itertools import chain
from typing import Any

from stagec.core.canonical import MOST, canonical, compact
from stagec.core.json import Json, Object, kind_of
from stagec.core.place import Place, Pointer
from stagec.core.value import NOTHING, value
from stagec.ir.protocol.stage_ids import (
    PathCheck,
    StageIdFault,
    find_artifact_fault,
    find_path_fault,
    find_segment_fault,
    read_stage_id,
)
from stagec.ir.protocol.stage_ids import place_artifact as place


@value
class CheckpointFault:
    """One fault of a checkpoint: its place in the manifest, and the rule that it breaks.

    `topic` is the name of the rule, `reason` chooses between its sentences, `facts` are what the sentence needs.
    """

    topic: str
    pointer: Pointer = ()
    reason: str = ""
    facts: Mapping[str, object] = NOTHING


UNKNOWN_FORM = "unknown-checkpoint-form"
MISSING = "incomplete-checkpoint"
MISTYPED = "mistyped-checkpoint-member"
MALFORMED = "malformed-checkpoint-value"
NO_REASON = "reasonless-emergency"


STATUSES = ("saved", "interrupted", "emergency")
REASONS = ("timeout", "abort", "error")
TRUST_LEVELS = ("local", "imported", "untrusted")
NATIVE = "stagec.checkpoint/1"
_OWN = "stagec.checkpoint/"


Check = Callable[[Json, Pointer], Iterable[CheckpointFault]]


_DIGEST = re.compile("[a-f0-9]{64}")
_ANY_DIGEST = re.compile("[A-Fa-f0-9]{64}")
_STAGE = re.compile("S[0-9]{2}_[a-z]+_[a-z_]+")
_LEAP = "(?:[0-9]{2}(?:[2468][048]|[13579][26]|0[48])|(?:[02468][048]|[13579][26])00)-02-29"
_LONG, _SHORT = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])", "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_DAY = f"(?:{_LONG}|{_SHORT}|02-(?:0[1-9]|1[0-9]|2[0-8]))"
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]+)?)?"
INSTANT = re.compile(f"(?:{_LEAP}|[0-9]{{4}}-{_DAY})T{_TIME}Z")
"""ISO 8601 in UTC, of a real day; seconds and their fraction may be absent."""


def is_native(manifest: Object) -> bool:
    """Tell whether a manifest says that it has one of stagec's own forms."""
    form = manifest.get("format")
    return isinstance(form, str) and form.startswith(_OWN)


def find_shape_faults(manifest: Object) -> tuple[CheckpointFault, ...]:
    """Return the faults in the members of a manifest, each by itself."""
    if not is_native(manifest):
        return _demand_reason(manifest, "emergency", tuple(_UPSTREAM(manifest, ())))
    if manifest["format"] != NATIVE:
        return (CheckpointFault(UNKNOWN_FORM, ("format",), "version", {"found": manifest["format"], "known": NATIVE}),)
    return _demand_reason(manifest, "interrupted", tuple(_NATIVE(manifest, ())))


def _demand_reason(manifest: Object, status: str, found: tuple[CheckpointFault, ...]) -> tuple[CheckpointFault, ...]:
    # after other faults a schema does not go on to compare members with each other
    is_readable = all(fault.topic == MALFORMED and fault.reason != "choice" for fault in found)
    if manifest.get("status") != status or manifest.get("reason") or not is_readable:
        return found
    return (*found, CheckpointFault(NO_REASON, ("reason",), facts={"status": status}))


def _type(given: Json, wanted: str, at: Pointer) -> CheckpointFault:
    return CheckpointFault(MISTYPED, at, wanted, {"found": kind_of(given)})


def _text(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
    if not isinstance(given, str):
        yield _type(given, "string", at)


def _check_filled(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
    yield from _text(given, at)
    if given == "":
        yield CheckpointFault(MALFORMED, at, "empty")


def _matching(pattern: re.Pattern[str], reason: str) -> Check:
    def check(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
        yield from _text(given, at)
        if isinstance(given, str) and not pattern.fullmatch(given):
            yield CheckpointFault(MALFORMED, at, reason, {"found": given})

    return check


def _one_of(choices: Collection[str]) -> Check:
    def check(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
        yield from _text(given, at)
        if isinstance(given, str) and given not in choices:
            yield CheckpointFault(MALFORMED, at, "choice", {"found": given, "choices": tuple(choices)})

    return check


def _stage(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
    yield from _text(given, at)
    if isinstance(given, str) and StageIdFault.FORMAT in read_stage_id(given).faults:
        yield CheckpointFault(MALFORMED, at, "stage", {"found": given})


def _number(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
    if isinstance(given, bool) or not isinstance(given, int | float):
        yield _type(given, "number", at)


def _count(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
    if isinstance(given, bool) or not isinstance(given, int | float):
        yield _type(given, "number", at)
        return
    if isinstance(given, float) and not given.is_integer():
        yield CheckpointFault(MALFORMED, at, "whole", {"found": given})
    if given < 0:
        yield CheckpointFault(MALFORMED, at, "negative", {"found": given})


def _list_of(check: Check) -> Check:
    def check_all(given: Json, at: Pointer) -> Iterable[CheckpointFault]:
        if not isinstance(given, list):
            return (_type(given, "array", at),)
        return chain.from_iterable(check(each, (*at, index)) for index, each in enumerate(given))

    return check_all


def _record_of(check: Check) -> Check:
    def check_all(given: Json, at: Pointer) -> Iterable[CheckpointFault]:
        if not isinstance(given, dict):
            return (_type(given, "object", at),)
        return chain.from_iterable(check(each, (*at, name)) for name, each in given.items())

    return check_all


def _members(checks: Mapping[str, Check], *, optional: Collection[str] = ()) -> Check:
    def check_all(given: Json, at: Pointer) -> Iterator[CheckpointFault]:
        if not isinstance(given, dict):
            yield _type(given, "object", at)
            return
        for name, check in checks.items():
            if name in given:
                yield from check(given[name], (*at, name))
            elif name not in optional:
                yield CheckpointFault(MISSING, (*at, name))

    return check_all


def _artifacts(digest: re.Pattern[str]) -> Check:
    return _list_of(
        _members({"relativePath": _check_filled, "sha256": _matching(digest, "digest"), "sizeBytes": _count})
    )


_UPSTREAM = _members(
    {
        "checkpointId": _check_filled,
        "researchSessionID": _check_filled,
        "reportTitle": _check_filled,
        "runId": _check_filled,
        "stageId": _matching(_STAGE, "stage"),
        "createdAt": _matching(INSTANT, "instant"),
        "executionCount": _count,
        "status": _one_of(STATUSES),
        "reason": _one_of(REASONS),
        "trustLevel": _one_of(TRUST_LEVELS),
        "notebook": _members({"path": _check_filled, "checkpointCellId": _check_filled}),
        "pythonEnv": _members(
            {
                "pythonPath": _check_filled,
                "packages": _list_of(_text),
                "platform": _check_filled,
                "randomSeeds": _record_of(_number),
            },
            optional=("randomSeeds",),
        ),
        "artifacts": _artifacts(_ANY_DIGEST),
        "rehydration": _members(
            {"mode": _one_of(("artifacts_only", "with_vars")), "rehydrationCellSource": _list_of(_text)}
        ),
        "manifestSha256": _matching(_ANY_DIGEST, "digest"),
    },
    optional=("reason", "trustLevel"),
)
_NATIVE = _members(
    {
        "format": _one_of((NATIVE,)),
        "algorithm": _one_of(("sha256",)),
        "pathBase": _one_of(("run",)),
        "checkpointId": _check_filled,
        "reportTitle": _check_filled,
        "runId": _check_filled,
        "stageId": _stage,
        "attempt": _count,
        "createdAt": _matching(INSTANT, "instant"),
        "status": _one_of(("saved", "interrupted")),
        "reason": _one_of(REASONS),
        "trustLevel": _one_of(TRUST_LEVELS),
        "artifacts": _artifacts(_DIGEST),
        "manifestSha256": _matching(_DIGEST, "digest"),
    },
    optional=("reason",),
)


DIGEST = "manifestSha256"
"""The member that holds the digest of all others."""
DEEPEST = 64
"""Objects and arrays inside each other; no manifest needs more than four."""


_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_INTEGER = 400
"""Digits; a longer integer is more than a double can hold, and Python refuses to read very long ones."""


def read_json(data: bytes) -> Json:
    """Return the value of a JSON text; raise `ValueError` for what is none and for what is nested too deeply.

    Of repeated names the last counts, halves of characters are kept, and so are the digits of large integers.
    """
    try:
        found: Json = json.loads(data.decode(), parse_int=_read_integer, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not _is_flat(found):
        raise ValueError("it is nested too deeply")
    return found


def digest_stringified(manifest: Object) -> str:
    """Return the digest of a manifest as the reference implementation computes it."""
    return sha256(stringify(_drop_digest(manifest)).encode()).hexdigest()


def digest_canonical(manifest: Object) -> str | None:
    """Return the digest of a manifest as stagec computes it; None for one that has no canonical text."""
    try:
        return sha256(canonical(_drop_digest(manifest))).hexdigest()
    except ValueError:
        return None


def stringify(given: Json) -> str:
    """Return the output of ECMAScript's `JSON.stringify(value, null, 2)`."""
    pieces: list[str] = []
    todo: list[str | tuple[Json, str]] = [(given, "\n")]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            pieces.append(each)
        elif isinstance(each[0], dict | list) and each[0]:
            todo.extend(reversed(list(_open(*each))))
        else:
            pieces.append(_write_scalar(each[0]))
    return "".join(pieces)


def _open(given: Json, newline: str) -> Iterator[str | tuple[Json, str]]:
    """Yield the texts and values that a container is written as."""
    inner, between = f"{newline}  ", ""
    if isinstance(given, dict):
        for name in sorted(given, key=_order):
            yield f"{between or '{'}{inner}{_write_scalar(name)}: "
            yield given[name], inner
            between = ","
        yield f"{newline}}}"
    elif isinstance(given, list):
        for each in given:
            yield f"{between or '['}{inner}"
            yield each, inner
            between = ","
        yield f"{newline}]"


def _order(name: str) -> tuple[bool, int]:
    """Return the sort key that puts array indexes before all other names; those keep their order."""
    is_index = _INDEX.fullmatch(name) is not None and int(name) <= _LAST_INDEX
    return not is_index, int(name) if is_index else 0


def _write_scalar(given: Json) -> str:
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return compact(given if -MOST <= given <= MOST else float(given))
        except (OverflowError, ValueError):  # infinite
            return "null"
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", compact(given))


def _drop_digest(manifest: Object) -> Mapping[str, Json]:
    return {name: given for name, given in manifest.items() if name != DIGEST}


def _read_integer(digits: str) -> float:
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _is_flat(given: Json) -> bool:
    """Tell whether a value is nested no deeper than allowed."""
    level: list[Json] = [given]
    for _ in range(DEEPEST + 1):
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
        if not inner:
            return True
    return False


class TrustLevel(StrEnum):
    """The origin of a checkpoint, and so the strictness of its verification; the later, the stricter."""

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
    """The content of a manifest; `status` is `saved`, `interrupted` or `emergency`, `reason` why it was not `saved`.

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
    """The readable content of a manifest, and every error in the manifest itself."""

    manifest: Manifest | None
    faults: tuple[CheckpointFault, ...] = ()


def name_checkpoint(stage: str, attempt: int = 1, status: str = "saved") -> str:
    """Return the id of a native checkpoint."""
    return f"ckpt-{stage}" if status == "saved" else f"ckpt-emergency-{stage}-{attempt}"


def read_manifest(data: bytes) -> JudgedManifest:
    """Return the content of a manifest of either form, with its faults."""
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
    """Return the content of a manifest of the right shape."""
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


@value
class JudgedCheckpoint:
    """One manifest and what verification found.

    `file` is the path as messages show it, `data` the bytes of the manifest, `trust` the level of verification.
    """

    file: str
    trust: TrustLevel
    data: bytes = b""
    manifest: Manifest | None = None
    faults: tuple[CheckpointFault, ...] = ()

    @property
    def at(self) -> Place:
        """The place of the whole manifest."""
        return Place(self.file)

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong with the manifest and the artifacts that it names."""
        return self.manifest is not None and not self.faults

    def about(self, topic: str) -> Iterable[CheckpointFault]:
        """Return the faults that one rule speaks of."""
        return (fault for fault in self.faults if fault.topic == topic)


def find_place_faults(manifest: Manifest, path: str) -> tuple[CheckpointFault, ...]:
    """Return the ids in a manifest that disagree with its path, absolute and with `/`."""
    names = _read_place(path.split("/"), native=manifest.native)
    if not names:
        return (CheckpointFault(MISPLACED, (), "layout", {"native": manifest.native}),)
    said = {member: getattr(manifest, NAMES[member]) for member in names}
    return tuple(
        CheckpointFault(MISPLACED, (member,), "path", {"found": said[member], "expected": name})
        for member, name in names.items()
        if said[member] != name
    )


_NATIVE_DEPTH, FOREIGN_DEPTH = 4, 6
"""How many of the last parts of a path say which checkpoint it is."""


def _read_place(parts: Sequence[str], *, native: bool) -> dict[str, str]:
    """Return the ids in the path of a manifest; empty for a path of another layout."""
    if native:
        report, run, folder, name = parts[-_NATIVE_DEPTH:] if len(parts) >= _NATIVE_DEPTH else [""] * _NATIVE_DEPTH
        stem = name.removesuffix(".json")
        is_right = folder == "checkpoints" and stem != name
        return {"checkpointId": stem, "runId": run, "reportTitle": report} if is_right else {}
    if len(parts) < FOREIGN_DEPTH:
        return {}
    reports, report, folder, run, stem, name = parts[-FOREIGN_DEPTH:]
    is_right = (reports, folder, name) == ("reports", "checkpoints", "checkpoint.json")
    return {"checkpointId": stem, "runId": run, "reportTitle": report} if is_right else {}


def find_newest(manifests: Iterable[Manifest]) -> Manifest | None:
    """Return the manifest that was created last; of several the first."""
    return max(manifests, key=lambda each: read_instant(each.created), default=None)


def read_instant(text: str) -> tuple[str, int]:
    """Return the key that sorts times in UTC: the minute as text, and milliseconds."""
    clock, _, fraction = text.removesuffix("Z").partition(".")
    return clock[:16], int(clock[17:] or "0") * 1000 + int(fraction[:3].ljust(3, "0"))


def format_instant(seconds: float) -> str:
    """Return a time in seconds since 1970 as manifests write it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
