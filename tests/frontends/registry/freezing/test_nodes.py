"""What the steps of a registry become in a plan: acts, tools, models, permissions and gates."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from stagec.core.canonical import MOST
from stagec.core.json import Json
from stagec.ir.plan.act import Command, Given, Hole, Prompt
from stagec.ir.plan.document import Input, Tool
from stagec.ir.plan.gate import ExitGate, IntentGate, JudgeGate
from stagec.languages.registry.prompts import FALLBACK_KEYS, read_fallback

PROMPT = "prompts/steps/initial/a/f_default.md"


def asked(flows: Any, step: dict[str, Any], **given: Any) -> tuple[Any, Any]:
    """Return what a step asks for, and the texts of the plan."""
    plan = flows.plan({"initial.a": step}, **given)
    return plan.nodes["initial.a"].act, plan.contents


def test_a_step_asks_with_what_its_prompt_says_below_the_frontmatter(flows: Any, shown: Any) -> None:
    act, contents = asked(flows, {"uvVariables": ["issue"]}, files={PROMPT: "---\ntitle: X\n---\nFix {uv-issue}.\n"})
    assert shown(act.prompt, contents) == ("Fix ", Hole(("variable", "issue")), ".\n")
    assert act.variables == {"issue": Given("issue")}


def test_the_standard_input_is_an_input_of_the_run(flows: Any, shown: Any) -> None:
    plan = flows.plan({"initial.a": {"usesStdin": True}}, files={PROMPT: "{input_text}"})
    assert shown(plan.nodes["initial.a"].act.prompt, plan.contents) == (Hole(("stdin",)),)
    assert plan.inputs == {"stdin": Input()}


def test_a_prompt_of_its_own_needs_no_built_in_one(flows: Any) -> None:
    act, _ = asked(flows, {"fallbackKey": "initial_issue"})
    assert (act.prompt is None, act.builtin) == (False, None)


@pytest.mark.parametrize("key", sorted(FALLBACK_KEYS))
def test_a_built_in_prompt_takes_the_place_of_one_that_is_not_there(flows: Any, shown: Any, key: str) -> None:
    steps = {"initial.a": {"fallbackKey": key, "uvVariables": ["issue"]}, "continuation.a": {}}
    plan = flows.plan(steps, without=PROMPT)
    act = plan.nodes["initial.a"].act
    assert shown(act.prompt, plan.contents) == (read_fallback(key),)
    assert (act.builtin, act.needed, act.variables) == (None, ("issue",), {"issue": Given("issue")})


def test_every_built_in_prompt_says_something_and_none_is_said_that_has_no_name() -> None:
    data = files("stagec.languages.registry").joinpath("fallback_prompts.md").read_text("utf-8")
    assert set(re.findall(r"^## (.*)$", data, re.MULTILINE)) == FALLBACK_KEYS
    texts = [str(read_fallback(key)) for key in FALLBACK_KEYS]
    assert [text for text in texts if len(text) < 100 or "{" in text or "## " in text] == []


def test_there_is_no_built_in_prompt_of_another_name(flows: Any) -> None:
    act, _ = asked(flows, {"fallbackKey": "own"}, without="prompts")
    assert (read_fallback("own"), act.prompt, act.builtin) == (None, None, "own")


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


STEPS: dict[str, Any] = {
    "initial.a": {},
    "verification.a": {},
    "closure.a": {},
    "triage": {"c2": "other", "c3": "a"},
}


def acts(flows: Any, **given: Any) -> Any:
    """Return what a step of each kind does, and one of no kind."""
    return [node.act for node in flows.plan(STEPS, **given).nodes.values()]


def test_only_closure_steps_and_those_of_no_kind_change_what_others_see(flows: Any) -> None:
    listed = ["Read", "githubIssueClose", "githubPrMerge", "githubIssueRead", "mcp__github__github_read", "Read"]
    found = acts(flows, agent={"boundaries": {"allowedTools": listed}})
    inner = ("Read", "githubIssueRead", "mcp__github__github_read")
    every = ("Read", "githubIssueClose", "githubPrMerge", "githubIssueRead", "mcp__github__github_read")
    assert [each.tools for each in found] == [inner, inner, every, every]


def test_an_agent_may_allow_no_tool(flows: Any) -> None:
    assert [each.tools for each in acts(flows, agent={})] == [(), (), (), ()]


def test_without_an_agent_nobody_says_which_tools(flows: Any) -> None:
    assert [each.tools for each in acts(flows)] == [None, None, None, None]


def test_tools_are_known_by_what_their_names_promise(flows: Any) -> None:
    plan = flows.plan(STEPS, agent={"boundaries": {"allowedTools": ["Read", "Bash", "githubPrMerge"]}})
    assert plan.tools == {
        "Read": Tool("unknown", "read"),
        "Bash": Tool("unknown", "mutating"),
        "githubPrMerge": Tool("unknown", "unknown"),
    }


def test_the_permission_mode_follows_from_the_kind_else_from_the_agent(flows: Any) -> None:
    found = acts(flows, agent={"boundaries": {"permissionMode": "bypassPermissions"}})
    assert [each.permission for each in found] == ["acceptEdits", "plan", "acceptEdits", "bypassPermissions"]


def test_without_an_agent_a_step_of_no_kind_has_no_permission_mode(flows: Any) -> None:
    assert [each.permission for each in acts(flows)] == ["acceptEdits", "plan", "acceptEdits", None]


def test_a_step_s_own_permission_mode_comes_first(flows: Any) -> None:
    plan = flows.plan({"initial.a": {"permissionMode": "plan"}})
    assert plan.nodes["initial.a"].act.permission == "plan"


@pytest.mark.parametrize(
    ("step", "flow", "model"),
    [
        ({"model": "opus"}, {"defaultModel": "haiku"}, "opus"),
        ({}, {"defaultModel": "haiku"}, "haiku"),
        ({}, {}, "opus"),
    ],
)
def test_the_model_is_the_step_s_own_else_the_agent_s(flows: Any, step: Any, flow: Any, model: str | None) -> None:
    plan = flows.plan({"initial.a": step}, agent={"flow": flow})
    assert plan.nodes["initial.a"].act.model == model


END: dict[str, Any] = {"transitions": {"closing": {"target": None}}}
ON: Json = {"handoff": {"target": "closure.a"}}


def gate(flows: Any, given: dict[str, Any], fields: Json = None) -> Any:
    """Return the gate of a step of which some members are given."""
    steps = {"initial.a": {"transitions": ON, "structuredGate": given}, "closure.a": END}
    return flows.compile(steps, fields=fields).meanings[0].plan().nodes["initial.a"].gate


def test_a_gate_reads_the_intent_that_the_step_may_answer(flows: Any) -> None:
    assert gate(flows, {}) == IntentGate(("action",), ("handoff",))


def test_paths_are_split_at_dots_and_digits_stay_text(flows: Any) -> None:
    given = {"intentField": "next.0.action", "targetField": "next.to", "handoffFields": ["a", "b.1.c"]}
    assert gate(flows, given) == IntentGate(
        field=("next", "0", "action"),
        intents=("handoff",),
        target=("next", "to"),
        handoff=(("a",), ("b", "1", "c")),
    )


def test_the_fallback_counts_where_the_run_does_not_fail(flows: Any) -> None:
    lenient = gate(flows, {"failFast": False, "fallbackIntent": "handoff"})
    assert (lenient.fail_fast, lenient.fallback) == (False, "handoff")
    strict = gate(flows, {"fallbackIntent": "handoff"})
    assert (strict.fail_fast, strict.fallback) == (True, None)


def test_the_intents_are_those_that_are_listed_and_no_others(flows: Any) -> None:
    assert gate(flows, {"allowedIntents": ["repeat", "handoff", "abort"]}).intents == ("repeat", "handoff", "abort")


def test_a_step_without_a_gate_is_judged(flows: Any) -> None:
    assert flows.plan({"initial.a": {}}).nodes["initial.a"].gate == JudgeGate()


def test_a_program_tells_by_its_exit_status(flows: Any) -> None:
    plan = flows.plan({"closure.a": {**END, "runner": {"command": "make"}}})
    assert plan.nodes["closure.a"].gate == ExitGate()
