"""A placeholder is written in the way of the other form of stages.

## Why this matters
In Markdown a placeholder has two braces, `{{ctx.task}}`; in a stage object it has a dollar sign and one name,
`${ctx.task}`. What is written otherwise stays as it is, and the model reads the braces.

## How to fix
Write it in the way of the form that the stage has. In a stage object only whole values of the context can be read.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Placeholder, Profile, Stage
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:placeholder-dollar-syntax",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        for each in stage.body.literals:
            yield Finding(each.at, f"{quote(each.text)} stays as it is: {_right(stage, each)}")


def _right(stage: Stage, literal: Placeholder) -> str:
    if stage.profile is Profile.MARKDOWN:
        inner = literal.text[2:-1].strip()
        return f"a placeholder in Markdown is written {quote('{{' + inner + '}}')}"
    root, name, *_ = literal.path
    meant = f"${{{root}.{name}}}"
    if root == "ctx" and meant != literal.text:
        return f"a placeholder in a stage object is written {quote(meant)}"
    return "a placeholder in a stage object is one name under 'ctx', such as '${ctx.task}'"
