"""Calls in the course of steps: decided once, asked about like those of stages, and answered by the same parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from playable import steps

from stagec.core.json import Json, Object, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.ir.plan.document import Tool
from stagec.runtime.machine.exchange import Ask, Call, Effect, Grant, Turn, read_key
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.step_calls import MissingTools, StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox

KEY = "r/a#2/1.3"
EFFECTS: Mapping[str, str] = {"Read": "read", "Write": "mutating", "search": "unknown", "githubIssueClose": "mutating"}


class Source:
    """Has every tool, and counts its calls."""

    names = tuple(EFFECTS)

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.cancelled: list[str] = []
        self.during = lambda: None

    def define(self, name: str) -> ToolDefinition | None:
        return ToolDefinition(name, "", {"type": "object"}, EFFECTS[name]) if name in EFFECTS else None

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        self.calls.append((key, tool))
        self.during()
        return dict(arguments)

    def cancel(self, key: str) -> None:
        self.cancelled.append(key)

    def close(self) -> None: ...


class Others:
    """Answers grants by a list of tools, and calls of what a scenario would know."""

    def __init__(self, granted: tuple[str, ...] = ()) -> None:
        self.asked: list[Grant] = []
        self.granted = granted
        self.during: Callable[[], None] = lambda: None

    def takes(self, effect: Effect) -> bool:
        return isinstance(effect, Grant) or (isinstance(effect, Call) and effect.tool == "known")

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Call):
            return {"value": "by the scenario"}
        assert isinstance(effect, Grant)
        self.asked.append(effect)
        self.during()
        return {"granted": effect.tool in self.granted}

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


def _join(source: Source, others: Others) -> StepCalls:
    plan = replace(steps(), tools={each: Tool("unknown", effects) for each, effects in EFFECTS.items()})
    toolbox = Toolbox(plan, (source,), Redactor())
    calls = StepCalls(toolbox)
    ComposedWorld((others, toolbox, _Joining(calls), MissingTools()))
    return calls


class _Joining(Others):
    """A part that joins the world, as models do."""

    def __init__(self, calls: StepCalls) -> None:
        super().__init__()
        self.join = calls.join

    def takes(self, _effect: Effect) -> bool:
        return False


def _explain(told: Object) -> str:
    error = told.get("error")
    return f"{error['code']}: {error['message']}" if isinstance(error, dict) else str(told["value"])


def test_what_is_on_the_list_is_called_and_nobody_is_asked() -> None:
    source, others = Source(), Others()
    call = _join(source, others).begin(Ask(KEY, "?", tools=("Read",)))
    assert call("c1", "Read", {"path": "a"}) == {"value": {"path": "a"}}
    assert others.asked == []


def test_what_is_not_on_the_list_is_asked_of_people_with_what_it_is() -> None:
    source, others = Source(), Others(("Write",))
    call = _join(source, others).begin(Ask(KEY, "?", tools=("Read",), permission="acceptEdits"))
    assert call("c1", "Write", {"path": "a"}) == {"value": {"path": "a"}}
    assert _explain(call("c2", "search", {})).startswith(
        "Denied: search may not be called: 'search' is not on the list"
    )
    assert [tool for _, tool in source.calls] == ["Write"]
    first, second = others.asked
    assert first.key == source.calls[0][0] != second.key
    assert (first.execution, first.attempt, first.proposal, first.tool) == ("r/a#2", 1, "c1", "Write")
    assert first.summary == '{"path":"a"}'


@pytest.mark.parametrize("mode", ["plan", "bypassPermissions"])
def test_what_is_denied_is_not_asked_about_nor_called(mode: str) -> None:
    source, others = Source(), Others(("Write",))
    call = _join(source, others).begin(Ask(KEY, "?", tools=("Read",), permission=mode))
    assert _explain(call("c1", "Write", {})).startswith("Denied: ")
    assert (source.calls, others.asked) == ([], [])


def test_without_people_nothing_is_granted() -> None:
    source = Source()
    toolbox = Toolbox(steps(), (source,), Redactor())
    assert _explain(StepCalls(toolbox).begin(Ask(KEY, "?", tools=()))("c1", "Read", {})).startswith("Denied: ")
    assert source.calls == []


def test_a_tool_that_nobody_has_is_not_asked_about() -> None:
    others = Others(("nothing",))
    call = _join(Source(), others).begin(Ask(KEY, "?", tools=()))
    assert _explain(call("c1", "nothing", {})) == "Unavailable: there is no tool 'nothing': none may be called here"
    assert others.asked == []


def test_a_name_in_another_case_means_the_tool_that_is_allowed_and_nobody_is_asked() -> None:
    source, others = Source(), Others(("write", "Red"))
    call = _join(source, others).begin(Ask(KEY, "?", tools=("Read", "Write")))
    allowed = "The tools that may be called here are 'Read' and 'Write'"
    assert (
        _explain(call("c1", "write", {})) == f"Unavailable: there is no tool 'write'; did you mean 'Write'? {allowed}"
    )
    assert _explain(call("c1", "Reed", {})) == f"Unavailable: there is no tool 'Reed'; did you mean 'Read'? {allowed}"
    assert _explain(call("c1", "other", {})) == f"Unavailable: there is no tool 'other'. {allowed}"
    assert (source.calls, others.asked) == ([], [])


def test_a_stage_is_told_that_nobody_has_a_tool_and_goes_on() -> None:
    world = ComposedWorld((Others(), MissingTools()))
    call = Call(KEY, "nothing", {})
    assert world.overlaps(call)
    assert _explain(object_of(world.answer(call))) == "Unavailable: nothing executes the tool 'nothing' here"


def test_a_scenario_answers_calls_of_steps_like_those_of_stages() -> None:
    call = _join(Source(), Others()).begin(Ask(KEY, "?", tools=("known",)))
    assert call("c1", "known", {}) == {"value": "by the scenario"}


def test_every_call_has_a_key_of_its_own_and_the_same_when_it_is_repeated() -> None:
    def make_calls() -> list[str]:
        source = Source()
        call = _join(source, Others()).begin(Ask(KEY, "?", tools=("Read",)))
        for arguments in ({"path": "a"}, {"path": "b"}, {"path": "a"}):
            call("c", "Read", arguments)
        return [key for key, _ in source.calls]

    keys = make_calls()
    assert len({*keys, KEY}) == 4
    assert make_calls() == keys
    assert {(each.run, each.node, each.visit, each.attempt) for each in map(read_key, keys)} == {("r", "a", 2, 1)}
    assert [str(read_key(each)) for each in keys] == keys


def test_a_cancelled_step_ends_its_call_and_makes_no_other() -> None:
    source = Source()
    calls = _join(source, Others())
    call = calls.begin(Ask(KEY, "?", tools=("Read",)))
    source.during = lambda: calls.cancel(KEY)
    call("c1", "Read", {})
    assert source.cancelled == [source.calls[0][0]]
    assert _explain(call("c2", "Read", {"a": 1})) == "Cancelled: the step was cancelled"
    assert len(source.calls) == 1


def test_a_step_that_is_cancelled_while_people_are_asked_makes_no_call() -> None:
    source, others = Source(), Others(("Write",))
    calls = _join(source, others)
    ended: list[str] = []
    others.cancel = ended.append  # type: ignore[method-assign]
    others.during = lambda: calls.cancel(KEY)
    told = calls.begin(Ask(KEY, "?", tools=()))("c1", "Write", {})
    assert _explain(told) == "Cancelled: the step was cancelled"
    assert ended == [others.asked[0].key]
    assert source.calls == []


@pytest.mark.parametrize("arguments", [{"a": float("nan")}, {"a": float("inf")}])
def test_arguments_without_a_digest_are_refused(arguments: Json) -> None:
    call = _join(Source(), Others(("Read",))).begin(Ask(KEY, "?", tools=("Read",)))
    assert _explain(call("c1", "Read", arguments)).startswith("InvalidArguments: ")


def test_a_model_is_told_what_it_may_call_or_ask_for() -> None:
    calls = _join(Source(), Others())

    def names(*tools: str, mode: str = "default") -> list[str]:
        return [each.name for each in calls.define(Ask(KEY, "?", tools=tools, permission=mode))]

    assert names("Read", "Write", "search") == ["Read", "Write", "search"]
    assert names("Read", "Write", "search", mode="plan") == ["Read", "search"]
    every = calls.define(Ask(KEY, "?", permission="acceptEdits"))
    assert [each.name for each in every] == ["Read", "Write", "search"]
    turn = Turn(KEY, (), ("Write", "githubIssueClose"), "done", "s")
    assert [each.name for each in calls.define(turn)] == ["Write", "githubIssueClose"]
