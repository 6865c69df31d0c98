"""The completion tool of a stage has the name of a real tool.

## Why this matters
The completion tool is no tool but the channel through which the model hands in its result. Under the name of a tool
that exists, nobody could tell whether the model means to call that tool or to end the stage. Hosts refuse such a
stage.

## How to fix
Choose a name that no tool has, such as `submit_` and the id of the stage.
"""

from collections.abc import Iterator

from stagec.catalogue import Origin, Tool
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:completion-tool-collision",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    tools = pipeline.catalogue.by_name if pipeline.catalogue is not None else {}
    for stage in pipeline.stages:
        tool = tools.get(stage.completion.name) if stage.completion is not None else None
        if stage.completion is not None and tool is not None:
            message = f"completion tool {quote(tool.name)} of {quote(stage.name)} has the name of {_which(tool)}"
            yield Finding(stage.completion.at, message, (Related(tool.at, "the tool"),))


def _which(tool: Tool) -> str:
    if tool.origin is Origin.MCP:
        return f"a tool of MCP server {quote(tool.server)}"
    return f"a {tool.origin} tool"
