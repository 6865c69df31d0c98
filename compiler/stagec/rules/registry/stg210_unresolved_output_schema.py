"""A step's output schema cannot be found.

## Why this matters
The output schema is what the model is asked to answer. Without it the answer has no shape and no intent can be read.

## How to fix
Correct `file` (relative to the folder of schemas) or `schema`: a pointer such as `#/$defs/name`, the name of a
definition, or the name of a member of the file.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unresolved, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:gate.schema-load",
        "steps-registry:path.schema-file",
        "steps-registry:path.schema-name",
        "steps-registry:resolve.pointer",
        "steps-registry:resolve.missing-file",
        "steps-registry:resolve.malformed",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    lost = [each for each in registry.steps.values() if each.output is not None and isinstance(each.output.found, Miss)]
    named = ((f"step {quote(each.key)}", each.at / "outputSchemaRef", each.output) for each in lost)
    yield from report_unresolved(registry, ((step, at, output) for step, at, output in named if output is not None))
