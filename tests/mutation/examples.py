"""Plans in which every operator finds something to change: those made by hand, and those of the examples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import handmade
import phased

from stagec.check.pipeline import Project, compile_project
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.gate import Backoff, IntentGate, Retry
from stagec.ir.plan.node import Go
from stagec.sources.project.settings import Settings

REGISTRIES = Path(__file__).parents[2] / "registries"
EXAMPLES = ("code-review", "docs-repair", "file-review", "guest-book", "issue-flow", "project-flow", "wine-quality")


@cache
def example(name: str) -> Plan:
    """Return the plan of an example."""
    (meaning,) = compile_project(Project(REGISTRIES / name, (), Settings())).meanings
    return meaning.plan()


@cache
def plans() -> Mapping[str, Plan]:
    """Return all plans, by name."""
    made = {
        "repeating": handmade.repeating(),
        "steps": handmade.steps(),
        "stages": handmade.stages(),
        "processes": handmade.processes(),
        "phases": phased.every_member(),
        "issues": phased.issue_flow(),
        "lenient": lenient(),
        "timed": timed(),
    }
    return {**{name: replace(each, facts=None) for name, each in made.items()}, **{e: example(e) for e in EXAMPLES}}


def timed() -> Plan:
    """Return a plan of a run with a deadline, in which a stage has one."""
    plan = example("docs-repair")
    node = plan.nodes["check"]
    changed = replace(node, act=replace(node.act, deadline=1_800_000))
    return replace(plan, nodes={**plan.nodes, "check": changed}, limits=replace(plan.limits, deadline=7_200_000))


def lenient() -> Plan:
    """Return a plan with a gate that falls back, an edge that does, and a wait that grows."""
    plan = example("issue-flow")
    node = plan.nodes["initial.issue"]
    gate, act = node.gate, node.act
    assert isinstance(gate, IntentGate)
    assert isinstance(act, Prompt)
    edges = tuple(
        replace(each, target=Go("closure.issue", "continuation.issue")) if each.on == "next" else each
        for each in node.edges
    )
    lax = replace(gate, fail_fast=False, fallback="repeat")
    changed = replace(node, gate=lax, edges=edges, retry=Retry(3, Backoff("exponential", 100)))
    return replace(plan, nodes={**plan.nodes, "initial.issue": changed})
