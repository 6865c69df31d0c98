"""`stagec.run`: a plan from its bytes to its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from playable import Answers, judged

import stagec
from stagec.ir.plan import PlanError, dump
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import JournalError, Reason, read_journal
from stagec.runtime.machine import Started

STARTED = Started("one", inputs={"topic": "winter"})


def test_a_plan_is_run_without_a_trace(plan: bytes, tmp_path: Path) -> None:
    assert stagec.run(plan, Answers(), STARTED).ended is Outcome.DONE
    assert list(tmp_path.iterdir()) == []


def test_a_plan_is_run_with_a_journal_and_gone_on_with(plan: bytes, path: Path) -> None:
    with pytest.raises(InterruptedError):
        stagec.run(plan, Answers("one/draft#2/1.0"), STARTED, path)
    world = Answers()
    state = stagec.run(plan, world, Started("other"), path)
    assert (state.ended, state.run, world.asked[0]) == (Outcome.DONE, "one", "one/draft#2/1.0")
    assert len(read_journal(path).events) == 5


def test_a_journal_of_another_plan_is_refused(plan: bytes, path: Path) -> None:
    stagec.run(plan, Answers(), STARTED, path)
    with pytest.raises(JournalError) as raised:
        stagec.run(dump(judged()), Answers(), STARTED, path)
    assert raised.value.reason is Reason.TAKEN
    assert len(read_journal(path).events) == 5


def test_a_damaged_journal_is_not_replaced(plan: bytes, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else")
    with pytest.raises(JournalError):
        stagec.run(plan, Answers(), STARTED, path)
    assert path.read_bytes() == b"something else"


def test_a_journal_below_a_file_is_refused(plan: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(JournalError, match=r"cannot make .*: Not a directory"):
        stagec.run(plan, Answers(), STARTED, tmp_path / "file" / "folder" / "run.journal")


def test_a_plan_that_was_altered_is_refused(plan: bytes) -> None:
    with pytest.raises(PlanError):
        stagec.run(plan.replace(b"Draft", b"Raft!"), Answers(), STARTED)


def test_a_plan_is_loaded_by_name(plan: bytes) -> None:
    assert stagec.load_plan(plan).plan.id == "writer"
