"""A prompt reads a result that is not handed over, or does not say which one.

## Why this matters
A stage that follows another is handed one result, the first, whose index is 0; a join is handed one for each parallel
stage, in the order in which `stages` lists them. There is no other, so the stage cannot start.

## How to fix
Give the index of a result that is handed over on every way that leads to the stage: `{{ctx.upstream[0].parsed}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders
from stagec.rules.stages import grounds, relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:upstream-index",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.INDEX):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_where(each), *relate_repeated(each))
        causes = grounds(pipeline, each.stage)
        yield Finding(each.placeholder.at, f"{what}, but {_why(each)}", related, causes=causes)


def _why(each: WrongPlaceholder) -> str:
    if not each.ways:
        return "does not say which result: the first is 'ctx.upstream[0]'"
    handed = len(each.ways[0].sources)
    where = "" if each.everywhere else "on one of the ways that lead to it "
    last = quote(f"ctx.upstream[{handed - 1}]")
    return f"{where}is handed only {format_count(handed, 'result')}, {f'the last as {last}' if handed > 1 else last}"


def _where(each: WrongPlaceholder) -> Iterator[Related]:
    for way in each.ways:
        yield Related(way.at, f"here it is handed {format_count(len(way.sources), 'result')}")
