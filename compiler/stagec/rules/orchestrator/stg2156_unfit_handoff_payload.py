"""What a hand-off writes does not satisfy its schema.

## Why this matters
climpt judges the artifact when the hand-off is due, and stops with an error.

## How to fix
Add the missing keys to `payloadFrom`, and correct the texts.
"""

from collections.abc import Iterator

from stagec.core.json import Json, list_of, object_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-required",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for handoff in workflow.handoffs:
        schema = object_of(workflow.artifacts.schemas.get(handoff.schema or ""))
        given, at = object_of(handoff.body.get("payloadFrom")), handoff.at / "payloadFrom"
        wanted = [each for each in list_of(schema.get("required")) if isinstance(each, str)]
        missing = [each for each in wanted if each not in given]
        if missing and "payloadFrom" in handoff.body:
            yield Finding(at, f"{handoff.name} does not write {listing(missing)}, which its schema requires")
        for key, text in handoff.payload.items():
            if (
                len(text) > 1
                and text[0] == text[-1] == "'"
                and not _fits(text[1:-1], object_of(schema.get("properties")).get(key))
            ):
                yield Finding(at / key, f"{text} does not satisfy the schema of {quote(key)}")


def _fits(text: str, schema: Json) -> bool:
    """Tell whether a text satisfies a schema, as far as one of the plain keywords says so."""
    rules = object_of(schema)
    kinds, options = rules.get("type", "string"), rules.get("enum", [text])
    is_kind = "string" in kinds if isinstance(kinds, str | list) else True
    return is_kind and rules.get("const", text) == text and (not isinstance(options, list) or text in options)
