"""Real agents freeze: every one without errors has a plan, whose moves are those of its flow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from stagec.core.diagnostic import Severity
from stagec.model import flow
from stagec.pipeline import Compilation, Project, compile_project
from stagec.plan import Plan, dump, load, verify
from stagec.plan.gate import JudgeGate
from stagec.plan.node import Node, Pick, Stop, Target
from stagec.plan.references import dangling, list_targets
from stagec.project.settings import Settings

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
CLEAN = [folder for folder in AGENTS if is_clean(folder)]
every_agent = pytest.mark.parametrize("folder", AGENTS, ids=lambda folder: folder.name)
every_clean_agent = pytest.mark.parametrize("folder", CLEAN, ids=lambda folder: folder.name)


def plan_of(folder: Path) -> tuple[Plan, flow.Flow]:
    (meaning,) = compiled(folder).meanings
    return meaning.plan(), meaning.flow


@needs_corpus
def test_there_are_agents_without_errors() -> None:
    assert len(CLEAN) > 5


@every_clean_agent
def test_a_plan_is_read_as_it_was_written(folder: Path) -> None:
    written = dump(plan_of(folder)[0])
    assert dump(load(written).plan) == written
    assert verify(written) == load(written)


@every_clean_agent
def test_the_moves_of_a_plan_are_those_of_the_flow(folder: Path) -> None:
    plan, meant = plan_of(folder)
    assert {name: moves(plan, node) for name, node in plan.nodes.items()} == {
        name: meant_moves(node) | unsaid(plan.nodes[name]) | anywhere(meant, name) for name, node in meant.nodes.items()
    }


@every_clean_agent
def test_runs_begin_where_the_flow_says(folder: Path) -> None:
    plan, meant = plan_of(folder)
    assert plan.entries == {name: entry.node for name, entry in meant.entries.items()}
    assert plan.entry in plan.entries


@every_agent
def test_errors_do_no_harm_to_freezing(folder: Path) -> None:
    for meaning in compiled(folder).meanings:
        assert [*dangling(meaning.plan())] == []


def moves(plan: Plan, node: Node) -> Moves:
    """Return the moves of a node of a plan; what takes the place of a target is one."""
    return {(edge.on, end) for edge in node.edges for end in ends(plan, edge.target)}


def ends(plan: Plan, target: Target) -> Iterable[str]:
    """Return where a target leads."""
    if isinstance(target, Pick):
        return plan.choices[target.choices].values()
    return (target.outcome.value,) if isinstance(target, Stop) else list_targets(target)


def meant_moves(node: flow.Node) -> Moves:
    """Return the moves of a node of a flow."""
    found: Moves = set()
    for edge in node.edges:
        match edge.target:
            case flow.To(nodes=nodes) | flow.Pick(nodes=nodes):
                found |= {(edge.outcome, name) for name in nodes}
            case flow.Stop(end=end):
                found.add((edge.outcome, end.value))
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
