"""The machine does what the traces of the plan format say, event by event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runtime.projection import asked, coarse, projected, texts, told

from stagec.runtime import State, load

TRACES = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/*.trace.json"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_the_machine_asks_and_stands_as_the_trace_says(path: Path) -> None:
    program, state = load((path.parent / "plan.json").read_bytes()), State()
    steps = json.loads(path.read_text(encoding="utf-8"))
    known = frozenset(texts(request for step in steps for request in step["asked"]))
    for step in steps:
        came = told(program, state, step["event"])
        state = came.state
        assert projected(program, state) == step["state"], step["event"]
        assert coarse(asked(came.effects), known) == coarse(step["asked"], known), step["event"]


def test_there_are_traces() -> None:
    assert TRACES
