"""Move runs between folders and databases: the journal of one driver is the history of the other."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

from stagec.cli.databases.opening import open_store
from stagec.cli.databases.submission import dump_scenario
from stagec.cli.running.inputs import load_program, read_scenario_document, refuse_unfit
from stagec.cli.running.runs import check_name, explain_journal_error, name_of, read_run
from stagec.cli.running.stages import has_stages
from stagec.cli.signatures import SIGNATURE
from stagec.cli.streams import put, say
from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.drivers.dbos import RunPhase, Submission
from stagec.drivers.dbos.run_store import dump_entry
from stagec.drivers.history import UNTIMED, History, add_times, dump_event
from stagec.drivers.local import JournalError, create
from stagec.runtime import Program, Rewound, Started


def import_run(path: Path, database: str | None) -> None:
    """Let the workers of a database go on with a run of a folder, which stays as it is."""
    stored = read_run(path)
    history, name = stored.history, name_of(path)
    if stored.is_executed:
        raise Failure(f"run {quote(name)} is being executed by another process: pause it first")
    started = history.events[0] if history.events else None
    program = load_program(history.plan, f"the plan of run {quote(name)}")
    if not isinstance(started, Started) or has_stages(program.plan):
        why = "it has not begun, or has stages that are processes"
        raise Failure(f"run {quote(name)} cannot be taken over by workers: {why}")
    if any(isinstance(each, Rewound) for each in history.events):
        raise Failure(
            f"run {quote(name)} was taken back with --from: only 'stagec resume' without a database continues it"
        )
    check_name(started.run, "run")
    refuse_unfit(program, started)
    prologue = json.dumps(list(map(dump_entry, history.step_digests, _dump_events(history)[1:])))
    scenario, signature = _read_scenario(history, program), history.facts.get(SIGNATURE)
    given = (started.run, history.plan, history.digest, started.entry, started.inputs, scenario, signature)
    with open_store(database) as store:
        list(store.submit([Submission(*given, prologue=prologue, machine=started.machine)]))
        put(f"{started.run}\n")


def _read_scenario(history: History, program: Program) -> str | None:
    """Return the scenario with which a run was started; None, and say so, if it no longer exists."""
    remembered = history.facts.get("scenario")
    if remembered is None:
        return None
    if not os.path.isfile(remembered):  # unlike `is_file`, never raises
        say(f"stagec: note: the scenario of the run, {quote(remembered)}, no longer exists: workers ask without it")
        return None
    return dump_scenario(read_scenario_document(Path(remembered), program.plan))


def _dump_events(history: History) -> list[str]:
    """Return the events of a history as a journal has them, with their times where they are known."""
    times = history.times or (UNTIMED,) * len(history.events)
    bodies = map(dump_event, history.events)
    return [body if at.at is None else add_times(body, at) for body, at in zip(bodies, times, strict=True)]


def write_journal(run: str, path: Path, database: str) -> None:
    """Write what has happened in a run as a journal, which `stagec resume` continues."""
    with open_store(database) as store:
        record = store.find(run)
        if record.phase is RunPhase.ACTIVE:
            raise Failure(f"run {quote(run)} is {record.phase}: 'stagec pause' pauses it")
        history = store.read_history(record)
    facts = {} if record.signature is None else {SIGNATURE: record.signature}
    try:
        with closing(create(path, history.plan, history.digest, facts)) as journal:
            for event, body, step_digest in zip(
                history.events, _dump_events(history), history.step_digests, strict=True
            ):
                journal.append(event, body)
                journal.take_digest(step_digest)
            if record.ended_at is not None:
                journal.seal()
    except JournalError as error:
        raise explain_journal_error(run, error) from error
