"""A phase can follow itself until the transitions of an issue are used up.

## Why this matters
The same agent meets the same issue again and again. `maxConsecutivePhases` ends that earlier.

## How to fix
Write `maxConsecutivePhases` in `rules`, with a number less than `maxCycles`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, whole_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import OTHERWISE, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.self-loop",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    limit = whole_of(object_of(workflow.body.get("rules")).get("maxConsecutivePhases", 0))
    most = workflow.max_cycles
    if most is None or limit is None or 0 < limit < most:
        return
    for phase in workflow.phases.values():
        agent = workflow.find_performer(phase)
        loops = [way for way in agent.list_ways() if way.phase.name == phase.id] if agent is not None else []
        if loops:
            own = [way.outcome for way in loops if way.outcome != OTHERWISE]
            named = listing(own) if own else "other outcomes"
            message = f"phase {quote(phase.id)} follows itself after {named}, up to {most} times"
            yield Finding(loops[0].phase.at, f"{message}: 'maxConsecutivePhases' does not limit it")
