"""Scenarios that cannot be meant for a plan."""

from __future__ import annotations

import pytest
from playable import stages, steps

from stagec.core.json import Json
from stagec.ir.plan import Plan
from stagec.runtime.world.scenario import find_mistakes, list_hook_calls, parse_scenario

STEPS, STAGES = steps(), stages(hooks={"gate": "review:gate", "exit": "review:leave"})


def told(plan: Plan, given: Json) -> list[tuple[str, str]]:
    return [("/".join(map(str, each.pointer)), each.told) for each in find_mistakes(parse_scenario(given, "s"), plan)]


def test_what_fits_fits() -> None:
    assert told(STEPS, {"entry": "late", "inputs": {"topic": 1}, "answers": {"draft": 1, "close": 2}}) == []
    assert told(STAGES, {"conversations": {"plan": []}, "confirm": {"plan": True}, "hooks": {"review:gate": 1}}) == []


def test_callables_are_named_once() -> None:
    assert list_hook_calls(STAGES) == ("review:gate", "review:leave")


WRONG: dict[str, tuple[Plan, Json, tuple[str, str]]] = {
    "entry": (STEPS, {"entry": "lat"}, ("entry", "there is no entry 'lat'; did you mean 'late'?")),
    "input": (STEPS, {"inputs": {"topik": 1}}, ("inputs/topik", "there is no input 'topik'; did you mean 'topic'?")),
    "step": (STEPS, {"answers": {"drfat": 1}}, ("answers/drfat", "there is no step 'drfat'; did you mean 'draft'?")),
    "stage": (STAGES, {"conversations": {"x": []}}, ("conversations/x", "there is no stage 'x'")),
    "judged step": (STEPS, {"judge": {"x": True}}, ("judge/x", "there is no step 'x'")),
    "callable": (
        STAGES,
        {"hooks": {"review:gat": 1}},
        ("hooks/review:gat", "there is no hook 'review:gat'; did you mean 'review:gate'?"),
    ),
    "conversation of a step": (
        STEPS,
        {"conversations": {"draft": []}},
        ("conversations/draft", "step 'draft' has no use for 'conversations': it belongs under 'answers'"),
    ),
    "answer of a stage": (
        STAGES,
        {"answers": {"plan": 1}},
        ("answers/plan", "stage 'plan' has no use for 'answers': it belongs under 'conversations'"),
    ),
}


@pytest.mark.parametrize(("plan", "given", "expected"), WRONG.values(), ids=WRONG)
def test_what_the_plan_does_not_have_is_told(plan: Plan, given: Json, expected: tuple[str, str]) -> None:
    assert told(plan, given) == [expected]
