"""A stage runs in parallel with others in two places, and the joins are not the same.

## Why this matters
What becomes of the stage's result depends on who started it, which neither its prompt nor the results tell. Most often
one of the joins was renamed, or the stage was copied into a second list with the wrong one.

Cases of one stage may join in different stages: only one of them is taken.

## How to fix
Name the same join in both places, or give one of them a stage of its own.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Case, Pipeline, Stage
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:join-shared",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    known: dict[str, tuple[Stage, Mention]] = {}
    told: set[tuple[str, str, str]] = set()
    for stage, case in routes(pipeline):
        for name, join in _find_joined(case, pipeline):
            owner, first = known.setdefault(name, (stage, join))
            pair = (owner.name, stage.name, join.name)
            if owner is not stage and first.name != join.name and pair not in told:
                told.add(pair)
                message = f"{quote(name)} joins in {quote(join.name)} when it runs after {quote(stage.name)}"
                other = f"but in {quote(first.name)} when it runs after {quote(owner.name)}"
                yield Finding(join.at, f"{message}, {other}", (Related(first.at, "the other join"),))


def _find_joined(case: Case, pipeline: Pipeline) -> Iterator[tuple[str, Mention]]:
    """Yield the stages that a join waits for, if it is one that exists, and the join."""
    join = case.join
    if join is not None and case.mode is Mode.FORK and join.name in pipeline.by_id:
        yield from ((each.name, join) for each in case.stages if each.name != join.name)
