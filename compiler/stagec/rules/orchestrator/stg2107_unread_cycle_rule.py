"""A rule about rate limits is written, and nothing reads it.

## Why this matters
climpt has defaults for both numbers and drops what the file says.

## How to fix
Remove the member.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.rule-unread",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    given = object_of(workflow.body.get("rules"))
    for name in ("rateLimitThreshold", "rateLimitPollIntervalMs"):
        if name in given:
            message = f"climpt does not read {quote(name)} and takes its default"
            yield Finding((workflow.at / "rules" / name).key, message)
