"""What is wrong with a file concerns the flows that are made of it, and those it lies nearest to."""

from __future__ import annotations

import pytest

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import START, Place
from stagec.ir.flow import Concerns, Flow, FlowNode


def flow(file: str, *nodes: FlowNode) -> Flow:
    return Flow(file, Place(file), {}, {node.id: node for node in nodes})


def found(file: str) -> Diagnostic:
    return Diagnostic("STG101", "x", Severity.ERROR, (), Place(file), START, "x", (), 0, None, "")


OUTER = flow("pipeline.yaml", FlowNode("a", Place("stages/a.md")), FlowNode("b", Place("inner/shared.md")))
INNER = flow(
    "inner/steps_registry.json",
    FlowNode("c", Place("inner/steps_registry.json"), parts=(("prompt", Place("prompts/c.md")),)),
)
APART = flow("apart/pipeline.yaml")


@pytest.mark.parametrize(
    ("file", "concerned"),
    [
        ("pipeline.yaml", [OUTER]),
        ("tools.yaml", [OUTER]),
        ("stages/a.md", [OUTER]),
        ("inner/shared.md", [OUTER, INNER]),
        ("inner/schemas/deep/x.json", [INNER]),
        ("prompts/c.md", [OUTER, INNER]),
        ("innermost/x.json", [OUTER]),
        ("apart/pipeline.yaml", [APART]),
    ],
)
def test_a_file_concerns_the_flows_made_of_it_and_the_nearest(file: str, concerned: list[Flow]) -> None:
    flows = (OUTER, INNER, APART)
    assert [each for each in flows if Concerns(flows, [found(file)]).of(each)] == concerned


def test_a_file_below_no_flow_concerns_none() -> None:
    flows = (INNER, APART)
    assert [each for each in flows if Concerns(flows, [found("tools.yaml"), found("innermost/x.json")]).of(each)] == []


def test_diagnostics_stay_in_their_order() -> None:
    every = [found("apart/x"), found("elsewhere"), found("apart/a")]
    assert Concerns((INNER, APART), every).of(APART) == (every[0], every[2])
