"""What an orchestrator file means: phases, labels at which runs begin, and outcomes that lead on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from frontends.orchestrator.conftest import BASE, FILE, change

from stagec.check.pipeline import Compilation
from stagec.core.json import Json
from stagec.ir.flow import Flow
from stagec.ir.graph import build
from stagec.ir.plan.node import Go, Stop
from stagec.languages.orchestrator.document import Release, Workflow
from stagec.languages.orchestrator.lower import lower

ReadWorkflow = Callable[[Json], Workflow]
Validate = Callable[..., Compilation]


def moves(flow: Flow, node: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for edge in flow.nodes[node].edges:
        found[edge.on] = edge.target.node if isinstance(edge.target, Go) else str(edge.target)
        assert isinstance(edge.target, Go | Stop)
    return found


def codes(compilation: Compilation) -> list[str]:
    return [each.code for each in compilation.diagnostics if each.code.startswith("STG6")]


def test_phases_are_nodes_and_labels_are_entries(read_workflow: ReadWorkflow) -> None:
    flow = lower(read_workflow(BASE))
    assert {name: node.kind for name, node in flow.nodes.items()} == {
        "todo": "actionable",
        "review": "actionable",
        "done": "terminal",
        "stuck": "blocking",
    }
    assert {name: entry.node for name, entry in flow.entries.items()} == BASE["labelMapping"]
    assert flow.exact
    assert flow.id == "workflow"


def test_outcomes_are_edges(read_workflow: ReadWorkflow) -> None:
    flow = lower(read_workflow(BASE))
    assert moves(flow, "todo") == {"success": "review", "failed": "stuck"}
    assert moves(flow, "review") == {"approved": "done", "rejected": "todo", "otherwise": "stuck"}


def test_only_terminal_phases_complete_and_blocking_ones_are_exits(read_workflow: ReadWorkflow) -> None:
    graph = build(lower(read_workflow(BASE)))
    assert graph.completing() == {"todo", "review", "done"}
    assert graph.find_stuck() == ()
    assert {name: graph.shortest_run(name) for name in graph.flow.entries} == {
        "ready": 2,
        "review": 2,
        "done": 1,
        "blocked": 1,
    }


def test_exceptions_of_a_transformer_go_before_its_fallback(read_workflow: ReadWorkflow) -> None:
    flow = lower(read_workflow(change(("/agents/worker/fallbackPhases", {"failed": "todo", "odd": "done"}))))
    assert moves(flow, "todo") == {"success": "review", "failed": "todo", "odd": "done", "otherwise": "stuck"}


def test_phases_that_a_project_begins_with_are_entries(read_workflow: ReadWorkflow) -> None:
    binding = {"planPhase": "todo", "evalPhase": "review", "donePhase": "done"}
    flow = lower(read_workflow(change(("/projectBinding", binding), ("/labelMapping", {"done": "done"}))))
    assert {name: entry.node for name, entry in flow.entries.items()} == {
        "done": "done",
        "planPhase": "todo",
        "evalPhase": "review",
    }


def test_what_cannot_be_read_makes_the_flow_inexact(read_workflow: ReadWorkflow) -> None:
    for edit in (
        ("/phases/todo", None),
        ("/phases/todo/type", "prePass"),
        ("/phases/todo/agent", "nobody"),
        ("/agents/worker/role", "judge"),
        ("/agents/worker/outputPhase", "nowhere"),
        ("/agents/worker/outputPhase", 3),
        ("/agents/judge/outputPhases", []),
        ("/labelMapping/ready", "nowhere"),
        ("/labelMapping/ready", {}),
        ("/labelMapping", 3),
    ):
        assert not lower(read_workflow(change(edit))).exact, edit


def test_the_release_is_read_from_the_members(read_workflow: ReadWorkflow) -> None:
    def find(*edits: tuple[str, Json]) -> tuple[Release, bool]:
        found = read_workflow(change(*edits))
        return found.release, found.is_dated

    gone = ("/issueSource", ...)
    assert find() == (Release.NEW, True)
    assert find(gone) == (Release.OLD, False)
    assert find(gone, ("/issueStore", {"path": "x"})) == (Release.OLD, True)
    assert find(gone, ("/agents/worker/closeOnComplete", True)) == (Release.OLD, True)
    assert find(gone, ("/agents/worker/closeBinding", {})) == (Release.NEW, True)
    assert find(("/agents/worker/closeOnComplete", True)) == (Release.NEW, True)


def test_a_phase_that_nothing_leads_to_is_told(validate: Validate) -> None:
    limbo = {"type": "actionable", "priority": 9, "agent": "worker"}
    assert codes(validate({FILE: change(("/phases/limbo", limbo))})) == ["STG601"]


def test_a_blocking_phase_is_an_exit(validate: Validate) -> None:
    edits = (("/agents/judge/outputPhases", {"rejected": "todo"}), ("/agents/worker/fallbackPhase", "review"))
    assert codes(validate({FILE: change(*edits)})) == []
    assert codes(validate({FILE: change(*edits, ("/agents/judge/fallbackPhase", "todo"))})) == ["STG604"]


def test_the_bound_counts_transitions(validate: Validate) -> None:
    gone = (("/agents/worker/fallbackPhase", ...), ("/labelMapping", {"ready": "todo", "done": "done"}))
    assert codes(validate({FILE: change(*gone, ("/rules", {"maxCycles": 2}))})) == []
    compilation = validate({FILE: change(*gone, ("/rules", {"maxCycles": 1}))})
    (told,) = [each for each in compilation.diagnostics if each.code == "STG607"]
    assert told.message == "a run from 'todo' needs at least 2 transitions, but may take only 1"


@pytest.mark.parametrize("junk", [None, True, 3, "x", [], [{}], {}, {"a": None}, {"a": {"a": []}}])
@pytest.mark.parametrize("member", [*BASE, "rules", "projectBinding", "labels", "labelPrefix", "handoffs"])
def test_nothing_makes_reading_fail(validate: Validate, member: str, junk: Json) -> None:
    validate({FILE: change((f"/{member}", junk))})


@pytest.mark.parametrize("member", ["phases/todo", "agents/worker", "agents/judge/outputPhases", "phases/todo/agent"])
@pytest.mark.parametrize("junk", [None, True, 3, "x", [], [{}], {}, {"a": None}, {"a": {"a": []}}])
def test_nothing_inside_makes_reading_fail(validate: Validate, member: str, junk: Json) -> None:
    validate({FILE: change((f"/{member}", junk))})
