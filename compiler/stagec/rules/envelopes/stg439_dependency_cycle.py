"""Stages depend on each other in a cycle.

## Why this matters
Each of them waits for another one, so none of them can ever start. An input that reads the output of a stage is a
dependency too, also where it is not declared.

## How to fix
Remove one of the dependencies. Where a stage both reads from and writes for another one, make two stages of it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_repeated_ids
from stagec.frontends.envelopes.order import DependencyCycle, find_cycles
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:dependency-cycle",))
def check(plan: StagePlan) -> Iterator[Finding]:
    repeated = tuple(each.id_at for each in find_repeated_ids(plan))
    for cycle in find_cycles(plan):
        ways = zip(cycle.ways, (*cycle.way[1:], cycle.way[0]), strict=True)
        related = tuple(Related(at, f"needs {quote(stage.name)}") for at, stage in list(ways)[:_SHOWN])
        yield Finding(cycle.way[0].at / "dependencies", _describe(cycle), related, causes=repeated)


_SHOWN = 8


def _describe(cycle: DependencyCycle) -> str:
    """Return the cycle from its first stage back to it, and how many stages are in this or another cycle with it."""
    names = [quote(stage.name) for stage in cycle.way]
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    more = len(cycle.stages) - len(cycle.way)
    others = f"; {more} more depend on them and they on those" if more else ""
    return f"stages depend on each other in a cycle: {' -> '.join([*shown, names[0]])}{others}"
