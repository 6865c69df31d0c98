"""A placeholder is written as another template language writes it.

## Why this matters
In Markdown a placeholder is `{{ctx.task}}`, in a stage object `${ctx.task}`. `{ctx.task}`, `<%= ctx.task %>`,
`{% ctx.task %}`, `[[ctx.task]]` and their like stay as they are: the model reads the brackets and not the value.

## How to fix
Write the placeholder as stages do. Brackets in blocks of code are left alone, and so are names that the pipeline's
context does not declare.
"""

from collections.abc import Iterator

from stagec.core.brackets import Bracketed, find_bracketed
from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.frontends.stages.document import PROVIDED, Pipeline, PlaceholderForm, Profile, Stage
from stagec.rules.stages import rule

_SHOWN = 8
_ESCAPE = PlaceholderForm.ESCAPE
_TOLD = ("{{", "{{{")
"""What other rules speak of in every form of stages; in stage objects also `${`, which is theirs."""


@rule(since="0.1", origin=("stage-definitions:placeholder-dollar-syntax",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    known = NameIndex((*(pipeline.context or ()), *PROVIDED))
    for stage in pipeline.stages:
        found: dict[tuple[str, str], list[Place]] = {}
        escaped = {item.at.range[1] for item in stage.body.placeholders if item.form is _ESCAPE and item.at.range}
        for each in find_bracketed(stage.body.text, besides=_TOLD):
            meant = _guess_meant(pipeline, each, known)
            if meant is not None and not (escaped and (_place(stage, each).range or (0,))[0] in escaped):
                found.setdefault((stage.body.text[each.start : each.end], meant), []).append(_place(stage, each))
        for (text, meant), (first, *others) in found.items():
            right = f"{{{{{meant}}}}}" if stage.profile is Profile.MARKDOWN else f"${{ctx.{meant.split('.')[1]}}}"
            related = tuple(Related(at, "here too") for at in others[:_SHOWN] if at != first)
            message = f"{quote(text)} stays as it is: a placeholder is written {quote(right)}"
            yield Finding(first, message, related, Guess(text, right, tuple(others)))


def _guess_meant(pipeline: Pipeline, each: Bracketed, known: NameIndex) -> str | None:
    """Return the path that was meant, if it is surely one of ours."""
    declared = pipeline.context or {}
    for name in each.names:
        root, _, rest = name.partition(".")
        member = rest.partition(".")[0].partition("[")[0]
        if root in {"ctx", "stage"} and member and each.opener != "${" and (not each.is_fenced or member in known):
            near = known.nearest(member) if root == "ctx" and declared and member not in known else None
            return name if near is None else f"{root}.{near}{rest.removeprefix(member)}"
        if root.partition("[")[0] in declared and not (each.is_fenced or (each.is_code and each.opener[-1] == "{")):
            return f"ctx.{name}"
    return None


def _place(stage: Stage, each: Bracketed) -> Place:
    start = stage.body.at.range[0] if stage.body.at.range is not None else None
    return stage.body.at if start is None else replace(stage.body.at, range=(start + each.start, start + each.end))
