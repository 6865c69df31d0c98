"""A way without a repetition takes more transitions than an issue may make.

## Why this matters
`maxCycles` ends a run that never came to a phase twice.

## How to fix
Raise `maxCycles` if the way is meant to be taken.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import format_count, quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import find_longest, rule


@rule(since="0.1", origin=("climpt-1.14:wf.bound-tight",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    most = workflow.max_cycles
    way = find_longest(workflow, most) if most is not None else ()
    if len(way) - 1 > (most or 0):
        needs = f"the way {' → '.join(map(quote, way))} takes {format_count(len(way) - 1, 'transition')}"
        yield Finding(workflow.max_cycles_at, f"{needs}, but an issue may make {most}")
