"""What networkx finds of a plan is what the plan says and the rules found; where it is not, both commands notice."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from campaigns import choose
from handmade import completed, processes, stages, steps
from hypothesis import given, settings
from plan.random_plans import flows
from properties.soundness.campaign import MAKERS
from properties.soundness.chance import Chance

from stagec.check.pipeline import Meaning, Project, compile_project
from stagec.cli.app import run
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.ir.flow import Flow, FlowNode, WrittenEdge
from stagec.ir.graph import Graph, build
from stagec.ir.graph.crosscheck import CrossCheck
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.document import Facts, Limits
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Edge, Outcome, Schedule, Stop
from stagec.sources.project.settings import Settings

FREEZING, LOADING = map(import_module, ("stagec.ir.freeze", "stagec.ir.plan.loader"))
EXAMPLES = Path(__file__).parents[2] / "registries"
ENTRIES = {"registry": "steps_registry.json", "pipeline": "pipeline.json"}
AT = Place("plan.yaml")
Shown = pytest.CaptureFixture[str]


def found(plan: Plan) -> list[str]:
    return list(CrossCheck(plan).contradictions())


@settings(max_examples=choose(30, whole=150), deadline=None)
@given(flows(scheduled=True))
def test_both_find_the_same_facts_of_random_plans(plan: Plan) -> None:
    bounded = replace(plan, limits=replace(plan.limits, executions=plan.limits.executions or 9))
    assert found(completed(bounded)) == []
    assert found(completed(replace(plan, limits=Limits()))) in ([], ["it has a cycle that runs reach, and no bound"])


@pytest.mark.parametrize("name", ["done", "failed", "interrupted", "cycles", "executions", "turns"])
@pytest.mark.parametrize("plan", [stages(), steps(), processes()], ids=["stages", "steps", "processes"])
def test_each_fact_is_worked_out_again(plan: Plan, name: str) -> None:
    assert found(plan) == []
    held = getattr(plan.facts, name)
    other = held + 1 if isinstance(held, int) else (*held, "x")
    assert plan.facts is not None
    assert found(replace(plan, facts=replace(plan.facts, **{name: other}))) == [
        f"its fact '{name}' does not follow from its nodes and edges"
    ]


def test_a_cycle_that_runs_come_to_needs_a_bound() -> None:
    plan = replace(steps(), limits=Limits())
    assert "it has a cycle that runs reach, and no bound" in found(completed(plan))


def meanings(folder: Path, system: str, seeds: range) -> Iterator[Meaning]:
    """Yield the flows without errors of random projects."""
    for name in ("prompts", "schemas", "stages"):
        (folder / name).mkdir(exist_ok=True)
    for seed in seeds:
        files = MAKERS[system](Chance(system, seed, ""))
        entry = folder / ENTRIES[system]
        entry.write_bytes(files[entry.name])
        compilation = compile_project(Project(folder, (entry,), Settings(), files))
        if not any(each.severity is Severity.ERROR for each in compilation.diagnostics):
            yield from compilation.meanings


@pytest.mark.parametrize("system", MAKERS)
def test_both_find_the_same_ways_through_random_projects(tmp_path: Path, system: str) -> None:
    count = 0
    for meaning in meanings(tmp_path, system, range(choose(60, whole=200))):
        plan = meaning.plan()
        assert [*found(plan), *CrossCheck(plan).disagreements(meaning.graph)] == []
        count += meaning.flow.exact and not meaning.flow.suspect
    assert count > 5


def without_ends(graph: Graph) -> Graph:
    """Return the graph of a flow in which no run can complete."""

    def kept(edge: WrittenEdge) -> bool:
        return not (isinstance(edge.target, Stop) and edge.target.outcome is Outcome.DONE)

    return changed(graph, kept)


def without_ways(graph: Graph) -> Graph:
    """Return the graph of a flow in which nothing leads on."""
    return changed(graph, lambda edge: isinstance(edge.target, Stop))


def changed(graph: Graph, kept: Any) -> Graph:
    nodes = {
        name: replace(node, edges=tuple(each for each in node.edges if kept(each)))
        for name, node in graph.flow.nodes.items()
    }
    return build(replace(graph.flow, nodes=nodes))


@pytest.mark.parametrize(("change", "what"), [(without_ends, "complete"), (without_ways, "start")])
@pytest.mark.parametrize("example", ["docs-repair", "code-review", "issue-flow"])
def test_a_plan_of_another_flow_is_noticed(example: str, change: Any, what: str) -> None:
    root = EXAMPLES / example
    meaning, *_ = compile_project(Project(root, (root,), Settings())).meanings
    check = CrossCheck(meaning.plan())
    assert list(check.disagreements(meaning.graph)) == []
    assert any(each.endswith(f"can {what}") for each in check.disagreements(change(meaning.graph)))


def lie(plan: Plan) -> Facts:
    """Return facts of which one is wrong."""
    return replace(facts(plan), executions=7)


def test_verify_refuses_what_only_networkx_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    path = tmp_path / "p"
    path.write_bytes(dump(replace(stages(), facts=lie(stages()))))
    monkeypatch.setattr(LOADING, "facts", lie)
    assert run(["verify", str(path)]) == 1
    told = "refused: its fact 'executions' does not follow from its nodes and edges"
    assert capfd.readouterr().out == f"{path}: {told}\n"


@pytest.mark.parametrize("noticed_by", ["networkx", "verify"])
def test_compile_hands_out_nothing_that_would_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown, noticed_by: str
) -> None:
    monkeypatch.setattr(FREEZING, "facts", lie)
    if noticed_by == "networkx":
        monkeypatch.setattr(LOADING, "facts", lie)
    output = tmp_path / "p"
    assert run(["compile", str(EXAMPLES / "docs-repair"), "-o", str(output)]) == 4
    assert "the plan of flow 'docs-repair' " in capfd.readouterr().err
    assert not output.exists()


def of_stages(plan: Plan, lost: str = "") -> Flow:
    """Return the flow that a plan of processes is made of; the stage that is lost fails always."""
    (schedule,) = (entry for entry in plan.entries.values() if isinstance(entry, Schedule))
    ends = {"success": Outcome.DONE, "failure": Outcome.FAILED, "interrupted": Outcome.INTERRUPTED}
    nodes = {}
    for name in plan.nodes:
        known = ends | {"success": Outcome.FAILED} if name == lost else ends
        nodes[name] = FlowNode(
            name, AT, edges=tuple(WrittenEdge(name, Edge(on, Stop(end)), AT) for on, end in known.items())
        )
    return Flow("f", AT, {}, nodes, schedules={"": schedule})


@pytest.mark.parametrize("lost", ["", *processes().nodes])
def test_the_rules_and_a_plan_of_processes_agree_and_notice_when_they_do_not(lost: str) -> None:
    plan = processes()
    said = list(CrossCheck(plan).disagreements(build(of_stages(plan, lost))))
    assert bool(said) == bool(lost)
    assert all(lost in each for each in said if each.endswith("complete"))
