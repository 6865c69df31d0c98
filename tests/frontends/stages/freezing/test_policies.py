"""Trying again, and being put off."""

from __future__ import annotations

import json

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.core.json import Json
from stagec.plan.gate import Admission, Among, Backoff, Exists, Retry

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
