"""The schema of a tool's input does not exist.

## Why this matters

Without the schema nobody can tell whether a call of the tool is well formed, and hosts refuse to register the tool.

## How to fix

Correct the path, which is relative to the folder of the catalogue, or write the schema. A part of a file is named by
a pointer behind `#`. Files outside the project are never read.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue, Tool
from stagec.contract.schemas import Miss
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stagec:tools",))
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for tool in catalogue.tools:
        if isinstance(tool.schema, Miss) and tool.schema is not Miss.UNKNOWABLE:
            yield Finding(
                tool.entry / "schema", f"{_wrong(tool)}{f'; did you mean {tool.near!r}?' if tool.near else ''}"
            )


def _wrong(tool: Tool) -> str:
    written = quote(tool.reference)
    if tool.schema is Miss.OUTSIDE:
        return f"schema {written} of tool {quote(tool.name)} lies outside the project"
    if tool.schema is Miss.NO_MEMBER:
        return f"schema {written} of tool {quote(tool.name)} names a part that its file does not have"
    return f"there is no schema file {written} for tool {quote(tool.name)}"
