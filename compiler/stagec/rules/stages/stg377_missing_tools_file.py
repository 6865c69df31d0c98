"""A pipeline names a tool catalogue that is not there.

## Why this matters
Nothing can be said about the tools that its stages allow, and names that are wrong go unnoticed.

## How to fix
Write the path relative to the pipeline, of a file within the project; or leave `tools` out, then `tools.yaml` beside
the pipeline counts.
"""

import posixpath
from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("rulings:tools",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    if pipeline.tools is not None and pipeline.catalogue is None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(pipeline.at.file), pipeline.tools.name))
        yield Finding(pipeline.tools.at, f"the project has no tool catalogue {quote(path)}")
