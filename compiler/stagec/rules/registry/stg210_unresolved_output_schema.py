"""A step's output schema cannot be found.

## Why this matters
The output schema is what the model is asked to answer. Without it the answer has no shape and no intent can be read.

## How to fix
Correct `file` (relative to the folder of schemas) or `schema`: a pointer such as `#/$defs/name`, the name of a
definition, or the name of a member of the file.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss, Schema
from stagec.core.nearest import hint
from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unknown, rule


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
    lost: list[Mention] = []
    for step in registry.steps.values():
        output = step.output
        if output is None or isinstance(output.found, Schema):
            continue
        at = step.at / "outputSchemaRef"
        if output.found is Miss.NO_FILE:
            lost.append(Mention(output.file, at / "file"))
        elif output.found is Miss.OUTSIDE:
            yield Finding(at / "file", f"schema file {quote(output.file)} lies outside the project")
        elif output.found is Miss.NO_MEMBER:
            near = hint(output.name, registry.schemas.names(output.file))
            message = f"{quote(output.file)} holds no schema {quote(output.name)} for step {quote(step.key)}{near}"
            yield Finding(at / "schema", message)
    where = f"under {quote(registry.schemas.path)}"
    yield from report_unknown(
        lost, registry.schemas.files, lambda each: f"there is no schema file {quote(each.name)} {where}"
    )
