"""The context of a pipeline declares a name that has a meaning of its own.

## Why this matters
`upstream`, `workflowRunId` and `stageExecutionId` are given to every stage, `attempts` and `host` are kept for code.
What a run would be given under such a name is never seen.

## How to fix
Choose another name, and read that one in the prompts.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import PROVIDED, RESERVED, Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:ctx-reserved-write",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for name in pipeline.context or ():
        if name in RESERVED:
            why = "every stage is given it anyway" if name in PROVIDED else "it is kept for code"
            message = f"the context cannot give {quote(name)} a meaning: {why}"
            yield Finding((pipeline.at / "context" / name).key, message)
