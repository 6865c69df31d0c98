"""Plans of orchestrators: the plans of agents inside them, and what phases promise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from handmade import processes
from phased import every_member, issue_flow
from plan.examples import file_of, payload

from stagec.core.canonical import canonical, digest
from stagec.ir.plan import PlanError, dump, load, verify
from stagec.ir.plan.agents import read_turns
from stagec.ir.plan.codec import write


def replace_agent(plan: Any, text: str) -> None:
    """Put a text in place of the plan of the builder."""
    content = digest(text.encode())
    plan["contents"][content] = text
    plan["plans"]["builder"] = content


def change_agent(plan: Any, change: Callable[[Any], None]) -> None:
    """Change the plan of the builder; its digest is right."""
    inner = json.loads(plan["contents"][plan["plans"]["builder"]])
    change(inner)
    replace_agent(plan, canonical(inner).decode())


def own(plan: Any) -> Any:
    return plan["nodes"]["build"]


EDITS: dict[str, tuple[Callable[[Any], None], str]] = {
    "a text": (lambda plan: replace_agent(plan, "no plan"), "is not a usable plan"),
    "a number": (lambda plan: replace_agent(plan, "7"), "is not a usable plan: its format is not named"),
    "an orchestrator": (
        lambda plan: replace_agent(plan, canonical(write(issue_flow())).decode()),
        "has agents itself",
    ),
    "stages as processes": (
        lambda plan: replace_agent(plan, canonical(write(processes())).decode()),
        "has stages that are processes",
    ),
    "no entry": (lambda plan: change_agent(plan, lambda inner: inner.pop("entry")), "has no 'entry'"),
    "another member": (
        lambda plan: change_agent(plan, lambda inner: inner.update(more=1)),
        "at '/more': is not a member of this object",
    ),
    "an unknown agent": (lambda plan: own(plan)["act"].update(agent="nobody"), "refers to 'nobody'"),
    "no phases": (lambda plan: plan.pop("phases"), "lacks 'phases'"),
    "an end as done": (
        lambda plan: own(plan)["edges"].append({"on": "x", "target": {"is": "stop", "outcome": "done"}}),
        "is none that a phase can have",
    ),
    "a fork": (
        lambda plan: own(plan)["edges"].append({"on": "x", "target": {"is": "fork", "nodes": ["done", "stuck"]}}),
        "is none that a phase can have",
    ),
    "a term": (
        lambda plan: own(plan)["edges"][0].update(when=[{"is": "exists", "path": ["x"], "present": True}]),
        "is none that a phase can have",
    ),
    "a missing edge": (lambda plan: own(plan)["edges"].pop(), "has none for 'otherwise'"),
    "a retry": (
        lambda plan: own(plan).update(retry={"attempts": 2, "backoff": {}}),
        "has an admission, a retry, a validation or hooks, and is a phase",
    ),
    "a wrong fallback": (
        lambda plan: own(plan)["gate"].update(otherwise="success"),
        "has 'otherwise' among its 'outcomes'",
    ),
    "no success": (lambda plan: own(plan)["gate"].update(outcomes=[]), "lacks 'success' among its 'outcomes'"),
    "another gate": (lambda plan: own(plan).update(gate={"is": "exit"}), "cannot judge what comes of this act"),
    "a schedule": (
        lambda plan: plan["entries"].update(x={"is": "schedule", "needs": {"build": []}}),
        "is a schedule, and phases follow one another",
    ),
    "labels of nobody": (
        lambda plan: plan["phases"]["labels"].update(gone=["x"]),
        "refers to 'gone'",
    ),
    "a comment of what there never is": (
        lambda plan: own(plan)["act"].update(comments={"x": [{"is": "hole", "path": ["ctx"]}]}),
        "where there never is anything",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_plan_that_breaks_a_promise_about_agents_is_refused(edit: str) -> None:
    change, told = EDITS[edit]
    plan = payload(dump(issue_flow()))
    change(plan)
    with pytest.raises(PlanError, match=told.replace("(", r"\(")):
        load(file_of(plan))


def test_the_facts_of_agents_are_worked_out_again() -> None:
    plan = payload(dump(issue_flow()))
    change_agent(plan, lambda inner: inner["facts"].update(turns=1))
    load(file_of(plan))
    with pytest.raises(PlanError, match="its facts do not follow from its nodes and edges"):
        verify(file_of(plan))


def test_an_agent_that_is_not_written_canonically_is_refused_by_a_checker() -> None:
    plan = payload(dump(issue_flow()))
    replace_agent(plan, " " + plan["contents"][plan["plans"]["builder"]])
    load(file_of(plan))
    with pytest.raises(PlanError, match="not written as RFC 8785 says"):
        verify(file_of(plan))


def test_each_transition_may_take_the_turns_of_the_agent_with_most() -> None:
    plan = issue_flow(3)
    assert plan.facts is not None
    turns = max(read_turns(plan.contents[each]) for each in plan.plans.values())
    assert (plan.facts.turns, plan.facts.executions, plan.facts.blocked) == (3 * turns, 4, ("stuck",))
    assert verify(dump(every_member())).plan == every_member()


@pytest.mark.parametrize(
    "text", ["", "{}", "7", '{"facts": 1}', '{"facts": {"turns": -1}}', '{"facts": {"turns": true}}']
)
def test_a_payload_without_facts_names_no_turns(text: str) -> None:
    assert read_turns(text) == 0
