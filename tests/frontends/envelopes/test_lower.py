"""What stage plans mean: schedules, with what every stage waits for and where that is said."""

from __future__ import annotations

from collections.abc import Callable

from frontends.envelopes.conftest import Files, envelope

from stagec.check.pipeline import Compilation
from stagec.ir.flow import Flow
from stagec.ir.graph import build
from stagec.ir.plan.node import Outcome, Stop, list_targets
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.lower import lower

ReadStages = Callable[..., StagePlan]

LOAD = envelope("S01_load_data", inputs={})
CLEAN = envelope("S02_clean_data", "S01_load_data")
PLOT = envelope("S03_plot_data", inputs={"x": "S01_load_data/out.json"}, dependencies=[])
TRAIN = envelope("S04_train_model", "S02_clean_data", dependencies=["S02", "S03_plot_data"])


def flow_of(plan: StagePlan) -> Flow:
    found = lower(plan)
    assert found is not None
    return found


def needs_of(flow: Flow) -> dict[str, list[tuple[str, bool]]]:
    return {
        name: [(each.node, each.inferred) for each in flow.list_needs("", name)] for name in flow.schedules[""].needs
    }


def test_any_acyclic_graph_is_one_schedule(read_stages: ReadStages) -> None:
    flow = flow_of(read_stages(LOAD, CLEAN, PLOT, TRAIN))
    assert needs_of(flow) == {
        "S01_load_data": [],
        "S02_clean_data": [("S01_load_data", False)],
        "S03_plot_data": [("S01_load_data", True)],
        "S04_train_model": [("S02_clean_data", False), ("S03_plot_data", False)],
    }
    assert (flow.entries, flow.exact, flow.suspect, flow.lost) == ({}, True, False, ())


def test_a_stage_ends_as_its_process_does(read_stages: ReadStages) -> None:
    (node,) = flow_of(read_stages(LOAD)).nodes.values()
    assert {edge.on: edge.target for edge in node.edges} == {
        "success": Stop(Outcome.DONE),
        "failure": Stop(Outcome.FAILED),
        "interrupted": Stop(Outcome.INTERRUPTED),
    }


def test_each_need_is_where_it_is_said(read_stages: ReadStages) -> None:
    flow = flow_of(read_stages(LOAD, CLEAN, PLOT, TRAIN))
    places = {name: [each.at.pointer[2:] for each in flow.list_needs("", name)] for name in flow.nodes}
    assert places["S02_clean_data"] == [("dependencies", 0)]
    assert places["S03_plot_data"] == [("inputs", "x")]
    assert places["S04_train_model"] == [("dependencies", 0), ("dependencies", 1)]


def test_what_waits_for_itself_is_drawn_and_leads_nowhere(read_stages: ReadStages) -> None:
    first, second = {**LOAD, "dependencies": ["S02_clean_data"]}, CLEAN
    flow = flow_of(read_stages(first, second, envelope("S03_plot_data", "S02_clean_data")))
    assert needs_of(flow) == {
        "S01_load_data": [],
        "S02_clean_data": [],
        "S03_plot_data": [("S02_clean_data", False)],
    }
    assert [(each.source, list_targets(each.target)) for each in flow.lost] == [
        ("S02_clean_data", ("S01_load_data",)),
        ("S01_load_data", ("S02_clean_data",)),
    ]
    assert build(flow).unstartable() == ()


def test_a_wrong_dependency_makes_a_flow_suspect(read_stages: ReadStages) -> None:
    assert flow_of(read_stages({**LOAD, "dependencies": ["S09_nothing_there"]})).suspect


def test_a_plan_that_cannot_be_read_as_a_whole_is_not_exact(read_stages: ReadStages) -> None:
    assert not flow_of(read_stages(LOAD, None)).exact


def test_a_flow_is_called_like_the_report_or_the_file(
    read_stages: ReadStages, read_plans: Callable[[Files], tuple[StagePlan, ...]]
) -> None:
    assert flow_of(read_stages(LOAD, reportTitle="wine-quality")).id == "wine-quality"
    assert flow_of(read_stages(LOAD)).id == "plan"
    found = read_plans({"wine/1.json": LOAD, "wine/2.json": CLEAN})
    assert [flow_of(each).id for each in found] == ["wine"]
    found = read_plans({"alone/S01.json": LOAD})
    assert [flow_of(each).id for each in found] == ["S01"]


def test_nothing_means_nothing(read_stages: ReadStages) -> None:
    assert lower(read_stages()) is None
    assert lower(read_stages({**LOAD, "stageId": None})) is None


def test_one_mistake_is_one_diagnostic(validate: Callable[..., Compilation]) -> None:
    first = {**LOAD, "dependencies": ["S04_train_model"]}
    found = validate({"plan.json": {"reportTitle": "wine", "stages": [first, CLEAN, PLOT, TRAIN]}})
    assert [each.name for each in found.diagnostics if each.severity == "error"] == ["dependency-cycle"]
    assert not any(each.code.startswith("STG6") for each in found.diagnostics)
