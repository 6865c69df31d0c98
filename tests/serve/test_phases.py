"""The run of an orchestrator on the page: phases stand in the drawing, and agents in what is told of their phase."""

from __future__ import annotations

from phased import issue_flow

from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Started
from stagec.runtime.machine.program import program_of
from stagec.runtime.serve.run_api import describe_visits
from stagec.runtime.serve.run_view import RunDrawing, RunView
from stagec.runtime.telemetry.spans import RunTracer, list_spans

SAID = {"answer": {"do": "closing", "summary": "so it is"}}
EVENTS = (
    Started("r", "kind:build", {"issue": 7}),
    Answered("r/build#1/1.0", {}),
    Answered("r~builder~1/work#1/1.0", {"answer": {"do": "next"}}),
    Answered("r~builder~1/close#1/1.0", SAID),
    Answered("r/build#1/1.1", {}),
    Answered("r/review#1/1.0", {"answer": {"verdict": "unheard"}}),
    Answered("r/review#1/1.1", {}),
)


def test_phases_are_drawn_as_they_stand_and_agents_are_told_with_them() -> None:
    program = program_of(issue_flow())
    view = RunView(program, RunDrawing(program.plan))
    for event in EVENTS:
        view.take(event)
    flow = view.describe_flow()
    assert flow["ended"] == "blocked"
    nodes = {each["node"]: (each["status"], each["visits"]) for each in flow["nodes"] if each["node"] is not None}
    assert nodes == {"build": ("visited", 1), "review": ("visited", 1), "stuck": ("failed", 1), "done": ("idle", 0)}
    taken = {each["label"] for each in flow["edges"] if each["taken"]}
    assert taken == {"", "success", "otherwise", "blocked"}
    (visit,) = describe_visits(view, "build")
    assert [each["role"] for each in visit["messages"]][-2:] == ["note", "tool"]
    assert "builder works on 7" in [each["text"] for each in visit["messages"]]


def test_requests_of_agents_are_spans_of_their_phase() -> None:
    program = program_of(issue_flow())
    # nobody knows when anything happened, so no span is made of it; it must not fail all the same
    assert list(list_spans(RunTracer(program), advance_through(program, EVENTS), ())) == []
