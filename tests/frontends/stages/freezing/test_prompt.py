"""From the body of a stage to the template of its prompt."""

from __future__ import annotations

from typing import Any

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.plan import Plan
from stagec.plan.template import Hole, Text


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
