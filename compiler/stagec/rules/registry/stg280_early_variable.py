"""An `initial` step at which runs begin needs what only an earlier step could supply.

## Why this matters
`previous_summary` is what the model said at the end of the step before, `completed_iterations` how many steps are
over. Where a run begins there is no step before: other runners give the variable no value and cannot start the step,
and stagec has nothing to tell the model there.

## How to fix
Take the variable out of the first step and its prompt. A `continuation.*` step can have it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_early
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:uv.continuation-only-in-initial", "steps-registry:prompt.missing-uv", "PR-RESOLVE-003"),
)
def check(registry: Registry) -> Iterator[Finding]:
    entries = list(registry.entries.values())
    for each in find_early(registry):
        message = f"step {quote(each.step.key)} needs {quote(each.name)}, which has no value where a run begins"
        begins = (entry.at for entry in entries if registry.step(entry.name) is each.step)
        yield Finding(each.at, message, tuple(Related(at, "runs begin here") for at in begins))
