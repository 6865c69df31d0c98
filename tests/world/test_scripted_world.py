"""Scripted worlds: an answer follows from the request and the scenario, and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Confirm,
    Effect,
    Grant,
    Hook,
    Judge,
    Message,
    Run,
    Shell,
    Turn,
    Wait,
)
from stagec.runtime.world.scenario import Scenario, parse_scenario
from stagec.runtime.world.scripted_world import ScriptedWorld


class Beyond:
    """Answers that it was asked."""

    def answer(self, effect: Run | Shell | Hook | Wait) -> Json:
        return {"beyond": effect.key}


def answer(told: Json, effect: Effect) -> Any:
    world = ScriptedWorld(parse_scenario(told, "s.yaml"), Beyond())
    found = world.answer(effect)
    assert world.answer(effect) == found, "asked twice"
    return found


def refusal(told: Json, effect: Effect) -> str:
    with pytest.raises(Failure) as raised:
        answer(told, effect)
    return str(raised.value)


def ask(visit: int = 1, attempt: int = 1, node: str = "draft") -> Ask:
    return Ask(f"r/{node}#{visit}/{attempt}.0", "Draft.")


def turn(said: int = 0, visit: int = 1) -> Turn:
    transcript = (Message("system", "Plan."), *(Message("assistant", "x") for _ in range(said)))
    return Turn(f"r/plan#{visit}/1.{said}", transcript, ("Read",), "submit", "sha256:0")


def call(tool: str = "Read", visit: int = 1, **arguments: Json) -> Call:
    return Call(f"r/plan#{visit}/1.3", tool, arguments)


ANSWERS: Json = {"answers": {"draft": [{"a": 1}, {"a": 2}], "other": {"b": 1}, "wrong": ["text", [1]]}}


@pytest.mark.parametrize(("visit", "expected"), [(1, {"a": 1}), (2, {"a": 2}), (3, {"a": 2}), (99, {"a": 2})])
def test_each_visit_has_an_answer_and_the_last_repeats(visit: int, expected: Json) -> None:
    assert answer(ANSWERS, ask(visit)) == {"answer": expected}


def test_one_answer_stands_for_all_visits() -> None:
    assert answer(ANSWERS, ask(7, node="other")) == {"answer": {"b": 1}}


def test_an_answer_may_be_one_that_no_schema_allows() -> None:
    assert answer(ANSWERS, ask(1, node="wrong")) == {"answer": "text"}
    assert answer(ANSWERS, ask(2, node="wrong")) == {"answer": [1]}


@pytest.mark.parametrize(("attempt", "expected"), [(1, {"bad": 1}), (2, {"good": 1}), (3, {"good": 1})])
def test_attempts_have_answers_of_their_own(attempt: int, expected: Json) -> None:
    told: Json = {"answers": {"draft": [{"attempts": [{"bad": 1}, {"good": 1}]}]}}
    assert answer(told, ask(attempt=attempt)) == {"answer": expected}


def test_a_text_stands_beside_an_answer() -> None:
    told: Json = {"answers": {"draft": {"answer": {"a": 1}, "say": "done"}}}
    assert answer(told, ask()) == {"answer": {"a": 1}, "text": "done"}


def test_a_node_may_have_any_name() -> None:
    assert answer({"answers": {"a/b#1": {"x": 1}}}, Ask("r/a/b#1#2/1.0", "")) == {"answer": {"x": 1}}


def test_an_answer_that_is_missing_is_named_with_what_to_add() -> None:
    assert refusal({"answers": {"drfat": {}}}, ask()) == (
        "'s.yaml' has no answer to the request 'r/draft#1/1.0': add 'draft' to 'answers', where there is 'drfat'"
    )


@pytest.mark.parametrize("listed", [[], {"attempts": []}])
def test_a_list_without_answers_answers_nothing(listed: Json) -> None:
    assert refusal({"answers": {"draft": listed}}, ask()).endswith("add an answer to 'answers.draft'")


def test_without_a_scenario_the_option_is_named() -> None:
    with pytest.raises(
        Failure, match=r"nothing answers the request 'r/draft#1/1\.0': a scenario gives it .* --scenario"
    ):
        ScriptedWorld(Scenario(), Beyond()).answer(ask())


TURNS: Json = {"conversations": {"plan": [{"say": "hm"}, {"calls": [{"tool": "Read"}]}, {"complete": {"x": 1}}]}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (0, {"text": "hm", "calls": []}),
        (1, {"text": "", "calls": [{"id": "1.0", "tool": "Read", "arguments": {}}]}),
        (2, {"text": "", "calls": [{"id": "2.complete", "tool": "submit", "arguments": {"x": 1}}]}),
        (3, {"text": "", "calls": [{"id": "3.complete", "tool": "submit", "arguments": {"x": 1}}]}),
    ],
)
def test_which_turn_it_is_is_told_by_the_transcript(said: int, expected: Json) -> None:
    assert answer(TURNS, turn(said)) == expected


def test_each_visit_has_its_turns() -> None:
    told: Json = {"conversations": {"plan": [[{"say": "one"}], {"say": "two"}]}}
    assert [answer(told, turn(visit=visit))["text"] for visit in (1, 2, 3)] == ["one", "two", "two"]


def test_a_model_may_do_what_it_must_not() -> None:
    told: Json = {
        "conversations": {"plan": [{"calls": [{"tool": "Read", "id": "x", "arguments": "{"}], "complete": None}]}
    }
    assert answer(told, turn())["calls"] == [
        {"id": "x", "tool": "Read", "arguments": "{"},
        {"id": "0.complete", "tool": "submit", "arguments": None},
    ]


TOOLS: dict[str, tuple[Json, int, Json]] = {
    "a text": ("x", 1, {"value": "x"}),
    "an object": ({"a": 1}, 1, {"value": {"a": 1}}),
    "null": (None, 1, {"value": None}),
    "the first visit": ([1, 2], 1, {"value": 1}),
    "a later visit": ([1, 2], 5, {"value": 2}),
    "a failure": ({"error": "no"}, 1, {"error": "no"}),
    "a failure in the second visit": (["x", {"error": "no"}], 2, {"error": "no"}),
    "a list that is meant": ({"value": [1, 2]}, 2, {"value": [1, 2]}),
    "what looks like a failure": ({"value": {"error": "no"}}, 1, {"value": {"error": "no"}}),
}


@pytest.mark.parametrize(("told", "visit", "expected"), TOOLS.values(), ids=TOOLS)
def test_tools_return_what_the_scenario_says(told: Json, visit: int, expected: Json) -> None:
    assert answer({"tools": {"Read": told}}, call(visit=visit)) == expected


BESIDE: Json = {
    "conversations": {
        "plan": [
            [
                {"calls": [{"tool": "Read", "arguments": {"path": "a"}, "result": "A"}]},
                {"calls": [{"tool": "Read", "arguments": {"path": "b"}, "error": "no b"}, {"tool": "Read"}]},
            ],
            [{"calls": [{"tool": "Read", "arguments": {"path": "a"}, "result": None}]}],
        ]
    },
    "tools": {"Read": "any"},
}


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (call(path="a"), {"value": "A"}),
        (call(path="b"), {"error": "no b"}),
        (call(path="c"), {"value": "any"}),
        (call(), {"value": "any"}),
        (call(visit=2, path="a"), {"value": None}),
        (call(visit=2, path="b"), {"value": "any"}),
    ],
)
def test_a_result_beside_a_call_is_that_of_this_call(effect: Call, expected: Json) -> None:
    assert answer(BESIDE, effect) == expected


def test_arguments_that_are_null_are_none_at_all() -> None:
    told = {"conversations": {"plan": [{"calls": [{"tool": "Read", "arguments": None, "result": "A"}]}]}}
    assert answer(told, call()) == {"value": "A"}


def test_a_tool_of_which_nothing_is_said_is_named() -> None:
    assert refusal({"tools": {"Reed": 1}}, call()) == (
        "'s.yaml' has no answer to the request 'r/plan#1/1.3': "
        "add 'Read' to 'tools', where there is 'Reed', or 'result' beside the call in its conversation"
    )


GRANTS: dict[str, tuple[Json, bool]] = {
    "nobody": ({}, False),
    "all": ({"grants": True}, True),
    "none": ({"grants": False}, False),
    "listed": ({"grants": ["Bash"]}, True),
    "not listed": ({"grants": ["Edit"]}, False),
    "named": ({"grants": {"Bash": True}}, True),
    "refused": ({"grants": {"Bash": False}}, False),
    "not named": ({"grants": {"Edit": True}}, False),
}


@pytest.mark.parametrize(("told", "granted"), GRANTS.values(), ids=GRANTS)
def test_grants_are_given_as_said_and_refused_otherwise(told: Json, *, granted: bool) -> None:
    effect = Grant("r/plan#1/1.1", "r/plan#1", 1, "x", "Bash", "0")
    assert answer(told, effect) == {"granted": granted}


def test_a_repeated_call_is_granted_as_the_call_that_it_repeats() -> None:
    """The last turn repeats, and the ids of its calls go on; another call with the id of one is another call."""
    rm, ls = {"command": "rm"}, {"command": "ls"}
    calls = [
        {"tool": "Bash", "arguments": rm, "granted": False},
        {"id": "x", "tool": "Bash", "arguments": ls, "granted": True},
    ]
    told: Json = {"grants": True, "conversations": {"plan": [{"calls": calls}]}}
    asked = {
        (name, str(given)): Grant("r/plan#1/1.1", "r/plan#1", 1, name, "Bash", "0", "", given)
        for name in ("0.0", "7.0", "x")
        for given in (rm, ls)
    }
    answers = {key: answer(told, effect) for key, effect in asked.items()}
    assert [each["granted"] for each in answers.values()] == [False, False, False, True, True, True]


@pytest.mark.parametrize("told", [[False, True], {"work": [False, True]}])
def test_the_work_is_judged_by_visit(told: Json) -> None:
    judgements = [answer({"judge": told}, Judge(f"r/work#{visit}/1.1", "poll:state", {}, None)) for visit in (1, 2, 3)]
    assert judgements == [{"done": False}, {"done": True}, {"done": True}]


def test_people_confirm() -> None:
    effect = Confirm("r/plan#1/1.0", "shall it run?")
    assert answer({"confirm": True}, effect) == {"yes": True}
    assert answer({"confirm": {"plan": False}}, effect) == {"yes": False}


def test_who_judges_or_confirms_must_be_told() -> None:
    judge, confirm = Judge("r/work#1/1.1", "poll:state", {}, None), Confirm("r/plan#1/1.0", "?")
    assert refusal({}, judge).endswith("add 'judge': true or false, or one of them for each visit")
    assert refusal({"judge": {"wrok": True}}, judge).endswith("add 'work' to 'judge', where there is 'wrok'")
    assert refusal({}, confirm).endswith("add 'confirm': true or false, or one of them for each visit")


def test_callables_return_what_the_scenario_says() -> None:
    told: Json = {"hooks": {"a:b": ["proceed", {"value": ["x"]}]}}
    assert answer(told, Hook("r/plan#1/1.0", "a:b", "gate")) == {"value": "proceed"}
    assert answer(told, Hook("r/plan#2/1.0", "a:b", "gate")) == {"value": ["x"]}


def test_commands_end_as_the_scenario_says() -> None:
    told: Json = {"commands": {"make 'a b'": [{}, {"exit": None, "stderr": "killed"}]}}
    ended = {"exit": 0, "stdout": "", "stderr": ""}
    assert answer(told, Run("r/work#1/1.0", ("make", "a b"), 1)) == ended
    assert answer(told, Shell("r/work#1/1.0", "make 'a b'")) == ended
    assert answer(told, Shell("r/work#2/1.0", "make 'a b'")) == {"exit": None, "stdout": "", "stderr": "killed"}


@pytest.mark.parametrize(
    "effect",
    [Run("r/k#1/1.0", ("ls",), 1), Shell("r/k#1/1.0", "ls"), Hook("r/k#1/1.0", "a:b", "gate"), Wait("r/k#1/1.0", 5)],
)
def test_what_the_scenario_leaves_open_is_left_to_the_world(effect: Effect) -> None:
    assert answer({"commands": {"rm": {}}, "hooks": {"c:d": 1}}, effect) == {"beyond": "r/k#1/1.0"}


def test_waits_may_be_skipped() -> None:
    assert answer({"waits": "skip"}, Wait("r/k#1/1.0", 60_000)) == {}


@pytest.mark.parametrize(("told", "passed"), [({"pace": 5}, [5]), ({"pace": 5, "waits": "skip"}, []), ({}, [])])
def test_answers_of_models_may_take_their_time(told: dict[str, Json], passed: list[int]) -> None:
    seen: list[int] = []

    class Clock(Beyond):
        def answer(self, effect: Run | Shell | Hook | Wait) -> Json:
            assert isinstance(effect, Wait)
            seen.append(effect.milliseconds)
            return {}

    world = ScriptedWorld(parse_scenario({**told, "answers": {"draft": {}}, "tools": {"Read": 1}}, "s"), Clock())
    world.answer(ask())
    world.answer(call())
    assert seen == passed


def test_answers_of_models_take_the_time_that_the_scenario_says() -> None:
    waited: list[Wait] = []

    class Clock:
        def answer(self, effect: Effect) -> Json:
            assert isinstance(effect, Wait)
            waited.append(effect)
            return {}

    told: Json = {"answers": {"work": [{"x": 1}]}, "tools": {"Read": "x"}, "pace": 30}
    world = ScriptedWorld(parse_scenario(told, "s.yaml"), Clock())
    assert world.answer(Ask("r/work#1/1.0", "Do.")) == {"answer": {"x": 1}}
    assert world.answer(Call("r/work#1/1.1", "Read", {})) == {"value": "x"}
    assert waited == [Wait("r/work#1/1.0", 30)]
