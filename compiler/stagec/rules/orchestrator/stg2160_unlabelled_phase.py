"""An outcome leads to an actionable phase that no label stands for.

## Why this matters
A transition writes the label of the phase. Without one, the next cycle does not know in which phase the issue is, and
ends the run as blocked.

## How to fix
Add a label for the phase to `labelMapping`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import find_limbo, rule


@rule(since="0.1", origin=("climpt-1.14:wf.output-unlabelled",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for phase, first, related in find_limbo(workflow):
        if phase.is_actionable:
            message = f"no label stands for phase {quote(phase.id)}: after this outcome no agent goes on with the issue"
            yield Finding(first.at, message, related)
