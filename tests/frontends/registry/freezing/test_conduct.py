"""Which tools, which model and which permission mode steps have."""

from __future__ import annotations

from typing import Any

import pytest

from stagec.plan.surroundings import Tool

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
