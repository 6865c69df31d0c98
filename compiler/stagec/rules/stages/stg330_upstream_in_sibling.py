"""A stage that runs beside others reads the result of a stage before it.

## Why this matters
Parallel stages start from the context alone: they are handed no results, not even that of the stage that starts them.
The run fails where the stage should start.

## How to fix
Read what the run is given, such as `{{ctx.task}}`, or run the stage on its own, after the one whose result it needs.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import grounds, relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:upstream-on-sibling",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.IN_SIBLING):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        also = "" if each.everywhere else "also "
        related = (Related(each.ways[0].at, "here it runs in parallel"), *relate_repeated(each))
        message = f"{what}, but {also}runs in parallel, where no result is handed over"
        yield Finding(each.placeholder.at, message, related, causes=grounds(pipeline, each.stage))
