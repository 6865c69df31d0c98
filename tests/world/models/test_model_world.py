"""Runs with models behind the wire formats: what these do wrong leads where the documents say."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playable import steps
from world.models.played import TRIES, Played, World, playing
from world.models.wire import Said, Wire

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Program, Started
from stagec.runtime.machine.exchange import Ask, Turn, Wait, read_key
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import load, program_of
from stagec.runtime.world.budget import Budget, BudgetedWorld, BudgetReached
from stagec.runtime.world.composed import AgentsWorld, ComposedWorld
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.port import ProviderOutage, read_usage

VECTORS = Path(__file__).parents[2] / "plan_vectors"
REPAIR = load((VECTORS / "docs-repair" / "plan.json").read_bytes())
MODELS = ("openai:gpt-5.4", "anthropic:claude-next")


Play = Callable[..., Played]


@pytest.fixture(params=MODELS)
def play(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    with playing(monkeypatch) as run:
        yield partial(run, str(request.param))


def _call(tool: str, arguments: Json, name: str = "c1") -> tuple[str, str, str]:
    return (name, tool, arguments if isinstance(arguments, str) else json.dumps(arguments))


BEGIN = Started("r", None, {"topic": "installation"})
PAGE: Json = {"page": "docs/a.md"}
WRITTEN = Said("", [_call("submit_page", PAGE)])
CHECKED = Said("", [_call("submit_verdict", {"page": "docs/a.md", "broken": False, "faults": []})])


def _transcript(wire: Wire, request: int = 1) -> str:
    """Return what the model is sent with a request, in which its mistake was answered."""
    return json.dumps(wire.asked[request])


def test_a_pipeline_runs_with_a_model(play: Play) -> None:
    state, world, wire = play(REPAIR, BEGIN, WRITTEN, CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == 2
    uses = [read_usage(answer) for _, answer in world.answers]
    assert [(each.input, each.output, each.requests) for each in uses] == [(10, 5, 1)] * 2


def test_the_model_gets_the_prompt_the_tools_and_the_completion_tool(play: Play) -> None:
    _, _, wire = play(REPAIR, BEGIN, WRITTEN, CHECKED)
    sent = json.dumps(wire.asked[0])
    for each in ("installation", "Begin. Call submit_page alone", "Read", "Edit", "submit_page"):
        assert each in sent


TWICE = [_call("submit_page", PAGE), _call("submit_page", PAGE, "c2")]
BESIDE = [_call("submit_page", PAGE), _call("Read", {"path": "a"}, "c2")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Said("I think it is done."), "Call submit_page when you are done."),
        (Said("", TWICE), "submit_page must be the only call of a turn"),
        (Said("", BESIDE), "submit_page must be the only call of a turn"),
        (Said("", [_call("submit_page", {"pages": 1})]), "Not accepted"),
        (Said("", [_call("submit_page", '{"page": ')]), "Not accepted"),
        (Said("", [_call("Read", '{"path": ')]), "c1"),
        (Said("", [_call("Read", {"path": "a"})]), "ok"),
    ],
    ids=["prose", "two completions", "beside others", "invalid", "cut arguments", "cut call", "a tool"],
)
def test_a_mistake_is_told_and_the_conversation_goes_on(play: Play, said: Said, told: str) -> None:
    state, _, wire = play(REPAIR, BEGIN, said, WRITTEN, CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert told in _transcript(wire)
    assert len(wire.asked) == 3


def test_a_tool_that_is_not_there_is_asked_about_and_never_carried_out_unasked(play: Play) -> None:
    state, world, _ = play(REPAIR, BEGIN, Said("", [_call("Delete", {})]), WRITTEN, CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert [type(effect).__name__ for effect, _ in world.answers][:2] == ["Turn", "Grant"]


@pytest.mark.parametrize("status", [401, 403, 402])
def test_a_key_that_is_refused_interrupts_the_run_and_is_not_tried_again(play: Play, status: int) -> None:
    wires: list[Wire] = []
    with pytest.raises(ProviderOutage, match="1 attempt"):
        play(REPAIR, BEGIN, Said(status=status), opened=wires)
    assert len(wires[0].asked) == 1


def test_a_model_that_does_not_exist_stops_the_run(play: Play) -> None:
    with pytest.raises(Failure, match="does not answer") as caught:
        play(REPAIR, BEGIN, Said(status=404))
    assert not isinstance(caught.value, ProviderOutage)


STEPS = program_of(steps())
TOPIC = Started("r", None, {"topic": "x"})
CLOSING = Said('{"action": "closing"}')
NEXT = Said('{"action": "next"}')

HALF = Said("half of all", [_call("Read", {})], cut=True)
PASSING = {
    "500": Said(status=500),
    "503": Said(status=503),
    "529": Said(status=529),
    "429 with a time": Said(status=429, headers={"retry-after": "0.01"}),
    "429 without": Said(status=429),
    "closed": HALF,
    "broken": dataclasses.replace(HALF, cut=False, reset=True),
    "garbage": Said(body="{"),
    "nothing": Said(body=""),
}
"""What a provider does wrong, and may do right the next time."""


class Good(NamedTuple):
    """A program, what models say that do all as they should, and how often a model is asked that never answers."""

    program: Program
    started: Started
    script: tuple[Said, Said]
    attempts: int


GOOD = {"stage": Good(REPAIR, BEGIN, (WRITTEN, CHECKED), 1), "step": Good(STEPS, TOPIC, (NEXT, CLOSING), 2)}
both = pytest.mark.parametrize("good", GOOD.values(), ids=GOOD)


@both
@pytest.mark.parametrize("said", PASSING.values(), ids=PASSING)
def test_a_provider_that_is_down_interrupts_the_run_and_fails_no_node(play: Play, good: Good, said: Said) -> None:
    wires: list[Wire] = []
    with pytest.raises(ProviderOutage, match=r"does not answer the request .*, 2 attempts in ") as caught:
        play(good.program, good.started, good.script[0], said, opened=wires)
    assert len(wires[0].asked) == 1 + TRIES
    assert caught.value.find_rest() == 60.0


@both
def test_a_provider_that_refuses_a_request_fails_the_node(play: Play, good: Good) -> None:
    state, _, wire = play(good.program, good.started, good.script[0], Said(status=400))
    assert (state.ended, state.failure and state.failure.kind) == (Outcome.FAILED, FailureKind.PROVIDER)
    assert len(wire.asked) == 1 + good.attempts


@both
@pytest.mark.parametrize("said", PASSING.values(), ids=PASSING)
def test_faults_that_pass_are_no_part_of_the_run(play: Play, good: Good, said: Said) -> None:
    state, world, wire = play(good.program, good.started, said, good.script[0], said, good.script[1])
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == 2 * TRIES
    assert world.tools.called == []
    used = [read_usage(answer).requests for effect, answer in world.answers if isinstance(effect, Ask | Turn)]
    assert used == [1, 1]


@both
def test_a_provider_that_hangs_interrupts_the_run_too(play: Play, good: Good) -> None:
    hanging = dataclasses.replace(good.script[0], delay=5)
    wires: list[Wire] = []
    with pytest.raises(ProviderOutage, match=r"timeout, 2 attempts in .*: no response within 1 s"):
        play(good.program, good.started, hanging, seconds=1.0, opened=wires)
    assert len(wires[0].asked) == TRIES


def test_a_step_gets_an_answer_by_its_schema(play: Play) -> None:
    state, world, wire = play(STEPS, TOPIC, NEXT, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    asked = [effect for effect, _ in world.answers if isinstance(effect, Ask)]
    assert len(asked) == len(wire.asked) == 2


def test_a_step_knows_what_was_said_before(play: Play) -> None:
    _, _, wire = play(STEPS, TOPIC, NEXT, CLOSING)
    assert "Draft x" in json.dumps(wire.asked[1])
    assert "next" in json.dumps(wire.asked[1]["messages"])


def test_an_answer_of_another_form_is_complained_about_once(play: Play) -> None:
    state, _, wire = play(STEPS, TOPIC, Said('{"action": "dance"}'), NEXT, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert "The answer was not accepted" in json.dumps(wire.asked[1])


def test_prose_is_asked_for_again_in_the_right_form(play: Play) -> None:
    state, _, wire = play(STEPS, TOPIC, Said("All is well."), NEXT, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert "Hand in the answer now" in json.dumps(wire.asked[1])


def _allow(*tools: str) -> Program:
    """Return the steps, of which the first may call some tools."""
    plan = steps()
    draft: Any = plan.nodes["draft"]
    with_tools = replace(draft, act=replace(draft.act, tools=tools))
    return program_of(replace(plan, nodes={**plan.nodes, "draft": with_tools}))


HANDED_IN = Said("", [_call("answer", {"action": "next"})])


def test_a_step_calls_its_tools_and_no_others(play: Play) -> None:
    calls = [_call("Read", {"path": "a"}), _call("Write", {}, "c2"), _call("Read", "[", "c3")]
    state, world, wire = play(_allow("Read"), TOPIC, Said("", calls), HANDED_IN, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert world.tools.called == [("Read", {"path": "a"})]
    told = json.dumps(wire.asked[1])
    for each in (
        "Read was called",
        "Write may not be called: 'Write' is not on the list",
        "Not carried out: the arguments cannot be read: it is not JSON: Expecting value: line 1 column 2",
    ):
        assert each in told


@pytest.mark.parametrize(
    "calls",
    [
        [_call("answer", {"action": "next"}), _call("answer", {"action": "repeat"}, "c2")],
        [_call("answer", {"action": "next"}), _call("Read", {"path": "a"}, "c2")],
        [_call("Read", {"path": "a"}), _call("answer", {"action": "next"}, "c2")],
    ],
    ids=["two answers", "an answer before a call", "after one"],
)
def test_an_answer_beside_other_calls_is_none_and_nothing_is_carried_out(
    play: Play, calls: list[tuple[str, str, str]]
) -> None:
    state, world, wire = play(_allow("Read"), TOPIC, Said("", calls), HANDED_IN, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert world.tools.called == []
    assert _transcript(wire).count("answer must be the only call") == 2
    assert len(wire.asked) == 3


@pytest.mark.parametrize(
    "said",
    [
        Said("All is well."),
        Said("", [_call("answer", "[]")]),
    ],
    ids=["prose", "no object"],
)
def test_what_is_no_answer_is_asked_for_again(play: Play, said: Said) -> None:
    state, _, wire = play(_allow("Read"), TOPIC, said, HANDED_IN, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert "Hand in the answer now" in _transcript(wire)
    assert len(wire.asked) == 3


_DEEP = f'{{"action": {"[" * 200}1{"]" * 200}}}'
UNREADABLE = [
    (Said("", [_call("answer", '{"action": NaN}')]), "/action: NaN is not a JSON number"),
    (Said("", [_call("answer", '{"action": [1, 1e999]}')]), "/action/1: Infinity, or a number larger"),
    (Said("", [_call("answer", '{"action": "\\ud800"}')]), "/action: the text contains half a character"),
    (Said("", [_call("answer", '{"a": {"b": 1, "b": 2}}')]), "/a: the member 'b' occurs more than once"),
    (Said("", [_call("answer", f'{{"action": 1{"0" * 400}}}')]), "/action: Infinity, or a number larger"),
    (Said("", [_call("answer", _DEEP)]), "it is nested more than 128 levels deep"),
    (Said("", [_call("answer", '{"action": ')]), "it is not JSON: Expecting value"),
    (Said('{"action": "ne', finish="length"), "the response ended at its maximum length (length)"),
    (Said("", [_call("answer", '{"action": "ne')], finish="length"), "it is not JSON: Unterminated string"),
    (Said("All is", finish="length"), "the response ended at its maximum length (length)"),
    (Said("", finish="content_filter"), "the provider withheld the response (content_filter)"),
]


@pytest.mark.parametrize(("said", "why"), UNREADABLE, ids=[each for _, each in UNREADABLE])
def test_an_answer_that_cannot_be_read_is_an_attempt_and_the_model_is_told_why(
    play: Play, said: Said, why: str
) -> None:
    state, world, wire = play(_allow("Read"), TOPIC, said, HANDED_IN, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == 3
    assert why in str(wire.asked[1])
    assert why in _complaint_of(world)


def _complaint_of(world: World) -> str:
    asked = world.answers[1][0]
    assert isinstance(asked, Ask)
    return asked.complaint or ""


@pytest.mark.parametrize(("said", "why"), UNREADABLE, ids=[each for _, each in UNREADABLE])
def test_a_step_that_gets_no_readable_answer_fails_for_this_reason(play: Play, said: Said, why: str) -> None:
    state, _, wire = play(_allow("Read"), TOPIC, said)
    assert (state.failure and state.failure.kind, len(wire.asked)) == (FailureKind.INVALID_ANSWER, 2)
    assert why in state.reason


@pytest.mark.parametrize("arguments", ['{"a": NaN}', '{"a": [1e999]}', '{"a": "\\udfff"}', '{"a": 1, "a": 2}', "{"])
def test_a_call_that_cannot_be_read_is_told_so(play: Play, arguments: str) -> None:
    state, world, wire = play(_allow("Read"), TOPIC, Said("", [_call("Read", arguments)]), HANDED_IN, CLOSING)
    assert (state.ended, world.tools.called) == (Outcome.DONE, [])
    assert "Not carried out: the arguments cannot be read: " in _transcript(wire)


def test_a_model_that_never_hands_in_an_answer_fails_the_step(play: Play) -> None:
    state, world, _ = play(STEPS, TOPIC, Said("Wait."))
    assert state.failure is not None
    assert state.failure.kind is FailureKind.PROVIDER
    assert read_usage(world.answers[0][1]).requests == 50


def test_the_provider_of_a_request_is_the_first_word_of_its_model(play: Play) -> None:
    _, world, _ = play(STEPS, TOPIC, NEXT, CLOSING)
    setup = replace(world.models._setup, choice=ModelChoice("anthropic:x", nodes={"draft": "openai:y"}))
    own = ComposedWorld((ModelWorld(STEPS.plan, setup),))
    whole = BudgetedWorld(ComposedWorld((AgentsWorld(own, {}),)), Budget())
    found = [(read_key(effect.key).node, whole.name_provider(effect)) for effect, _ in world.answers]
    assert found == [("draft", "openai"), ("close", "anthropic"), ("close", "")]  # what checks the end is a command
    assert whole.name_provider(Wait("r/draft#1/1.0", 5)) == ""


def test_what_is_recalled_is_what_was_said(play: Play) -> None:
    _, world, _ = play(STEPS, TOPIC, NEXT, CLOSING)
    fresh = ModelWorld(
        STEPS.plan, ModelSetup(world.models._setup.provider, ModelChoice("m"), world.models._setup.tools)
    )
    for effect, answer in world.answers:
        fresh.recall(effect, answer)
    assert fresh._said == world.models._said


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (ModelChoice("d:x"), "d:x"),
        (ModelChoice("d:x", {"opus": "a:o"}), "a:o"),
        (ModelChoice("d:x", {"opus": "a:o"}, {"plan": "n:p"}), "n:p"),
        (ModelChoice(None, {"sonnet": "a:s"}), None),
    ],
)
def test_the_nearest_choice_of_a_model_counts(choice: ModelChoice, wanted: str | None) -> None:
    assert choice.choose("plan", "opus") == wanted


def test_a_plan_may_name_a_model_in_full() -> None:
    assert ModelChoice("d:x").choose("plan", "openai:o") == "openai:o"


def test_a_budget_is_asked_before_each_request_in_the_course_of_a_step(play: Play) -> None:
    """Each request uses 15 tokens: the one that uses the budget up is the last."""
    program = _allow("Read")
    with pytest.raises(BudgetReached) as reached:
        play(program, TOPIC, Said("", [_call("Read", {"path": "a"})]), budget=50)
    assert "the run has used 60 tokens: --max-tokens allows 50" in str(reached.value)


def test_more_of_a_budget_lets_a_step_go_on(play: Play) -> None:
    calls = [Said("", [_call("Read", {"path": "a"})])] * 5
    state, _, wire = play(_allow("Read"), TOPIC, *calls, HANDED_IN, CLOSING, budget=50, more=40)
    assert (state.ended, len(wire.asked)) == (Outcome.DONE, 7)
