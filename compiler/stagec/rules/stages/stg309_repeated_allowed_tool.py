"""A stage allows a tool twice.

## Why this matters
The second mention changes nothing. Often another tool was meant.

## How to fix
Remove one of the two, or write the other tool.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:allowed-tools-duplicate",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        first: dict[str, Mention] = {}
        for tool in stage.allowed or ():
            other = first.setdefault(tool.name, tool)
            if other is not tool:
                fix = Fix(f"remove the second {quote(tool.name)}", (Edit(Change.REMOVE, tool.at),))
                yield Finding(tool.at, f"{quote(tool.name)} is allowed twice", (Related(other.at, "first here"),), fix)
