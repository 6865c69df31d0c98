"""What validates runs, and what does not fails: projects that were made freely, and real ones that were changed."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from campaigns import choose
from playable import steps
from properties.soundness.chance import Chance
from properties.soundness.edits import bases
from properties.soundness.free import FREE, campaign_freely
from properties.soundness.free_registries import Made, free_registry
from properties.soundness.free_runs import Explained, FairRun
from properties.soundness.free_schemas import DRAFTS, Placed, SchemaFiles
from properties.soundness.oracle import Oracle
from properties.soundness.runs import UnsoundError

from stagec.core.value import replace
from stagec.ir.plan.act import Prompt
from stagec.runtime.machine.program import program_of

PROJECTS = choose(10, whole=25)
"""Projects of each system in a test run; `python -m stagec_dev soundness --projects` makes any number."""
LEAST = 0.05
"""The share of projects that compile; if fewer do, runs show nothing."""
WANTED = frozenset(
    {
        "several schema files",
        "files with an $id",
        "reference to another file",
        "reference to an anchor",
        "cycle",
        "jump",
        "reference into $defs",
        "reference into definitions",
        "pointer with escapes",
        "part with its own $id",
        "recursion",
        "unsatisfiable part",
        "unsatisfiable part that may be left out",
        "keyword of another dialect",
        "closed object",
        "not",
        "discriminated union",
        "if and then",
        "big numbers",
        "inexact numbers",
        "odd values",
        "odd id",
        "program",
        "escalate",
        "input from another step",
        "variable of the run",
        "parameter default",
        "parameter required",
        "parameter optional",
        "validators",
        "successWhen empty",
        "successWhen exitCode",
        "successWhen contains",
        "successWhen matches",
        "abort",
        "fallback intent",
        "fallback of a transition",
        "fallback key",
        "entry mapping",
        "retry prompt that is missing",
    }
)
"""Constructions of registries that must be made."""
NOTHING = Made({}, Counter(), {}, {})


@pytest.mark.parametrize("system", sorted(FREE))
def test_what_validates_runs_and_many_validate(system: str) -> None:
    seen = campaign_freely(system, range(1, PROJECTS + 1))  # the project of seed 0 takes longer than the next ten
    assert seen.wrong == []
    assert seen.projects[f"{system}: compiled without errors"] > LEAST * PROJECTS
    assert seen.runs


def test_a_project_is_made_again_from_its_seed() -> None:
    for make in FREE.values():
        assert make(Chance("x", 7)) == make(Chance("x", 7))


def test_what_is_seen_does_not_depend_on_how_many_processes_there_are() -> None:
    one, two = (campaign_freely("free pipeline", range(4), workers) for workers in (1, 2))
    assert vars(one) == vars(two)


def test_the_examples_are_changed() -> None:
    assert {"issue-flow", "project-flow", "code-review", "docs-repair"} <= {each.name for each in bases()}


def test_every_dialect_and_construction_is_made_often() -> None:
    marks = Counter[str]()
    for seed in range(200):
        marks.update(free_registry(Chance("free registry", seed)).marks.keys())
    assert {f"dialect {each}" for each in (*DRAFTS, "none")} < marks.keys()
    assert {each for each in WANTED if marks[each] < 2} == set()


@pytest.mark.parametrize("draft", [*DRAFTS.values(), None])
def test_answers_are_judged_by_the_files_as_they_are_written(draft: str | None) -> None:
    header = {} if draft is None else {"$schema": draft}
    files = {
        "a.json": {**header, "one": {"required": ["x"], "properties": {"x": {"$ref": "b/c.json#/definitions/d~1e"}}}},
        "b/c.json": {**header, "definitions": {"d/e": {"enum": [1]}}},
    }
    placed = Placed("a.json", "one", ({"x": 1}, {"x": 2}, {}))
    assert Oracle(files).satisfying(placed) == [{"x": 1}]


def test_most_answers_of_a_schema_satisfy_it() -> None:
    satisfying = 0
    for seed in range(40):
        random = Random(seed)  # noqa: S311
        schemas = SchemaFiles(random, Counter())
        placed = schemas.place("one", [schemas.chosen("a", schemas.scalar()), schemas.free("b.c", required=False)])
        satisfying += bool(Oracle(schemas.files).satisfying(placed))
    assert satisfying > 30


def run(answers: dict[str, list[Any]], program: Any) -> list[str]:
    causes: list[str] = []
    for seed in range(30):
        one = FairRun(program, Random(seed), Counter(), answers, Explained((), NOTHING))  # noqa: S311
        one.run()
        one.replay(program)
        causes += one.causes
    return causes


FITTING = {"draft": [{"action": "next"}], "close": [{"action": "closing"}]}


def test_a_plan_that_refuses_what_satisfies_its_schema_is_caught() -> None:
    plan = steps()
    assert run(FITTING, program_of(plan)) == []
    causes = run({**FITTING, "draft": [{"action": "onward"}]}, program_of(plan))
    assert any("refuses an answer that satisfies its schema" in each for each in causes)


def test_a_step_whose_variable_has_no_value_is_caught() -> None:
    plan = steps()
    node = plan.nodes["draft"]
    assert isinstance(node.act, Prompt)
    wanting = replace(plan, inputs={"topic": replace(plan.inputs["topic"], required=False)})
    assert any("cannot start" in each for each in run(FITTING, program_of(wanting)))


def test_a_replay_that_differs_is_caught() -> None:
    program = program_of(steps())
    one = FairRun(program, Random(1), Counter(), FITTING, Explained((), NOTHING))  # noqa: S311
    one.run()
    one.digests[-1] = json.dumps("another")
    with pytest.raises(UnsoundError, match="replay differs"):
        one.replay(program)
