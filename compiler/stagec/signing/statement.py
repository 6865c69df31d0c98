"""What is signed of a plan: an in-toto statement about its file and about the plan inside it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stagec.core.canonical import canonical, digest
from stagec.core.json import Json, Object, object_of
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.plan.loader import Loaded

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:stagec:predicate:plan:v1"
_ALGORITHM = "sha256"


@value
class SignerEvidence:
    """What a signer knows of the sources: findings by severity, and the git revision that has every source."""

    findings: Mapping[str, int] | None = None
    revision: str | None = None


@value
class Statement:
    """The digests that a statement is about, `sha256:…`, and its predicate."""

    digests: frozenset[str]
    predicate: Object


class UnreadableStatementError(Exception):
    """A statement of another kind, or none; `str()` is the reason."""


def write_statement(loaded: Loaded, data: bytes, name: str, evidence: SignerEvidence) -> bytes:
    """Return the statement about a plan and the bytes of its file, as canonical JSON."""
    plan = loaded.plan
    subjects: list[Json] = [_name_subject(name, digest(data)), _name_subject(f"{plan.id}.plan", loaded.digest)]
    predicate: dict[str, Json] = {
        "flow": plan.id,
        "stagec": __version__,
        "sources": dict(plan.sources),
    }
    if evidence.findings is not None:
        predicate["findings"] = dict(evidence.findings)
    if evidence.revision is not None:
        predicate["revision"] = {"git": evidence.revision}
    return canonical({"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate})


def _name_subject(name: str, named: str) -> Json:
    return {"name": name, "digest": {_ALGORITHM: named.removeprefix(f"{_ALGORITHM}:")}}


def read_statement(payload: bytes) -> Statement:
    """Return a statement, or raise `UnreadableStatementError`."""
    try:
        given = object_of(json.loads(payload))
    except (ValueError, RecursionError) as error:
        raise UnreadableStatementError("it is not JSON") from error
    if given.get("_type") != STATEMENT or given.get("predicateType") != PREDICATE:
        raise UnreadableStatementError("it is not a statement about a plan of stagec")
    subjects = given.get("subject")
    named = (object_of(object_of(each).get("digest")) for each in (subjects if isinstance(subjects, list) else ()))
    return Statement(
        frozenset(f"{_ALGORITHM}:{each.get(_ALGORITHM)}" for each in named), object_of(given.get("predicate"))
    )
