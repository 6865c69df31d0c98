"""What a stage says of trying again and of being put off, as a plan says it."""

from __future__ import annotations

import re

from stagec.core.json import Json, object_of
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.frontends.stages.freezing.terms import of_context
from stagec.plan.gate import Admission, Backoff, Retry
from stagec.plan.numbers import MOST, counted

_BACKOFF = re.compile(r"(?P<kind>fixed|exponential):0*(?P<milliseconds>[0-9]+)")
_DIGITS = len(str(MOST))
_POLICIES = frozenset({"retry-later", "skip", "fail", "ask"})
_REFUSED = "fail"


def retry(stage: Stage) -> Retry | None:
    """Return how often a stage may be tried and how long to wait, nothing where it does not say."""
    given = stage.members.get("retryPolicy")
    if not isinstance(given, dict):
        return None
    return Retry(counted(given.get("maxAttempts")) or 1, _backoff(given.get("backoff")))


def _backoff(given: Json) -> Backoff:
    """Return how long to wait; one that is not known does not wait."""
    found = _BACKOFF.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return Backoff()
    digits = found["milliseconds"]
    return Backoff(found["kind"], MOST if len(digits) > _DIGITS else min(int(digits), MOST))


def admission(pipeline: Pipeline, stage: Stage) -> Admission | None:
    """Return what may put a stage off and what happens then, nothing where nothing can: no gate, and no hook for it."""
    gate, names = stage.conduct.gate, pipeline.context
    defer, block = (of_context(gate.get(answer, ()), names) for answer in ("defer", "block"))
    if not (defer or block or "gate" in stage.conduct.calls):
        return None
    on_defer, on_block = _policies(stage.members.get("resolutionPolicy"))
    return Admission(on_defer, on_block, defer, block)


def _policies(given: Json) -> tuple[str, str]:
    """Return what happens on `defer` and on `block`; one word means both."""
    if isinstance(given, dict):
        said = object_of(given)
        return _policy(said.get("defer")), _policy(said.get("block"))
    return _policy(given), _policy(given)


def _policy(given: Json) -> str:
    return given if isinstance(given, str) and given in _POLICIES else _REFUSED
