"""A case is never taken, because earlier ones take all results that it is about.

## Why this matters
The first case that matches a result decides. Where this one stands, nothing is left that it could match, so the stages
in it are not run when its author expects it.

## How to fix
Put the case before those that are wider, narrow these down, or delete it. A case without `when` takes all that is left,
and belongs at the end: where one stands before others, it is told once, where it stands.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.frontends.stages.coverage import Unreached, find_unreached_cases
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import grounds, rule

_SHOWN = 8


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        same: dict[tuple[Place, ...], list[Unreached]] = {}
        for lost in find_unreached_cases(pipeline, stage):
            if lost.earlier:
                same.setdefault(tuple(each.at for each in lost.earlier), []).append(lost)
        for found in same.values():
            at, message, related = _tell(stage, found)
            yield Finding(at, message, related[:_SHOWN], causes=grounds(pipeline, stage))


def _tell(stage: Stage, found: list[Unreached]) -> tuple[Place, str, tuple[Related, ...]]:
    (first, *more), earlier = found, found[0].earlier
    if len(earlier) == 1 and not earlier[0].when:
        related = tuple(Related(each.judged.at, "never taken") for each in found)
        message = f"a case of stage {quote(stage.name)} has no condition and takes all that is left"
        return earlier[0].at, f"{message}: {format_count(len(found), 'case')} after it can never be taken", related
    related = (
        *(Related(each.judged.at, "never taken either") for each in more),
        *(Related(each.at, "taken first") for each in earlier),
    )
    who = "an earlier case takes" if len(earlier) == 1 else f"{len(earlier)} earlier cases take"
    message = f"stage {quote(stage.name)} never takes this case: {who} every result that fits it"
    return first.judged.at, message, related
