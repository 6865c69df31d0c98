"""Limits that are shifted: attempts, turns, executions and waits."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.change.mutation.mutant import Mutant, change_act, change_node, operator
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse
from stagec.ir.plan.gate import Backoff, Retry, Validation
from stagec.ir.plan.node import Outcome

_ATTEMPTS_SHIFTED_WANTED = "a run in which no attempt is good enough, and how often it was tried"


@operator
def attempts_shifted(plan: Plan) -> Iterator[Mutant]:
    """A node may try once more or less, or not again at all."""
    for name, node in plan.nodes.items():
        if node.retry is not None:
            yield from _shift_retry(plan, name, node.retry)
        if node.validation is not None and node.validation.action == "retry":
            yield from _shift_validation(plan, name, node.validation)


def _shift_retry(plan: Plan, name: str, retry: Retry) -> Iterator[Mutant]:
    for after in (retry.attempts + 1, retry.attempts - 1):
        if after > 1:
            told = f"{after} attempts instead of {retry.attempts}"
            changed = replace(retry, attempts=after)
            yield change_node(plan, name, ("retry", "attempts"), told, _ATTEMPTS_SHIFTED_WANTED, retry=changed)
    if retry.attempts > 1:
        yield change_node(plan, name, ("retry",), "it is not tried again", _ATTEMPTS_SHIFTED_WANTED, retry=None)


def _shift_validation(plan: Plan, name: str, validation: Validation) -> Iterator[Mutant]:
    for after in (validation.attempts + 1, validation.attempts - 1):
        if after > 0:
            told = f"the validation may fail {after} times instead of {validation.attempts}"
            other = replace(validation, attempts=after)
            yield change_node(plan, name, ("validation", "attempts"), told, _ATTEMPTS_SHIFTED_WANTED, validation=other)


@operator
def turns_shifted(plan: Plan) -> Iterator[Mutant]:
    """A stage may take one turn more or less in an attempt."""
    for name, node in plan.nodes.items():
        if isinstance(node.act, Converse):
            turns = node.act.turns
            for after in (turns + 1, turns - 1) if turns > 1 else (turns + 1,):
                told = f"{after} turns instead of {turns}"
                wanted = "a run in which a model uses all its turns, and how many 'turns' these are"
                yield change_act(plan, name, ("turns",), told, wanted, turns=after)


_LIMIT_SHIFTED_WANTED = "a run that reaches the limit"


@operator
def limit_shifted(plan: Plan) -> Iterator[Mutant]:
    """A limit of the whole run is one higher or lower, or the run has another end when it reaches the limit."""
    limits, phases, judge = plan.limits, plan.phases, plan.judge
    for name in ("executions", "parallel"):
        for after, told in _shift(name, getattr(limits, name)):
            fields = {"limits": replace(limits, **{name: after})}
            wanted = _LIMIT_SHIFTED_WANTED if name == "executions" else "the 'path' of a run that is so wide"
            yield Mutant(None, ("limits", name), told, wanted, fields=fields)
    if limits.executions is not None:
        other = Outcome.DONE if limits.reached is Outcome.FAILED else Outcome.FAILED
        told = f"a run that reaches the limit ends as {quote(other)} instead of {quote(limits.reached)}"
        reached = {"limits": replace(limits, reached=other)}
        yield Mutant(None, ("limits", "reached"), told, _LIMIT_SHIFTED_WANTED, fields=reached)
    for name in ("most", "row") if phases is not None else ():
        for after, told in _shift(name, getattr(phases, name)):
            yield Mutant(
                None, ("phases", name), told, _LIMIT_SHIFTED_WANTED, fields={"phases": replace(phases, **{name: after})}
            )
    for name, held in judge.settings.items() if judge is not None else ():
        for after, told in _shift(name, held):
            changed = replace(judge, settings={**(judge.settings if judge is not None else {}), name: after})
            yield Mutant(None, ("judge", "settings", name), told, _LIMIT_SHIFTED_WANTED, fields={"judge": changed})


def _shift(name: str, held: Json) -> Iterator[tuple[int, str]]:
    """Yield the numbers beside one, and what is told of them."""
    if isinstance(held, int) and not isinstance(held, bool) and held > 0:
        for after in (held + 1, held - 1):
            if after > 0:
                yield after, f"the limit {quote(name)} is {after} and not {held}"


_WAIT_CHANGED_WANTED = "a run that tries again, and how long it 'waits'"


@operator
def wait_changed(plan: Plan) -> Iterator[Mutant]:
    """A node does not wait before it tries again, or waits for another time."""
    for name, node in plan.nodes.items():
        retry = node.retry
        if retry is None or retry.backoff.kind == "none" or not retry.backoff.milliseconds:
            continue
        kind = "fixed" if retry.backoff.kind == "exponential" else "exponential"
        others = (
            ("it does not wait before it tries again", Backoff()),
            ("it waits twice as long", replace(retry.backoff, milliseconds=2 * retry.backoff.milliseconds)),
            (f"its waits are {kind!r}", replace(retry.backoff, kind=kind)),
        )
        for told, backoff in others:
            yield change_node(
                plan, name, ("retry", "backoff"), told, _WAIT_CHANGED_WANTED, retry=replace(retry, backoff=backoff)
            )
