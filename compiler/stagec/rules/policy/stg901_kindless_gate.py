"""A step with a gate leaves its kind to be inferred.

## Why this matters
stagec infers the kind of a step from `c2`, as the documents say. Some runners refuse a gate on a step without an
explicit `stepKind`.

## How to fix
Write `stepKind`. `--fix` adds the kind that is inferred.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.policy import rule


@rule(
    since="0.1",
    origin=("steps-registry:step.gate-needs-kind", "SR-VALID-004"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values() if registry.generation is Generation.V1_13 else ():
        if step.gate is None or step.kind is None or step.states_kind:
            continue
        at = step.at / "stepKind"
        fix = Fix(f"write stepKind {quote(step.kind)}", (Edit(Change.INSERT, at, step.kind.value),))
        yield Finding(at, f"step {quote(step.key)} has a gate but no stepKind; {step.kind.value} is inferred", fix=fix)
