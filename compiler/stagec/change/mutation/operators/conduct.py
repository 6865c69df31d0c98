"""Changes of what nodes do: tools, validators, retries, and the limits of attempts, turns, executions and waits."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.change.mutation.mutant import Mutant, change_act, change_node, operator
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.core.words import format_duration, quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Process, Prompt
from stagec.ir.plan.gate import Backoff, Retry, Validation
from stagec.ir.plan.node import Outcome


@operator
def tool_added(plan: Plan) -> Iterator[Mutant]:
    """A node may use a tool that the flow does not allow."""
    for name, node in plan.nodes.items():
        tools = node.act.tools if isinstance(node.act, Converse | Prompt) else None
        for tool in plan.tools if tools is not None else ():
            if tool not in (tools or ()):
                told = f"the tool {quote(tool)} is allowed"
                wanted = f"no 'calls' of {quote(tool)} where it is asked for, or the 'tools' that the model is offered"
                yield change_act(plan, name, ("tools",), told, wanted, tools=(*(tools or ()), tool))


@operator
def tool_removed(plan: Plan) -> Iterator[Mutant]:
    """A node may no longer use one of its tools."""
    for name, node in plan.nodes.items():
        tools = node.act.tools if isinstance(node.act, Converse | Prompt) else None
        for tool in dict.fromkeys(tools or ()):
            rest = tuple(each for each in tools or () if each != tool)
            told = f"the tool {quote(tool)} is taken away"
            wanted = f"'calls' of {quote(tool)} there, or the 'tools' that the model is offered"
            yield change_act(plan, name, ("tools",), told, wanted, tools=rest)


_ACTIONS = {"retry": "abort", "abort": "skip", "skip": "abort"}
Changed = tuple[Pointer, str, str, Validation]


@operator
def validator_dropped(plan: Plan) -> Iterator[Mutant]:
    """A validator does not run, or its refusal has another effect."""
    for name, node in plan.nodes.items():
        for way, told, wanted, changed in _change(node.validation) if node.validation is not None else ():
            yield change_node(plan, name, ("validation", *way), told, wanted, validation=changed)


def _change(validation: Validation) -> Iterator[Changed]:
    for member in ("preflight", "conditions"):
        conditions = getattr(validation, member)
        for index, each in enumerate(conditions):
            told = f"the validator {quote(each.validator)} is not asked"
            rest = (*conditions[:index], *conditions[index + 1 :])
            yield (member, index), told, "a run that it refuses", replace(validation, **{member: rest})
    if validation.conditions:
        other = _ACTIONS[validation.action]
        told = f"a refusal leads to {other!r} instead of {validation.action!r}"
        yield ("action",), told, "a run that is refused, and what follows", replace(validation, action=other)
        told = f"validators {'do not ' if validation.every_outcome else ''}guard every outcome"
        changed = replace(validation, every_outcome=not validation.every_outcome)
        yield ("every_outcome",), told, "a run with another outcome that is refused", changed
    for pattern in validation.prompts:
        prompts = {key: each for key, each in validation.prompts.items() if key != pattern}
        told = f"the prompt after {quote(pattern)} is gone"
        yield ("prompts", pattern), told, "a text of it in 'prompts'", replace(validation, prompts=prompts)


@operator
def retryable_changed(plan: Plan) -> Iterator[Mutant]:
    """A process that may run again may not, or the other way round; a prompt may be repeated once less."""
    for name, node in plan.nodes.items():
        act = node.act
        if isinstance(act, Process):
            told = f"it may {'not ' if act.retryable else ''}run again"
            wanted = "a run in which it fails, and its 'reason' or how often it was tried"
            retry = None if act.retryable else Retry(2, Backoff())
            changed = replace(act, retryable=not act.retryable)
            yield change_node(plan, name, ("act", "retryable"), told, wanted, act=changed, retry=retry)
        elif isinstance(act, Prompt) and act.repeats:
            told, wanted = "it may be repeated once less", "a run that repeats it as often as it may be"
            yield change_act(plan, name, ("repeats",), told, wanted, repeats=act.repeats[:-1])


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


_DEADLINE_REMOVED_WANTED = "a run in which the deadline passes"


@operator
def deadline_removed(plan: Plan) -> Iterator[Mutant]:
    """A stage or the whole run has no deadline."""
    for name, node in plan.nodes.items():
        if isinstance(node.act, Converse) and node.act.deadline:
            told = f"it has no deadline of {format_duration(node.act.deadline)}"
            yield change_act(plan, name, ("deadline",), told, _DEADLINE_REMOVED_WANTED, deadline=0)
    if plan.limits.deadline:
        told = f"the run has no deadline of {format_duration(plan.limits.deadline)}"
        fields = {"limits": replace(plan.limits, deadline=0)}
        yield Mutant(None, ("limits", "deadline"), told, _DEADLINE_REMOVED_WANTED, fields=fields)


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
