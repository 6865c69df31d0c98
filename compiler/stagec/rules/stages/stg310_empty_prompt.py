"""A stage has no prompt.

## Why this matters
The body of a stage is the system prompt. Without one the model is told nothing but which tools there are.

## How to fix
Write what the stage is to do, and that it ends by calling the completion tool.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:body-empty",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        told = stage.profile is Profile.MARKDOWN or isinstance(stage.members.get("body"), str)
        if told and not stage.body.text.strip():
            yield Finding(stage.body.at, f"stage {quote(stage.name)} has no prompt")
