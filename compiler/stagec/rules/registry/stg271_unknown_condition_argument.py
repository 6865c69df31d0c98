"""A step's condition asks for an argument that the agent does not have.

## Why this matters
`args.name` in a step's `condition` is the value of the agent's parameter of that name. When there is none, it is
never defined, and the step applies always or never, whatever the caller gives.

## How to fix
Correct the spelling, or declare the parameter in the agent definition.
"""

import re
from collections.abc import Iterable, Iterator

from stagec.core.guess import guess
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_unsupplied
from stagec.rules.registry import rule

_ARGUMENT = re.compile(r"(?<![\w.$])args\??\.([A-Za-z_$][\w$]*)")


@rule(since="0.1", origin=("steps-registry:doc.R-A5",))
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is None or not agent.is_whole:
        return
    conditions = ((step, step.body.get("condition")) for step in registry.steps.values())
    asked = [(step, name) for step, text in conditions if isinstance(text, str) for name in _arguments(text)]
    lost = [(step, name) for step, name in asked if name not in agent.parameters]
    told = find_unsupplied(registry) if lost else {}  # a prompt needs it too, and there it is told
    for step, name in lost:
        if name not in told:
            message = f"the condition of step {quote(step.key)} asks for {quote(name)}, but the agent has no such"
            near = hint(name, agent.parameters)
            at = step.at / "condition"
            yield Finding(at, f"{message} parameter{near}", fix=guess(name, agent.parameters))


def _arguments(condition: str) -> Iterable[str]:
    return dict.fromkeys(_ARGUMENT.findall(condition))
