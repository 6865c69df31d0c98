"""Steer the runs of a database: their questions, answers, pause, resumption and cancellation."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.cli.databases.opening import open_store
from stagec.cli.running.questions import Asked
from stagec.cli.running.steered_runs import BY, WORDS
from stagec.cli.streams import say
from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.drivers.dbos import RunPhase, Transitions
from stagec.drivers.dbos.run_records import APPLICATION_VERSION
from stagec.drivers.messages import MessageKind, name_answer, write_message
from stagec.drivers.replay import replay_twice
from stagec.runtime import State
from stagec.world.questions import list_open_questions


def list_asked(run: str | None, database: str) -> Iterator[Asked]:
    """Yield the questions of a run, or of all runs, that wait for an answer."""
    with open_store(database) as store:
        asking = (RunPhase.ACTIVE, RunPhase.WAITING, RunPhase.PAUSED, RunPhase.INTERRUPTED)
        records = store.list_records(asking) if run is None else [store.find(run)]
        for record in (each for each in records if each.ended_at is None and each.segment >= 0):
            is_executed = record.phase in {RunPhase.ACTIVE, RunPhase.WAITING}
            sent = Transitions(store).read_messages(record.run)
            for each in list_open_questions(store.load_program(record), store.fold(record).pending.values()):
                yield Asked(record.run, each, is_executed, sent.get(name_answer(each.key)))


def send_answer(run: str, database: str, key: str, word: str) -> None:
    """Answer a question; raises `OtherAnswerError` and `Failure`."""
    with open_store(database) as store:
        Transitions(store).send_answer(run, key, yes=WORDS[word], by=BY)


def ask_to_end(run: str, database: str, kind: MessageKind) -> None:
    """Ask whoever executes a run to pause or to cancel it."""
    with open_store(database) as store:
        record = store.find(run)
        Transitions(store).send(run, write_message(kind, BY))
        now = "" if record.phase is RunPhase.ACTIVE else f", which was {record.phase}"
        say(f"stagec: the workers of {store.database.name} are asked to {kind} run {quote(run)}{now}")


def resume(run: str, database: str) -> None:
    """Let a run go on that was paused or interrupted."""
    with open_store(database) as store:
        record = store.find(run)
        if record.version != APPLICATION_VERSION:  # it goes on where its history is what it was
            first, second = store.load_program(record), store.load_program(record)
            if not isinstance(replay_twice(first, second, store.read_history(record)), State):
                told = (
                    f"it was run by {record.version}, and this is {APPLICATION_VERSION}, which replays it differently"
                )
                raise Failure(f"run {quote(run)} cannot be resumed: {told}")
        Transitions(store).resume(run)
        say(f"stagec: run {quote(run)} waits for a worker of {store.database.name}")
