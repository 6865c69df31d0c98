"""The moves of a run: which executions are over with an event, with which outcome, and where each leads."""

from __future__ import annotations

from playable import stages, steps

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Given, Prompt
from stagec.ir.plan.document import Input
from stagec.ir.plan.node import Chain, Edge, Fork, Go
from stagec.runtime.machine import Answered, Cancelled, Event, Move, Program, Started, State, advance
from stagec.runtime.machine.program import program_of

WORDS: Json = {"calls": [{"id": "1", "tool": "submit", "arguments": {"words": 1}}]}


class Way:
    """A run that is followed: each answer is that of the request of a node."""

    def __init__(self, plan: Plan, **inputs: Json) -> None:
        self._program: Program = program_of(plan)
        self._state = State()
        self.moves: list[Move] = []
        self.take(Started("r", inputs=inputs))

    def take(self, event: Event) -> None:
        step = advance(self._program, self._state, event)
        self._state = step.state
        self.moves += step.moves

    def answer(self, node: str, answer: Json) -> Way:
        pending = self._state.pending
        self.take(Answered(next(key for key in pending if key.startswith(f"r/{node}#")), answer))
        return self

    def intent(self, node: str, intent: str) -> Way:
        return self.answer(node, {"answer": {"action": intent}})


def changed(plan: Plan, node: str, **fields: object) -> Plan:
    return replace(plan, nodes={**plan.nodes, node: replace(plan.nodes[node], **fields)})


def test_a_step_leads_to_the_next() -> None:
    assert Way(steps(), topic="x").intent("draft", "next").moves == [Move("draft", 1, "next", ("close",))]


def test_an_event_after_which_a_node_goes_on_ends_nothing() -> None:
    assert Way(steps(), topic="x").intent("draft", "nonsense").moves == []


def test_a_check_that_fails_leads_back() -> None:
    way = Way(steps(), topic="x").intent("draft", "next").intent("close", "closing").answer("close", {"exit": 1})
    assert way.moves[-1] == Move("close", 1, "closing refused: unfinished", ("draft",))


def test_the_last_step_ends_the_run() -> None:
    way = Way(steps(), topic="x").intent("draft", "next").intent("close", "closing").answer("close", {"exit": 0})
    assert way.moves[-1] == Move("close", 1, "closing", end="done")


def test_what_cannot_start_is_not_led_to() -> None:
    plan = steps()
    needy = replace(plan.nodes["close"], act=Prompt((), variables={"absent": Given("absent")}, needed=("absent",)))
    edges = (Edge("next", Go("needy", "close")), Edge("repeat", Go("draft")))
    plan = changed(replace(plan, nodes={**plan.nodes, "needy": needy}), "draft", edges=edges)
    plan = replace(plan, inputs={**plan.inputs, "absent": Input()})
    assert Way(plan, topic="x").intent("draft", "next").moves == [Move("draft", 1, "next", ("close",))]


def test_stages_that_run_together_are_led_to_together() -> None:
    way = Way(stages()).answer("plan", WORDS).answer("spell", WORDS).answer("count", WORDS)
    assert way.moves == [
        Move("plan", 1, "ok", ("count", "spell")),
        Move("spell", 1, "ok", awaited=("count",)),
        Move("count", 1, "ok", end="done"),
    ]


def test_a_stage_that_waits_for_its_turn_is_led_to_once() -> None:
    plan = stages()
    plan = replace(plan, limits=replace(plan.limits, parallel=1))
    way = Way(plan).answer("plan", WORDS).answer("count", WORDS).answer("spell", WORDS)
    assert way.moves == [
        Move("plan", 1, "ok", ("count", "spell")),
        Move("count", 1, "ok", awaited=("spell",)),
        Move("spell", 1, "ok", end="done"),
    ]


def test_a_join_comes_after_the_last() -> None:
    plan = stages()
    edges = (Edge("ok", Fork(("count", "spell"), "join")), *plan.nodes["plan"].edges[1:])
    plan = changed(replace(plan, nodes={**plan.nodes, "join": plan.nodes["count"]}), "plan", edges=edges)
    way = Way(plan).answer("plan", WORDS).answer("count", WORDS).answer("spell", WORDS)
    assert way.moves[1:] == [Move("count", 1, "ok", awaited=("spell",)), Move("spell", 1, "ok", ("join",))]


def test_one_after_the_other_is_led_to_one_after_the_other() -> None:
    plan = stages()
    edges = (Edge("ok", Chain(("count", "spell"))), *plan.nodes["plan"].edges[1:])
    way = Way(changed(plan, "plan", edges=edges)).answer("plan", WORDS).answer("count", WORDS).answer("spell", WORDS)
    assert way.moves == [
        Move("plan", 1, "ok", ("count",)),
        Move("count", 1, "ok", ("spell",)),
        Move("spell", 1, "ok", end="done"),
    ]


def test_who_fails_takes_the_others_with_it() -> None:
    way = Way(stages()).answer("plan", WORDS)
    for _ in range(3):
        way.answer("count", {"text": "no"})
    assert way.moves[1:] == [Move("count", 1, "fail", end="failed"), Move("spell", 1, "cancelled")]


def test_a_run_that_is_cancelled_cancels_everybody() -> None:
    way = Way(stages()).answer("plan", WORDS)
    way.take(Cancelled())
    assert way.moves[1:] == [Move("count", 1, "cancelled"), Move("spell", 1, "cancelled")]
