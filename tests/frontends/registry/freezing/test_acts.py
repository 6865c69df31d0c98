"""What steps do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stagec.plan.act import Command, Given, Prompt
from stagec.plan.document import Input
from stagec.plan.numbers import MOST
from stagec.plan.template import Hole

PROMPT = "prompts/steps/initial/a/f_default.md"


def asked(flows: Any, step: dict[str, Any], **given: Any) -> tuple[Any, Any]:
    """Return what a step asks for, and the texts of the plan."""
    plan = flows.plan({"initial.a": step}, **given)
    return plan.nodes["initial.a"].act, plan.contents


def test_a_step_asks_with_what_its_prompt_says_below_the_frontmatter(flows: Any, shown: Any) -> None:
    act, contents = asked(flows, {}, files={PROMPT: "---\ntitle: X\n---\nFix {uv-issue}.\n"})
    assert shown(act.prompt, contents) == ("Fix ", Hole(("variable", "issue")), ".\n")
    assert act.variables == {"issue": Given("issue")}


def test_the_standard_input_is_an_input_of_the_run(flows: Any, shown: Any) -> None:
    plan = flows.plan({"initial.a": {"usesStdin": True}}, files={PROMPT: "{input_text}"})
    assert shown(plan.nodes["initial.a"].act.prompt, plan.contents) == (Hole(("stdin",)),)
    assert plan.inputs == {"stdin": Input()}


def test_a_prompt_of_its_own_needs_no_built_in_one(flows: Any) -> None:
    act, _ = asked(flows, {"fallbackKey": "initial_issue"})
    assert (act.prompt is None, act.builtin) == (False, None)


def test_a_built_in_prompt_takes_the_place_of_one_that_is_not_there(flows: Any) -> None:
    steps = {"initial.a": {"fallbackKey": "initial_issue", "uvVariables": ["issue"]}, "continuation.a": {}}
    act = flows.plan(steps, without=PROMPT).nodes["initial.a"].act
    variables = {"issue": Given("issue")}
    assert act == Prompt(
        builtin="initial_issue", variables=variables, needed=("issue",), model="opus", permission="acceptEdits"
    )


def test_without_a_folder_of_prompts_no_step_has_one(flows: Any) -> None:
    act, _ = asked(flows, {}, without="prompts")
    assert act == Prompt(model="opus", permission="acceptEdits")


def test_a_member_that_nobody_knows_hides_no_prompt(flows: Any, shown: Any) -> None:
    act, contents = asked(flows, {"editon": "x"})
    assert shown(act.prompt, contents) == ("Go.",)


def test_a_step_asks_for_what_its_schema_says(flows: Any) -> None:
    step = {"outputSchemaRef": {"file": "o.json", "schema": "out"}}
    schema = {"type": "object", "properties": {"b": {}, "a": {"type": "string"}}}
    act, contents = asked(flows, step, files={"schemas/o.json": json.dumps({"out": schema})})
    found = json.loads(contents[act.schema])
    assert (found["properties"], [*found["properties"]]) == (schema["properties"], ["b", "a"])


def test_without_a_schema_it_asks_for_any_answer(flows: Any) -> None:
    assert asked(flows, {})[0].schema is None


def command(flows: Any, **runner: Any) -> tuple[Command, Any]:
    plan = flows.plan({"closure.a": {"runner": runner}}, without="prompts/steps")
    act = plan.nodes["closure.a"].act
    assert isinstance(act, Command)
    return act, plan


def test_a_closure_step_may_run_a_program(flows: Any, shown: Any) -> None:
    act, plan = command(flows, command="merge it", args=["--pr", "${context.pr}-${context.to}", ""], timeout=1500.2)
    assert [shown(each, plan.contents) for each in act.words] == [
        ("merge it",),
        ("--pr",),
        (Hole(("input", "pr")), "-", Hole(("input", "to"))),
        (),
    ]
    assert act.milliseconds == 1501
    assert plan.inputs == {"pr": Input(), "to": Input()}


@pytest.mark.parametrize(("timeout", "milliseconds"), [({}, 30_000), ({"timeout": 0.1}, 1), ({"timeout": 1e300}, MOST)])
def test_a_program_has_half_a_minute_where_nobody_says(flows: Any, timeout: Any, milliseconds: int) -> None:
    assert command(flows, command="make", **timeout)[0].milliseconds == milliseconds


def test_steps_that_do_the_same_share_their_act(flows: Any) -> None:
    steps = {f"initial.{name}": {"c3": "a", "uvVariables": ["issue"]} for name in "abc"}
    acts = [node.act for node in flows.plan(steps).nodes.values()]
    assert acts[0] is acts[1] is acts[2]


def test_what_differs_is_not_shared(flows: Any) -> None:
    steps: dict[str, Any] = {"initial.a": {}, "initial.b": {"model": "haiku"}, "initial.c": {"uvVariables": ["x"]}}
    acts = [node.act for node in flows.plan({key: {"c3": "a", **step} for key, step in steps.items()}).nodes.values()]
    assert [(each.model, each.needed) for each in acts] == [("opus", ()), ("haiku", ()), ("opus", ("x",))]
