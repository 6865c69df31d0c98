"""A node demands of what it is handed something that it never gets.

## Why this matters
Before a stage starts, each result that it is handed has to fit its `inputsSchema`. No result of the stage named here
ever does, so every run that comes this way fails at this stage. After a stage has failed, its result has no `parsed`,
unless a check rejected what was handed in.

## How to fix
The schema is about a whole result, an object with `verdict`, `capHit`, `attemptCount`, `parsed` where something was
handed in, and sometimes `reason` and `output`. What the stage before hands in is described under `parsed`. Let both
schemas agree.
"""

from collections.abc import Iterator

from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.graph import Graph, noun
from stagec.model.flow import Unmet
from stagec.rules.contract import owners, rule

_SHOWN = 4


@rule(since="0.1", origin=("stage-definitions:inputs-schema-invalid",))
def check(graph: Graph) -> Iterator[Finding]:
    for each in graph.flow.demands:
        first, *others = each.unmet
        alike = [first, *(other for other in others if other.path == first.path)]
        what = f"{noun(graph, 'node')} {quote(each.node)} demands"
        of = f"{what} {quote(spell_path(first.path))} of what it is handed" if first.path else f"{what} something"
        failed = " that has failed" if all(one.is_failed for one in alike) else ""
        message = f"{of}, but no result of {owners(graph, alike)}{failed} can meet that"
        causes = (*graph.grounds(one.node for one in each.unmet), *(one.demanded for one in each.unmet))
        yield Finding(each.at, message, tuple(_sides(each.unmet[:_SHOWN])), causes=causes)


def _sides(unmet: tuple[Unmet, ...]) -> Iterator[Related]:
    for each in unmet:
        yield Related(each.demanded, "what is demanded")
        yield Related(each.offered, f"what {quote(each.node)} hands in")
