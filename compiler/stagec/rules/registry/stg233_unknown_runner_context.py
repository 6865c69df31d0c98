"""A runner's argument refers to a parameter that the agent does not have.

## Why this matters
`${context.name}` in an argument of a closure step's `runner` is replaced by the agent's parameter of that name. When
there is none, the step fails at the very end of a run.

## How to fix
Correct the spelling, or declare the parameter in the agent definition.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import list_arguments
from stagec.rules.registry import rule

_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.subprocess", "steps-registry:subproc.template"))
def check(registry: Registry) -> Iterator[Finding]:
    if registry.agent is None:
        return
    known = registry.agent.parameters
    for step in registry.steps.values():
        lost = [each for each in list_arguments(step) if each.name not in known]
        if lost and not registry.agent.declared:
            names = dict.fromkeys(each.name for each in lost)
            related = tuple(Related(each.at, "needed here") for each in lost[:_SHOWN])
            message = f"the runner of step {quote(step.key)} is given {listing(names)}, but the agent has no parameters"
            there = registry.agent.at / "parameters"
            yield Finding(there, message, related, causes=(there,))
            continue
        for each in lost:
            message = f"the runner of step {quote(step.key)} is given {quote(each.name)}, but the agent has no such"
            yield Finding(each.at, f"{message} parameter{hint(each.name, known)}", fix=guess(each.name, known))
