"""The output schema that a validation step names cannot be found.

## Why this matters
No runner reads `outputSchemaRef` of a validation step, so nothing fails. Whoever takes it for the schema of the answers
that are validated looks for something that is not there, mostly because the schema of the step was renamed.

## How to fix
Write the reference that the closure step has, or take it out.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import OutputSchema, Registry
from stagec.rules.registry import report_unresolved, rule


@rule(
    since="0.1",
    origin=("steps-registry:path.schema-file", "steps-registry:path.schema-name"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    outputs = (step.output for step in registry.steps.values())
    told = {_describe_miss(each) for each in outputs if each is not None and isinstance(each.found, Miss)}
    at = registry.at / "validationSteps"
    yield from report_unresolved(
        registry,
        (
            (f"validation step {quote(key)}", at / key / "outputSchemaRef", each)
            for key, each in registry.guarded.items()
            if isinstance(each.found, Miss) and _describe_miss(each) not in told
        ),
    )


def _describe_miss(output: OutputSchema) -> tuple[object, ...]:
    """Return what is missing: a file, or a schema in it."""
    return output.found, output.file, output.name if output.found is Miss.NO_MEMBER else None
