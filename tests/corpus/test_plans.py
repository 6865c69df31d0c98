"""Real agents freeze: every one without errors has a plan, whose moves are those of its flow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.ir import flow
from stagec.ir.plan import Plan, dump, load, verify
from stagec.ir.plan.gate import JudgeGate
from stagec.ir.plan.node import Node, Pick, Stop, Target, list_targets
from stagec.ir.plan.soundness import dangling
from stagec.sources.project.settings import Settings

needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
Moves = set[tuple[str, str]]
"""Where the outcomes of one node lead: to which node, or how the run ends."""


def agents() -> list[Path]:
    """Return the folders of the corpus with a registry of a real agent, and those that mutants are made of."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    root = Path(os.environ["STAGEC_CORPUS"]).resolve()
    return sorted(
        path.parent for place in ("agents", "mutants/bases") for path in (root / place).glob("*/*registry.json")
    )


@cache
def compiled(folder: Path) -> Compilation:
    return compile_project(Project(folder, (folder,), Settings()))


def is_clean(folder: Path) -> bool:
    return all(each.severity is not Severity.ERROR for each in compiled(folder).diagnostics)


AGENTS = agents()


def plan_of(folder: Path) -> tuple[Plan, flow.Flow]:
    (meaning,) = compiled(folder).meanings
    return meaning.plan(), meaning.flow


@needs_corpus
def test_there_are_agents_without_errors() -> None:
    assert len([*islice(filter(is_clean, AGENTS), 6)]) == 6


@pytest.mark.parametrize("folder", AGENTS, ids=lambda folder: folder.name)
def test_an_agent_has_no_plan_with_loose_ends_and_one_without_errors_has_the_moves_of_its_flow(folder: Path) -> None:
    for meaning in compiled(folder).meanings:  # errors do no harm to freezing
        assert [*dangling(meaning.plan())] == []
    if is_clean(folder):
        plan, meant = plan_of(folder)
        check_form(plan)
        check_moves(plan, meant)
        check_entries(plan, meant)


def check_form(plan: Plan) -> None:
    """Check that a plan is read as it was written."""
    written = dump(plan)
    assert dump(load(written).plan) == written
    assert verify(written) == load(written)


def check_moves(plan: Plan, meant: flow.Flow) -> None:
    """Check that the moves of a plan are those of its flow."""
    assert {name: moves(plan, node) for name, node in plan.nodes.items()} == {
        name: meant_moves(node) | unsaid(plan.nodes[name]) | anywhere(meant, name) for name, node in meant.nodes.items()
    }


def check_entries(plan: Plan, meant: flow.Flow) -> None:
    """Check that runs begin where the flow says; without an agent nobody chooses one of several entries."""
    assert plan.entries == {name: entry.node for name, entry in meant.entries.items()}
    assert plan.entry in plan.entries or (plan.entry is None and plan.judge is None and len(plan.entries) > 1)


def moves(plan: Plan, node: Node) -> Moves:
    """Return the moves of a node of a plan; what takes the place of a target is one."""
    return {(edge.on, end) for edge in node.edges for end in ends(plan, edge.target)}


def ends(plan: Plan, target: Target) -> Iterable[str]:
    """Return where a target leads."""
    if isinstance(target, Pick):
        return plan.choices[target.choices].values()
    return (target.outcome.value,) if isinstance(target, Stop) else list_targets(target)


def meant_moves(node: flow.FlowNode) -> Moves:
    """Return the moves of a node of a flow."""
    found: Moves = set()
    for edge in node.edges:
        if isinstance(edge.target, Stop):
            found.add((edge.on, edge.target.outcome.value))
        found |= {(edge.on, name) for name in list_targets(edge.target)}
    return found


def unsaid(node: Node) -> Moves:
    """Return how a run fails where a flow says nothing: nothing follows undone work, and there is always `abort`."""
    if isinstance(node.gate, JudgeGate):
        goes_on = any(edge.on == "next" and not isinstance(edge.target, Stop) for edge in node.edges)
        return set() if goes_on else {("next", "failed")}
    return {("abort", "failed")} if any(edge.on == "abort" for edge in node.edges) else set()


def anywhere(meant: flow.Flow, name: str) -> Moves:
    """Return the jumps of a node that may lead to any."""
    return {("jump", each) for each in meant.nodes} if name in meant.open else set()
