"""A stage allows a tool that does not exist.

## Why this matters
Names are compared exactly, also in their letter case. A tool that is not there is not offered to the model, and the
stage is to do its work without it. Hosts find out when the stage starts.

## How to fix
Write the name as the catalogue has it, or add the tool to the catalogue. If an MCP server offers it by now, run
`stagec tools lock`.
"""

from collections.abc import Iterator

from stagec.rules.stages import Finding, Mention, Pipeline, Related, hint, quote, rule

_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue = pipeline.catalogue
    if catalogue is None or not catalogue.is_whole:
        return
    lost: dict[str, list[Mention]] = {}
    for stage in pipeline.stages:
        completion = stage.completion.name if stage.completion is not None else None
        for each in stage.allowed or ():
            if each.name not in catalogue.by_name and each.name != completion:
                lost.setdefault(each.name, []).append(each)
    for name, (first, *others) in lost.items():
        related = tuple(Related(other.at, "allowed here too") for other in others[:_SHOWN])
        message = f"there is no tool {quote(name)} in {quote(catalogue.file)}{hint(name, catalogue.names)}"
        yield Finding(first.at, message, related)
