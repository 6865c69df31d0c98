"""The machine does what the traces of the plan format say, event by event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runtime.traces import tell

from stagec.cli.commands.conformance import requests_to_json, state_to_json
from stagec.runtime.machine import State, load

TRACES = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/*.trace.json"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_the_machine_asks_and_stands_as_the_trace_says(path: Path) -> None:
    program, state = load((path.parent / "plan.json").read_bytes()), State()
    steps = json.loads(path.read_text(encoding="utf-8"))
    for step in steps:
        came = tell(program, state, step["event"])
        state = came.state
        assert state_to_json(program, state) == step["state"], step["event"]
        assert requests_to_json(came.effects) == step["asked"], step["event"]


def test_there_are_traces() -> None:
    assert TRACES
