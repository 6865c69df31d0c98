"""The resolution policy of a stage is not one that is known.

## Why this matters
It says what becomes of a stage whose gate defers or blocks: `retry-later`, `skip`, `fail` or `ask`. Anything else acts
as `fail`.

## How to fix
Write one of the four, or one for each: `{defer: retry-later, block: fail}`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule

_POLICIES = ("retry-later", "skip", "fail", "ask")
_KNOWN = NameIndex(_POLICIES)


@rule(since="0.1", origin=("stage-definitions:resolution-policy-enum",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        for given, at in _policies(stage):
            if isinstance(given, str) and given and given not in _KNOWN:
                wanted = listing(_POLICIES, "or")
                message = f"unknown resolution policy {quote(given)}, expected {wanted}{hint(given, _KNOWN)}"
                yield Finding(at, message, fix=guess(given, _KNOWN))


def _policies(stage: Stage) -> Iterator[tuple[Json, Place]]:
    given, at = stage.members.get("resolutionPolicy"), stage.at / "resolutionPolicy"
    if isinstance(given, dict):
        yield from ((given[answer], at / answer) for answer in ("defer", "block") if answer in given)
    else:
        yield given, at
