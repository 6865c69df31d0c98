"""A prompt reads a name that the pipeline's context does not declare.

## Why this matters
`context` lists what a run is given under `ctx`. A name that is not there is never given, so the stage cannot start.

## How to fix
Correct the name, or declare it under `context` with a JSON Schema, which may be empty: `branch: {}`.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import PROVIDED, Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved", "Validation/StageCtxUnresolved"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    known = NameIndex((*(pipeline.context or ()), *PROVIDED))
    lost: dict[str, list[WrongPlaceholder]] = {}
    for each in find_wrong_placeholders(pipeline, PlaceholderError.CONTEXT_NAME):
        lost.setdefault(str(each.placeholder.path[1]), []).append(each)
    for name, found in lost.items():
        first = found[0]
        message = f"stage {quote(first.stage.name)} reads {quote(f'ctx.{name}')}, which the context does not declare"
        others = [one.at for each in found for one in (each.placeholder, *each.again)]
        places = dict.fromkeys(at for at in others if at != first.placeholder.at)
        related = (*(Related(at, "read here too") for at in [*places][:_SHOWN]), _relate_declared(pipeline))
        yield Finding(first.placeholder.at, f"{message}{hint(name, known)}", related, guess(name, known, *places))


def _relate_declared(pipeline: Pipeline) -> Related:
    return Related((pipeline.at / "context").key, "the declared context")
