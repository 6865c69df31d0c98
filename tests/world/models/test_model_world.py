"""Runs with models behind the wire formats: what these do wrong leads where the documents say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playable import steps
from world.models.wire import Said, Wire, serve

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.value import replace
from stagec.drivers.local.drive import RunSession, proceed
from stagec.plan.document import Plan
from stagec.plan.node import Outcome
from stagec.runtime import Effect, Event, Program, Started, State
from stagec.runtime.exchange import Ask, Shell, Wait
from stagec.runtime.failures import FailureKind
from stagec.runtime.program import load, program_of
from stagec.world.briefing import PlannedTools, ToolDefinition
from stagec.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.world.models.port import ModelLimits
from stagec.world.models.pydantic_provider import PydanticProvider
from stagec.world.models.retries import RetryingProvider, RetryPolicy
from stagec.world.models.usage import read_usage

VECTORS = Path(__file__).parents[2] / "plan_vectors"
REPAIR = load((VECTORS / "docs-repair" / "plan.json").read_bytes())
MODELS = ("openai:gpt-5.4", "anthropic:claude-next")


class Tools(PlannedTools):
    """Tools that all exist and say what they were asked."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.called: list[tuple[str, Json]] = []

    def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        return tuple(replace(each, schema={"type": "object"}) for each in super().define(names))

    def call(self, _key: str, tool: str, arguments: Json) -> Object:
        self.called.append((tool, arguments))
        return {"value": f"{tool} was called"}


class World:
    """Models behind a wire; everything else does what is harmless."""

    def __init__(self, models: ModelWorld, tools: Tools) -> None:
        self.models, self.tools = models, tools
        self.answers: list[tuple[Effect, Json]] = []
        self.overlaps = models.overlaps
        self.cancel = models.cancel

    def answer(self, effect: Effect) -> Json:
        told: Json = {}
        if self.models.takes(effect):
            told = self.models.answer(effect)
        elif isinstance(effect, Shell):
            told = {"exit": 0, "stdout": "", "stderr": ""}
        elif not isinstance(effect, Wait):
            told = {"granted": True, "value": "ok", "yes": True}
        self.answers.append((effect, told))
        return told


class _Store:
    def __init__(self) -> None:
        self.count, self.waits = 0, False

    def append(self, _event: Event, _body: str, /) -> None:
        self.count += 1

    def take_digest(self, step_digest: str, /) -> None: ...

    def seal(self) -> None: ...


Play = Callable[..., tuple[State, World, Wire]]


@pytest.fixture(params=MODELS)
def play(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    closing_later: list[Any] = []

    def run(program: Program, started: Started, *script: Said, seconds: float = 30.0) -> tuple[State, World, Wire]:
        serving = serve(*script)
        wire = serving.__enter__()
        for name, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
            monkeypatch.setenv(f"{name}_BASE_URL", wire.url + path)
            monkeypatch.setenv(f"{name}_API_KEY", "key")
        provider = RetryingProvider(PydanticProvider(), RetryPolicy(2, 0.01))
        tools = Tools(program.plan)
        setup = ModelSetup(provider, ModelChoice(str(request.param)), tools, ModelLimits(seconds))
        world = World(ModelWorld(program.plan, setup), tools)
        closing_later.append((serving, provider))
        return proceed(RunSession(program, _Store(), world), State(), started), world, wire

    yield run
    for serving, provider in closing_later:
        provider.close()
        serving.__exit__(None, None, None)


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


@pytest.mark.parametrize(
    "said",
    [
        Said(status=500),
        Said(status=429, headers={"retry-after": "0.01"}),
        Said(status=400),
        Said("half of all", [_call("Read", {})], cut=True),
        Said(body="{"),
    ],
    ids=["500", "429", "400", "closed", "garbage"],
)
def test_a_provider_that_fails_for_good_is_the_outcome_fail(play: Play, said: Said) -> None:
    state, _, _ = play(REPAIR, BEGIN, said)
    assert state.ended is Outcome.FAILED
    assert state.failure is not None
    assert state.failure.kind is FailureKind.PROVIDER


def test_a_provider_that_hangs_is_too(play: Play) -> None:
    state, _, _ = play(REPAIR, BEGIN, Said("x", delay=2), seconds=0.2)
    assert state.failure is not None
    assert state.failure.kind is FailureKind.PROVIDER
    assert "within 0.2 s" in state.reason


def test_faults_that_pass_are_no_part_of_the_run(play: Play) -> None:
    state, _, wire = play(REPAIR, BEGIN, Said(status=500), WRITTEN, Said(status=529), CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == 4


def test_a_key_that_is_refused_stops_the_run_and_fails_no_stage(play: Play) -> None:
    with pytest.raises(Failure, match="does not answer"):
        play(REPAIR, BEGIN, Said(status=401))


STEPS = program_of(steps())
TOPIC = Started("r", None, {"topic": "x"})
CLOSING = Said('{"action": "closing"}')
NEXT = Said('{"action": "next"}')


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


def test_a_step_calls_its_tools_and_no_others(play: Play) -> None:
    calls = [_call("Read", {"path": "a"}), _call("Write", {}, "c2"), _call("Read", "[", "c3")]
    plan = steps()
    draft: Any = plan.nodes["draft"]
    with_tools = replace(draft, act=replace(draft.act, tools=("Read",)))
    program = program_of(replace(plan, nodes={**plan.nodes, "draft": with_tools}))
    handed_in = Said("", [_call("answer", {"action": "next"})])
    state, world, wire = play(program, TOPIC, Said("", calls), handed_in, CLOSING)
    assert state.ended is Outcome.DONE, state.reason
    assert world.tools.called == [("Read", {"path": "a"})]
    told = json.dumps(wire.asked[1])
    for each in ("Read was called", "Denied: there is no tool Write here.", "the arguments are no JSON object"):
        assert each in told


def test_a_model_that_never_hands_in_an_answer_fails_the_step(play: Play) -> None:
    state, world, _ = play(STEPS, TOPIC, Said("Wait."))
    assert state.failure is not None
    assert state.failure.kind is FailureKind.PROVIDER
    assert read_usage(world.answers[0][1]).requests == 50


def test_what_is_recalled_is_what_was_said(play: Play) -> None:
    _, world, _ = play(STEPS, TOPIC, NEXT, CLOSING)
    fresh = ModelWorld(STEPS.plan, ModelSetup(world.models._setup.provider, ModelChoice("m"), world.tools))
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
    assert choice.choose_for(Ask("r/plan#1/1.0", "p", model="opus")) == wanted


def test_a_plan_may_name_a_model_in_full() -> None:
    assert ModelChoice("d:x").choose_for(Ask("r/plan#1/1.0", "p", model="openai:o")) == "openai:o"
