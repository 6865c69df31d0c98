"""What a stage becomes in a plan: its prompt, its retries and its admission."""

from __future__ import annotations

import json
from typing import Any

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.core.json import Json
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Hole, Text
from stagec.ir.plan.gate import Admission, Among, Backoff, Exists, Retry

GATE = "gate: {plan: {defer: {branch: [main, trunk]}, block: {ctx.frozen.since: {present: true}}}}\n"
DEFER = (Among(("ctx", "branch"), ("main", "trunk")),)
BLOCK = (Exists(("ctx", "frozen", "since"), present=True),)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("{maxAttempts: 1, backoff: none}", Retry(1, Backoff())),
        ("{maxAttempts: 3.0, backoff: 'fixed:500'}", Retry(3, Backoff("fixed", 500))),
        ("{maxAttempts: 2, backoff: 'exponential:0010'}", Retry(2, Backoff("exponential", 10))),
        ("{maxAttempts: 2, backoff: 'fixed:0'}", Retry(2, Backoff("fixed", 0))),
        ("{maxAttempts: 2, backoff: 'fixed:'}", Retry(2, Backoff())),
        ("{maxAttempts: 2, backoff: soon}", Retry(2, Backoff())),
        ("{maxAttempts: 1.0e+300, backoff: 'fixed:" + "9" * 5000 + "'}", Retry(2**53 - 1, Backoff("fixed", 2**53 - 1))),
    ],
    ids=lambda each: str(each)[:40],
)
def test_how_often_a_stage_is_tried_and_how_long_it_waits(project: Freezing, written: str, meant: Retry) -> None:
    assert project(markdown(retryPolicy=written)).nodes["plan"].retry == meant


def test_a_stage_that_says_nothing_of_trying_again_is_tried_once(machine: Freezing) -> None:
    assert machine(stage("plan")).nodes["plan"].retry is None


@pytest.mark.parametrize(
    ("policy", "on_defer", "on_block"),
    [
        ("retry-later", "retry-later", "retry-later"),
        ("skip", "skip", "skip"),
        ("fail", "fail", "fail"),
        ("ask", "ask", "ask"),
        ("whatever", "fail", "fail"),
        ("{defer: skip, block: retry-later}", "skip", "retry-later"),
        ("{defer: retry-later}", "retry-later", "fail"),
        ("{block: ask}", "fail", "ask"),
        ("{defer: no, block: skip}", "fail", "skip"),
    ],
)
def test_what_happens_when_a_gate_defers_or_blocks(
    project: Freezing, policy: str, on_defer: str, on_block: str
) -> None:
    found = project(markdown(resolutionPolicy=policy.replace("no,", "'no',")), GATE).nodes["plan"].admission
    assert found == Admission(on_defer, on_block, DEFER, BLOCK)


def test_a_stage_without_a_gate_is_admitted_whatever_its_policy(project: Freezing) -> None:
    assert project(markdown(resolutionPolicy="ask")).nodes["plan"].admission is None


def test_a_gate_may_say_one_thing_only(project: Freezing) -> None:
    found = project(markdown(), "gate: {plan: {defer: {branch: main}, comment: why}}\n").nodes["plan"].admission
    assert found == Admission("fail", "fail", (Among(("ctx", "branch"), ("main",)),))


def test_a_gate_with_a_remark_alone_is_none(project: Freezing) -> None:
    assert project(markdown(), "gate: {plan: {comment: none yet}}\n").nodes["plan"].admission is None


def test_a_hook_is_a_gate(project: Freezing) -> None:
    node = project(markdown(resolutionPolicy="skip"), "hooks: {plan: {gate: 'a.b:c'}}\n").nodes["plan"]
    assert (node.admission, node.hooks) == (Admission("skip", "skip"), {"gate": "a.b:c"})


def test_a_stage_object_without_a_policy_fails(machine: Freezing) -> None:
    gate: Json = {"plan": {"block": {"workflowRunId": "x"}}}
    found = machine(stage("plan"), gate=gate).nodes["plan"].admission
    assert found == Admission("fail", "fail", (), (Among(("ctx", "workflowRunId"), ("x",)),))


def test_a_name_of_the_context_that_is_called_so_is_no_word_of_templates(project: Freezing) -> None:
    found = project(markdown(), "context: {ctx: {}}\ngate: {plan: {defer: {ctx.a: 1}}}\n").nodes["plan"].admission
    assert found is not None
    assert found.defer == (Among(("ctx", "ctx", "a"), (1,)),)


def test_hooks_are_callables_by_phase_and_nothing_else(project: Freezing) -> None:
    hooks = {"setup": "a:b", "gate": "a:c", "assert": "a.d:e", "exit": "f:g", "comment": "x:y", "later": "x:z"}
    node = project(markdown(), f"hooks: {{plan: {json.dumps(hooks)}}}\n").nodes["plan"]
    assert node.hooks == {"setup": "a:b", "gate": "a:c", "assert": "a.d:e", "exit": "f:g"}


def test_hooks_of_the_pipeline_win_over_none_of_the_stage(project: Freezing) -> None:
    assert project(markdown(stagec="{hooks: {exit: 'a:b'}}")).nodes["plan"].hooks == {"exit": "a:b"}


def shown(plan: Plan, name: str = "plan") -> list[Any]:
    """Return a prompt with its texts in place of their names, and its holes as paths."""
    act: Any = plan.nodes[name].act
    return [plan.contents[each.content] if isinstance(each, Text) else each.path for each in act.prompt]


def test_what_is_read_of_the_context_is_a_hole_and_all_else_stands_as_it_is(project: Freezing) -> None:
    body = "\nDo {{ctx.task}} at {{ ctx.place[0].to-do }},\r\nsee ${VAR}.\n"
    assert shown(project(markdown(body))) == [
        "\nDo ",
        ("ctx", "task"),
        " at ",
        ("ctx", "place", 0, "to-do"),
        ",\r\nsee ${VAR}.\n",
    ]


def test_an_escape_is_two_braces_of_the_text_it_stands_in(project: Freezing) -> None:
    body = """${{"{{"}} github.ref }} of {{ctx.task}}{{ '{{' }}{raw}}}{{"{{"}}ctx.task}} {{stage.id}}"""
    assert shown(project(markdown(body))) == [
        "${{ github.ref }} of ",
        ("ctx", "task"),
        "{{{raw}}}{{ctx.task}} plan",
    ]


def test_holes_that_touch_have_no_text_between_them(project: Freezing) -> None:
    assert shown(project(markdown("{{ctx.a}}{{ctx.a}}"))) == [("ctx", "a"), ("ctx", "a")]


def test_results_of_other_stages_are_read_by_index(machine: Freezing) -> None:
    plan = machine(stage("a", next="b"), stage("b", body="${ctx.upstream} ${ctx.workflowRunId}"))
    assert shown(plan, "b") == [("ctx", "upstream"), " ", ("ctx", "workflowRunId")]


@pytest.mark.parametrize(
    ("placeholder", "text"),
    [
        ("{{stage.id}}", "plan"),
        ("{{stage.name}}", "Plan it"),
        ("{{stage.turnCap}}", "3"),
        ("{{stage.extra.on}}", "true"),
        ("{{stage.extra.none}}", ""),
        ("{{stage.extra.list[1]}}", "ä"),
        ("{{stage.extra}}", '{"on":true,"none":null,"list":[1.5,"ä",2]}'),
    ],
)
def test_what_a_stage_says_of_itself_is_put_in(project: Freezing, placeholder: str, text: str) -> None:
    given = markdown(f"<{placeholder}>", extra="{on: true, none: null, list: [1.5, ä, 2.0]}")
    assert shown(project(given)) == [f"<{text}>"]


def test_placeholders_of_a_stage_object_are_found_in_their_order(machine: Freezing) -> None:
    body = "${ctx.a} $${ctx.a} ${ctx.b}${ctx.a} ${other} {{ctx.a}}"
    assert shown(machine(stage("plan", body=body))) == [
        ("ctx", "a"),
        " $",
        ("ctx", "a"),
        " ",
        ("ctx", "b"),
        ("ctx", "a"),
        " ${other} {{ctx.a}}",
    ]


def test_the_way_of_the_other_form_stays_as_it_is(project: Freezing) -> None:
    assert shown(project(markdown("${ctx.a} {{ctx.a}}"))) == ["${ctx.a} ", ("ctx", "a")]


def test_a_stage_without_a_prompt_has_an_empty_template(project: Freezing, machine: Freezing) -> None:
    assert shown(project(markdown(""))) == []
    assert shown(machine(stage("plan", body=""))) == []


def test_a_byte_order_mark_is_no_part_of_a_prompt(project: Freezing) -> None:
    assert shown(project("\ufeff" + markdown("Ä {{ctx.a}}"))) == ["Ä ", ("ctx", "a")]


def test_a_text_that_several_prompts_share_is_kept_once(machine: Freezing) -> None:
    plan = machine(stage("a", body="Same ${ctx.x}", next="b"), stage("b", body="Same ${ctx.y}"))
    first: Any
    second: Any
    first, second = (plan.nodes[name].act for name in "ab")
    assert first.prompt[0] == second.prompt[0]
    assert first.prompt[1] == Hole(("ctx", "x"))
