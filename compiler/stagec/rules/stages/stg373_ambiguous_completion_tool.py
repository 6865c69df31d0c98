"""Two stages give one completion tool different schemas.

## Why this matters
The name of the completion tool is all that prompts, logs and records of a run say about the form of a result. Under one
name for two forms, a result can be taken for the other stage's. Most often the schema was changed in one stage only.

## How to fix
Give the second stage a completion tool of its own, such as `submit_` and its id; or make the schemas equal. Words for
people, such as a `description`, the order of names and shared parts may differ.
"""

from collections.abc import Iterator

from stagec.contract.equality import are_alike
from stagec.contract.schemas import Schema
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule


@rule(since="0.1", origin=("rulings:tools",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    known: dict[str, tuple[Stage, Schema]] = {}
    for stage in pipeline.stages if pipeline.is_declared else ():
        completion, result = stage.completion, stage.result
        if completion is None or not isinstance(result, Schema):
            continue
        first, schema = known.setdefault(completion.name, (stage, result))
        if first is not stage and not are_alike(pipeline.schemas, schema, result):
            what = f"completion tool {quote(completion.name)} has another schema in {quote(stage.name)}"
            related = (Related(schema.at.key, "the other schema"),)
            yield Finding(completion.at, f"{what} than in {quote(first.name)}", related)
