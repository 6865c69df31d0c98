"""The file of an output schema leaves the folder of schemas.

## Why this matters
The start of climpt 1.14 refuses a registry in which the file of an output schema has `..` in its name or begins with
`/`, even if the file is there.

## How to fix
Put the schema into the folder of schemas, or name their common folder in `schemasBase`.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:beyond.path-escape", "A5"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        output = step.output
        if output is None or output.found in (Miss.NO_FILE, Miss.OUTSIDE):
            continue  # which is the worse mistake, and has its own rule
        if ".." in output.file or output.file.startswith("/"):
            message = f"schema file {quote(output.file)} leaves the folder {quote(registry.schemas.path)}"
            yield Finding(step.at / "outputSchemaRef" / "file", message)
