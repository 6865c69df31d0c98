"""Random pipelines: every one that has no errors makes a plan that says what its flow says."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose
from graph.oracle import NetworkxGraph
from properties.test_pipelines import machine

from stagec.check.pipeline import Meaning, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump, verify
from stagec.ir.plan.document import Limits
from stagec.ir.plan.facts import facts
from stagec.sources.project.settings import Settings

CHUNKS, CHUNK = choose(2, whole=10), 40


def meaning_of(root: Path, given: dict[str, Any]) -> tuple[Meaning, bool]:
    """Return what a pipeline means, and whether it has no errors."""
    files = {"pipeline.json": json.dumps(given).encode()}
    found = compile_project(Project(root, (root / "pipeline.json",), Settings(), files))
    (meaning,) = found.meanings
    return meaning, all(each.severity is not Severity.ERROR for each in found.diagnostics)


def covered(random: Random) -> dict[str, Any]:
    """Return a random pipeline in which every result has a case."""
    given = machine(random)
    for each in given["stages"]:
        if any(case["when"] != {"verdict": "fail"} for case in each.get("next", [])):
            each["next"].append({"stages": []})
    return given


def moves_of_flow(meaning: Meaning) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: [(edge.on, edge.when, edge.target) for edge in node.edges] for name, node in meaning.flow.nodes.items()
    }


def moves_of_plan(plan: Plan) -> dict[str, list[tuple[Any, ...]]]:
    return {name: [(edge.on, edge.when, edge.target) for edge in node.edges] for name, node in plan.nodes.items()}


@pytest.mark.parametrize("random", list(map(Random, range(CHUNKS))), ids=range(CHUNKS))
def test_a_random_pipeline_makes_a_plan_that_says_what_its_flow_says(random: Random, tmp_path: Path) -> None:
    without_errors = 0
    for _ in range(CHUNK):
        given = covered(random)
        meaning, sound = meaning_of(tmp_path, given)
        without_errors += sound
        plan, longest = meaning.plan(), NetworkxGraph(meaning.flow).longest_run("")
        assert verify(dump(plan)).plan == plan, given
        assert moves_of_plan(plan) == moves_of_flow(meaning), given
        assert plan.facts is not None
        assert plan.facts.executions == min(99, longest or 99), given
        unbound = facts(replace(plan, limits=Limits()))
        assert longest in {None, unbound.executions}, given
    assert without_errors > CHUNK // 4
