"""An outcome leads to a terminal or blocking phase that no label stands for.

## Why this matters
The run ends, and nothing on the issue says how. The next run takes the issue for new.

## How to fix
Add a label for the phase to `labelMapping`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import PhaseType, Workflow
from stagec.rules.orchestrator import find_limbo, rule


@rule(since="0.1", origin=("climpt-1.14:wf.output-unlabelled",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for phase, first, related in find_limbo(workflow):
        if phase.type in {PhaseType.TERMINAL, PhaseType.BLOCKING}:
            message = (
                f"no label stands for {phase.type} phase {quote(phase.id)}: nothing on the issue says how the run ended"
            )
            yield Finding(first.at, message, related)
