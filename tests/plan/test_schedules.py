"""What schedules and processes promise; broken, it is refused where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from handmade import process, processes, scheduled
from plan.test_soundness import refusal, with_

from stagec.core.value import replace
from stagec.ir.plan import PlanError, dump, load
from stagec.ir.plan.act import ProcessInput
from stagec.ir.plan.agents import find_schedule_flaws
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import facts

NAME = "by hand: processes"
NEEDS = "entries//needs"
TRAIN, LOAD, SEND = "S02_train_model", "S01_load_data", "S05_send_report"


def schedule(way: str, value: Any) -> Callable[[Any], object]:
    """Return what puts a value at a place in the schedule, whose entry has an empty name."""

    def change(plan: Any) -> None:
        with_(way, value)(plan["entries"][""])

    return change


def act(name: str, way: str, value: Any) -> Callable[[Any], object]:
    """Return what puts a value at a place in the act of a node."""
    return with_(f"nodes/{name}/act/{way}", value)


def test_a_plan_of_processes_is_sound() -> None:
    assert refusal(NAME, lambda _: None) == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (schedule(f"needs/{LOAD}", [TRAIN]), "wait for each other"),
        (schedule(f"needs/{TRAIN}", [TRAIN]), "wait for each other"),
        (schedule(f"needs/{TRAIN}", [LOAD, LOAD]), "has a node twice"),
        (schedule(f"needs/{SEND}", None), ""),
        (schedule(f"needs/{LOAD}", None), "which the schedule has not"),
        (schedule(f"needs/{LOAD}", ["S09_lost_stage"]), "does not have in 'nodes'"),
        (schedule("needs", {}), "at least 1"),
    ],
)
def test_needs_are_in_the_schedule_and_can_come_first(change: Callable[[Any], object], told: str) -> None:
    found = refusal(NAME, change)
    assert told in found
    assert bool(told) == bool(found)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (act("S04_evaluate_model", "inputs/model/node", SEND), "a node that this one does not need"),
        (act("S04_evaluate_model", "inputs/model/node", LOAD), "is not an output of 'S01_load_data'"),
        (act("S04_evaluate_model", "inputs/model/path", "other.json"), "is not an output of 'S02_train_model'"),
        (act("S04_evaluate_model", "inputs/model/node", "S09_lost_stage"), "does not have in 'nodes'"),
        (act("S04_evaluate_model", "inputs/page", {}), "must have a 'path' or a 'url'"),
        (act("S04_evaluate_model", "inputs/page/path", "a"), "must have a 'path' or a 'url'"),
        (act("S04_evaluate_model", "inputs/page/node", LOAD), "must have a 'path' or a 'url'"),
        (act("S04_evaluate_model", "inputs/table", {"node": LOAD}), "must have a 'path' or a 'url'"),
        (act(LOAD, "inputs/wine/path", "/etc/passwd"), "may lead out"),
        (act(LOAD, "inputs/wine/path", "../wine.csv"), "may lead out"),
        (act(LOAD, "outputs/table", "x/../../wine.csv"), "may lead out"),
        (act(TRAIN, "outputs/notes", "."), "may lead out"),
        (act(TRAIN, "outputs/notes", ""), "may lead out"),
        (act(TRAIN, "outputs/notes", "a\\b"), ""),
        (act(TRAIN, "outputs/notes", "a\\..\\b"), "may lead out"),
        (act(TRAIN, "outputs/notes", "a//b"), "may lead out"),
        (act(TRAIN, "outputs/notes", "a\u202eb"), "may lead out"),
        (act(TRAIN, "outputs/notes", "ä" * 128), "may lead out"),
        (act(TRAIN, "outputs/notes", "ä" * 127), ""),
        (act(TRAIN, "outputs/notes", "model.json"), "has a path twice"),
        (act(TRAIN, "outputs/notes", "model.json/x"), "is below another output"),
        (act(TRAIN, "outputs/notes", "model.jsonx/x"), ""),
        (act(TRAIN, "limits/warn", 270_001), "are not in their order"),
        (act(TRAIN, "limits/kill", 275_000), ""),
        (act(TRAIN, "limits/kill", 274_999), "are not in their order"),
        (act(TRAIN, "retryable", False), "not retryable"),
    ],
)
def test_processes_read_and_write_where_they_may(change: Callable[[Any], object], told: str) -> None:
    found = refusal(NAME, change)
    assert told in found
    assert bool(told) == bool(found)


@pytest.mark.parametrize(
    ("way", "value", "told"),
    [
        ("gate", {"is": "exit"}, "cannot judge"),
        ("edges/0/on", "failure", "'success'"),
        ("edges/0/target/outcome", "failed", "as its outcome says"),
        ("edges/2/target/outcome", "done", "as its outcome says"),
        ("edges/1/when", [{"is": "exists", "path": [], "present": True}], "as its outcome says"),
        ("edges/1/target", {"is": "go", "node": SEND}, "as its outcome says"),
        ("validation", {"conditions": []}, "is not for a process"),
        ("hooks", {"exit": "a:b"}, "is not for a process"),
    ],
)
def test_processes_end_their_branch(way: str, value: Any, told: str) -> None:
    assert told in refusal(NAME, with_(f"nodes/{TRAIN}/{way}", value))


def test_processes_begin_in_schedules_of_processes_alone() -> None:
    assert "outside of a schedule" in refusal(NAME, with_("entries/other", LOAD))
    assert refusal(NAME, with_("limits/executions", 4)).endswith("smaller than the number of nodes in the schedule ''")
    assert refusal(NAME, with_("limits/executions", 5)) == ""


@pytest.mark.parametrize("name", [".hidden", "checkpoints", "run.log", "a/b", "a\\b", "", "..", "a\0", "x" * 256])
def test_processes_have_names_of_directories(name: str) -> None:
    plan = scheduled({name: process()}, {name: ()})
    with pytest.raises(PlanError, match="no directory of a stage"):
        load(dump(plan))


def chain(length: int, reads: int) -> Plan:
    """Return stages that need the one before, each of which reads what the first has left."""
    names = [f"S{place:05}" for place in range(length)]
    source = {"first": ProcessInput("out", names[0])}
    nodes = {
        name: process(outputs={"out": "out"}, inputs=source if 0 < at <= reads else {}) for at, name in enumerate(names)
    }
    return scheduled(nodes, {name: tuple(names[at - 1 : at]) if at else () for at, name in enumerate(names)})


def test_inputs_may_come_from_far_away() -> None:
    plan = chain(300, 299)
    assert list(find_schedule_flaws(plan)) == []
    assert facts(plan).executions == 300


def test_long_schedules_are_no_recursion() -> None:
    assert load(dump(chain(3000, 0))).plan.facts == facts(chain(3000, 0))


def test_facts_add_a_schedule_up_and_name_what_is_interrupted() -> None:
    plan = processes()
    found = facts(plan)
    assert found.executions == len(plan.nodes)
    assert found.interrupted == tuple(sorted(plan.nodes))
    assert found.turns == 0
    assert found.cycles == ()
    assert facts(replace(plan, limits=replace(plan.limits, executions=3))).executions == 3
