"""What an agent definition says of a run."""

from __future__ import annotations

from typing import Any

import pytest

from stagec.core.canonical import MOST
from stagec.core.json import Json
from stagec.ir.plan.act import Given, Hole, Provided
from stagec.ir.plan.document import Input, JudgeDefinition, Limits, Names
from stagec.ir.plan.node import Outcome

ONE: dict[str, Any] = {"initial.a": {}, "continuation.a": {}}


def test_a_plan_is_called_as_its_registry_and_its_agent(flows: Any) -> None:
    plan = flows.plan(ONE, agent={})
    assert (plan.id, plan.title, plan.version) == ("demo", "Demo", "1.0.0")
    assert plan.names == Names("step", "intent")


def test_without_an_agent_it_has_no_title_no_judge_and_no_system_prompt(flows: Any) -> None:
    plan = flows.plan(ONE)
    assert (plan.title, plan.judge, plan.system) == (None, None, None)


def test_its_parameters_are_the_inputs_of_the_run(flows: Any) -> None:
    takes: Json = {
        "issue": {"type": "number", "required": True},
        "labels": {"type": "array", "default": ["a"], "required": False},
    }
    plan = flows.plan(ONE, agent={"takes": takes})
    assert {name: (each.required, each.default) for name, each in plan.inputs.items()} == {
        "issue": (True, None),
        "labels": (False, ["a"]),
    }
    assert [plan.contents[each.schema] for each in plan.inputs.values()] == ['{"type":"number"}', '{"type":"array"}']


def test_a_parameter_may_be_called_as_the_standard_input(flows: Any) -> None:
    plan = flows.plan(
        {"initial.a": {"usesStdin": True}}, agent={"takes": {"stdin": {"type": "string", "default": "x"}}}
    )
    assert plan.inputs["stdin"].default == "x"


def test_the_judge_has_the_verdict_type_and_its_settings(flows: Any) -> None:
    verdict = {"type": "detect:keyword", "config": {"verdictKeyword": "DONE"}}
    assert flows.plan(ONE, agent={"verdict": verdict}).judge == JudgeDefinition(
        "detect:keyword", {"verdictKeyword": "DONE"}
    )


@pytest.mark.parametrize(
    ("kind", "settings", "limits"),
    [
        ("poll:state", {"maxIterations": 5}, Limits(5)),
        ("poll:state", {"maxIterations": 2.5}, Limits(3)),
        ("poll:state", {"maxIterations": 1e300}, Limits(MOST)),
        ("meta:custom", {"handlerPath": "x"}, Limits(10)),
        ("count:iteration", {"maxIterations": 5}, Limits(5, Outcome.DONE)),
    ],
)
def test_a_run_is_bounded(flows: Any, kind: str, settings: Json, limits: Limits) -> None:
    assert flows.plan(ONE, agent={"verdict": {"type": kind, "config": settings}}).limits == limits


def test_without_an_agent_it_has_the_usual_bound(flows: Any) -> None:
    assert flows.plan(ONE).limits == Limits(20)


MAPPING: Json = {"poll:state": "continuation.a", "count:check": "initial.a"}


@pytest.mark.parametrize(
    ("verdict", "members", "entry"),
    [
        ("poll:state", {"entryStepMapping": MAPPING}, "poll:state"),
        ("meta:custom", {"entryStepMapping": MAPPING, "entryStep": "initial.a"}, ""),
        ("poll:state", {}, ""),
        (None, {}, ""),
        (None, {"entryStepMapping": {"poll:state": "initial.a"}}, "poll:state"),
        (None, {"entryStepMapping": MAPPING}, None),
        (None, {"entryStepMapping": MAPPING, "entryStep": "initial.a"}, None),
    ],
)
def test_the_verdict_type_selects_the_entry(flows: Any, verdict: str | None, members: Json, entry: str | None) -> None:
    settings = {"maxIterations": 1, "handlerPath": "x"}
    agent = None if verdict is None else {"verdict": {"type": verdict, "config": settings}}
    plan = flows.plan(ONE, agent=agent, **members)
    assert plan.entry == entry
    mapped = members.get("entryStepMapping", {})
    single = {"": members.get("entryStep", "initial.a")} if not mapped or "entryStep" in members else {}
    assert plan.entries == {**single, **mapped}


def test_the_system_prompt_says_the_agent_s_name(flows: Any, shown: Any) -> None:
    text = "---\na: b\n---\nYou are {uv-agent_name}. {uv-verdict_criteria} {uv-issue} {uv-more} {x}"
    takes = {"issue": {"type": "number"}}
    plan = flows.plan(ONE, agent={"takes": takes}, files={"prompts/system.md": text})
    holes = [Hole(("variable", name)) for name in ("verdict_criteria", "issue", "more")]
    assert shown(plan.system.prompt, plan.contents) == (
        *("You are demo. ", holes[0], " ", holes[1], " ", holes[2], " {x}"),
    )
    assert plan.system.variables == {
        "verdict_criteria": Provided("verdict_criteria"),
        "issue": Given("issue"),
        "more": Given("more"),
    }
    assert plan.inputs["more"] == Input()
