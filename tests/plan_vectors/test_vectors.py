"""The plans and traces of this folder are current, and a runner written from the page alone gets the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plan_vectors.files import RefusedError, read
from plan_vectors.proved import facts
from plan_vectors.rewrite import FOLDER, plans, traces
from plan_vectors.runner import Run
from plan_vectors.writing import framed

PLANS = sorted(FOLDER.glob("*/plan.json"))
TRACES = sorted(FOLDER.glob("*/*.trace.json"))
CODE_REVIEW = (FOLDER / "code-review" / "plan.json").read_bytes()
KINDS = ("ask", "turn", "call", "grant", "confirm", "wait", "run", "shell", "judge", "execute", "publish")
KINDS += ("preserve", "interrupt")
REASONS = (
    "stop",
    "limit",
    "cancelled",
    "entry",
    "inputs",
    "cannot-start",
    "answer",
    "command",
    "intent",
    "abort",
    "no-edge",
    "join",
    "fork",
    "validation",
    "preflight",
    "repeats",
    "consent",
    "deadline",
)
"""All kinds of requests and all reasons that the page of this folder names."""

every_plan = pytest.mark.parametrize("path", PLANS, ids=lambda path: path.parent.name)


def steps() -> Iterator[Any]:
    return (step for path in TRACES for step in json.loads(path.read_text(encoding="utf-8")))


def payload() -> Any:
    return json.loads(CODE_REVIEW)["plan"]


def refusal(data: bytes) -> str:
    with pytest.raises(RefusedError) as caught:
        read(data)
    return str(caught.value)


def test_the_plans_are_those_that_the_sources_compile_to() -> None:
    assert {path.parent.name: path.read_bytes() for path in PLANS} == plans()


def test_the_traces_are_those_of_the_scenarios() -> None:
    assert {path: path.read_text(encoding="utf-8") for path in TRACES} == dict(traces())


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_the_runner_needs_nothing_but_the_events(path: Path) -> None:
    _, plan = read((path.parent / "plan.json").read_bytes())
    run = Run(plan)
    for step in json.loads(path.read_text(encoding="utf-8")):
        run.tell(step["event"])
        assert run.state() == step["state"]


@every_plan
def test_every_plan_has_a_trace_that_goes_well_and_some_that_do_not(path: Path) -> None:
    ends = [
        json.loads(each.read_text(encoding="utf-8"))[-1]["state"]["ended"] for each in path.parent.glob("*.trace.json")
    ]
    assert {"done", "failed"} <= {*ends}
    assert len(ends) >= 3


@every_plan
def test_the_facts_follow_from_the_plan(path: Path) -> None:
    _, plan = read(path.read_bytes())
    assert json.loads(json.dumps(facts(plan))) == plan["facts"]


def test_every_kind_of_request_is_made_and_answered() -> None:
    kinds = {request["is"] for step in steps() for request in step["asked"]}
    answered: set[str] = set()
    for path in TRACES:
        trace = json.loads(path.read_text(encoding="utf-8"))
        asked = {request["key"]: request["is"] for step in trace for request in step["asked"]}
        answered |= {asked[step["event"]["to"]] for step in trace if step["event"]["is"] == "answer"}
    assert answered == kinds == {*KINDS}


def test_every_reason_to_end_occurs() -> None:
    assert {step["state"]["reason"] for step in steps()} == {*REASONS, None}


def test_every_trace_ends() -> None:
    ends = {path: json.loads(path.read_text(encoding="utf-8"))[-1]["state"]["ended"] for path in TRACES}
    assert [path for path, ended in ends.items() if ended is None] == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xef\xbb\xbf" + CODE_REVIEW,
        CODE_REVIEW[:-1],
        CODE_REVIEW + b"\n",
        CODE_REVIEW.replace(b',"plan":', b', "plan":'),
    ],
    ids=["empty", "byte order mark", "no line feed", "two line feeds", "a blank"],
)
def test_a_file_without_the_frame_is_refused(data: bytes) -> None:
    assert refusal(data) == "this is no plan"


def test_a_file_that_was_changed_is_refused() -> None:
    assert refusal(CODE_REVIEW.replace(b"Code review", b"Code Review")) == "the digest is another one"


@pytest.mark.parametrize(
    ("member", "value", "sentence"),
    [
        ("is", "stagec.plan/2", "the format is not known"),
        ("more", 1, "plan.more is not known"),
        ("id", 1, "plan.id is not text"),
        ("entries", ["plan"], "plan.entries is not non-empty object of text or [Schedule](#schedule)"),
        ("limits", {"executions": True}, "plan.limits.executions is not positive whole number"),
        ("limits", {"reached": "ok"}, "plan.limits.reached is not `done` or `failed`"),
        ("names", {"node": "stage"}, "plan.names.outcome is missing"),
        ("entries", {"": "nowhere"}, "nodes has no nowhere"),
        ("servers", {}, "servers has no files"),
        ("tools", {}, "tools has no Read"),
    ],
)
def test_a_plan_of_another_form_is_refused(member: str, value: Any, sentence: str) -> None:
    assert refusal(framed(payload() | {member: value})) == sentence


def test_what_is_no_json_is_refused() -> None:
    assert refusal(framed(payload() | {"entry": float("nan")})) == "the payload is no JSON"


def test_a_plan_with_hooks_is_refused_by_a_runner_that_calls_none() -> None:
    plan = payload()
    plan["nodes"]["plan"]["hooks"] = {"setup": "hooks:prepare"}
    _, read_again = read(framed(plan))
    with pytest.raises(RefusedError):
        Run(read_again)
