"""Random flows whose models call tools: no run takes more than its bounds, or its budget and one request.

`python -m properties.test_spending_of_requests 500` (with `tests` in the path) tries 500 flows.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from threading import Lock

from campaigns import choose
from properties.spending.flows import make_flow

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import Assumptions, EntryBounds
from stagec.ir.graph.usage import AssumedUse, Interval, Quantity
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Go, Named
from stagec.runtime.drivers.local import run
from stagec.runtime.machine import Effect, Started, State
from stagec.runtime.machine.exchange import Call, Run, Shell, read_key
from stagec.runtime.world.budget import Budget, BudgetedWorld, BudgetReached
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.port import Listener, ModelCall, ModelReply, ModelRequest, TokenUse
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.step_calls import StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox

READ, WRITTEN, CALLS = 200, 50, 2
"""The tokens of a request and of a response, and the calls in a response, at most."""
_VERDICTS = ("ok", "fail", "retry")


class Provider:
    """Answers by chance: with calls of tools, with answers of any use, in `responses` for one answer at most."""

    def __init__(self, random: Random, plan: Plan, responses: int) -> None:
        self._random, self._plan, self._responses = random, plan, responses
        self._asked: Counter[str] = Counter()
        self._lock = Lock()
        self.uses: list[TokenUse] = []

    def request(self, key: str, request: ModelRequest, _listen: Listener | None = None) -> ModelReply:
        with self._lock:
            self._asked[key] += 1
            use = TokenUse(self._random.randint(0, READ), self._random.randint(1, WRITTEN), 1)
            self.uses.append(use)
            wants_more = request.output is None or self._asked[key] < self._responses
            if wants_more and self._random.random() < 0.6:
                count = self._random.randint(1, CALLS)
                return ModelReply("", tuple(ModelCall(f"{self._asked[key]}-{at}", "t", {}) for at in range(count)), use)
            if request.output is None:
                handed: Json = {"v": self._random.choice(_VERDICTS), "way": self._random.randrange(3)}
                return ModelReply("", (ModelCall("s", "submit", handed),), use)
            return ModelReply("", (), use, self._choose_answer(key))

    def _choose_answer(self, key: str) -> Json:
        edges = self._plan.nodes[read_key(key).node].edges
        edge = self._random.choice(edges)
        names = [*edge.target.nodes] if isinstance(edge.target, Named) else [""]
        return {"do": edge.on if self._random.random() < 0.95 else 3, "to": self._random.choice(names)}

    def cancel(self, key: str) -> None:
        """Have nothing to cancel."""

    def close(self) -> None:
        """Hold nothing."""


class Tools:
    """The one tool that there is."""

    names = ("t",)

    def __init__(self) -> None:
        self.count = 0

    def define(self, name: str) -> ToolDefinition:
        return ToolDefinition(name, "", {"type": "object"})

    def call(self, _key: str, _tool: str, _arguments: Object) -> Json:
        self.count += 1
        return "done"

    def cancel(self, key: str) -> None:
        """Have nothing to cancel."""

    def close(self) -> None:
        """Hold nothing."""


class Rest:
    """Answers what no model is asked."""

    def __init__(self, random: Random, tools: Tools) -> None:
        self._random, self._tools = random, tools

    def takes(self, _effect: Effect) -> bool:
        return True

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Call):
            return {"value": self._tools.call(effect.key, effect.tool, {})}
        is_program = isinstance(effect, Run | Shell)
        return {"exit": self._random.choice((0, 0, 1)), "stdout": "", "stderr": ""} if is_program else {}

    def cancel(self, key: str) -> None:
        """Have nothing to cancel."""

    def close(self) -> None:
        """Hold nothing."""


def execute(plan: Plan, random: Random, responses: int, budget: Budget) -> tuple[State | None, list[TokenUse], int]:
    """Execute a run; return how it has ended, if no budget has, what each request has used, and how many calls."""
    provider, tools = Provider(random, plan, responses), Tools()
    calls = StepCalls(Toolbox(plan, (tools,), Redactor({})))
    model = ModelWorld(plan, ModelSetup(provider, ModelChoice("some:model"), calls))
    world = BudgetedWorld(ComposedWorld((model, Rest(random, tools))), budget)
    state = None
    with suppress(BudgetReached):
        state = run(dump(plan), world, Started("r"))
    return state, provider.uses, tools.count


def find_excess(entry: EntryBounds, state: State, uses: list[TokenUse], calls: int) -> Iterator[str]:
    """Yield what a run has taken more of than the bounds say."""
    taken = {
        Quantity.EXECUTIONS: state.executions,
        Quantity.REQUESTS: len(uses),
        Quantity.CALLS: calls,
        Quantity.INPUT: sum(each.input for each in uses),
        Quantity.OUTPUT: sum(each.output for each in uses),
    }
    for quantity, number in taken.items():
        most = entry.figures[quantity].upper.most
        if most is not None and number > most:
            yield f"{quantity}: {number} of {most}"


def check(seed: int) -> list[str]:
    """Execute a random flow without a budget, and with one that it exceeds; return what is wrong."""
    random = Random(seed)  # noqa: S311
    plan = make_flow(seed, onward=seed % 2 == 0)
    nodes = {name: replace(node, retry=_at_once(node.retry)) for name, node in plan.nodes.items()}
    can_repeat = any(Go(name) in (edge.target for edge in node.edges) for name, node in nodes.items())
    most = 11 if can_repeat else None
    plan = replace(plan, nodes=nodes, limits=replace(plan.limits, executions=plan.limits.executions or most))
    plan = replace(plan, facts=facts(plan))
    responses = random.choice((1, 3, 9, 99))
    use = AssumedUse(Interval(0, CALLS), Interval(1, min(responses, 50)), Interval(0, READ), Interval(1, WRITTEN))
    (entry,) = bound(plan, Assumptions(use=use)).entries
    state, uses, calls = execute(plan, random, responses, Budget())
    assert state is not None
    wrong = [f"seed {seed}: {each}" for each in find_excess(entry, state, uses, calls)]
    total = sum(each.input + each.output for each in uses)
    if total:
        tokens = random.randint(1, total)
        state, uses, _ = execute(plan, random, responses, Budget(tokens=tokens))
        sizes = [each.input + each.output for each in uses]
        if sum(sizes) >= tokens + max(sizes, default=0):
            wrong.append(f"seed {seed}: {sum(sizes)} of {tokens} tokens, the largest request has {max(sizes)}")
        if state is None and sum(sizes) < tokens:
            wrong.append(f"seed {seed}: {sum(sizes)} tokens used up {tokens}")
    return wrong


def _at_once(retry: object) -> object:
    return None if retry is None else replace(retry, backoff=replace(retry.backoff, milliseconds=0))  # type: ignore[type-var,attr-defined]


def test_no_run_takes_more_than_its_bounds_or_two_requests_more_than_its_budget() -> None:
    assert [each for seed in range(choose(30, whole=400)) for each in check(seed)] == []


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        sys.stdout.write("".join(f"{each}\n" for each in check(number)))
