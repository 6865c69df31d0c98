"""The completion schema of a stage accepts no object.

## Why this matters
A stage hands in its result by calling a tool, and the arguments of a tool are an object. A schema that asks for a list
or a text can never be met.

## How to fix
Make the root an object and put what was meant under a member.
"""

from collections.abc import Iterator

from stagec.contract.combinations import combinations
from stagec.contract.schemas import Schema
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:completion-schema-root",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        kinds = _kinds(pipeline, stage)
        if kinds and "object" not in kinds:
            message = f"the result of stage {quote(stage.name)} must be {listing(sorted(kinds), 'or')}"
            yield Finding(_at(stage), f"{message} by this schema, but the arguments of a tool are an object")


def _kinds(pipeline: Pipeline, stage: Stage) -> frozenset[str]:
    """Return the types that a completion schema leaves to a result; none when that cannot be told."""
    ways = combinations(pipeline.schemas, (stage.result,)) if isinstance(stage.result, Schema) else None
    if not ways or any(way.types is None for way in ways):
        return frozenset()
    return frozenset(kind for way in ways for kind in way.types or ())


def _at(stage: Stage) -> Place:
    at = stage.at / "completionSchema"
    given = stage.members["completionSchema"]
    return at / "type" if isinstance(given, dict) and "type" in given else at
