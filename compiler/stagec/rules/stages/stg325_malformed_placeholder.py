"""A placeholder cannot be read.

## Why this matters
It is not closed, is empty, has too many braces, or is not quite a path. The stage cannot start.

## How to fix
A placeholder is a path between two opening and two closing braces: names with a dot before each, and indexes in square
brackets, such as `{{ctx.upstream[0].parsed.summary}}`. Spaces may stand inside the braces only around the path.
For two opening braces that stay as they are, write `{{"{{"}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Placeholder, PlaceholderForm
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-malformed",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.MALFORMED):
        message = f"placeholder {quote(each.placeholder.text)} {_why(each.placeholder)}"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


def _why(placeholder: Placeholder) -> str:
    if placeholder.form is PlaceholderForm.UNCLOSED:
        return "has no closing braces"
    if placeholder.form is PlaceholderForm.EMPTY:
        return "is empty"
    if placeholder.text.startswith("{{{"):
        return "has more than two braces"
    if placeholder.text.strip("{} \t\r\n") in {"ctx", "stage"}:
        return "names nothing in it"
    return "is not quite a path, such as 'ctx.task' or 'ctx.upstream[0].parsed'"
