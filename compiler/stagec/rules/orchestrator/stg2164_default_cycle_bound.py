"""Phases repeat, and the file does not say how often.

## Why this matters
climpt ends the run after 5 transitions.

## How to fix
Write `maxCycles` in `rules`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import MAX_CYCLES, Workflow
from stagec.rules.orchestrator import draw_graph, rule


@rule(since="0.1", origin=("climpt-1.14:wf.cycle-default",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    cycles = draw_graph(workflow).cycles()
    if cycles and "maxCycles" not in object_of(workflow.body.get("rules")) and workflow.max_cycles is not None:
        what = (
            f"phase {quote(cycles[0][0])} can repeat"
            if len(cycles[0]) == 1
            else f"phases {listing(cycles[0])} can repeat"
        )
        message = f"{what}, and 'maxCycles' is not written: an issue may make {MAX_CYCLES} transitions"
        yield Finding(workflow.max_cycles_at, message)
