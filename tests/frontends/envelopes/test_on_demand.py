"""What is made only for whoever asks is what would have been made at once."""

from __future__ import annotations

import pytest

from stagec.core.place import Place
from stagec.ir.flow import Flow, Need, WrittenSchedule
from stagec.ir.plan.node import Schedule
from stagec.languages.envelopes.document import EnvelopeInputs, InputKind, StageInput

ODD = StageInput("raw", "data/x.csv", InputKind.FILE, "data/x.csv")


def test_inputs_that_are_not_odd_are_read_from_their_texts() -> None:
    inputs = EnvelopeInputs({"df": "S01_load_data/a/b.csv", "raw": "data/x.csv"}, {"raw": ODD})
    assert dict(inputs) == {
        "df": StageInput("df", "S01_load_data/a/b.csv", InputKind.OUTPUT, "a/b.csv", "S01_load_data"),
        "raw": ODD,
    }
    assert len(inputs) == 2
    with pytest.raises(KeyError):
        inputs["other"]


def test_inputs_that_are_known_better_take_the_place_of_others() -> None:
    better = StageInput("df", "S01_load_data/x", InputKind.OUTPUT, "x", "S01_load_data", inferred=True)
    inputs = EnvelopeInputs({"df": "S01_load_data/x", "raw": "data/x.csv"}, {"raw": ODD}).with_odd({"df": better})
    assert inputs.odd == {"raw": ODD, "df": better}
    assert inputs["df"] == better


def test_needs_are_placed_only_for_nodes_that_somebody_asks_about() -> None:
    asked: list[str] = []

    def place(node: str) -> tuple[Need, ...]:
        asked.append(node)
        return (Need("a", Place("x", (node,))),)

    schedule, written = Schedule({"a": (), "b": ("a",), "c": ("a",)}), WrittenSchedule(Place("x"), place)
    flow = Flow("f", Place("x"), {}, {}, schedules={"": schedule}, written={"": written})
    assert [each.node for each in flow.begun] == ["a"]
    assert (flow.list_needs("", "a"), asked) == ((), [])
    assert (flow.list_needs("", "b"), asked) == ((Need("a", Place("x", ("b",))),), ["b"])
