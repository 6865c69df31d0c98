"""Steer the runs of a database: their questions, answers, pause, resumption and cancellation."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.cli.databases.run_sources import open_store
from stagec.cli.running.resume_request import BreakingChangeError, ResumeRequest, Standpoint, tell_change
from stagec.cli.running.steered_runs import BY, WORDS, Asked
from stagec.cli.streams import say
from stagec.core.failure import Exit, Failure
from stagec.core.words import quote, shorten_digest
from stagec.runtime.drivers.dbos import CourseChange, RunPhase, RunRecord, RunStore, Transitions
from stagec.runtime.drivers.dbos.run_records import ENDED, RESUMABLE
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, name_answer, write_message
from stagec.runtime.world.questions import list_open_questions


def list_asked(run: str | None, database: str) -> Iterator[Asked]:
    """Yield the questions of a run, or of all runs, that wait for an answer."""
    with open_store(database) as store:
        if run is not None:
            yield from _list_asked(store, store.find(run))
            return
        for record in store.list_records(tuple(set(RunPhase) - set(ENDED))):
            if record.phase is not RunPhase.ACTIVE and record.summary.get("questions") == []:
                continue  # so its last segment has left it
            try:
                yield from _list_asked(store, record)
            except UnreachableError:
                raise
            except Failure as failure:  # what the others ask is listed nevertheless
                say(f"stagec: warning: {failure}")


def _list_asked(store: RunStore, record: RunRecord) -> Iterator[Asked]:
    if record.ended_at is not None or record.segment < 0:
        return
    is_executed = record.phase in {RunPhase.ACTIVE, RunPhase.WAITING}
    program, state = store.fold(record)
    found = list(list_open_questions(program, state.pending.values(), state.active))
    sent = Transitions(store).read_messages(record.run) if found else {}
    for each in found:
        yield Asked(record.run, each, is_executed, sent.get(name_answer(each.key)))


def send_answer(run: str, database: str, key: str, word: str) -> None:
    """Answer a question; raises `OtherAnswerError` and `Failure`."""
    with open_store(database) as store:
        Transitions(store).send_answer(run, key, yes=WORDS[word], by=BY)


def ask_to_end(run: str, database: str, kind: MessageKind) -> None:
    """Ask whoever executes a run to pause or to cancel it."""
    with open_store(database) as store:
        record = store.find(run)
        asked = f"asked to {kind} run {quote(run)}"
        try:
            Transitions(store).send(run, write_message(kind, BY))
        except OtherAnswerError as other:
            say(f"stagec: the workers of {store.database.name} were {asked} before, by {other.by}")
            return
        now = "" if record.phase is RunPhase.ACTIVE else f", which was {record.phase}"
        say(f"stagec: the workers of {store.database.name} are {asked}{now}")


def resume(request: ResumeRequest, database: str) -> Exit:
    """Let a run go on that was paused or interrupted, under another plan if one is given."""
    if request.output_format != "text" and not request.dry_run:
        raise Failure(f"--format {request.output_format} is for --dry-run")
    with open_store(database) as store:
        record = store.find(request.run)
        if record.phase not in RESUMABLE:
            raise Failure(f"run {quote(record.run)} is {record.phase}: there is nothing to resume")
        history = store.read_history(record)
        standpoint = Standpoint.of(record.run, history)
        try:
            program, event = request.find_change(standpoint)
        except BreakingChangeError as error:
            if request.dry_run:
                return tell_change(request, standpoint, error.program, error)
            raise
        store.refuse_other_machine(record, history)
        if request.dry_run:
            return tell_change(request, standpoint, program)
        Transitions(store).resume(record.run, change=None if event is None else CourseChange(event, record.segment))
        if event is not None:
            say(f"stagec: the plan has changed, from {shorten_digest(standpoint.program.digest)}")
        say(f"stagec: run {quote(record.run)} waits for a worker of {store.database.name}")
    return Exit.CLEAN
