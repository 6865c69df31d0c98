"""A stage names a provider or a model.

## Why this matters
A stage runs with the provider and the model of its session. It cannot choose its own, and what it names is metadata
that nothing reads.

## How to fix
Remove the key, or keep it under a name that begins with `x-`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import rule

_KEYS = ("provider", "model")


@rule(since="0.1", origin=("stage-definitions:provider-key",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        for key in _KEYS if stage.profile is Profile.MARKDOWN else ():
            if key in stage.members:
                message = f"{quote(key)} has no effect: a stage runs with the provider and the model of its session"
                yield Finding((stage.at / key).key, message)
