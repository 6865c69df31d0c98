"""The schema of a tool's input allows no object.

## Why this matters

The arguments of a tool are always an object: a member for each. A schema of another type can never be met, and model
providers refuse the tool.

## How to fix

Make the root of the schema `type: object` and put what the tool takes under `properties`.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.contract.combinations import types_of
from stagec.contract.schemas import Schema
from stagec.core.json import Json
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stage-definitions:completion-schema-root",))
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for tool in catalogue.tools:
        types = _types(tool.schema.value) if isinstance(tool.schema, Schema) else ()
        if isinstance(tool.schema, Schema) and types and "object" not in types:
            message = (
                f"the input of tool {quote(tool.name)} must be an object, but its schema wants {listing(types, 'or')}"
            )
            yield Finding(tool.entry / "schema", message, (Related(tool.schema.at / "type", "as said here"),))


def _types(schema: Json) -> tuple[str, ...]:
    """Return the types that a schema allows, none where it does not say, or not well."""
    given = schema.get("type") if isinstance(schema, dict) else None
    types = given if isinstance(given, list) else [given]
    return () if types_of({"type": given}) is None else tuple(map(str, types))
