"""A stage has no outputs.

## Why this matters
Other stages can only wait for it, and its success cannot be told by what it leaves. That is right for a stage that
only has a side effect.

## How to fix
Nothing, if the stage leaves no files. Otherwise declare them.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:no-outputs",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        if stage.members.get("outputs") == {}:
            yield Finding(stage.at / "outputs", f"stage {quote(stage.name)} has no outputs")
