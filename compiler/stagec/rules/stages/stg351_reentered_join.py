"""A join is also come to on another way.

## Why this matters
As a join a stage is handed one result for each of the parallel stages; on another way it is handed one, or none. Its
prompt has to make sense of both. When the other way begins at one of the parallel stages, the join runs before the
others have ended, and then once more.

## How to fix
Let the other way lead to a stage of its own, or back to the stage that starts the parallel ones.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Incoming, IncomingKind, Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:join-reentered",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for name, ways in pipeline.incoming.items():
        joins = [way for way in ways if way.kind is IncomingKind.JOIN]
        others = [way for way in ways if way.kind in {IncomingKind.ENTRY, IncomingKind.SUCCESSOR, IncomingKind.CHAINED}]
        for way in others if joins and name in pipeline.by_id else ():
            related = (Related(joins[0].at, "joins parallel stages here"),)
            yield Finding(way.at, f"{quote(name)} joins parallel stages, but {_how(way, joins)}", related)


def _how(way: Incoming, joins: list[Incoming]) -> str:
    if way.kind is IncomingKind.ENTRY:
        return "runs begin there as well"
    if way.kind is IncomingKind.CHAINED:
        return "is run in a sequence as well"
    source = way.sources[0][0]
    if any(source in standing for join in joins for standing in join.sources):
        return f"{quote(source)}, for which it waits, leads to it as well"
    return f"{quote(source)} leads to it as well"
