"""The time and the cost of one execution of a node: at least, without retries, and at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum

from stagec.core.value import value
from stagec.ir.plan.act import Choice, Command, Converse, Delegate, Process, Prompt, Rest, Template, Text
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import JudgeGate, Retry
from stagec.ir.plan.node import Node
from stagec.sources.project.prices import ModelPrice

MOST = 10**15
"""Larger numbers count as this one."""
_LONGEST_WAIT = 24 * 60 * 60 * 1000
_CORRECTION = 2
"""How often a prompt asks in one execution: once more if the first answer cannot be used."""
_ASKS_THE_WORLD = frozenset({"poll:state", "meta:custom", "meta:composite"})


@value
class Assumed:
    """Assumed times in milliseconds: that of a turn of a model with its tool calls, if known, and of a validator.

    `quickest` is what a turn takes at least.
    """

    turn: int | None = None
    validator: int = 600_000
    quickest: int = 0


@value
class Expense:
    """The most that one execution takes; `milliseconds` is the part of its time that has a limit."""

    turns: int
    milliseconds: int


def spend(node: Node, assumed: Assumed, *, is_retried: bool) -> Expense:
    """Return the cost of one execution of a node, with every attempt that it may make or with the first one only."""
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
    """Yield the parts of an execution of a node that may take any time: `model`, `person`, `hook` or `judge`.

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


_NANO = 10**9
_MILLION = 1_000_000


class Quantity(StrEnum):
    """The quantities: `cost` in billionths of a US dollar, `milliseconds` as far as they have a limit.

    A turn of a step takes several `requests` to its model if the model calls tools before it answers.
    """

    EXECUTIONS = "executions"
    TURNS = "turns"
    REQUESTS = "requests"
    CALLS = "calls"
    MILLISECONDS = "milliseconds"
    INPUT = "input"
    OUTPUT = "output"
    COST = "cost"


@value
class Interval:
    """An amount between two bounds; without `most` nothing bounds it."""

    least: int = 0
    most: int | None = None


@value
class AssumedUse:
    """Assumptions about requests to models, each a span, and the most characters of a prompt in a token.

    `calls` are those of tools in a response, `responses` those of a model until a step has its answer, `read` and
    `written` the tokens of a request and of its response.
    """

    calls: Interval = Interval()
    responses: Interval = Interval(1, 50)
    read: Interval = Interval()
    written: Interval = Interval(1)
    characters: int = 8


@value
class NamedModel:
    """The model that answers a node and its price, each if known."""

    name: str | None = None
    price: ModelPrice | None = None

    def price_requests(self, read: Interval, written: Interval, requests: Load) -> Load:
        """Return the money that requests cost; tokens of which nobody knows how many there are have no price."""
        price = self.price
        if price is None:
            return Load(0, None, None, ("model-name" if self.name is None else "price",))
        least = read.least * price.choose_rates(0).least_input + written.least * price.choose_rates(0).output
        if price.long is not None:
            least = min(least, read.least * price.long.least_input + written.least * price.long.output)
        lacks = tuple(kind for kind, span in (("input", read), ("output", written)) if span.most is None)
        lacks = lacks or requests.lacks
        cheapest = int(least * requests.least * _NANO / _MILLION)
        if lacks or read.most is None or written.most is None:
            return Load(cheapest, None, None, lacks)
        rates = [price.choose_rates(0), price.choose_rates(read.most)]
        dearest = max(read.most * each.most_input + written.most * each.output for each in rates)
        first, most = (
            min(MOST, _round_up(dearest * (each or 0) * _NANO / _MILLION)) for each in (requests.first, requests.most)
        )
        return Load(cheapest, first, most)


ChooseModel = Callable[[str, str | None], NamedModel]
"""Returns the model of a node whose plan may wish for one."""


@value
class Load:
    """The amount of one thing in an execution; None if nothing bounds it, and `lacks` names the missing limit."""

    least: int = 0
    first: int | None = 0
    most: int | None = 0
    lacks: tuple[str, ...] = ()


Loads = Mapping[Quantity, Load]
_ONE, _NONE = Load(1, 1, 1), Load()


class NodeUse:
    """The use of executions of the nodes of one plan, without the runs of agents."""

    def __init__(self, plan: Plan, assumed: Assumed, use: AssumedUse, choose: ChooseModel) -> None:
        self._plan, self._assumed, self._use, self._choose = plan, assumed, use, choose

    def weigh(self, name: str) -> Loads:
        """Return the use of an execution of a node."""
        node, assumed = self._plan.nodes[name], self._assumed
        first, most = (spend(node, assumed, is_retried=each) for each in (False, True))
        asks = isinstance(node.act, Prompt | Converse)
        least = 1 if asks else 0
        turn = assumed.turn or 0
        deadline = node.act.deadline if isinstance(node.act, Converse) else 0
        lacks = tuple(find_unlimited(self._plan, name, assumed))
        once, often = (min(MOST, each.milliseconds + each.turns * turn) for each in (first, most))
        if deadline:  # it ends what may take any time
            once, often = (deadline if lacks else cap(each, deadline) for each in (once, often))
            lacks = ()
        loads: dict[Quantity, Load] = dict.fromkeys(Quantity, _NONE) | {
            Quantity.EXECUTIONS: _ONE,
            Quantity.TURNS: Load(least, first.turns, most.turns),
            Quantity.MILLISECONDS: Load(assumed.quickest * least, once, often, lacks),
        }
        return {**loads, **self._weigh_requests(name, node.act)} if isinstance(node.act, Prompt | Converse) else loads

    def _weigh_requests(self, name: str, act: Prompt | Converse) -> Loads:
        node, use = self._plan.nodes[name], self._use
        first, most = (spend(node, self._assumed, is_retried=each).turns for each in (False, True))
        responses = use.responses if isinstance(act, Prompt) else Interval(1, 1)
        requests = Interval(responses.least, responses.most)
        model = self._choose(name, act.model)
        price = model.price
        read = _narrow(use.read, None if price is None else price.context)
        read = Interval(max(read.least, self._count_prompt(act)), read.most)
        written = _narrow(use.written, None if price is None else price.answer or price.context)
        written = _narrow(written, None if act.policy is None else act.policy.output_tokens)
        calls = Interval() if act.tools == () else use.calls
        counts = {Quantity.INPUT: read, Quantity.OUTPUT: written}
        loads = {each: _scale(span, requests, (first, most), each.value) for each, span in counts.items()}
        loads[Quantity.REQUESTS] = _scale(Interval(1, 1), requests, (first, most), "responses")
        if act.tools == ():
            loads[Quantity.CALLS] = _NONE
        else:
            loads[Quantity.CALLS] = _scale(Interval(0, calls.most), requests, (first, most), "calls")
        loads[Quantity.COST] = model.price_requests(read, written, loads[Quantity.REQUESTS])
        return loads

    def _count_prompt(self, act: Prompt | Converse) -> int:
        """Return how many tokens a request has at least, by the texts that stand in every prompt of a node."""
        if isinstance(act, Converse):
            characters = self._measure(act.prompt)
        else:
            prompts = (act.prompt, *(each.prompt for each in act.repeats or ()))
            characters = min(0 if each is None else self._measure(each) for each in prompts)
            characters += 0 if self._plan.system is None else self._measure(self._plan.system.prompt)
        return -(-characters // self._use.characters)

    def _measure(self, template: Template) -> int:
        """Return how many characters a template has at least; what is put in may be empty, and so may a list."""
        return sum(self._measure_piece(each) for each in template)

    def _measure_piece(self, piece: object) -> int:
        match piece:
            case Text():
                return len(self._plan.contents[piece.content])
            case Choice():
                return min(self._measure(piece.then), self._measure(piece.otherwise))
            case _:
                return 0


def _narrow(span: Interval, most: int | None) -> Interval:
    """Return a span that ends at a limit of the model or of the plan."""
    known = [each for each in (span.most, most) if each is not None]
    return Interval(span.least if not known else min(span.least, *known), min(known, default=None))


def _scale(span: Interval, requests: Interval, turns: tuple[int, int], lacks: str) -> Load:
    """Return the use of so many turns, each with some requests."""
    if span.most is None or requests.most is None:
        return Load(span.least * requests.least, None, None, (lacks if span.most is None else "responses",))
    first, most = (min(MOST, each * requests.most * span.most) for each in turns)
    return Load(span.least * requests.least, first, most)


def _round_up(amount: Decimal) -> int:
    return -int(-amount // 1)


def can_stay_idle(plan: Plan, name: str, on: str | None, *, is_head: bool) -> bool:
    """Tell whether a node may have an outcome without asking a model: one that fails before it acts, or is skipped."""
    node = plan.nodes[name]
    if not isinstance(node.act, Converse):
        return False
    admission = node.admission
    if on == "fail":
        hooked = node.hooks or (plan.session is not None and plan.session.hooks)
        holes = any(not isinstance(each, Text) for each in node.act.prompt)
        given = node.act.accepts is not None or node.act.completion in node.act.tools
        return bool(hooked or holes or given or admission is not None or plan.inputs)
    skips = admission is not None and "skip" in {admission.on_defer, admission.on_block}
    return skips and on is not None and not is_head


def list_lacking(loads: Mapping[str, Loads], measure: Quantity) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the missing limits of a measure, with the nodes."""
    nodes: dict[str, list[str]] = {}
    for name, each in loads.items():
        for kind in each[measure].lacks:
            nodes.setdefault(kind, []).append(name)
    return ((kind, tuple(names)) for kind, names in nodes.items())
