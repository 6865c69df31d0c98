"""A runner's argument refers to a parameter that the agent does not have.

## Why this matters
`${context.name}` in an argument of a closure step's `runner` is replaced by the agent's parameter of that name. When
there is none, the step fails at the very end of a run.

## How to fix
Correct the spelling, or declare the parameter in the agent definition.
"""

import re
from collections.abc import Iterator

from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")


@rule(since="0.1", origin=("steps-registry:beyond.subprocess", "steps-registry:subproc.template"))
def check(registry: Registry) -> Iterator[Finding]:
    if registry.agent is None:
        return
    known = registry.agent.parameters
    for step in registry.steps.values():
        for index, name in _references(step) if "runner" in step.body else ():
            if name not in known:
                message = f"the runner of step {quote(step.key)} is given {quote(name)}, but the agent has no such"
                yield Finding(step.at / "runner" / "args" / index, f"{message} parameter{hint(name, known)}")


def _references(step: Step) -> Iterator[tuple[int, str]]:
    """Yield the parameters that a step's runner is given, each with the index of its argument."""
    runner = step.body.get("runner")
    arguments = runner.get("args") if isinstance(runner, dict) else None
    for index, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        if isinstance(argument, str):
            yield from ((index, name) for name in _CONTEXT.findall(argument))
