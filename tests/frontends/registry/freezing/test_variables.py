"""Where the variables of prompts come from, and what comes first."""

from __future__ import annotations

from typing import Any

from stagec.core.json import Json
from stagec.ir.plan.act import Carried, Given, Provided
from stagec.ir.plan.document import Input

PROMPT = "prompts/steps/initial/a/f_default.md"
TAKES: Json = {"issue": {"type": "number"}}


def supplied(flows: Any, step: dict[str, Any], prompt: str = "", **given: Any) -> Any:
    """Return where the variables of a step come from that follows another."""
    steps = {"initial.a": step, "initial.x.y": {"c3": "x"}}
    plan = flows.compile(steps, files={PROMPT: prompt}, **given).meanings[0].plan()
    return plan.nodes["initial.a"].act.variables


def test_a_parameter_of_the_agent_comes_first(flows: Any) -> None:
    step = {"uvVariables": ["issue"], "inputs": {"issue": {"from": "initial.x.y.issue"}}}
    assert supplied(flows, step, agent={"takes": TAKES})["issue"] == Given("issue")


def test_the_runner_comes_before_what_is_handed_over(flows: Any) -> None:
    step = {"uvVariables": ["iteration"], "inputs": {"iteration": {"from": "initial.x.y.key"}}}
    assert supplied(flows, step)["iteration"] == Provided("iteration")


def test_a_parameter_may_have_a_name_of_the_runner_s(flows: Any) -> None:
    takes = {"repository": {"type": "string"}}
    assert supplied(flows, {"uvVariables": ["repository"]}, agent={"takes": takes}) == {
        "repository": Given("repository")
    }


def test_what_is_handed_over_is_a_variable_named_for_its_source(flows: Any) -> None:
    step = {"uvVariables": ["initial_x_y_key"], "inputs": {"k": {"from": "initial.x.y.key"}}}
    assert supplied(flows, step) == {"initial_x_y_key": Carried("initial.x.y", "key")}


def test_and_one_with_its_own_name(flows: Any) -> None:
    step = {"inputs": {"k": {"from": "initial.x.y.key", "required": False, "default": [1]}}}
    assert supplied(flows, step, "{uv-k}") == {"k": Carried("initial.x.y", "key", required=False, default=[1])}


def test_what_no_prompt_reads_is_handed_over_all_the_same(flows: Any) -> None:
    step = {"inputs": {"k": {"from": "initial.x.y.key"}}}
    assert supplied(flows, step) == {"initial_x_y_key": Carried("initial.x.y", "key")}


def test_what_comes_from_no_step_has_to_be_given(flows: Any) -> None:
    inputs = {"a": {"from": "nowhere.key"}, "b": {"from": "key"}, "c": {"from": "section.a.key"}}
    steps = {"initial.a": {"uvVariables": [*inputs], "inputs": inputs}, "section.a": {}}
    plan = flows.compile(steps, files={PROMPT: "{uv-a} {uv-b} {uv-c}"}).meanings[0].plan()
    assert plan.nodes["initial.a"].act.variables == {"a": Given("a"), "b": Given("b"), "c": Given("c")}


def test_a_source_may_be_named_by_its_id(flows: Any) -> None:
    steps = {"initial.a": {"inputs": {"k": {"from": "b.key"}}}, "initial.b": {"stepId": "b"}}
    plan = flows.compile(steps).meanings[0].plan()
    assert plan.nodes["initial.a"].act.variables == {"b_key": Carried("initial.b", "key")}


def test_everything_else_has_to_be_given(flows: Any) -> None:
    assert supplied(flows, {"uvVariables": ["uv-topic", "topic", ""]}, "{uv-more}") == {
        "topic": Given("topic"),
        "more": Given("more"),
    }


def test_what_has_to_be_given_is_an_input_of_the_run(flows: Any) -> None:
    steps = {"initial.a": {"uvVariables": ["issue", "topic", "iteration"]}}
    plan = flows.compile(steps, agent={"takes": TAKES}).meanings[0].plan()
    assert {name: each.required for name, each in plan.inputs.items()} == {"topic": True, "issue": True}
    assert plan.inputs["topic"] == Input(required=True)


def test_declared_variables_are_needed_in_their_order(flows: Any) -> None:
    step = {"uvVariables": ["uv-b", "a", "b", "a"]}
    plan = flows.plan({"initial.a": step}, files={PROMPT: "{uv-c}"})
    assert plan.nodes["initial.a"].act.needed == ("b", "a")
