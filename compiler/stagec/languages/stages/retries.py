"""How often the work of a stage is tried, and how long a run waits in between."""

from __future__ import annotations

import re

from stagec.core.canonical import MOST, to_count
from stagec.ir.plan.gate import Backoff, Retry
from stagec.languages.stages.document import Stage

_BACKOFF = re.compile(r"(?P<kind>fixed|exponential):0*(?P<milliseconds>[0-9]+)")
_DIGITS = len(str(MOST))


def retry(stage: Stage) -> Retry | None:
    """Return how often a stage may be tried and how long to wait, nothing where it does not say."""
    given = stage.members.get("retryPolicy")
    if not isinstance(given, dict):
        return None
    # how long to wait; one that is not known does not wait
    said = given.get("backoff")
    found = _BACKOFF.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        return Retry(to_count(given.get("maxAttempts")) or 1, Backoff())
    digits = found["milliseconds"]
    return Retry(
        to_count(given.get("maxAttempts")) or 1,
        Backoff(found["kind"], MOST if len(digits) > _DIGITS else min(int(digits), MOST)),
    )
