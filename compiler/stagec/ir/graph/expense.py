"""What one execution of a node costs at most: turns of models, and the time that a plan or its runner limits."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import value
from stagec.ir.plan.act import Command, Converse, Delegate, Process, Prompt, Rest
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import JudgeGate, Retry
from stagec.ir.plan.node import Node

MOST = 10**15
"""Larger numbers count as this one."""
_LONGEST_WAIT = 24 * 60 * 60 * 1000
_CORRECTION = 2
"""How often a prompt asks in one execution: once more if the first answer cannot be used."""
_ASKS_THE_WORLD = frozenset({"poll:state", "meta:custom", "meta:composite"})


@value
class Assumed:
    """What a plan does not limit, in milliseconds: a turn of a model with its tool calls, if known, and a validator.

    `quickest` is what a turn takes at least.
    """

    turn: int | None = None
    validator: int = 600_000
    quickest: int = 0


@value
class Expense:
    """What one execution takes at most; `milliseconds` is the part of its time that has a limit."""

    turns: int
    milliseconds: int


def spend(node: Node, assumed: Assumed, *, is_retried: bool) -> Expense:
    """Return what one execution of a node costs, with every attempt that it may make or with the first one only."""
    attempts = node.retry.attempts if is_retried and node.retry is not None else 1
    turns, milliseconds = 0, 0
    match node.act:
        case Converse():
            turns = node.act.turns * attempts
            milliseconds = cap(add_pauses(node) if is_retried else 0, node.act.deadline)
        case Prompt():
            turns = _CORRECTION if is_retried else 1
        case Command():
            milliseconds = node.act.milliseconds
        case Process():
            milliseconds = node.act.limits.kill * attempts + (add_pauses(node) if is_retried else 0)
        case Delegate() | Rest():  # what agents cost is in their own plans
            pass
    if node.validation is not None:
        milliseconds += (len(node.validation.conditions) + len(node.validation.preflight)) * assumed.validator
    return Expense(min(turns, MOST), min(milliseconds, MOST))


def cap(milliseconds: int, deadline: int) -> int:
    """Return a time that a deadline limits; 0 is no deadline."""
    return min(milliseconds, deadline) if deadline else milliseconds


def add_pauses(node: Node) -> int:
    """Return how long an execution waits between its attempts, and before it asks for admission again."""
    if node.retry is None:
        return 0
    asks_again = node.admission is not None and "retry-later" in {node.admission.on_defer, node.admission.on_block}
    return add_waits(node.retry) * (2 if asks_again else 1)


def add_waits(retry: Retry) -> int:
    """Return how many milliseconds all waits between attempts take."""
    pauses, total, wait = retry.attempts - 1, 0, retry.backoff.milliseconds
    if retry.backoff.kind == "none" or not wait:
        return 0
    while retry.backoff.kind == "exponential" and pauses and wait < _LONGEST_WAIT:
        total, wait, pauses = total + wait, wait * 2, pauses - 1
    return min(MOST, total + pauses * min(wait, _LONGEST_WAIT))


def find_unlimited(plan: Plan, name: str, assumed: Assumed) -> Iterator[str]:
    """Yield what may take any time in an execution of a node: `model`, `person`, `hook` or `judge`.

    A deadline is not looked at.
    """
    node = plan.nodes[name]
    if assumed.turn is None and isinstance(node.act, Prompt | Converse):
        yield "model"
    if node.admission is not None and "ask" in {node.admission.on_defer, node.admission.on_block}:
        yield "person"
    if node.hooks or (isinstance(node.act, Converse) and plan.session is not None and plan.session.hooks):
        yield "hook"
    if isinstance(node.gate, JudgeGate) and plan.judge is not None and plan.judge.kind in _ASKS_THE_WORLD:
        yield "judge"
