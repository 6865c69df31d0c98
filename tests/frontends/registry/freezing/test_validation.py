"""What must hold before a closure step may close, and what follows when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from stagec.core.json import Json
from stagec.ir.plan.act import Choice, Hole
from stagec.ir.plan.document import Success, Validator
from stagec.ir.plan.gate import Condition, Validation

END: dict[str, Any] = {"transitions": {"closing": {"target": None}, "repeat": {"target": "closure.a"}}}
CLEAN: Json = {"type": "command", "command": "git status", "successWhen": "empty", "failurePattern": "dirty"}
DIRTY: Json = {"description": "It is.", "edition": "failed", "adaptation": "dirty"}
OWN, GENERAL = "prompts/steps/retry/a/f_failed_dirty.md", "prompts/steps/retry/a/f_failed.md"


def guard(*conditions: Any, **members: Json) -> Json:
    """Return what guards a step: conditions, or the names of their validators."""
    listed = [each if isinstance(each, dict) else {"validator": each} for each in conditions]
    return {"stepId": "closure.a", "name": "A", "c2": "retry", "c3": "a", "validationConditions": listed, **members}


def guarded(flows: Any, body: Json, files: dict[str, str], **members: Any) -> Any:
    """Return the plan of a flow whose one step is guarded."""
    given: dict[str, Any] = {
        "validators": {"clean": CLEAN},
        "failurePatterns": {"dirty": DIRTY},
        "validationSteps": {"closure.a": body},
    }
    compilation = flows.compile({"closure.a": END, "initial.a": {}}, files=files, **{**given, **members})
    return compilation.meanings[0].plan()


def test_a_closure_step_is_guarded_by_what_has_its_name(flows: Any, shown: Any) -> None:
    plan = guarded(flows, guard("clean"), {OWN: "---\na: b\n---\nClean up: {{#if files}}{{files}}{{/if}}"})
    found = plan.nodes["closure.a"].validation
    assert (found.conditions, found.action, found.attempts) == ((Condition("clean"),), "retry", 3)
    choice = Choice(("failure", "files"), (Hole(("failure", "files")),))
    assert shown(found.prompts["dirty"], plan.contents) == ("Clean up: ", choice)
    assert plan.nodes["initial.a"].validation is None


def test_conditions_keep_their_order_and_their_parameters(flows: Any) -> None:
    body = guard("clean", {"validator": "clean", "params": {"path": "src", "deep": {"n": 1}}})
    plan = guarded(flows, body, {OWN: "x"})
    assert plan.nodes["closure.a"].validation.conditions == (
        Condition("clean"),
        Condition("clean", {"path": "src", "deep": {"n": 1}}),
    )


def test_the_step_says_what_a_failure_leads_to(flows: Any) -> None:
    plan = guarded(flows, guard("clean", onFailure={"action": "retry", "maxAttempts": 5}), {OWN: "x"})
    found = plan.nodes["closure.a"].validation
    assert (found.action, found.attempts, [*found.prompts]) == ("retry", 5, ["dirty"])


@pytest.mark.parametrize("action", ["abort", "skip"])
def test_what_is_not_tried_again_needs_no_prompt(flows: Any, action: str) -> None:
    plan = guarded(flows, guard("clean", onFailure={"action": action}), {OWN: "x"})
    assert plan.nodes["closure.a"].validation == Validation((Condition("clean"),), action)


def test_a_general_prompt_serves_every_pattern_without_its_own(flows: Any, shown: Any) -> None:
    plan = guarded(flows, guard("clean"), {GENERAL: "Again."})
    assert shown(plan.nodes["closure.a"].validation.prompts["dirty"], plan.contents) == ("Again.",)
    other = guarded(flows, guard("clean"), {GENERAL: "Again."}, failurePatterns={"dirty": {**DIRTY, "edition": "x"}})
    assert shown(other.nodes["closure.a"].validation.prompts["dirty"], other.contents) == ("Again.",)


def test_a_pattern_without_any_prompt_has_none(flows: Any) -> None:
    assert guarded(flows, guard("clean"), {}).nodes["closure.a"].validation.prompts == {}


def test_a_member_that_nobody_knows_hides_no_prompt(flows: Any) -> None:
    plan = guarded(flows, guard("clean"), {OWN: "x"}, failurePatterns={"dirty": {**DIRTY, "adaption": "y"}})
    assert [*plan.nodes["closure.a"].validation.prompts] == ["dirty"]


def test_what_has_no_conditions_guards_nothing(flows: Any) -> None:
    plan = guarded(flows, guard(), {})
    assert (plan.nodes["closure.a"].validation, plan.validators) == (None, {})


def test_the_validators_are_those_that_conditions_name(flows: Any) -> None:
    unused = {**CLEAN, "command": "true"}
    extracting = {**CLEAN, "extractParams": {"files": "parseChangedFiles"}}
    plan = guarded(flows, guard("clean"), {OWN: "x"}, validators={"unused": unused, "clean": extracting})
    assert plan.validators == {
        "clean": Validator("git status", Success("empty"), "dirty", {"files": "parseChangedFiles"})
    }


@pytest.mark.parametrize(
    ("written", "success"),
    [
        ("empty", Success("empty")),
        ("exitCode:0", Success("exit", "0")),
        ("exitCode: +012 or so", Success("exit", "12")),
        ("exitCode:-0", Success("exit", "0")),
        ("exitCode:-1", Success("exit", "-1")),
        (f"exitCode:{'9' * 5000}", Success("exit", "9" * 5000)),
        ("contains:all: good", Success("contains", "all: good")),
        ("matches:^\\d+$", Success("matches", "^\\d+$")),
        ("exitCode:", Success("matches", r"[^\s\S]")),
        ("contains", Success("matches", r"[^\s\S]")),
        ("non-empty", Success("matches", r"[^\s\S]")),
        ("empty:", Success("matches", r"[^\s\S]")),
        ("", Success("matches", r"[^\s\S]")),
    ],
)
def test_success_is_what_is_written_and_other_words_are_never_met(flows: Any, written: str, success: Success) -> None:
    plan = guarded(flows, guard("clean"), {OWN: "x"}, validators={"clean": {**CLEAN, "successWhen": written}})
    assert plan.validators["clean"].success == success
