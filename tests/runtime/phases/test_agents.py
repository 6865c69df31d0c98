"""Runs of phases: the runs of agents inside them, outcomes, transitions, bounds and ends (§ 3.18 of the format)."""

from __future__ import annotations

from typing import Any

import pytest
from phased import Worker, issue_flow, make_agent, make_phases
from runtime.phases.issues import Issue, again, phased

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.document import Phases
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Cancelled, State, advance
from stagec.runtime.machine.exchange import AgentRunName, Ask, Close, Comment, Dispatch, Relabel, Wait, read_agent_run

CLOSING = {"answer": {"do": "closing", "summary": "so it is"}}


def moves(run: Issue) -> list[str]:
    """Return where each execution of a phase has led, in order; a run is played again to see it."""
    state, found = State(), []
    for event in run.events:
        step = advance(run.program, state, event)
        found += [f"{move.node} {move.outcome}" for move in step.moves if not move.run]
        state = step.state
    return found


def test_an_agent_is_run_inside_the_run_of_its_phase() -> None:
    run = Issue(issue_flow())
    assert run.open == Dispatch("r/build#1/1.0", "builder", "r~builder~1", {"issue": "seven"})
    run.answer({})
    asked = run.open
    assert isinstance(asked, Ask)
    assert (asked.key, asked.prompt) == ("r~builder~1/work#1/1.0", "builder works on seven")
    run.answer({"answer": {"do": "next"}})
    run.answer(CLOSING)
    assert run.open == Relabel("r/build#1/1.1", "review", ("review",), ("kind:build", "kind:code", "done", "help"))
    run.answer({})
    assert [(move.node, move.run) for move in run.step.moves] == [("build", "")]
    assert run.open == Dispatch("r/review#1/1.0", "reviewer", "r~reviewer~1", {"issue": "seven"})


def test_an_answer_for_another_run_of_the_agent_changes_nothing() -> None:
    run = Issue(issue_flow())
    run.answer({})
    before = run.state
    for key in ("r~builder~2/work#1/1.0", "r~reviewer~1/work#1/1.0", "r/work#1/1.0", "work", ""):
        assert advance(run.program, before, Answered(key, CLOSING)).state == before


def test_a_run_is_completed_with_its_labels_comments_and_the_closed_issue() -> None:
    run = Issue(issue_flow())
    verdicts = ["rejected", "approved"]
    while run.state.ended is None:
        effect = run.open
        if isinstance(effect, Dispatch) and effect.agent == "reviewer":
            run.answer({"answer": {"verdict": verdicts.pop(0), "summary": "no tests"}})
        else:
            run.answer({"answer": {}} if isinstance(effect, Dispatch) else {})
    assert (run.state.ended, run.state.reason) == (Outcome.DONE, "completed")
    assert moves(run) == ["build success", "review rejected", "build success", "review approved", "done completed"]
    assert [each.text for each in run.find(Comment)] == ["Rejected: no tests"]
    assert len(run.find(Close)) == 1
    issue = run.state.issue
    assert issue is not None
    assert (issue.labels, issue.transitions, issue.is_closed) == (("done",), 4, True)
    assert run.find(Relabel)[-1].remove == ("kind:build", "kind:code", "review", "help", "order:1", "order:2")


def fallbacks(**worker: Any) -> Plan:
    """Make one phase whose agent leads to an end of its own with each outcome."""
    ends = {"fine": Outcome.DONE, "stale": Outcome.BLOCKED, "broken": Outcome.BLOCKED, "lost": Outcome.BLOCKED}
    labels = {"build": ("kind:build",)}
    return make_phases({"build": Worker(**worker)}, ends, Phases(3, labels=labels), (make_agent("builder"),))


TRANSFORMER = {"agent": "builder", "role": "transformer", "ways": {"success": "fine"}, "otherwise": "broken"}
WITH_VERDICTS = {
    **TRANSFORMER,
    "ways": {"success": "fine", "stale": "stale", "failed": "broken"},
    "otherwise": "lost",
    "verdicts": True,
}
VALIDATOR = {"agent": "builder", "role": "validator", "ways": {"stale": "stale", "ok": "fine"}, "otherwise": "lost"}


@pytest.mark.parametrize(
    ("worker", "given", "phase"),
    [
        (TRANSFORMER, {"answer": {}}, "fine"),
        (TRANSFORMER, {"answer": {"verdict": "stale"}}, "fine"),
        (TRANSFORMER, {"failed": True}, "broken"),
        (TRANSFORMER, {"failed": "no", "answer": {"verdict": "success"}}, "broken"),
        (WITH_VERDICTS, {"answer": {"verdict": "stale"}}, "fine"),
        (WITH_VERDICTS, {"failed": True, "answer": {"verdict": "stale"}}, "stale"),
        (WITH_VERDICTS, {"failed": True, "answer": {"verdict": "odd"}}, "lost"),
        (WITH_VERDICTS, {"failed": {"message": "gone"}, "answer": {"verdict": 1}}, "broken"),
        (WITH_VERDICTS, {"failed": True}, "broken"),
        (VALIDATOR, {"answer": {"verdict": "stale"}}, "stale"),
        (VALIDATOR, {"answer": {"verdict": "ok"}}, "fine"),
        (VALIDATOR, {"answer": {"verdict": ["ok"]}}, "lost"),
        (VALIDATOR, {"answer": {}}, "lost"),
        (VALIDATOR, {"failed": True, "answer": {"verdict": "ok"}}, "lost"),
        (VALIDATOR, {"failed": False, "answer": {"verdict": "ok"}}, "fine"),
    ],
)
def test_the_outcome_of_an_agent_decides_which_phase_follows(worker: Any, given: Json, phase: str) -> None:
    run = Issue(fallbacks(**worker))
    run.answer(given)
    while run.state.ended is None:
        run.answer({})
    assert moves(run)[-1].split()[0] == phase
    assert run.state.ended is (Outcome.DONE if phase == "fine" else Outcome.BLOCKED)


def test_a_run_of_an_agent_that_fails_is_the_outcome_failed() -> None:
    run = Issue(fallbacks(**TRANSFORMER))
    run.answer({})
    for _ in range(4):  # all the executions that the agent has
        run.answer({"answer": {"do": "repeat"}})
    assert run.open == Relabel("r/build#1/1.1", "broken", (), ("kind:build",))
    ended = next(each for each in run.step.trace if each.name == "AgentEnded")
    assert (ended.facts["status"], ended.facts["outcome"]) == ("failed", "failed")
    assert "bound reached" in str(ended.facts["reason"])


@pytest.mark.parametrize(
    "given", [{"answer": None}, {"failed": None}, {"answer": []}, [], None, {"x": 1}, {"failed": False}]
)
def test_an_answer_that_says_nothing_of_an_agent_lets_it_run(given: Json) -> None:
    run = Issue(issue_flow())
    run.answer(given)
    assert isinstance(run.open, Ask)


def test_a_close_that_fails_leaves_a_comment_and_a_completed_run() -> None:
    run = Issue(issue_flow(), "review")
    run.answer({"answer": {"verdict": "approved"}})
    run.answer({})
    assert run.open == Close("r/review#1/1.2")
    run.answer({"error": "no permission"})
    assert run.open == Comment("r/review#1/1.3", "The issue could not be closed: no permission")
    run.answer({})
    assert run.state.ended is Outcome.DONE
    assert run.state.issue is not None
    assert not run.state.issue.is_closed


def test_the_wait_between_two_phases_is_not_waited_for_at_the_end() -> None:
    plan = issue_flow()
    assert plan.phases is not None
    run = Issue(replace(plan, phases=replace(plan.phases, pause=7)))
    run.answer({"answer": {}})
    run.answer({})
    assert run.open == Wait("r/build#1/1.2", 7)
    run.answer({})
    run.answer({"answer": {"verdict": "approved"}})
    run.answer({})
    run.answer({})
    assert run.state.ended is Outcome.DONE
    assert len(run.find(Wait)) == 1


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_who_is_cancelled_leaves_nothing_asked(before: int) -> None:
    run = Issue(issue_flow())
    for answer in ({}, {"answer": {"do": "next"}}, CLOSING)[:before]:
        run.answer(answer)
    asked = run.open.key
    run.tell(Cancelled())
    assert (run.state.ended, run.state.pending, run.step.void) == (Outcome.FAILED, {}, (asked,))
    assert advance(run.program, run.state, Answered(asked, CLOSING)).state == run.state


def test_a_phase_that_follows_itself_counts_only_what_follows_in_a_row() -> None:
    run = phased(again(0), {"build": {"verdict": "again"}})
    assert "all its transitions: the limit is 9" in run.state.reason
    assert run.state.executions == 9


@pytest.mark.parametrize("entry", ["kind:build", "kind:code", "review", "help", "done"])
def test_an_issue_begins_with_the_label_of_the_entry(entry: str) -> None:
    run = Issue(issue_flow(), entry)
    assert run.state.issue is not None
    assert run.state.issue.labels == (entry,)
    assert run.state.ended is {"help": Outcome.BLOCKED, "done": Outcome.DONE}.get(entry)


@pytest.mark.parametrize("agent", ["builder", "a/b", "a~b", "a#1", "größe", "%41.", "", "\ud800", "\U0001f600", "~~"])
def test_the_id_of_an_agents_run_says_whose_it_is(agent: str) -> None:
    name = AgentRunName("run-1~x", agent, 12)
    assert read_agent_run(str(name)) == name
    assert not {"/", "#"} & {*str(name)}


@pytest.mark.parametrize("run", ["", "run", "~", "a~b", "~a~1", "a~b~x", "a~b~"])
def test_other_ids_are_no_ids_of_agents_runs(run: str) -> None:
    assert read_agent_run(run) is None
