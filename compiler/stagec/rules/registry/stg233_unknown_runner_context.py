"""A runner's argument refers to a parameter that the agent does not have.

## Why this matters
`${context.name}` in an argument of a closure step's `runner` is replaced by the agent's parameter of that name. When
there is none, the step fails at the very end of a run.

## How to fix
Correct the spelling, or declare the parameter in the agent definition.
"""

import re
from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_SHOWN = 8
_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")


@rule(since="0.1", origin=("steps-registry:beyond.subprocess", "steps-registry:subproc.template"))
def check(registry: Registry) -> Iterator[Finding]:
    if registry.agent is None:
        return
    known = registry.agent.parameters
    for step in registry.steps.values():
        runner = _references(step) if "runner" in step.body else ()
        lost = [(step.at / "runner" / "args" / index, name) for index, name in runner if name not in known]
        if lost and not registry.agent.declared:
            names = dict.fromkeys(name for _, name in lost)
            related = tuple(Related(at, "needed here") for at, _ in lost[:_SHOWN])
            message = f"the runner of step {quote(step.key)} is given {listing(names)}, but the agent has no parameters"
            there = registry.agent.at / "parameters"
            yield Finding(there, message, related, causes=(there,))
            continue
        for at, name in lost:
            message = f"the runner of step {quote(step.key)} is given {quote(name)}, but the agent has no such"
            yield Finding(at, f"{message} parameter{hint(name, known)}", fix=guess(name, known))


def _references(step: Step) -> Iterator[tuple[int, str]]:
    """Yield the parameters that a step's runner is given, each with the index of its argument."""
    runner = step.body.get("runner")
    arguments = runner.get("args") if isinstance(runner, dict) else None
    for index, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        if isinstance(argument, str):
            yield from ((index, name) for name in _CONTEXT.findall(argument))
