"""A pipeline lists stage files, and there are none.

## Why this matters
The stages that were meant are missing, and every name that leads to them leads nowhere.

## How to fix
Write a path relative to the pipeline; `*` stands for any part of a name, `**` for any folders. Files outside the
project are not read. Patterns are compared with a million files at most; those beyond are not looked for, so write few
patterns, and below a folder that holds little else.
"""

import posixpath
from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    folder = posixpath.dirname(pipeline.at.file)
    for pattern in pipeline.patterns:
        if not pattern.found:
            path = posixpath.normpath(posixpath.join(folder, pattern.text))
            what = "no file of the project matches" if set(pattern.text) & set("*?[") else "the project has no file"
            if not pattern.searched:
                what = "too many files were compared with the patterns above; none is sought for"
            advice = "" if "." in pattern.text else "; 'stages' names files, such as 'plan.md'"
            yield Finding(pattern.at, f"{what} {quote(path)}{advice}")
