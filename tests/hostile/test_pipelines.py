"""Pipelines that are large, or misshapen where nobody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from campaigns import choose

MANY = choose(1_000, whole=5_000)
VALUES = [f"v{index}" for index in range(2_000)]


def stage(name: str, **members: Any) -> dict[str, Any]:
    """Make a stage object that is fine."""
    own = {"id": name, "body": f"Call t-{name}.", "turnCap": 3, "completionTool": f"t-{name}", "allowedTools": []}
    return {**own, "completionSchema": {"type": "object"}, **members}


def machine(cases: Any, schema: Any, **members: Any) -> dict[str, Any]:
    """Make a pipeline whose first stage has these cases and this schema."""
    first = stage("plan", next=cases, completionSchema={"type": "object", **schema})
    return {"entry": "plan", "stages": [first, stage("end")], **members}


def case(path: str, given: Any) -> dict[str, Any]:
    """Make a case that leads on for one value."""
    return {"when": {path: given}, "stages": ["end"]}


REST: dict[str, Any] = {"stages": []}
TEXT = {"properties": {"v": {"type": "string"}}}
CHECKS = {"plan": [{"when": {"parsed.v": f"v{index}"}, "verdict": "fail"} for index in range(MANY)]}
LARGE: dict[str, dict[str, Any]] = {
    "a chain": {
        "entry": "s0",
        "stages": [stage(f"s{at}", next=f"s{at + 1}") for at in range(MANY)] + [stage(f"s{MANY}")],
    },
    "cases of one text": machine([*(case("parsed.v", f"v{index}") for index in range(MANY)), REST], TEXT),
    "cases of as many paths": machine([*(case(f"parsed.v{index}", 1) for index in range(MANY)), REST], {}),
    "the same case": machine([case("parsed.v", 1) for _ in range(MANY)] + [REST], {}),
    "cases that are impossible": machine(
        [*(case("parsed.v", f"w{index}") for index in range(MANY)), REST], {"properties": {"v": {"enum": VALUES}}}
    ),
    "checks of one text": machine("end", TEXT, checks=CHECKS),
    "siblings": {
        "entry": "plan",
        "stages": [
            stage("plan", next={"stages": VALUES, "execution": "parallel", "join": "end"}),
            *map(stage, VALUES),
            stage("end"),
        ],
    },
    "stages by names that are nearly theirs": {
        "entry": "plan", "stages": [stage("plan")], "next": {f"plan{index}": "plan" for index in range(3_000)},
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_pipeline_costs_seconds_and_not_minutes(
    kind: str, attack: Callable[..., Any], write: Callable[..., Any]
) -> None:
    write("pipeline.json", LARGE[kind])
    attack(seconds=4.0, megabytes=400.0)


ODD: dict[str, dict[str, Any]] = {
    "a hook whose kind is an object": {"loopHooks": [{"stage": "RECEIVE_INPUT", "when": "pre", "kind": {"a": 1}}]},
    "a hook whose slot is a list": {"loopHooks": [{"stage": ["RECEIVE_INPUT"], "when": {}, "kind": "guard"}]},
    "a stage called 0": {"checks": {"0": {"a": 1}}, "next": {"0": 5, "": {"": []}}},
    "nothing in braces": {"stages": [stage("plan", body="t-plan ${ctx.} ${stage[} ${ctx[0]} {{ctx.}} {{stage.}}")]},
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_member_crashes_nothing(kind: str, attack: Callable[..., Any], write: Callable[..., Any]) -> None:
    write("pipeline.json", {"entry": "plan", "stages": [stage("plan")], **ODD[kind]})
    attack(seconds=2.0)
