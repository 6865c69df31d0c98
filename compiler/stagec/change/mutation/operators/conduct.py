"""Tools, validators and retries that a node gains or loses."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.change.mutation.mutant import Mutant, change_act, change_node, operator
from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Process, Prompt
from stagec.ir.plan.gate import Backoff, Retry, Validation


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
