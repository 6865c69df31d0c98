"""An input is handed over, and its variable has another value.

## Why this matters
An input gives the variable with its own name, and one that is named after its source with `_` for each dot: that of
`a.b_c` and that of `a_b.c` are the same. What the agent or its runner supplies comes first, then the variables named
after sources, the later input before the earlier one. The prompt does not have the value of this input.

## How to fix
Rename the input and let the prompt read that name, or take the input out.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import HiddenInput, find_hidden_inputs
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.input-uv-name",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for each in find_hidden_inputs(registry):
        what = f"input {quote(each.given.name)} of step {quote(each.step.key)} has no effect"
        other, related = _find_other(registry, each)
        yield Finding(each.given.at.key, f"{what}: {other} gives the variable {quote(each.name)}", related)


def _find_other(registry: Registry, hidden: HiddenInput) -> tuple[str, tuple[Related, ...]]:
    """Say what gives the variable in place of an input, and where."""
    if hidden.other is not None:
        return f"input {quote(hidden.other.name)}", (Related(hidden.other.at.key, "the other input"),)
    agent = registry.agent
    if agent is None or hidden.name not in agent.parameters:
        return "the runner", ()
    return "the agent's caller", (Related(agent.at / "parameters" / hidden.name, "the parameter"),)
