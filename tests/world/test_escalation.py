"""Signals come when they are due on a clock that only goes forward, and sooner when somebody asks for them."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from stagec.runtime.world.supervised_program import Alarm, Escalation, Job, Link, SupervisedProgram

STAGE = (
    Alarm(60_000),
    Alarm(90_000, signal.SIGINT),
    Alarm(95_000, signal.SIGTERM),
    Alarm(98_000, signal.SIGKILL),
)


class Clock:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def due(escalation: Escalation) -> list[int]:
    """Return the signals that are due; 0 is a warning."""
    found = []
    while (alarm := escalation.take()) is not None:
        found.append(alarm.signal)
    return found


def test_alarms_are_due_one_after_the_other_and_once() -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    seen = []
    for second in range(110):
        clock.seconds = 1_000.0 + second
        seen += [(second, number) for number in due(escalation)]
    assert seen == [(60, 0), (90, signal.SIGINT), (95, signal.SIGTERM), (98, signal.SIGKILL)]
    assert escalation.wait() is None


def test_a_late_look_takes_all_that_is_due_in_order() -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    clock.seconds += 1_000_000
    assert due(escalation) == [0, signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def test_a_warning_is_no_reason_and_a_signal_is_one_for_ever() -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    clock.seconds += 89
    assert (due(escalation), escalation.reason) == ([0], None)
    clock.seconds += 1
    assert (due(escalation), escalation.reason) == ([signal.SIGINT], "timeout")
    escalation.hasten()
    assert (escalation.reason, escalation.wait()) == ("timeout", 5.0)


@pytest.mark.parametrize("after", [0, 30, 70])
def test_an_abort_begins_the_signals_now_and_keeps_their_distances(after: float) -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    clock.seconds += after
    due(escalation)
    escalation.hasten()
    assert (due(escalation), escalation.reason) == ([signal.SIGINT], "abort")
    clock.seconds += 4.9
    assert due(escalation) == []
    clock.seconds += 0.2
    assert due(escalation) == [signal.SIGTERM]
    clock.seconds += 3
    assert due(escalation) == [signal.SIGKILL]


def test_a_second_abort_changes_nothing() -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    escalation.hasten()
    due(escalation)
    clock.seconds += 4
    escalation.hasten()
    assert (due(escalation), escalation.wait()) == ([], 1.0)


def test_an_abort_of_what_nothing_limits_changes_nothing() -> None:
    escalation = Escalation((Alarm(5),), Clock())
    escalation.hasten()
    assert (due(escalation), escalation.reason) == ([], None)


def test_time_counts_from_the_start() -> None:
    clock = Clock()
    escalation = Escalation(STAGE, clock)
    clock.seconds += 50
    escalation.start()
    assert (escalation.seconds, escalation.wait()) == (0.0, 60.0)


def attend(program: str, escalation: Escalation, *, abort_at: bytes = b"\0") -> tuple[Link, bytes, list[float]]:
    """Run a Python program; abort it when it writes something; return what it wrote, and when it was warned."""
    link, warned, out = Link(), list[float](), bytearray()
    supervision = SupervisedProgram(link, escalation, lambda: warned.append(escalation.seconds))

    def take(chunk: bytes) -> None:
        was_there = abort_at in out
        out.extend(chunk)  # what is written at once may arrive in pieces
        if abort_at in out and not was_there:
            Thread(target=supervision.abort).start()

    supervision.attend(Job((sys.executable, "-u", "-c", program)), (take, lambda _: None))
    return link, bytes(out), warned


CATCHES = (
    "import signal, time\ntry:\n    print('begun')\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('saved')"
)


def test_a_program_is_warned_and_interrupted_and_may_save_what_it_has() -> None:
    escalation = Escalation((Alarm(700), Alarm(1_000, signal.SIGINT), Alarm(60_000, signal.SIGKILL)))
    link, out, warned = attend(CATCHES, escalation)
    assert (link.status, out, len(warned), escalation.reason) == (0, b"begun\nsaved\n", 1, "timeout")


def test_steps_of_the_wall_clock_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = iter(range(10**9, 0, -3_600))
    monkeypatch.setattr(time, "time", lambda: float(next(wall)))
    escalation = Escalation((Alarm(700), Alarm(1_000, signal.SIGINT), Alarm(60_000, signal.SIGKILL)))
    link, out, _ = attend(CATCHES, escalation)
    assert (link.status, out, escalation.reason) == (0, b"begun\nsaved\n", "timeout")


def test_an_abort_wakes_whoever_waits_for_a_far_alarm() -> None:
    escalation = Escalation((Alarm(500_000), Alarm(600_000, signal.SIGINT), Alarm(605_000, signal.SIGKILL)))
    link, out, warned = attend(CATCHES, escalation, abort_at=b"begun\n")
    assert (link.status, out, warned, escalation.reason) == (0, b"begun\nsaved\n", [], "abort")


def test_an_abort_before_the_start_ends_the_program_at_once() -> None:
    escalation = Escalation((Alarm(600_000, signal.SIGINT), Alarm(600_100, signal.SIGKILL)))
    escalation.hasten()
    link, _, _ = attend("import time; time.sleep(600)", escalation)
    assert (link.status != 0, escalation.reason) == (True, "abort")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_hears_signals_that_whoever_started_stagec_ignores(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        link, _, _ = attend("import time; time.sleep(600)", Escalation((Alarm(500, number), Alarm(60_000, 9))))
    finally:
        signal.signal(number, before)
    assert link.status in {-number, 1}  # an interrupt is an error of Python


def test_what_a_program_wrote_at_its_very_end_arrives_while_others_hold_its_streams(tmp_path: Path) -> None:
    escalation = Escalation()
    program = "import subprocess, sys; subprocess.Popen(['sleep', '600']); sys.stdout.write('x' * 60_000)"
    link, out, _ = attend(program, escalation)
    assert (link.status, len(out)) == (0, 60_000)
