"""The file of a stage is not called what the stage is called.

## Why this matters
People look for the stage `plan` in `plan.md`. Programs go by the id alone.

## How to fix
Rename the file, or change the id where nothing mentions it.
"""

from collections.abc import Iterator
from posixpath import basename, splitext

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import in_kebab_case, rule


@rule(since="0.1", origin=("stage-definitions:stage-file-id",), severity=Severity.NOTE)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        stem = splitext(basename(stage.at.file))[0]
        named = stage.profile is Profile.MARKDOWN and stage.id is not None and in_kebab_case(stage.id)
        if named and stage.id != stem:
            yield Finding(stage.id_at, f"stage {quote(stage.id)} lies in a file that is called {quote(stem)}")
