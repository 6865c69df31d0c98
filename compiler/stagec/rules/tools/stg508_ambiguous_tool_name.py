"""An MCP server offers a tool under a name that another tool has.

## Why this matters

A stage allows tools by name, and a run registers all of them in one place. Which of two tools with one name is called
then depends on the order in which the servers happen to be started.

## How to fix

Leave one of the servers out, or configure it so that it offers the tool under another name.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue, Origin
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.tools import name_origin, namesakes, rule


@rule(since="0.1", origin=("stage-definitions:completion-tool-collision",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for first, tool in namesakes(catalogue):
        if tool.origin is Origin.MCP:
            other = name_origin(first) if first.origin is Origin.MCP else f"a {name_origin(first)} tool"
            message = f"{name_origin(tool)} offers a tool {quote(tool.name)}, which is also the name of {_of(other)}"
            yield Finding(tool.at, message, (Related(first.at, "the other tool"),))


def _of(other: str) -> str:
    return f"one of {other}" if other.startswith("MCP") else other
