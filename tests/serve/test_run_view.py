"""What a run says of itself while it goes on: nodes, lines, transcripts, rows."""

from __future__ import annotations

from typing import Any

import pytest
from playable import steps
from serve.asking import make_stages

from stagec.ir.plan import dump
from stagec.ir.plan.act import Converse
from stagec.runtime.machine import Answered, Cancelled, Started, load
from stagec.runtime.machine.exchange import Rewound, Turn, part_key
from stagec.runtime.serve.run_api import describe_visits
from stagec.runtime.serve.run_view import RunDrawing, RunView


@pytest.fixture
def view() -> RunView:
    """Begin a run of a plan with a fork and a join."""
    program = load(dump(make_stages()))
    view = RunView(program, RunDrawing(program.plan))
    view.take(Started("one", None, {"task": "everything"}))
    return view


def open_turn(view: RunView, node: str) -> Turn:
    return next(each for each in view.state.pending.values() if isinstance(each, Turn) and f"/{node}#" in each.key)


def hand_in(view: RunView, node: str, result: object) -> None:
    act = view.program.plan.nodes[node].act
    assert isinstance(act, Converse)
    usage = {"model": "m", "input": 10, "output": 5, "requests": 1, "cost": "0.01"}
    calls = [{"id": "1", "tool": act.completion, "arguments": result}]
    view.take(Answered(open_turn(view, node).key, {"text": f"{node} says", "calls": calls, "usage": usage}))


def statuses(view: RunView) -> dict[str, str]:
    nodes: Any = view.describe_flow()["nodes"]
    return {each["node"]: each["status"] for each in nodes if each["node"] is not None}


def taken(view: RunView) -> set[tuple[str, str]]:
    flow: Any = view.describe_flow()
    names = [box.id.removeprefix("node:") for box in view.drawing.boxes]
    return {(names[each["source"]], names[each["target"]]) for each in flow["edges"] if each["taken"]}


def test_nodes_and_lines_follow_the_run(view: RunView) -> None:
    assert statuses(view) == {"plan": "active", "lint": "idle", "test": "idle", "review": "idle"}
    assert taken(view) == {("start:plan", "plan")}
    hand_in(view, "plan", {"steps": []})
    assert statuses(view) == {"plan": "visited", "lint": "active", "test": "active", "review": "idle"}
    hand_in(view, "lint", {})
    assert statuses(view) == {"plan": "visited", "lint": "visited", "test": "active", "review": "idle"}
    hand_in(view, "test", {})
    assert statuses(view)["review"] == "active"
    ways = {("start:plan", "plan"), ("plan", "lint"), ("plan", "test"), ("lint", "review"), ("test", "review")}
    assert taken(view) == ways
    hand_in(view, "review", {"done": True})
    assert taken(view) == ways | {("review", "done")}
    assert view.describe_flow()["ended"] == "done"
    assert "active" not in statuses(view).values()


def test_nothing_acts_while_nobody_executes_the_run(view: RunView) -> None:
    hand_in(view, "plan", {"steps": []})
    nodes: Any = view.describe_flow(is_executed=False)["nodes"]
    found = {each["node"]: each["status"] for each in nodes if each["node"] is not None}
    assert found == {"plan": "visited", "lint": "interrupted", "test": "interrupted", "review": "idle"}


def test_a_loop_is_counted(view: RunView) -> None:
    for _ in range(2):
        hand_in(view, "plan", {"steps": []})
        hand_in(view, "lint", {})
        hand_in(view, "test", {})
        hand_in(view, "review", {"severity": "high"})
    flow: Any = view.describe_flow()
    visits = {each["node"]: each["visits"] for each in flow["nodes"]}
    assert visits["plan"] == 3
    assert visits["review"] == 2
    assert max(each["taken"] for each in flow["edges"]) == 2


def test_a_run_that_fails_says_where(view: RunView) -> None:
    hand_in(view, "plan", {"steps": []})
    view.take(Cancelled("enough"))
    assert view.state.ended == "failed"
    failure: Any = view.describe_failure()
    assert failure["kind"] == "cancelled"
    assert failure["sentence"].endswith("cancelled: enough")
    assert statuses(view)[failure["node"]] == "failed"


def test_what_was_used_is_added_up(view: RunView) -> None:
    hand_in(view, "plan", {"steps": []})
    hand_in(view, "lint", {})
    told = view.describe_budget({"max-tokens": "100", "scenario": "x"})
    assert told == {"input": 20, "output": 10, "requests": 2, "cost": "0.02", "limits": {"max_tokens": "100"}}
    nodes: Any = view.describe_flow()["nodes"]
    assert {each["node"]: each["usage"]["input"] for each in nodes if each["usage"]["requests"]} == {
        "plan": 10,
        "lint": 10,
    }


def test_a_transcript_has_every_message_once(view: RunView) -> None:
    call = {"id": "7", "tool": "Read", "arguments": {"path": "a"}}
    view.take(Answered(open_turn(view, "plan").key, {"text": "Let me look.", "calls": [call]}))
    asked = next(iter(view.state.pending.values()))
    view.take(Answered(asked.key, {"value": "what is there"}))
    before: Any = describe_visits(view, "plan")
    assert before[0]["messages"][-1]["pending"] is True
    hand_in(view, "plan", {"steps": []})
    visits: Any = describe_visits(view, "plan")
    assert [each["visit"] for each in visits] == [1]
    assert visits[0]["outcome"] == "ok"
    told = [(each["role"], each["text"]) for each in visits[0]["messages"]]
    assert len(told) == len(set(told))
    texts = " ".join(text for _, text in told)
    for wanted in ("The task: everything", "Let me look.", "what is there", "plan says"):
        assert texts.count(wanted) == 1
    calls = [each for message in visits[0]["messages"] for each in message.get("calls", [])]
    assert [each["tool"] for each in calls] == ["Read", "hand_in"]


def test_the_calls_within_a_step_are_in_its_transcript_and_its_rows() -> None:
    program = load(dump(steps()))
    view = RunView(program, RunDrawing(program.plan))
    view.take(Started("one", None, {"topic": "cats"}))
    (key,) = view.state.pending
    usage: Any = {"model": "m", "input": 10, "output": 5, "requests": 1, "cost": "0.01"}
    call = {"id": "7", "tool": "Read", "arguments": {"path": "a"}}
    for number, part in enumerate(
        [
            {"text": "Let me look.", "calls": [call, {**call, "id": "8"}], "usage": usage},
            {"call": "7", "result": {"value": "what is there"}},
            {"call": "8", "result": {"error": "it is gone"}},
        ],
        1,
    ):
        view.take(Answered(part_key(key, number), part))
    visit: Any
    (visit,) = describe_visits(view, "draft")
    told = [(each["role"], each["text"]) for each in visit["messages"]]
    between = [("assistant", "Let me look."), ("tool", "what is there"), ("error", "it is gone")]
    assert told == [("user", "Draft cats"), *between, ("note", "not answered yet")]
    assert [each["tool"] for each in visit["messages"][1]["calls"]] == ["Read", "Read"]
    rows: Any = [each.to_json() for each in view.rows[1:]]
    assert [(each["node"], each["who"], each["what"], each["answer"]) for each in rows] == [
        ("draft", "draft", "response", "Read, Read"),
        ("draft", "draft", "result", "what is there"),
        ("draft", "draft", "result", "error: it is gone"),
    ]
    assert view.uses.requests == 1

    view.take(Rewound(3))  # behind the first result
    (visit,) = describe_visits(view, "draft")
    assert [each["role"] for each in visit["messages"]] == ["user", "assistant", "tool", "note"]
    view.take(Answered(key, {"answer": {"action": "next"}, "usage": {**usage, "requests": 2, "input": 20}}))
    (visit,) = describe_visits(view, "draft")
    assert [each["role"] for each in visit["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert view.uses.requests == 2


def test_every_event_is_a_row(view: RunView) -> None:
    hand_in(view, "plan", {"steps": [1]})
    rows: Any = [each.to_json() for each in view.rows]
    assert [(each["seq"], each["who"], each["what"]) for each in rows] == [(0, "", "started"), (1, "plan", "turn")]
    assert rows[1]["answer"] == 'hand_in {"steps":[1]}'
    assert rows[1]["moves"] == [{"node": "plan", "visit": 1, "outcome": "ok", "to": ["lint", "test"], "end": ""}]
