"""Journals of runs that go on under another plan: written once, read by everybody, whole after every kill."""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from playable import Answers, steps

from stagec.core.value import replace
from stagec.ir.plan import Plan, PlanError, dump
from stagec.ir.plan.document import Input, Limits
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.history import dump_event, load_event
from stagec.runtime.drivers.local import JournalError, create, drive, open_journal, read_journal, restore, run
from stagec.runtime.drivers.local.drive import change_plan
from stagec.runtime.drivers.local.live_journal import LiveJournal
from stagec.runtime.drivers.replay import Difference, fold_run, replay_twice
from stagec.runtime.machine import Program, Replanned, Started, State, load
from stagec.runtime.machine.exchange import Cancelled

STARTED = Started("one", inputs={"topic": "winter"})
SECOND = "one/draft#2/1.0"


def other(limit: int = 30) -> Plan:
    made = replace(steps(), limits=Limits(limit))
    return replace(made, facts=facts(made))


def event(plan: Plan, *again: str) -> Replanned:
    data = dump(plan)
    return Replanned(load(data).digest, data.decode(), again, "vouched")


def begin(path: Path) -> None:
    """Begin a run, and leave it with one answer and one open request."""
    data = dump(steps())
    with closing(create(path, data, load(data).digest)) as journal, suppress(InterruptedError):
        drive(load(data), journal, Answers(SECOND), STARTED)


def change(path: Path, plan: Plan, *again: str) -> tuple[Program, State]:
    with closing(open_journal(path)) as journal:
        program, state = fold_run(load(journal.history.plan), journal.history.events)
        return change_plan(journal, program, state, event(plan, *again))


def go_on(path: Path) -> tuple[State, Answers]:
    world = Answers()
    with closing(open_journal(path)) as journal:
        return drive(load(journal.history.latest[0]), journal, world, None), world


def check(path: Path) -> State:
    history = read_journal(path)
    found = replay_twice(load(history.plan), load(history.plan), history)
    assert not isinstance(found, Difference)
    return found


@pytest.fixture
def begun(path: Path) -> Path:
    begin(path)
    return path


def test_inputs_that_are_given_with_a_plan_are_in_its_journal(begun: Path) -> None:
    made = replace(other(), inputs={**other().inputs, "tone": Input(required=True)})
    with closing(open_journal(begun)) as journal:
        program, state = fold_run(load(journal.history.plan), journal.history.events)
        told = replace(event(replace(made, facts=facts(made))), inputs={"tone": {"of": ["voice", 1.5, None]}})
        change_plan(journal, program, state, told)
    assert read_journal(begun).last_change == told
    go_on(begun)
    assert check(begun).inputs["tone"] == told.inputs["tone"]


@pytest.mark.parametrize("inputs", ["[]", "null", '"tone"', "1"])
def test_inputs_that_are_none_are_no_event(inputs: str) -> None:
    body = dump_event(replace(event(other()), inputs={"x": 1}))
    assert '"inputs":{"x":1}' in body
    assert load_event(body.replace('"inputs":{"x":1},', "")) == event(other())  # as older versions wrote it
    with pytest.raises(ValueError, match="not an event"):
        load_event(body.replace('{"x":1}', inputs, 1))


def test_a_run_goes_on_under_the_plan_in_its_journal(begun: Path) -> None:
    program, state = change(begun, other())
    assert (program.plan.limits, [*state.pending]) == (Limits(30), [SECOND])
    history = read_journal(begun)
    assert history.latest == (dump(other()), load(dump(other())).digest)
    assert history.last_change is not None
    assert history.last_change.signature == "vouched"
    ended, world = go_on(begun)
    assert (ended.ended, world.asked[0]) == (Outcome.DONE, SECOND)
    assert check(begun) == ended


def test_the_change_has_a_time_and_a_step_digest(begun: Path) -> None:
    with closing(open_journal(begun)) as journal:
        program, state = fold_run(load(journal.history.plan), journal.history.events)
        program, state = change_plan(journal, program, state, event(other()))
        assert restore(program, journal.history) == state
        drive(program, journal, Answers(), None)
    history = read_journal(begun)
    at = next(number for number, each in enumerate(history.events) if isinstance(each, Replanned))
    assert history.times[at].at is not None
    assert history.step_digests[at]
    altered = replace(history, step_digests=(*history.step_digests[:at], "0" * 32, *history.step_digests[at + 1 :]))
    assert replay_twice(load(history.plan), load(history.plan), altered) == Difference(at, "what")


def test_a_run_changes_its_plan_several_times(begun: Path) -> None:
    for plan in (other(), steps(), other(40), other(), other()):
        change(begun, plan)
    assert [*restore(load(dump(steps())), read_journal(begun)).pending] == [SECOND]
    ended, _ = go_on(begun)
    assert check(begun) == ended
    assert sum(isinstance(each, Replanned) for each in read_journal(begun).events) == 5


def test_what_begins_again_is_asked_under_another_key(begun: Path) -> None:
    _, state = change(begun, other(), "draft")
    assert [*state.pending] == ["one/draft#3/1.0"]
    assert check(begun) == state


def test_a_kill_leaves_the_old_plan_or_the_new_one(begun: Path, tmp_path: Path) -> None:
    before = begun.read_bytes()
    change(begun, other())
    after = begun.read_bytes()
    copy = tmp_path / "copy.run"
    seen = set()
    # the record first, its acknowledgement after it: every mixture of the two that a kill can leave
    end = max(place for place in range(min(len(before), len(after))) if before[place] != after[place]) + 1
    end = max(end, len(after.rstrip(b"\0")))
    for cut in (*range(4096, end, 997), end):
        copy.write_bytes(before[:4096] + after[4096:cut])
        with suppress(JournalError):
            journal = open_journal(copy)
            seen.add(journal.history.latest[1])
            journal.close()
            ended, _ = go_on(copy)
            assert ended.ended is Outcome.DONE
            check(copy)
    assert seen == {load(dump(steps())).digest, load(dump(other())).digest}


def test_a_journal_is_watched_across_the_change(begun: Path) -> None:
    with closing(LiveJournal(begun)) as live:
        assert len(live.read_more().events) == 2
        change(begun, other())
        (found,) = live.read_more().events
        assert isinstance(found, Replanned)


def test_another_plan_in_its_place_is_damage() -> None:
    text = dump_event(event(other()))
    assert load_event(text) == event(other())
    with pytest.raises(ValueError, match="not what was written"):
        load_event(text.replace('\\"executions\\":30', '\\"executions\\":31'))
    for member in ("again", "plan", "digest"):
        with pytest.raises(ValueError, match="not an event"):
            load_event(text.replace(f'"{member}":', f'"{member}x":', 1))


def test_what_the_state_forbids_is_not_written(begun: Path) -> None:
    count = len(read_journal(begun).events)
    with pytest.raises(JournalError, match="cannot continue with this plan"):
        change(begun, replace(other(), id="another"))
    assert len(read_journal(begun).events) == count


def test_a_run_that_has_ended_keeps_its_plan(begun: Path) -> None:
    go_on(begun)
    with pytest.raises(JournalError, match="cannot continue with this plan"):
        change(begun, other())


def test_the_library_goes_on_with_the_plan_that_the_run_has(begun: Path) -> None:
    change(begun, other())
    with pytest.raises(JournalError, match="its run belongs to another plan"):
        run(dump(steps()), Answers(), STARTED, begun)
    assert run(dump(other()), Answers(), STARTED, begun).ended is Outcome.DONE


def test_a_cancelled_run_remembers_its_plan(begun: Path) -> None:
    change(begun, other())
    with closing(open_journal(begun)) as opened:
        state = drive(load(opened.history.latest[0]), opened, Answers(), Cancelled())
    assert state.ended is Outcome.FAILED
    assert check(begun) == state


def test_a_plan_that_cannot_be_used_is_no_change(begun: Path) -> None:
    given: Any = Replanned(load(dump(other())).digest, dump(other()).decode().replace("draft", "drift"))
    with closing(open_journal(begun)) as journal:
        program, state = fold_run(load(journal.history.plan), journal.history.events)
        with pytest.raises((JournalError, PlanError)):
            change_plan(journal, program, state, given)


def test_a_journal_with_a_change_is_kept_and_goes_on(tmp_path: Path) -> None:
    copy = tmp_path / "changed.run"
    shutil.copyfile(Path(__file__).parent / "journals" / "changed-3.run", copy)
    assert sum(isinstance(each, Replanned) for each in read_journal(copy).events) == 2
    check(copy)
    ended, world = go_on(copy)
    assert (ended.ended, world.asked[0]) == (Outcome.DONE, SECOND)
    check(copy)
