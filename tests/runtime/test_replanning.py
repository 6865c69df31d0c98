"""Runs that go on under another plan: what the machine takes over, what it refuses, and what begins again."""

from __future__ import annotations

from typing import Any

import handmade
import playable
import pytest
from phased import Worker, make_agent, make_phases

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Text
from stagec.ir.plan.document import Contents, Input, Limits, Phases
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import JudgeGate
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome, Schedule, Stop
from stagec.runtime.machine import Answered, Event, Program, Replanned, Started, State, StepResult, advance, load
from stagec.runtime.machine.exchange import Ask, Resumed, Turn
from stagec.runtime.machine.program import program_of
from stagec.runtime.machine.replanning import ObstacleError, transfer

TOPIC = {"topic": "winter"}


def changed(plan: Plan, **fields: Any) -> Plan:
    made = replace(plan, **fields)
    return replace(made, facts=facts(made))


def with_node(plan: Plan, name: str, **fields: Any) -> Plan:
    return changed(plan, nodes={**plan.nodes, name: replace(plan.nodes[name], **fields)})


def reworded(plan: Plan, name: str, text: str) -> Plan:
    """Return a plan in which a node has another prompt."""
    contents = Contents()
    for each in plan.contents.values():
        contents.add(each)
    act: Any = plan.nodes[name].act
    made = replace(act, prompt=(Text(contents.add(text)),))
    return with_node(replace(plan, contents=contents.texts), name, act=made)


def event(plan: Plan, *again: str) -> Replanned:
    data = dump(plan)
    return Replanned(load(data).digest, data.decode(), again)


class Going:
    """A run that goes on with every event, under the program that it has then."""

    def __init__(self, plan: Plan, inputs: Any, entry: str | None = None) -> None:
        self.program: Program = load(dump(plan))
        self.state = State()
        self.tell(Started("r", entry, inputs))

    def tell(self, event: Event) -> StepResult:
        step = advance(self.program, self.state, event)
        again = advance(self.program, self.state, event)
        assert replace(step, program=None) == replace(again, program=None)
        self.state, self.program = step.state, step.program or self.program
        return step

    def answer(self, given: Json) -> StepResult:
        return self.tell(Answered(next(iter(self.state.pending)), given))

    @property
    def asked(self) -> Any:
        return next(iter(self.state.pending.values()))


def test_a_request_keeps_what_it_was_asked_with_and_the_next_one_has_the_new_prompt() -> None:
    run = Going(playable.steps(), TOPIC)
    before = run.asked
    step = run.tell(event(reworded(playable.steps(), "draft", "Draft anew.")))
    assert (run.asked, step.effects, step.void) == (before, (), ())
    assert step.program is not None
    assert [(each.name, each.facts["again"]) for each in step.trace] == [("PlanChanged", [])]
    run.answer({"answer": {"action": "repeat"}})
    assert (run.asked.key, run.asked.prompt) == ("r/draft#2/1.0", "Draft anew.")


def test_the_contents_that_open_requests_name_stay_known() -> None:
    old = playable.steps(schema='{"type":"object","required":["action"]}')
    run = Going(old, TOPIC)
    run.tell(event(playable.steps()))
    assert run.asked.schema in run.program.plan.contents
    run.answer({"answer": {"action": "other"}})  # judged by the new schema
    assert run.asked.complaint is not None


def test_what_begins_again_asks_anew_and_nobody_hears_the_old_answer() -> None:
    run = Going(playable.steps(), TOPIC)
    old = run.asked.key
    step = run.tell(event(reworded(playable.steps(), "draft", "Draft anew."), "draft"))
    assert step.void == (old,)
    assert [(each.node, each.visit, each.outcome) for each in step.moves] == [("draft", 1, "cancelled")]
    assert [each.name for each in step.trace] == ["StageCancelled", "PlanChanged", "StageEntered"]
    assert (run.asked.key, run.asked.prompt, run.state.executions) == ("r/draft#2/1.0", "Draft anew.", 2)
    before = run.state
    run.tell(Answered(old, {"answer": {"action": "next"}}))
    assert run.state == before


def test_a_conversation_goes_on_with_the_tools_of_the_new_plan() -> None:
    run = Going(playable.stages(), {})
    act: Any = playable.stages().nodes["plan"].act
    run.tell(event(with_node(playable.stages(), "plan", act=replace(act, turns=9))))
    run.answer({"calls": [{"id": "1", "tool": "Read", "arguments": {}}]})
    run.answer({"value": "read"})
    assert isinstance(run.asked, Turn)
    assert len(run.asked.transcript) == 3


def test_branches_of_a_fork_stay_open_and_one_of_them_begins_again() -> None:
    run = Going(playable.stages(), {})
    run.answer({"calls": [{"id": "1", "tool": "submit", "arguments": {"words": 1}}]})
    assert [*run.state.active] == ["r/count#1", "r/spell#1"]
    run.tell(event(reworded(playable.stages(), "spell", "Spell anew."), "spell"))
    assert [*run.state.active] == ["r/count#1", "r/spell#2"]
    for _ in range(2):
        run.answer({"calls": [{"id": "1", "tool": "submit", "arguments": {"words": 1}}]})
    assert run.state.ended is Outcome.DONE


def test_more_room_is_used_at_once() -> None:
    narrow = changed(playable.stages(), limits=Limits(20, parallel=1))
    run = Going(narrow, {})
    run.answer({"calls": [{"id": "1", "tool": "submit", "arguments": {"words": 1}}]})
    assert len(run.state.active) == 1
    step = run.tell(event(playable.stages()))
    assert [each.key for each in step.effects] == ["r/spell#1/1.0"]


def renamed(plan: Plan, old: str, new: str) -> Plan:
    nodes = {new if name == old else name: node for name, node in plan.nodes.items()}
    told = dict(nodes)
    for name, node in nodes.items():
        edges = tuple(replace(each, target=Go(new)) if each.target == Go(old) else each for each in node.edges)
        told[name] = replace(node, edges=edges)
    entries = {name: new if begun == old else begun for name, begun in plan.entries.items()}
    return changed(plan, nodes=told, entries=entries)


STEPS = playable.steps()
REFUSED = {
    "another flow": changed(STEPS, id="other"),
    "the node is gone": renamed(STEPS, "draft", "sketch"),
    "the entry is gone": changed(STEPS, entries={"late": "draft"}, entry=None),
    "another gate": with_node(
        STEPS, "draft", gate=JudgeGate(), edges=(Edge("next", Go("draft")), Edge("verdict", Go("close")))
    ),
    "an input is missing": changed(STEPS, inputs={**STEPS.inputs, "more": Input(required=True)}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_meaning_changes_nothing(why: str) -> None:
    run = Going(STEPS, TOPIC)
    step = run.tell(event(REFUSED[why]))
    assert step == StepResult(run.state)
    assert run.program.plan == STEPS


@pytest.mark.parametrize(
    "given",
    [
        Replanned("sha256:" + "0" * 64, dump(STEPS).decode()),
        Replanned(load(dump(STEPS)).digest, "no plan"),
        Replanned("", "{}", ("nobody",), "x"),
    ],
)
def test_what_is_no_plan_changes_nothing(given: Replanned) -> None:
    run = Going(STEPS, TOPIC)
    assert run.tell(given) == StepResult(run.state)


def toned() -> Plan:
    """Return the plan that demands one more input, a short text."""
    contents = Contents()
    for each in STEPS.contents.values():
        contents.add(each)
    wanted = Input(required=True, schema=contents.add('{"type":"string","maxLength":5}'))
    return changed(STEPS, inputs={**STEPS.inputs, "tone": wanted, "more": Input()}, contents=contents.texts)


def test_new_inputs_are_given_with_the_plan_and_kept() -> None:
    run = Going(STEPS, TOPIC)
    step = run.tell(replace(event(toned()), inputs={"tone": "brief", "more": 1}))
    assert run.state.inputs == {**TOPIC, "tone": "brief", "more": 1.0}
    assert step.trace[0].facts["inputs"] == ["more", "tone"]
    again = run.tell(replace(event(toned()), inputs={"tone": "brief"}))
    assert again == StepResult(run.state)  # what a run has stays what it is


@pytest.mark.parametrize(
    "inputs",
    [
        {"tone": "very long"},
        {"tone": None},
        {"more": 1},
        {"tone": "brief", "topic": "summer"},
        {"tone": "brief", "other": 1},
        {"tone": "brief", "more": float("nan")},
        {"tone": "\ud800"},
    ],
)
def test_inputs_that_cannot_be_given_change_nothing(inputs: dict[str, Any]) -> None:
    run = Going(STEPS, TOPIC)
    assert run.tell(replace(event(toned()), inputs=inputs)) == StepResult(run.state)


def test_a_run_that_has_not_begun_or_has_ended_takes_no_notice() -> None:
    program = load(dump(STEPS))
    assert advance(program, State(), event(STEPS)) == StepResult(State())
    run = Going(STEPS, TOPIC)
    run.answer({})
    run.answer({})
    assert run.state.ended is Outcome.FAILED
    assert run.tell(event(reworded(STEPS, "draft", "x"))) == StepResult(run.state)


def test_new_inputs_have_their_defaults() -> None:
    run = Going(STEPS, TOPIC)
    run.tell(event(changed(STEPS, inputs={**STEPS.inputs, "more": Input(default="x")})))
    assert run.state.inputs == {"topic": "winter", "more": "x"}


def test_a_run_changes_its_plan_to_and_fro() -> None:
    run = Going(STEPS, TOPIC)
    other = reworded(STEPS, "draft", "Draft anew.")
    for plan in (other, STEPS, other):
        run.tell(event(plan))
        assert run.program.digest == load(dump(plan)).digest
    run.answer({"answer": {"action": "next"}})
    assert run.asked.key == "r/close#1/1.0"


def orchestrated(agent: Plan) -> Plan:
    labels = {"build": ("kind:build",)}
    worker = Worker("builder", "validator", {"closing": "shipped"})
    return make_phases({"build": worker}, {"shipped": Outcome.DONE}, Phases(9, labels=labels), (agent,))


def test_the_run_of_an_agent_is_taken_over_with_its_own_plan() -> None:
    old, agent = orchestrated(make_agent("builder")), reworded(make_agent("builder"), "work", "Work anew.")
    run = Going(old, {"issue": "seven"}, "kind:build")
    run.answer({})
    assert isinstance(run.asked, Ask)
    key = run.asked.key
    run.tell(event(orchestrated(agent)))
    assert run.asked.key == key
    run.answer({"answer": {"do": "repeat"}})
    assert run.asked.prompt == "Work anew."


def test_the_run_of_an_agent_stands_on_nodes_of_its_own_plan() -> None:
    old = orchestrated(make_agent("builder"))
    run = Going(old, {"issue": "seven"}, "kind:build")
    run.answer({})
    new = orchestrated(renamed(make_agent("builder"), "work", "labour"))
    assert run.tell(event(new)) == StepResult(run.state)
    step = run.tell(event(new, "build"))  # the agent begins once more, as a run of its own
    assert step.program is not None
    run.answer({})
    assert (run.asked.key.split("/")[0], run.asked.key.split("/")[1]) == ("r~builder~2", "labour#1")


def test_a_run_of_processes_waits_for_being_resumed_and_its_stages_do_not_begin_again() -> None:
    plan = handmade.processes()
    entry = next(iter(plan.entries))
    run = Going(plan, {}, entry)
    pending, name = run.state.pending, next(iter(run.state.active.values())).node
    step = run.tell(event(changed(plan, title="Another title"), name))
    assert (step.effects, step.void, run.state.pending) == ((), (), pending)
    assert step.program is not None
    assert run.tell(Resumed()).effects


def test_a_schedule_that_is_open_must_be_the_same() -> None:
    run = Going(handmade.processes(), {}, next(iter(handmade.processes().entries)))
    schedule: Any = run.program.plan.entries[run.state.entry]
    *others, last = schedule.needs
    fewer = Schedule({name: schedule.needs[name] for name in others})
    plan = replace(run.program.plan, entries={run.state.entry: fewer})
    with pytest.raises(ObstacleError, match=f"the schedule of '{run.state.entry}' is another one"):
        transfer(run.program, program_of(plan), run.state)
    assert last in run.state.statuses
    assert run.tell(event(changed(run.program.plan, title="Other"))).program is not None


def test_a_join_must_be_there() -> None:
    plan = playable.stages()
    joined: Node = replace(
        plan.nodes["count"], edges=(Edge("ok", Stop(Outcome.DONE)), Edge("fail", Stop(Outcome.FAILED)))
    )
    edges = (Edge("ok", Fork(("count", "spell"), "sum")), plan.nodes["plan"].edges[1])
    old = changed(plan, nodes={**plan.nodes, "plan": replace(plan.nodes["plan"], edges=edges), "sum": joined})
    run = Going(old, {})
    run.answer({"calls": [{"id": "1", "tool": "submit", "arguments": {"words": 1}}]})
    assert run.tell(event(plan)).program is None
    assert run.tell(event(reworded(old, "sum", "Add."))).program is not None
