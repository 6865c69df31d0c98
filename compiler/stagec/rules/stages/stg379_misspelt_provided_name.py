"""A prompt reads a name of the context that is nearly one which every stage has.

## Why this matters
`upstream`, `workflowRunId` and `stageExecutionId` are given to every stage. A name with a slip in it is another name: a
run has to bring it, and where it does not, the stage cannot start. As the pipeline does not declare its context, nobody
can tell.

## How to fix
Correct the name. If it is meant, declare it under the pipeline's `context`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.nearest import is_slip
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import PROVIDED, RESERVED, Pipeline, PlaceholderForm
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    found: dict[str, list[Place]] = {}
    for stage in pipeline.stages if not isinstance(pipeline.body.get("context"), dict) else ():
        for each in stage.body.placeholders:
            root, *rest = each.path or ("",)
            if each.form is PlaceholderForm.PATH and root == "ctx" and rest[0] not in RESERVED:
                found.setdefault(str(rest[0]), []).append(each.at)
    for name, (first, *others) in found.items():
        near = next((each for each in PROVIDED if is_slip(name, each)), None)
        if near is not None:
            related = tuple(Related(at, "here too") for at in others[:_SHOWN])
            message = f"{quote(f'ctx.{name}')} is nothing that stages are given by themselves"
            message = f"{message}; did you mean {quote(f'ctx.{near}')}?"
            yield Finding(first, message, related, Guess(name, near, tuple(others)))
