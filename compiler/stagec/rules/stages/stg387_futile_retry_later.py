"""A stage waits and asks its gate again, although nothing can change what the gate says.

## Why this matters
A declared gate decides by the context, which is made once, before the gate is first asked. It says the same at every
try: the run takes all waits of `retryPolicy`, and then the stage fails.

## How to fix
Write `fail` or `ask` in `resolutionPolicy`. Where something outside the run decides, name a callable under `hooks` for
`gate`: it is called at each try.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule

_LATER = "retry-later"
_DOES = {"defer": "defers", "block": "blocks"}


@rule(since="0.1", origin=("rulings:pipelines",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        if "gate" in stage.conduct.hooks:
            continue
        for answer, at in _find_waiting(stage):
            terms = stage.conduct.gate.get(answer, ())
            if terms:
                what = f"stage {quote(stage.name)} asks its gate again when it {_DOES[answer]}"
                message = f"{what}, but the context that it decides by does not change: it says the same at every try"
                yield Finding(at, message, (Related(terms[0].at, "what it decides by"),))
                break


def _find_waiting(stage: Stage) -> Iterator[tuple[str, Place]]:
    """Yield the answers of a gate after which it is asked again, and where that is written."""
    given, at = stage.members.get("resolutionPolicy"), stage.at / "resolutionPolicy"
    for answer in _DOES:
        if isinstance(given, dict):
            if given.get(answer) == _LATER:
                yield answer, at / answer
        elif given == _LATER:
            yield answer, at
