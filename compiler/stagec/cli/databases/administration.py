"""Prepare, check, limit and clean up a database of runs."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.databases.run_sources import open_named, open_store
from stagec.cli.databases.submission import dump_scenario
from stagec.cli.running.inputs import load_program, read_scenario_document, refuse_unfit
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import check_name, explain_journal_error, name_of, read_run
from stagec.cli.running.stages import has_stages
from stagec.cli.sheet import draw_columns
from stagec.cli.signatures import SIGNATURE
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.words import format_count, quote
from stagec.runtime.drivers.dbos import RunPhase, Submission
from stagec.runtime.drivers.dbos.run_store import dump_entry
from stagec.runtime.drivers.history import UNTIMED, History, add_times, dump_event
from stagec.runtime.drivers.local import JournalError, create
from stagec.runtime.machine import Program, Rewound, Started

if TYPE_CHECKING:
    from stagec.runtime.drivers.dbos import QueueLimit


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
            f"run {quote(name)} continued from an earlier place (--from): "
            "only 'stagec resume' without a database continues it"
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
            raise Failure(f"run {quote(run)} is {record.phase}: 'stagec runs pause' pauses it")
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


_LONGEST = 100
"""Characters of the name of a provider."""
_RATE = re.compile(r"(\d{1,9})/(\d{1,6}(?:\.\d{1,3})?)s")


def migrate(url: str | None) -> None:
    """Make the tables of a database, or bring them to this version."""
    with open_named(url) as database:
        from stagec.runtime.drivers.dbos import RunStore, migrate

        migrate(database)
        RunStore(database).queues.prepare(None)
        put(f"{database.name} is ready\n")


def check(url: str | None, output_format: str) -> None:
    """Print what is in a database; raise `Failure` unless this version can use it."""
    with open_store(url) as store:
        phases, versions, workers = store.count_phases(), store.count_versions(), store.list_workers()
        if output_format == "json":
            counts: Object = {"runs": {str(phase): count for phase, count in phases.items()}, "open": dict(versions)}
            rows: list[Json] = [
                {"worker": each.worker, "version": each.version, "host": each.host, "draining": each.is_draining}
                for each in workers
            ]
            told = {"version": 1, "database": store.database.name.strip("'"), **counts, "workers": rows}
            put(format_json(told, 2) + "\n")
            return
        paper = find_canvas(sys.stdout, os.environ)
        put(f"{store.database.name} has the tables of this version\n")
        cells = [("worker", each.worker, each.version, "draining" if each.is_draining else "") for each in workers]
        cells += [("runs", phase, f"{count:,}", "") for phase, count in phases.items()]
        cells += [("open runs", version, f"{count:,}", "") for version, count in versions.items()]
        put(draw_columns(paper, cells))


def set_limit(url: str | None, limit: QueueLimit | None) -> None:
    """Let a limit hold, if one is given, and print all that hold."""
    with open_store(url) as store:
        if limit is not None:
            store.queues.set_limit(limit)
        paper, found = find_canvas(sys.stdout, os.environ), store.queues.list_limits()
        cells = [
            (
                "provider" if each.provider else "tenant",
                each.provider or each.tenant or "each other",
                "any number at once" if each.concurrency is None else f"{each.concurrency} at once",
                "" if each.begins is None else f"{each.begins} in {each.seconds:g} s",
            )
            for each in found
        ]
        put(draw_columns(paper, cells) if cells else "no limits\n")


def read_limit(tenant: str, provider: str, concurrency: int | None, rate: str | None) -> QueueLimit:
    """Return a limit; raise `Failure` for a rate that is none, and for the name of a model in place of a provider."""
    from stagec.runtime.drivers.dbos import QueueLimit

    if tenant:
        check_name(tenant, "tenant")
    if ":" in provider:
        named = quote(provider.partition(":")[0])
        raise Failure(f"{quote(provider)} is a model: limits are for all models of a provider, here {named}")
    if not provider.isprintable() or len(provider) > _LONGEST:
        raise Failure(f"{quote(provider)} is not a provider: write one such as 'openai'")
    if rate is None:
        return QueueLimit(tenant, concurrency, provider=provider)
    found = _RATE.fullmatch(rate)
    if found is None or not int(found[1]) or not float(found[2]):
        raise Failure(f"{quote(rate)} is not a rate: write one such as '100/60s'")
    return QueueLimit(tenant, concurrency, int(found[1]), float(found[2]), provider)


def prune(url: str | None, days: float) -> None:
    """Remove runs that have ended so many days ago."""
    with open_store(url) as store:
        from stagec.runtime.drivers.dbos.run_store import remove_old

        put(f"{format_count(remove_old(store, days * 86_400), 'run')} removed\n")
