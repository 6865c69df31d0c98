"""Plans forced past what the rules of flows and contracts say: their runs show the failure that was predicted.

Each test takes the first example of a rule's specification, makes a plan of it all the same, and looks at every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from properties.soundness.answers import answers
from rules.conftest import _write

from stagec.check.pipeline import Project, compile_project
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.node import Node, Outcome
from stagec.runtime.machine import Answered, Program, Started, State, advance
from stagec.runtime.machine.exchange import Ask, Effect, Turn
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import program_of
from stagec.sources.project.settings import Settings
from stagec_dev.rule_pages import read_sections

RULES = Path(__file__).parents[1] / "rules"
MOST = 5_000
"""Runs of one plan that are looked at; none of these plans has more."""

Json = Any


class Ran(NamedTuple):
    """A whole run: the nodes that it executed, in order, the results of those that failed, and how it ended."""

    nodes: tuple[str, ...]
    failures: tuple[str, ...]
    state: State

    @property
    def is_done(self) -> bool:
        return self.state.ended is Outcome.DONE


def forced(rule: str, root: Path, title: str | None = None) -> Plan:
    """Return the plan of an example of a rule, the first one where no title is given; the rule speaks of it."""
    (spec,) = RULES.glob(f"*/{rule.lower()}_*.md")
    section = next(each for each in read_sections(spec) if title in {None, each.title})
    for block in section.inputs:
        _write(root, block)
    found = compile_project(Project(root, (), Settings()))
    assert rule in {each.code for each in found.diagnostics}
    (meaning,) = found.meanings
    plan = meaning.plan()
    return replace(plan, nodes={name: prompted(node) for name, node in plan.nodes.items()})


def prompted(node: Node) -> Node:
    """Return a node whose prompt is there; the examples leave prompts out."""
    return replace(node, act=replace(node.act, prompt=())) if isinstance(node.act, Prompt) else node


def runs(plan: Plan, results: int = 1) -> list[Ran]:
    """Return every run of a plan in which models say each intent that there is, and hand in so many other results."""
    program = program_of(plan)
    inputs = {name: "none" for name, each in plan.inputs.items() if each.required}
    first = advance(program, State(), Started("run", inputs=inputs))
    todo = [Ran(entered(first.trace), (), first.state)]
    done = []
    while todo:
        one = todo.pop()
        if one.state.ended is None:
            todo.extend(onward(program, one, results))
        else:
            done.append(one)
        assert len(done) < MOST
    return done


def onward(program: Program, one: Ran, results: int) -> Iterator[Ran]:
    key, effect = next(iter(one.state.pending.items()))
    for answer in said(program.plan, effect, results):
        step = advance(program, one.state, Answered(key, answer))
        failures = (
            each.facts["stageExecutionId"].partition("/")[2] for each in step.trace if each.name == "StageInitFailed"
        )
        yield Ran((*one.nodes, *entered(step.trace)), (*one.failures, *failures), step.state)


def entered(told: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(each.facts["stageId"] for each in told if each.name == "StageEntered")


def said(plan: Plan, effect: Effect, results: int) -> list[Json]:
    """Return what the world may say: a model every intent, or every kind of result, or nothing to the last."""
    match effect:
        case Ask():
            schema = json.loads(plan.contents[str(effect.schema)])
            return [{"answer": {"action": each}} for each in schema["properties"]["action"]["enum"]]
        case Turn():
            possible = answers(plan.contents[effect.schema], Random(1), results)  # noqa: S311
            calls = [{"calls": [{"id": "c", "tool": effect.completion, "arguments": each}]} for each in possible]
            return [{}] if len(effect.transcript) > 1 else [*calls, {}]
        case _:
            return [{}]


def visited(found: list[Ran]) -> set[str]:
    return {node for each in found for node in each.nodes}


def never(found: list[Ran], holds: Callable[[Ran], bool]) -> bool:
    return bool(found) and not any(map(holds, found))


def test_stg601_no_run_executes_an_unreachable_step(tmp_path: Path) -> None:
    plan = forced("STG601", tmp_path)
    assert plan.nodes.keys() - visited(runs(plan)) == {"continuation.other"}


def test_stg602_no_run_executes_what_only_an_unreachable_step_leads_to(tmp_path: Path) -> None:
    plan = forced("STG602", tmp_path)
    assert plan.nodes.keys() - visited(runs(plan)) == {"initial.other", "continuation.other"}


def test_stg603_no_run_executes_an_idle_node_that_nothing_leads_to_and_runs_complete_without(tmp_path: Path) -> None:
    plan = forced("STG603", tmp_path)
    found = runs(plan)
    assert plan.nodes.keys() - visited(found)
    assert any(each.is_done for each in found)


@pytest.mark.parametrize("title", [None, "Stages that lead only to each other"])
def test_stg604_every_run_goes_round_an_endless_cycle_until_its_bound(tmp_path: Path, title: str | None) -> None:
    plan = forced("STG604", tmp_path, title)
    found = runs(plan)
    assert never(found, lambda each: each.is_done)
    assert max(each.state.executions for each in found) == plan.limits.executions


@pytest.mark.parametrize(("title", "end"), [(None, "continuation.issue"), ("A stage that always fails", "review")])
def test_stg605_every_run_that_comes_to_a_dead_end_fails_there(tmp_path: Path, title: str | None, end: str) -> None:
    found = [each for each in runs(forced("STG605", tmp_path, title)) if end in each.nodes]
    assert never(found, lambda each: each.is_done or each.nodes[-1] != end)


def test_stg606_work_that_leads_to_closure_completes_a_run_in_which_nothing_was_handed_off(tmp_path: Path) -> None:
    plan = forced("STG606", tmp_path)
    assert "handoff" not in {intent for node in plan.nodes.values() for intent in node.gate.intents}
    assert any(each.is_done for each in runs(plan))


@pytest.mark.parametrize("title", [None, "A fork that takes too much"])
def test_stg607_every_run_reaches_its_bound_before_it_can_complete(tmp_path: Path, title: str | None) -> None:
    plan = forced("STG607", tmp_path, title)
    found = runs(plan)
    assert never(found, lambda each: each.is_done)
    assert FailureKind.BOUND in {each.state.failure.kind for each in found if each.state.failure is not None}
    loose = replace(plan, limits=replace(plan.limits, executions=99))
    assert any(each.is_done for each in runs(loose))


def test_stg608_a_cycle_without_a_bound_is_gone_round_as_often_as_anybody_looks(tmp_path: Path) -> None:
    plan = forced("STG608", tmp_path)
    program, state = program_of(plan), advance(program_of(plan), State(), Started("run")).state
    for _ in range(1_000):
        key, effect = next(iter(state.pending.items()))
        ways = (advance(program, state, Answered(key, each)).state for each in said(plan, effect, 1))
        state = next(each for each in ways if each.ended is None)
    assert state.executions > 900


@pytest.mark.parametrize(
    "title",
    [
        None,
        "A stage that is always tried again",
        "Checks that together accept nothing",
        "A stage that can only be skipped",
        "A recovery that runs nothing",
    ],
)
def test_stg609_the_join_of_a_sibling_that_always_fails_never_starts(tmp_path: Path, title: str | None) -> None:
    plan = forced("STG609", tmp_path, title)
    found, joins = runs(plan, 3), {"review", "C"}
    assert never(found, lambda each: not each.nodes or each.is_done or not joins.isdisjoint(each.nodes))


def test_stg701_a_prompt_that_reads_what_no_result_has_is_never_made(tmp_path: Path) -> None:
    found = [each for each in runs(forced("STG701", tmp_path), 16) if "work" in each.nodes]
    assert never(found, lambda each: each.is_done or each.failures != ("work#1",))


def test_stg702_a_prompt_that_reads_what_a_result_may_leave_out_is_made_in_some_runs_only(tmp_path: Path) -> None:
    found = [each for each in runs(forced("STG702", tmp_path), 16) if "work" in each.nodes]
    assert {each.failures for each in found} == {(), ("work#1",)}


@pytest.mark.parametrize(
    "title", [None, "Another type", "No common value", "A closed schema that leaves out what is always there"]
)
def test_stg703_a_stage_that_demands_what_it_never_gets_always_fails(tmp_path: Path, title: str | None) -> None:
    found = [each for each in runs(forced("STG703", tmp_path, title), 16) if "work" in each.nodes]
    assert never(found, lambda each: each.is_done or each.failures != ("work#1",))


def test_stg704_a_prompt_that_reads_what_no_schema_declares_is_made_in_some_runs_only(tmp_path: Path) -> None:
    found = [each for each in runs(forced("STG704", tmp_path), 16) if "work" in each.nodes]
    assert ("work#1",) in {each.failures for each in found}


@pytest.mark.parametrize("title", [None, "Itself"])
def test_stg705_a_step_that_reads_a_result_before_there_is_one_cannot_start(tmp_path: Path, title: str | None) -> None:
    found = runs(forced("STG705", tmp_path, title))
    kinds = {each.state.failure.kind for each in found if each.state.failure is not None}
    assert never(found, lambda each: each.is_done)
    assert kinds == {FailureKind.UNSTARTABLE}


def test_every_rule_of_flows_and_contracts_has_its_test() -> None:
    rules = {
        each.name.partition("_")[0] for family in ("flow", "contract") for each in (RULES / family).glob("stg*.md")
    }
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_stg")}
    assert tested == rules
