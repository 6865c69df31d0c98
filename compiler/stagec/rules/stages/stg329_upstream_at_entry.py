"""The stage where runs begin reads the result of a stage before it.

## Why this matters
Nothing has run before the entry, so there is no result to read, and the run fails at once. Also when the pipeline comes
back to the stage later: its prompt has to be complete on every way that leads to it.

## How to fix
Read what the run is given, such as `{{ctx.task}}`. A stage that is to run first and again later needs a second
definition for the second time.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import grounds, relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:upstream-on-entry",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.AT_ENTRY):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        also = "" if each.everywhere else "also "
        related = (Related(each.ways[0].at, "a run begins here"), *relate_repeated(each))
        message = f"{what}, but {also}begins a run: no stage has run before it"
        yield Finding(each.placeholder.at, message, related, causes=grounds(pipeline, each.stage))
