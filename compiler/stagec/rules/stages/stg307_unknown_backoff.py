"""The backoff of a retry policy is not one that is known.

## Why this matters
`backoff` says how long to wait before the next attempt: `none`, `fixed:<ms>` or `exponential:<ms>`. Anything else
waits not at all.

## How to fix
Write one of the three, with a whole number of milliseconds, such as `fixed:500`.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_KNOWN = re.compile(r"none|(?:fixed|exponential):[0-9]{1,12}")
_FORMS = NameIndex(("none", "fixed", "exponential"))
_NAMES = NameIndex(("none", "fixed:<ms>", "exponential:<ms>"))


@rule(since="0.1", origin=("stage-definitions:retry-policy-backoff",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        given = object_of(stage.members.get("retryPolicy")).get("backoff")
        if isinstance(given, str) and given and not _KNOWN.fullmatch(given):
            near = hint(given.partition(":")[0], _NAMES)
            message = f"unknown backoff {quote(given)}, expected 'none', 'fixed:<ms>' or 'exponential:<ms>'{near}"
            yield Finding(stage.at / "retryPolicy" / "backoff", message, fix=_guess(given))


def _guess(given: str) -> Guess | None:
    """Return the form that was most likely meant, with the time that is given."""
    name, _, time = given.partition(":")
    near = _FORMS.guess(name)
    return Guess(name, near) if near is not None and (near == "none") is not time.isdecimal() else None
