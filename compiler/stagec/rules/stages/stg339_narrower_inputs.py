"""A stage refuses a result that the stage before it may hand in.

## Why this matters
Before a stage starts, each result that it is handed has to fit its `inputsSchema`. Here the `completionSchema` of the
stage before it accepts a value that the `inputsSchema` refuses. With this value the run fails.

## How to fix
Narrow the `completionSchema`, widen the `inputsSchema`, or send such results elsewhere with a case under `next`.
"""

from collections.abc import Iterator

from stagec.contract.choices import as_text
from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.narrowing import find_refused
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:inputs-schema-invalid",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for name, stage in pipeline.by_id.items() if pipeline.is_declared else ():
        for each in find_refused(pipeline, name, stage):
            given, path = quote(as_text(each.given)), quote(spell_path(("parsed", *each.path)))
            what = f"stage {quote(name)} refuses {given} at {path}"
            related = (Related(each.source.at / "completionSchema", "this schema accepts the value"),)
            message = f"{what}, which stage {quote(each.source.name)} may hand in"
            yield Finding(each.demanded, message, related)
