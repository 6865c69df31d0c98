"""Random plans that run stages for elements of lists: two machines agree, no run fails to route, bounds always hold."""

from __future__ import annotations

import json
from random import Random

from campaigns import choose
from plan_vectors.files import read
from plan_vectors.runner import Run
from properties.random_world import World
from properties.spending.check import ASSUMED
from properties.test_two_machines import events
from runtime.traces import tell

from stagec.cli.commands.conformance import requests_to_json, state_to_json
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.crosscheck import CrossCheck
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Converse, Hole
from stagec.ir.plan.document import Contents, Limits, Names
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Admission, Backoff, Exists, Retry, VerdictGate
from stagec.ir.plan.node import Edge, ForEach, Fork, Go, Node, Outcome, Stop
from stagec.runtime.drivers.replay import show
from stagec.runtime.machine import State, load
from stagec.runtime.machine.failures import FailureKind

PLANS, RUNS = choose(12, whole=400), 6
DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
SKIPS = Admission(block=(Exists(("ctx", "index"), present=True),), on_block="skip", on_defer="fail")


def make(random: Random) -> Plan:
    """Return a plan that finds one list or two, the second in the join of the first."""
    contents = Contents()
    most = random.randint(1, 5)
    schema: Json = {
        "type": "object",
        "required": ["l"],
        "properties": {"l": {"type": "array", "maxItems": most, "items": {"type": "integer"}}},
    }
    listing = contents.add(json.dumps(schema))

    def stage(*edges: Edge, admission: Admission | None = None, is_for_element: bool = True) -> Node:
        names = ("upstream", "index", "item") if is_for_element else ("upstream",)
        prompt = tuple(Hole(("ctx", name)) for name in names)
        act = Converse(prompt, (), "submit", listing, random.randint(1, 2))
        retry = Retry(random.randint(1, 2), Backoff()) if random.random() < 0.3 else None
        return Node(act, VerdictGate(), (*edges, Edge("fail", FAILED)), admission=admission, retry=retry)

    def for_element(name: str) -> dict[str, Node]:
        """Return a stage for elements, and perhaps what follows its failures."""
        way = random.random()
        skips = SKIPS if random.random() < 0.1 else None
        if way < 0.6:
            return {name: stage(Edge("ok", DONE), admission=skips)}
        if way < 0.8:
            mend = f"{name}-mend"
            return {name: stage(Edge("ok", DONE), Edge("fail", Go(mend))), mend: stage(Edge("ok", DONE))}
        both = (f"{name}-p", f"{name}-q")
        made = {each: stage(Edge("ok", DONE)) for each in both}
        return {name: stage(Edge("ok", DONE), Edge("fail", Fork(both))), **made}

    nodes: dict[str, Node] = {}

    def list_from(name: str, join: str | None) -> Edge:
        chain = tuple(f"{name}-{number}" for number in range(random.randint(1, 3)))
        for each in chain:
            nodes.update(for_element(each))
        concurrency = random.choice((None, 1, 2, 3))
        return Edge("ok", ForEach(("parsed", "l"), most, chain, join, concurrency, random.random() < 0.5))

    nodes["a"] = stage(list_from("x", random.choice((None, "j", "j"))), is_for_element=False)
    after = list_from("y", None) if random.random() < 0.4 else Edge("ok", DONE)
    nodes["j"] = stage(after, is_for_element=False)
    plan = Plan(
        id="elements",
        names=Names("stage", "verdict"),
        entries={"": "a"},
        nodes=nodes,
        contents=contents.texts,
        limits=Limits(None, parallel=random.randint(1, 4)),
        entry="",
    )
    return replace(plan, facts=facts(plan))


def run_once(plan: Plan, data: bytes, seed: int) -> State:
    """Run a plan in a random world with both machines, and once more from its events."""
    program, (_, written), random = load(data), read(data), Random(seed)  # noqa: S311
    run, state, keys, told = Run(written), State(), set[str](), list[object]()
    for event in events(run, World(written, random), random):
        run.tell(event)
        step = tell(program, state, event)
        told.append(event)
        state, new = step.state, [each for each in run.requests() if each["key"] not in keys]
        keys |= {each["key"] for each in new}
        assert state_to_json(program, state) == run.state(), (seed, event)
        assert requests_to_json(step.effects) == new, (seed, event)
    again = State()  # from the events alone, as runs are resumed
    for event in told:
        again = tell(program, again, event).state  # type: ignore[arg-type]
    assert show(again) == show(state)
    return state


def test_two_machines_agree_and_what_is_promised_holds() -> None:
    ended = set[Outcome | None]()
    for number in range(PLANS):
        plan = make(Random(number))  # noqa: S311
        assert [*CrossCheck(plan).contradictions()] == []
        (entry,) = bound(plan, ASSUMED).entries
        most, least = entry.executions.most, entry.figures[Quantity.EXECUTIONS].least
        data = dump(plan)
        for seed in range(RUNS):
            state = run_once(plan, data, number * RUNS + seed)
            ended.add(state.ended)
            assert plan.facts is not None
            assert state.executions <= plan.facts.executions
            assert most is not None
            assert least is None or least <= state.executions or state.ended is not Outcome.DONE
            assert state.executions <= most
            assert state.failure is None or state.failure.kind is not FailureKind.NO_EDGE
    assert ended >= {Outcome.DONE, Outcome.FAILED}
