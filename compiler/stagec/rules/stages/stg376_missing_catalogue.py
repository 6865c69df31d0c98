"""There is no catalogue of the tools that exist.

## Why this matters
Without one nobody can tell whether the tools that stages allow are there, or whether a completion tool has the name of
one of them. These faults then come up when a run gets there.

## How to fix
Write a `tools.yaml` beside the pipeline that names the tools of the host and of the project, and the MCP servers:

```yaml
bundled: [Read, Grep, Glob]
mcp:
  files: {command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."]}
```
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("rulings:tools", "stage-definitions:allowed-tools-unknown"), severity=Severity.NOTE)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    allowing = [stage for stage in pipeline.stages if stage.allowed]
    is_sought = not pipeline.is_lost and pipeline.catalogue is None
    if is_sought and pipeline.tools is None and allowing:
        at = (allowing[0].at / "allowedTools").key
        beside = "the pipeline" if pipeline.is_declared else "the stage"
        sentence = f"there is no 'tools.yaml' with 'bundled', 'discovered' or 'mcp' beside {beside}"
        yield Finding(at, f"whether these tools exist is not known: {sentence}")
