"""A stage allows the completion tool of another stage.

## Why this matters
`allowedTools` names tools that exist, and a completion tool is none: it is the channel through which one stage hands in
its result. Either the stage is allowed a tool that does not exist, or the other stage calls its completion tool by the
name of a real one; hosts refuse both.

## How to fix
Delete the name from `allowedTools`. If a tool of that name exists, give the completion tool another name, such as
`submit_` and the id of its stage.
"""

from collections.abc import Iterator

from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule

_SHOWN = 8


@rule(
    since="0.1",
    origin=("stage-definitions:completion-tool-collision", "stage-definitions:completion-tool-in-allowed"),
)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue = pipeline.catalogue
    if not pipeline.is_declared or (catalogue is not None and catalogue.is_whole):
        return  # a file by itself belongs to no pipeline; with all tools known, the two are told apart
    owners: dict[str, tuple[Stage, Place]] = {}
    for stage in pipeline.stages:
        if stage.completion is not None:
            owners.setdefault(stage.completion.name, (stage, stage.completion.at))
    real = catalogue.by_name if catalogue is not None else {}
    found: dict[str, list[Mention]] = {}
    for stage in pipeline.stages:
        own = stage.completion.name if stage.completion is not None else None
        for each in stage.allowed or ():
            if each.name in owners and each.name not in real and each.name != own:
                found.setdefault(each.name, []).append(each)
    for name, (first, *others) in found.items():
        owner, completion = owners[name]
        also = (Related(each.at, "here too") for each in others[:_SHOWN])
        message = f"{quote(name)} is allowed as a tool, but is the completion tool of {quote(owner.name)}"
        yield Finding(first.at, message, (Related(completion, "the completion tool"), *also))
