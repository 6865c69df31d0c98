"""A prompt reads a path that a value of the context may lack.

## Why this matters
The JSON Schema that the pipeline declares for the value does not require the path, so a run may begin with a value that
lacks it. Nothing can be filled in then, and the stage cannot start.

## How to fix
Require every part of the path in the schema under `context`, or read a whole value that is always there. An element of
a list is there for sure only where `minItems` says so.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.UNCERTAIN_CONTEXT_PATH):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_relate_schema(pipeline, each), *relate_repeated(each))
        yield Finding(each.placeholder.at, f"{what}, {_why(each)}", related)


def _why(each: WrongPlaceholder) -> str:
    name = quote(f"ctx.{each.placeholder.path[1]}")
    if each.promised is not None and each.promised.presence is Presence.UNDECLARED:
        return f"which the schema of {name} does not declare"
    return f"which a valid value of {name} may leave out"


def _relate_schema(pipeline: Pipeline, each: WrongPlaceholder) -> Iterator[Related]:
    declared = (pipeline.context or {}).get(str(each.placeholder.path[1]))
    optional = None if each.promised is None else each.promised.optional
    if optional is not None:
        yield Related(optional.at, "this schema lets it be left out")
    elif declared is not None:
        yield Related(declared.at, "the schema of the value")
