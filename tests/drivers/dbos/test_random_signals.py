"""Signals in any order, from several senders at once: every run ends, and its history is one of the machine."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from threading import Event as Flag

from campaigns import choose
from in_databases import ScriptedTestWorld, state_of, submission, submit, transitions, wait_for, working
from playable import judged

from stagec.core.failure import Failure
from stagec.runtime.drivers.dbos import RunPhase, RunStore
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, write_message
from stagec.runtime.drivers.replay import replay_twice
from stagec.runtime.machine import State, load

RUNS = choose(8, whole=40)
SECONDS = choose(2, whole=30)
SENDERS = 3


def send_something(runs: RunStore, run: str, chance: Random) -> None:
    """Send a signal that may or may not fit how a run stands."""
    steering = transitions(runs)
    with suppress(Failure, OtherAnswerError):
        match chance.choice(("pause", "resume", "answer", "wake", "cancel") + ("pause", "resume", "answer") * 3):
            case "resume":
                steering.resume(run)
            case "wake":
                steering.wake_due()
            case "answer":
                for key in state_of(runs, run).pending:
                    steering.send_answer(run, key, yes=chance.random() < 0.5, by="sender")
            case kind:
                steering.send(run, write_message(MessageKind(kind), "sender"))


def let_end(runs: RunStore) -> bool:
    """Let all runs go on that wait for somebody; tell whether all have ended."""
    left = [each for each in runs.list_records() if each.ended_at is None]
    for record in left:
        with suppress(Failure, OtherAnswerError):
            if record.phase in {RunPhase.PAUSED, RunPhase.INTERRUPTED}:
                transitions(runs).resume(record.run)
            elif record.phase is RunPhase.WAITING:
                transitions(runs).send(record.run, write_message(MessageKind.CANCEL, "sender"))
    return not left


def keep_sending(runs: RunStore, seed: int, over: Flag) -> None:
    """Send signals to all runs until a flag is set."""
    chance, names = Random(seed), [each.run for each in runs.list_records()]
    while not over.wait(chance.random() * 0.05):
        send_something(runs, chance.choice(names), chance)


def test_runs_end_whatever_is_sent_to_them(runs: RunStore) -> None:
    submit(runs, *(submission(f"run-{number}", judged() if number % 2 else None) for number in range(RUNS)))
    over = Flag()
    with working(runs.database, ScriptedTestWorld()), ThreadPoolExecutor(SENDERS) as senders:
        sent = [senders.submit(keep_sending, RunStore(runs.database), seed, over) for seed in range(SENDERS)]
        time.sleep(SECONDS)
        over.set()
        for each in sent:
            each.result()
        wait_for(lambda: let_end(runs))
    for record in runs.list_records():
        history = runs.read_history(record)
        assert isinstance(replay_twice(load(history.plan), load(history.plan), history), State)
        assert record.segment < SECONDS * 20, "nothing goes round for ever"
