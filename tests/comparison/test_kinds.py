"""What each kind of change means: shown by states of runs that go on under the new plan, or cannot."""

from __future__ import annotations

from collections import Counter

import phased
import playable
import pytest
from comparison.cases import CASES, Case
from comparison.transfer import Crossing, find_deviation, find_stuck

from stagec.change.comparison.compare import compare_flows, compare_plans
from stagec.change.comparison.kind import Grade, PlanPair
from stagec.change.comparison.situation import JudgedChange, RunCompatibility, judge_changes, judge_flow, list_kinds
from stagec.core.canonical import canonical
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Contents, Limits, Phases
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Program, Started, State, advance
from stagec.runtime.machine.program import program_of

RUNS = 240
"""Runs of the old plan among whose states one is looked for that cannot go on."""


def judged(case: Case) -> tuple[JudgedChange, ...]:
    return judge_changes(PlanPair(case.old, case.new), compare_plans(case.old, case.new))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_has_its_kinds(case: Case) -> None:
    assert " ".join(each.kind.code for each in judged(case)) == case.codes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_runs_go_on_unless_a_change_breaks_them(case: Case) -> None:
    breaks = any(each.kind.grade is Grade.BREAKING for each in judged(case))
    if not case.is_walked:  # what is not known is not promised, and no state shows it
        return
    fresh = 0 if "CHG135" in case.codes else 30  # what may not start has something in its place in the old plan alone
    found = find_stuck(case.old, case.new, 1, RUNS if breaks else RUNS // 16, fresh)
    assert found.wrong == ()
    assert bool(found.stuck) == breaks, found
    assert breaks or found.refused == ()


RAISED = {"CHG306", "CHG313", "CHG314", "CHG320", "CHG322"}
"""Limits that are higher: what an old run did at the limit, a new one does later."""


def is_purely_additive(case: Case) -> bool:
    codes = {*case.codes.split()}
    has_processes = any(isinstance(each.act, Process) for each in case.old.nodes.values())  # they are resumed
    return case.is_walked and not has_processes and not codes & RAISED and all(each[3] == "3" for each in codes)


@pytest.mark.parametrize("case", [*filter(is_purely_additive, CASES)], ids=lambda case: case.name)
def test_runs_go_on_as_before_after_an_additive_change(case: Case) -> None:
    crossing = Crossing(case.old, case.new)
    assert [find_deviation(crossing, seed) for seed in range(8)] == [None] * 8


def test_there_are_enough_cases() -> None:
    grades = Counter("123".index(case.codes[3]) for case in CASES)
    assert len(CASES) >= 60
    assert min(grades.values()) >= 14


def test_every_kind_has_a_case() -> None:
    shown = {code for case in CASES for code in case.codes.split()}
    assert {each.code for each in list_kinds()} - shown == {"CHG101", "CHG301"}


def test_agents_are_compared_inside_the_plan_that_runs_them() -> None:
    agents = [phased.make_agent("fixer"), replace(phased.make_agent("fixer"), limits=Limits(1))]
    plans = [
        replace(phased.every_member(), contents=contents.texts, plans=plans) for contents, plans in map(_hold, agents)
    ]
    [outer, inner] = compare_flows(plans[:1], plans[1:])
    assert (outer.flow, outer.changes) == ("orchestrator", ())
    assert inner.flow == "orchestrator: fixer"
    assert [each.topic for each in inner.changes] == ["executions"]


def _hold(agent: Plan) -> tuple[Contents, dict[str, str]]:
    contents = Contents()
    for text in phased.every_member().contents.values():
        contents.add(text)
    made = replace(agent, facts=facts(agent))
    return contents, {"fixer": contents.add(canonical(write(made)).decode())}


def _orchestrate(agent: Plan) -> Program:
    labels = {"build": ("kind:build",)}
    worker = phased.Worker("builder", "validator", {"closing": "shipped"})
    phases = Phases(9, labels=labels)
    return program_of(phased.make_phases({"build": worker}, {"shipped": Outcome.DONE}, phases, (agent,)))


def test_changes_of_an_agent_concern_a_run_only_while_the_agent_runs() -> None:
    agent = phased.make_agent("builder")
    gate = IntentGate(("do",), ("next",))
    node = replace(agent.nodes["work"], gate=gate, edges=agent.nodes["work"].edges[:1])
    changed = replace(agent, nodes={**agent.nodes, "work": node})
    old, new = _orchestrate(agent), _orchestrate(replace(changed, facts=facts(changed)))
    crossing = RunCompatibility(old, new)
    dispatched = advance(old, State(), Started("r", "kind:build", {"issue": "seven"})).state
    assert crossing.find_hindrances(dispatched) == ()
    working = advance(old, dispatched, Answered(next(iter(dispatched.pending)), {})).state
    [found] = crossing.find_hindrances(working)
    assert found.kind is not None
    assert (found.kind.code, found.flow, found.node) == ("CHG128", "builder", "work")
    assert crossing.find_hindrances(working, again=("build",)) == ()
    assert crossing.find_hindrances(working, allowed=("CHG128",)) == ()


def test_a_flow_that_is_gone_breaks_its_runs() -> None:
    flows = compare_flows([playable.steps()], [playable.stages()])
    codes = {each.flow: [one.kind.code for one in judge_flow(each).changes] for each in flows}
    assert codes == {"writer": ["CHG101"], "reader": ["CHG301"]}
