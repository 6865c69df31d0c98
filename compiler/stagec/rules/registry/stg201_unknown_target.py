"""A transition leads to a step that does not exist.

## Why this matters
A run that takes the transition has nowhere to go and dies there, often after hours of work.

## How to fix
Correct the spelling of the target, or declare the step. `null` as a target ends the run and is legal only under
`closing`.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unknown, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:xref.transition-target",
        "steps-registry:xref.conditional-target",
        "steps-registry:flow.dangling-target",
        "steps-registry:route.target-missing",
        "steps-registry:route.handoff-target",
        "steps-registry:route.escalate-target",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    yield from report_unknown(registry.lost_targets, registry.step_names, _sentence)


def _sentence(mention: Mention) -> str:
    _, step, _, intent, *_ = mention.at.pointer
    return f"step {quote(step)} goes to {quote(mention.name)} on {quote(intent)}, but there is no such step"
