"""A stage object may call every tool there is.

## Why this matters
A stage object without `allowedTools` is given all tools of the session, those included that change things. In a
Markdown stage the member is required.

## How to fix
List the tools that the stage needs; `[]` allows none.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import rule

_MEMBER = NameIndex(("allowedTools",))


@rule(since="0.1", origin=("stage-definitions:allowed-tools-type", "rulings:tools"), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        misspelt = any(_MEMBER.nearest(key) is not None for key in stage.members)
        if stage.profile is Profile.OBJECT and stage.id is not None and not misspelt:
            yield Finding(stage.at, f"stage {quote(stage.name)} may call every tool: it has no 'allowedTools'")
