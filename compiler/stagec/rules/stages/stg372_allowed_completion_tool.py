"""A stage allows its own completion tool.

## Why this matters
`allowedTools` names tools that exist. The completion tool is none: it is offered to the model in every case, and is
never called. Named among the tools, it looks as if there were a tool of this name as well.

## How to fix
Delete it from `allowedTools`. If a tool is meant that does exist, call the completion tool otherwise.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:completion-tool-in-allowed",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue = pipeline.catalogue
    tools = catalogue.by_name if catalogue is not None else {}
    certain = catalogue is not None and catalogue.is_whole
    for stage in pipeline.stages:
        completion = stage.completion
        for each in stage.allowed or ():
            if completion is not None and each.name == completion.name and each.name not in tools:
                message = f"{quote(stage.name)} allows {quote(each.name)}, which is its completion tool"
                fix = Fix(f"remove {quote(each.name)}", (Edit(Change.REMOVE, each.at),)) if certain else None
                related = (Related(completion.at, "the completion tool"),)
                yield Finding(each.at, f"{message}{' and no real one' if certain else ''}", related, fix)
