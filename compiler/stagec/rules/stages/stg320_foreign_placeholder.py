"""A placeholder reads something that prompts cannot read.

## Why this matters
A prompt is made of the context, under `ctx`, and of what the stage says of itself, under `stage`. There is nothing
else, so the stage cannot start.

## How to fix
Write `{{ctx.task}}` for what a run is given, `{{ctx.upstream[0].parsed.summary}}` for what the stage before handed in.
Write `{{"{{"}}` for two opening braces that stay as they are: `{{"{{"}} name }}` is the text `{{ name }}`.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import PROVIDED, Pipeline, Placeholder
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-namespace",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.FOREIGN):
        which = f"placeholder {quote(each.placeholder.text)} names nothing"
        near = _guess_meant(pipeline, each.placeholder)
        yield Finding(each.placeholder.at, f"{which}: there are only 'ctx' and 'stage'{near}", relate_repeated(each))


def _guess_meant(pipeline: Pipeline, placeholder: Placeholder) -> str:
    root = str(placeholder.path[0])
    names = [*PROVIDED, *(pipeline.context or ())]
    free = pipeline.context is None and len(placeholder.path) == 1
    if free or root in names:
        return f"; did you mean {quote(f'ctx.{root}')}?"
    if root.lower() in _CONTEXT:
        return "; did you mean 'ctx'?"
    return hint(root, NameIndex(("ctx", "stage")))


_CONTEXT = {"context", "ctxt", "cxt", "ctc", "xtc", "cx", "ct", "tcx"}
"""What people write for `ctx`; the name is too short for others to be near it."""
