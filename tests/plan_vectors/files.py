"""Read the file of a plan: its frame, its digest, its form, its references, as the page of the format says."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from plan_vectors.forms import misshapen
from plan_vectors.references import missing
from plan_vectors.soundness import unsound

_HEAD, _MIDDLE, _TAIL = b'{"digest":"', b'","plan":', b"}\n"
_DIGEST = len("sha256:") + 64


class RefusedError(Exception):
    """A file that must not be run, or a run that must not begin."""


def read(data: bytes) -> tuple[str, dict[str, Any]]:
    """Return the digest and the payload of a plan, or refuse it."""
    start = len(_HEAD) + _DIGEST
    payload = data[start + len(_MIDDLE) : -len(_TAIL)]
    if data[: len(_HEAD)] != _HEAD or data[start:][: len(_MIDDLE)] != _MIDDLE or not data.endswith(_TAIL):
        raise RefusedError("this is no plan")
    digest = data[len(_HEAD) : start].decode("ascii", "replace")
    if digest != f"sha256:{hashlib.sha256(payload).hexdigest()}":
        raise RefusedError("the digest is another one")
    return digest, _known(_parsed(payload))


def _parsed(payload: bytes) -> Any:
    try:
        return json.loads(payload.decode("utf-8"), parse_constant=_constant)
    except (ValueError, RecursionError) as wrong:
        raise RefusedError("the payload is no JSON") from wrong


def _constant(name: str) -> Any:
    raise ValueError(name)


def _known(plan: Any) -> dict[str, Any]:
    if not isinstance(plan, dict) or plan.get("is") != "stagec.plan/1":
        raise RefusedError("the format is not known")
    for faults in (misshapen, missing, unsound):
        for fault in faults(plan):
            raise RefusedError(fault)
    return plan
