"""Two stages give one completion tool different schemas.

## Why this matters
The name of the completion tool is all that prompts, logs and records of a run say about the form of a result. Under one
name for two forms, a result can be taken for the other stage's. Most often the schema was changed in one stage only.

## How to fix
Give the second stage a completion tool of its own, such as `submit_` and its id; or make the schemas equal. Words for
people, such as a `description`, may differ.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Schema
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule
from stagec.sources.shape.subschemas import SchemaPart, position

_ANNOTATIONS = frozenset({"$comment", "description", "examples", "title"})


@rule(since="0.1", origin=("rulings:tools",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    known: dict[str, tuple[Stage, Schema]] = {}
    for stage in pipeline.stages if pipeline.is_declared else ():
        completion, result = stage.completion, stage.result
        if completion is None or not isinstance(result, Schema):
            continue
        first, schema = known.setdefault(completion.name, (stage, result))
        if first is not stage and not _are_alike(schema.value, result.value):
            what = f"completion tool {quote(completion.name)} has another schema in {quote(stage.name)}"
            related = (Related(schema.at.key, "the other schema"),)
            yield Finding(completion.at, f"{what} than in {quote(first.name)}", related)


def _are_alike(one: Json, other: Json) -> bool:
    """Tell whether two schemas say the same, but for words that are for people only."""
    waiting: list[tuple[Json, Json, SchemaPart]] = [(one, other, SchemaPart.SCHEMA)]
    while waiting:
        first, second, stands = waiting.pop()
        if isinstance(first, dict) and isinstance(second, dict) and stands is not SchemaPart.DATA:
            silent = _ANNOTATIONS if stands is SchemaPart.SCHEMA else frozenset[str]()
            keys = first.keys() - silent
            if keys != second.keys() - silent:
                return False
            waiting.extend((first[key], second[key], position(stands, key, first[key])) for key in keys)
        elif first != second:
            return False
    return True
