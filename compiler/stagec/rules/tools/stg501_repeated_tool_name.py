"""A catalogue lists a tool twice.

## Why this matters

Tools are called by their names and nothing else. Of two tools with one name only one can be called, and which one
depends on the host; when one says that it only reads and the other that it changes something, neither can be believed.

## How to fix

Remove one of the entries, or rename the project's own tool.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue, Origin
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.tools import namesakes, rule


@rule(since="0.1", origin=("stage-definitions:allowed-tools-duplicate", "stage-definitions:completion-tool-collision"))
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for first, tool in namesakes(catalogue):
        if tool.origin is not Origin.MCP:
            message = f"tool {quote(tool.name)} is already listed under {quote(first.origin)}"
            yield Finding(tool.at, message, (Related(first.at, "listed here"),))
