"""Which members manifests of checkpoints have, in both forms, and what is wrong with those of a given one.

The form of the reference implementation is judged as its Zod schema judges it: the members in the order of the schema,
every mistake of a member, and the demand for a reason only where no member is absent, of a wrong type or no choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain

from stagec.core.json import Json, Object, kind_of
from stagec.core.place import Pointer
from stagec.core.value import NOTHING, value
from stagec.protocol.stage_ids import StageIdFault, read_stage_id


@value
class CheckpointFault:
    """One thing that is wrong with a checkpoint: where in its manifest, and which rule speaks of it.

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
    """Return what is wrong with the members of a manifest, each by itself."""
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
