"""A validation step calls itself something else than its key.

## Why this matters
The key under `validationSteps` names the closure step that is guarded; `stepId` is the same name once more. Where the
two differ, one of them was renamed and the other forgotten, and whoever looks for the name finds only one of them.

## How to fix
Make `stepId` the same as the key.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, StepKind
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.validation-step-key", "rulings:R5"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for key, body in object_of(registry.body.get("validationSteps")).items():
        name, step = object_of(body).get("stepId"), registry.step(key)
        is_closure = step is not None and step.kind is StepKind.CLOSURE
        if not isinstance(name, str) or step is None or (registry.generation is Generation.V1_13 and not is_closure):
            continue  # a key that names no step that can be guarded is the mistake, and told
        if name in {key, step.key, step.id}:
            continue
        at = registry.at / "validationSteps" / key / "stepId"
        fix = Fix(f"call it {quote(key)}", (Edit(Change.REPLACE, at, key),))
        message = f"validation step {quote(key)} calls itself {quote(name)}"
        yield Finding(at, message, (Related((registry.at / "validationSteps" / key).key, "its key"),), fix)
