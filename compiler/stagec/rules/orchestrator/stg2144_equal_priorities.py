"""Two phases have the same priority.

## Why this matters
Of an issue that is in both, climpt takes the phase whose name comes first in the alphabet.

## How to fix
Give the phases different priorities if it matters which goes first.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Phase, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.priority-tie",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    first: dict[float, Phase] = {}
    for phase in workflow.phases.values():
        if phase.is_actionable and phase.priority is not None:
            other = first.setdefault(phase.priority, phase)
            if other is not phase:
                goes = quote(min(phase.id, other.id))
                message = f"phases {quote(other.id)} and {quote(phase.id)} have the same priority: {goes} goes first"
                related = (Related(other.at / "priority", "the other phase"),)
                yield Finding(phase.at / "priority", message, related)
