"""Plans of orchestrator files: phases, agents and their plans, rules, labels and comments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from orchestrated import WORKFLOW, write_orchestrator

from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Delegate, Rest
from stagec.ir.plan.gate import AgentGate
from stagec.ir.plan.loader import verify, write_frame
from stagec.ir.plan.node import Edge, Go, Outcome, Stop

Compile = Callable[..., Mapping[str, Any]]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """Write a project with an orchestrator, and return what its flows compile to, by id."""

    def write(**changes: Any) -> Mapping[str, Any]:
        workflow = json.loads(json.dumps({**WORKFLOW, **changes}))
        home = write_orchestrator(tmp_path, workflow)
        freezer = Freezer(load_configuration((home,), tmp_path), (home,))
        return {each.flow.id: freezer.freeze(each) for each in freezer.compilation.meanings}

    return write


def plan_of(made: Mapping[str, Any]) -> Plan:
    assert not isinstance(made["workflow"], Refused), made["workflow"].reason
    plan: Plan = made["workflow"].plan
    return plan


def test_the_plan_of_an_agent_is_in_it_as_it_is_by_itself(compiled: Compile) -> None:
    made = compiled()
    loaded = verify(made["workflow"].data)
    plan = loaded.plan
    for agent in ("builder", "reviewer"):
        assert write_frame(plan.contents[plan.plans[agent]].encode()) == made[agent].data
        assert loaded.agents[agent].plan == made[agent].plan
    assert {"workflow.json", "builder/steps_registry.json", "reviewer/agent.json"} <= plan.sources.keys()


def test_phases_are_nodes_and_agents_are_their_acts(compiled: Compile) -> None:
    plan = plan_of(compiled())
    assert {name: type(node.act) for name, node in plan.nodes.items()} == {
        "build": Delegate,
        "review": Delegate,
        "done": Rest,
        "stuck": Rest,
    }
    assert plan.nodes["build"].gate == AgentGate("transformer", ("success",), "failed")
    assert plan.nodes["build"].edges == (Edge("success", Go("review")), Edge("failed", Go("stuck")))
    assert plan.nodes["review"].gate == AgentGate("validator", ("approved", "rejected"))
    assert plan.nodes["stuck"].edges == (Edge("blocked", Stop(Outcome.BLOCKED)),)
    act = plan.nodes["review"].act
    assert isinstance(act, Delegate)
    assert (act.closes, act.condition, {*act.comments}) == (True, "approved", {"rejected", "Rejected"})


def test_rules_and_labels_hold_for_the_run(compiled: Compile) -> None:
    prioritizer = {"agent": "reviewer", "labels": ["order:1"]}
    phases = plan_of(compiled(labelPrefix="app", prioritizer=prioritizer)).phases
    assert phases is not None
    assert (phases.most, phases.row, phases.pause, phases.ordering) == (6, 3, 1, ("app:order:1",))
    assert phases.labels["build"] == ("app:kind:build", "app:kind:code")


def test_what_the_rules_do_not_say_is_as_climpt_has_it(compiled: Compile) -> None:
    phases = plan_of(compiled(rules={})).phases
    assert phases is not None
    assert (phases.most, phases.row, phases.pause) == (5, 0, 10_000)


def test_the_inputs_of_agents_are_those_of_the_orchestrator(compiled: Compile) -> None:
    plan = plan_of(compiled())
    assert plan.inputs["issue"].required
    assert plan.contents[str(plan.inputs["issue"].schema)] == '{"type":"number"}'


@pytest.mark.parametrize(
    ("types", "schema"),
    [
        (("string", "string"), '{"allOf":[{"minLength":1,"type":"string"},{"type":"string"}],"type":"string"}'),
        (("string", "number"), None),
    ],
)
def test_an_input_fits_every_agent_that_wants_it_unless_no_value_does(
    tmp_path: Path, types: tuple[str, str], schema: str | None
) -> None:
    home = write_orchestrator(tmp_path)
    for agent, kind in zip(("builder", "reviewer"), types, strict=True):
        path = home / agent / "agent.json"
        body = json.loads(path.read_text(encoding="utf-8"))
        body["parameters"]["mode"] = {"type": kind, "description": "How.", "required": True, "cli": "--mode"}
        path.write_text(json.dumps(body), encoding="utf-8")
    path = home / "builder" / "steps_registry.json"
    registry = json.loads(path.read_text(encoding="utf-8"))
    registry["steps"]["initial.issue"]["uvVariables"].append("mode")  # so it must not be empty
    path.write_text(json.dumps(registry), encoding="utf-8")
    freezer = Freezer(load_configuration((home,), tmp_path), (home,))
    plan = plan_of({each.flow.id: freezer.freeze(each) for each in freezer.compilation.meanings})
    found = plan.inputs["mode"].schema
    assert (None if found is None else plan.contents[found]) == schema


def change_reviewer(**changes: Any) -> dict[str, Any]:
    agents: dict[str, Any] = json.loads(json.dumps(WORKFLOW["agents"]))
    agents["reviewer"] = {**agents["reviewer"], **changes}
    return agents


@pytest.mark.parametrize(
    ("binding", "closing"),
    [
        ({"closeBinding": {"primary": {"kind": "none"}}}, (False, None)),
        ({"closeBinding": {"primary": {"kind": "boundary"}, "condition": "approved"}}, (False, "approved")),
        ({"closeBinding": {"primary": {"kind": "direct"}}}, (True, None)),
    ],
)
def test_only_the_direct_binding_closes(compiled: Compile, binding: Any, closing: tuple[bool, str | None]) -> None:
    act = plan_of(compiled(agents=change_reviewer(**binding))).nodes["review"].act
    assert isinstance(act, Delegate)
    assert (act.closes, act.condition) == closing


def test_a_transformer_may_lead_elsewhere_with_the_verdict_of_its_failure(compiled: Compile) -> None:
    agents = change_reviewer()
    agents["builder"] = {**agents["builder"], "fallbackPhases": {"stale": "review", "success": "stuck"}}
    node = plan_of(compiled(agents=agents)).nodes["build"]
    assert node.gate == AgentGate("transformer", ("success", "stale", "failed"), "otherwise", verdicts=True)
    assert [(edge.on, edge.target) for edge in node.edges] == [
        ("success", Go("review")),
        ("stale", Go("review")),
        ("failed", Go("stuck")),
        ("otherwise", Go("stuck")),
    ]


def test_where_no_phase_follows_there_is_no_plan(compiled: Compile) -> None:
    agents = change_reviewer()
    del agents["reviewer"]["fallbackPhase"], agents["builder"]["fallbackPhase"]
    made = compiled(agents=agents)["workflow"]
    assert isinstance(made, Refused)
    assert made.reason == "2 errors"


def test_a_verdict_may_have_the_name_of_the_fallback(compiled: Compile) -> None:
    agents = change_reviewer(outputPhases={"approved": "done", "otherwise": "build"})
    node = plan_of(compiled(agents=agents)).nodes["review"]
    assert node.gate == AgentGate("validator", ("approved", "otherwise"), "any other")
    assert [(edge.on, edge.target) for edge in node.edges[1:]] == [
        ("otherwise", Go("build")),
        ("any other", Go("stuck")),
    ]


def test_an_orchestrator_without_the_flow_of_an_agent_has_no_plan(tmp_path: Path) -> None:
    home = write_orchestrator(tmp_path)
    freezer = Freezer(load_configuration((home,), tmp_path), (home / "workflow.json",))
    (meaning,) = freezer.compilation.meanings
    made = freezer.freeze(meaning)
    assert isinstance(made, Refused)
    assert made.reason == "its agent 'builder' has no flow in '.agent/builder' among the files named"


def test_an_agent_with_errors_has_no_plan_and_its_orchestrator_neither(tmp_path: Path) -> None:
    home = write_orchestrator(tmp_path)
    path = home / "reviewer" / "steps_registry.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"target": "closure.issue"', '"target": "gone"'), "utf-8")
    freezer = Freezer(load_configuration((home,), tmp_path), (home,))
    made = {each.flow.id: freezer.freeze(each) for each in freezer.compilation.meanings}
    assert isinstance(made["workflow"], Refused)
    assert "error" in made["workflow"].reason
    assert not isinstance(made["builder"], Refused)
