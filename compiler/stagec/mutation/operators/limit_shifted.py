"""A limit of the whole run is one higher or lower, or the run has another end when it reaches the limit."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, operator
from stagec.plan import Plan
from stagec.plan.node import Outcome

_WANTED = "a run that reaches the limit"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Shift the limits of executions, of nodes that run together, of phases, and the numbers of the judge."""
    limits, phases, judge = plan.limits, plan.phases, plan.judge
    for name in ("executions", "parallel"):
        for after, told in _shift(name, getattr(limits, name)):
            fields = {"limits": replace(limits, **{name: after})}
            wanted = _WANTED if name == "executions" else "the 'path' of a run that is so wide"
            yield Mutant(None, ("limits", name), told, wanted, fields=fields)
    if limits.executions is not None:
        other = Outcome.DONE if limits.reached is Outcome.FAILED else Outcome.FAILED
        told = f"a run that reaches the limit ends as {quote(other)} instead of {quote(limits.reached)}"
        reached = {"limits": replace(limits, reached=other)}
        yield Mutant(None, ("limits", "reached"), told, _WANTED, fields=reached)
    for name in ("most", "row") if phases is not None else ():
        for after, told in _shift(name, getattr(phases, name)):
            yield Mutant(None, ("phases", name), told, _WANTED, fields={"phases": replace(phases, **{name: after})})
    for name, held in judge.settings.items() if judge is not None else ():
        for after, told in _shift(name, held):
            changed = replace(judge, settings={**(judge.settings if judge is not None else {}), name: after})
            yield Mutant(None, ("judge", "settings", name), told, _WANTED, fields={"judge": changed})


def _shift(name: str, held: Json) -> Iterator[tuple[int, str]]:
    """Yield the numbers beside one, and what is told of them."""
    if isinstance(held, int) and not isinstance(held, bool) and held > 0:
        for after in (held + 1, held - 1):
            if after > 0:
                yield after, f"the limit {quote(name)} is {after} and not {held}"
