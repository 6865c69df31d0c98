"""A stage allows its own completion tool.

## Why this matters
`allowedTools` names tools that exist. The completion tool is none: it is offered to the model in every case, and is
never called. Named among the tools, it looks as if there were a tool of this name as well.

## How to fix
Delete it from `allowedTools`.
"""

from collections.abc import Iterator

from stagec.rules.stages import Change, Edit, Finding, Fix, Pipeline, Related, quote, rule


@rule(since="0.1", origin=("stage-definitions:completion-tool-in-allowed",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    tools = pipeline.catalogue.by_name if pipeline.catalogue is not None else {}
    for stage in pipeline.stages:
        completion = stage.completion
        for each in stage.allowed or ():
            if completion is not None and each.name == completion.name and each.name not in tools:
                message = f"{quote(stage.name)} allows {quote(each.name)}, which is its completion tool and no real one"
                fix = Fix(f"remove {quote(each.name)}", (Edit(Change.REMOVE, each.at),))
                yield Finding(each.at, message, (Related(completion.at, "the completion tool"),), fix)
