"""A prompt reads a path that a value of the context cannot have.

## Why this matters
The JSON Schema that the pipeline declares for the value leaves no room for anything at the path: it is closed there, or
the path leads through something that is no object. `workflowRunId` and `stageExecutionId` are texts. Nothing can be
filled in, so the stage cannot start.

## How to fix
Correct the path, or declare the member in the schema under `context`.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess, guess
from stagec.core.nearest import hint
from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule

_NAME = 2
"""`ctx` and the name come before the path into the value."""


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.CONTEXT_PATH):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_schema(pipeline, each), *relate_repeated(each))
        yield Finding(each.placeholder.at, f"{what}, but {_why(each)}", related, _guess(each))


def _guess(each: WrongPlaceholder) -> Guess | None:
    path, promised = each.placeholder.path, each.promised
    return guess(str(path[_NAME + promised.followed]), promised.near) if promised is not None else None


def _why(each: WrongPlaceholder) -> str:
    path, promised = each.placeholder.path, each.promised
    followed = promised.followed if promised is not None else 0
    inside, name = spell_path(path[: _NAME + followed]), str(path[_NAME + followed])
    near = hint(name, promised.near) if promised is not None else ""
    return f"{quote(inside)} cannot have {quote(name)}{near}"


def _schema(pipeline: Pipeline, each: WrongPlaceholder) -> Iterator[Related]:
    declared = (pipeline.context or {}).get(str(each.placeholder.path[1]))
    if declared is not None:
        yield Related(declared.at, "the schema of the value")
