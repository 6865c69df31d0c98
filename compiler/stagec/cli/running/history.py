"""The content of journals: the runs of a folder, the history of one run, its replay, and all of it as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from stagec.cli.running.inputs import load_program
from stagec.cli.running.report import RunFormatter, format_json
from stagec.cli.running.runs import explain_journal_error, name_of
from stagec.cli.running.stages import find_log
from stagec.cli.sheet import draw_columns
from stagec.cli.streams import find_canvas, put
from stagec.core.failure import Exit, Failure
from stagec.core.json import Object, object_of
from stagec.core.terminal import Canvas
from stagec.core.value import value
from stagec.core.words import escape_ci_commands, format_count, quote, shorten_digest, visible
from stagec.runtime.drivers.following import Interruption, StoredHistory, find_standing, write_time
from stagec.runtime.drivers.history import UNTIMED, event_to_json, key_of
from stagec.runtime.drivers.local import History, JournalError, Reason
from stagec.runtime.drivers.local.live_journal import read_stored
from stagec.runtime.drivers.local.request_descriptions import describe_event
from stagec.runtime.drivers.local.stage_ledger import StageRow, list_stages
from stagec.runtime.drivers.replay import Difference, advance_through, replay_twice
from stagec.runtime.drivers.usage_ledger import (
    UsageLedger,
    describe_usage,
    ledger_to_json,
    summarise_usage,
    total_to_json,
)
from stagec.runtime.machine import Program, State
from stagec.runtime.machine.failures import failure_to_json
from stagec.runtime.world.models.port import TokenUse


@value
class RunStatus:
    """The status of a run: a `Standing`, or the reason why its journal cannot be used; then nothing else is known."""

    run: str
    status: str
    reason: str = ""
    plan: str | None = None
    digest: str | None = None
    executions: int | None = None
    events: int | None = None
    used: TokenUse | None = None
    retry_at: float | None = None

    def make_cells(self) -> tuple[str, ...]:
        """Return the run as a row of a table."""
        counts = "" if self.executions is None else format_count(self.executions, "execution")
        events = "" if self.events is None else format_count(self.events, "event")
        used = summarise_usage(self.used)
        return (
            self.run,
            self.plan or "",
            shorten_digest(self.digest or ""),
            self.status,
            counts,
            events,
            used,
            Interruption(self.reason, self.retry_at).sentence,
        )

    def make_object(self) -> Object:
        """Return the run as JSON."""
        named = ("run", "plan", "digest", "status", "reason", "executions", "events")
        usage = None if self.used is None else total_to_json(self.used)
        return {**{name: getattr(self, name) for name in named}, "usage": usage, "retryAt": _tell_time(self.retry_at)}


def _tell_time(seconds: float | None) -> str | None:
    return None if seconds is None else write_time(seconds)


def list_runs(found: Sequence[RunStatus], where: str, output_format: str) -> None:
    """Print how the runs in a folder or a database stand."""
    if output_format == "json":
        put(format_json({"runs": [each.make_object() for each in found]}, 2) + "\n")
        return
    paper = find_canvas(sys.stdout, os.environ)
    put(draw_columns(paper, [each.make_cells() for each in found], whole=1))
    put(f"{format_count(len(found), 'run')} in {visible(where, paper.encoding)}\n" if not found else "")


def find_status(path: Path) -> RunStatus:
    """Return how a run stands; nothing that is wrong with its file is raised."""
    try:
        stored = read_stored(path)
        program = load_program(stored.history.plan, "its plan")
    except JournalError as error:
        reason = "" if error.reason is Reason.BUSY else str(error)
        return RunStatus(name_of(path), str(error.reason), reason)
    except Failure as failure:
        return RunStatus(name_of(path), str(Reason.UNUSABLE), str(failure))
    program, state, ledger = _read_through(program, stored.history)
    status = find_standing(state, is_executed=stored.is_executed)
    counts = (state.executions, len(stored.history.events), ledger.total)
    told = _explain(stored, state)
    return RunStatus(name_of(path), status, told.reason, program.plan.id, program.digest, *counts, told.retry_at)


def _explain(stored: StoredHistory, state: State) -> Interruption:
    """Return why a run has ended, or was interrupted."""
    is_left = state.ended is None and not stored.is_executed and stored.interruption is not None
    return stored.interruption if is_left and stored.interruption else Interruption(state.reason)


def _read_through(program: Program, history: History) -> tuple[Program, State, UsageLedger]:
    """Return the current program of a run, its state, and the usage of its models."""
    state, ledger = State(), UsageLedger()
    for event, step in advance_through(program, history.events):
        ledger.take(event, step)
        state, program = step.state, step.program or program
    return program, state, ledger


def show_history(run: str, stored: StoredHistory, output_format: str = "text") -> None:
    """Print the history of a run, with the times at which its events were written, as far as these are known."""
    history = stored.history
    if output_format == "json":
        known = history.times or (UNTIMED,) * len(history.events)
        times = [{name: _format_exactly(getattr(each, name)) for name in ("begun", "at")} for each in known]
        put(format_json(_describe_run(run, stored, times), 2) + "\n")
        return
    begun = load_program(history.plan, f"the plan of run {quote(run)}")
    paper = find_canvas(sys.stdout, os.environ)
    program, state, ledger = _read_through(begun, history)
    formatter = RunFormatter(program.plan, paper)
    name = escape_ci_commands(visible(f"{run}: {program.plan.id}", paper.encoding))
    title = ", ".join((name, shorten_digest(program.digest), *_describe_times(history)))
    events = format_count(len(history.events), "event")
    rows = draw_columns(paper, list(_make_rows(begun, history, formatter)))
    ended = formatter.ending(state, is_executed=stored.is_executed)
    ending = ", ".join(each for each in (ended, events, summarise_usage(ledger.total)) if each)
    used = draw_columns(paper, [("used by", node, *describe_usage(each)) for node, each in ledger.nodes.items()])
    reason = "" if state.ended is not None else visible(_explain(stored, state).sentence, paper.encoding)
    why = f"interrupted: {escape_ci_commands(reason)}\n" if reason else ""
    put(f"{title}\n{_draw_stages(run, begun, stored, paper)}{rows}{used}{why}{ending}\n")


def _draw_stages(run: str, program: Program, stored: StoredHistory, paper: Canvas) -> str:
    """Return how each stage stands, nothing for a plan without stages."""
    stages = list_stages(program, stored.history.events, is_executed=stored.is_executed)
    cells = [
        (each.stage, each.status, format_count(each.attempts, "attempt"), each.format_seconds(), each.checkpoint or "")
        for each in stages
    ]
    said = [(each.stage, each.said) for each in stages if each.said]
    log = find_log(program.plan, run, stored.history.facts) if said else ""
    trouble = draw_columns(paper, said) + (f"log of the stages: {visible(log, paper.encoding)}\n" if log else "")
    return f"{draw_columns(paper, cells)}{trouble}\n" if cells else ""


def _make_rows(program: Program, history: History, formatter: RunFormatter) -> Iterator[tuple[str, ...]]:
    """Yield a row for each event, and one for each further execution that it ended."""
    before, times = State(), history.times or (UNTIMED,) * len(history.events)
    for seq, ((event, step), time) in enumerate(zip(advance_through(program, history.events), times, strict=True)):
        told = describe_event(before.pending, event)
        moves = [formatter.format_inner_move(move) for move in step.moves]
        before = step.state
        yield f"{seq:>3}", _format_time(time.at), *told, moves[0] if moves else ""
        yield from (("", "", "", "", "", move) for move in moves[1:])


_SECOND = 10**9


def _format_time(nanoseconds: int | None, form: str = "%H:%M:%S") -> str:
    """Return a time in UTC; nothing of one that nobody knows."""
    return "" if nanoseconds is None else f"{datetime.fromtimestamp(nanoseconds // _SECOND, UTC):{form}}"


def _describe_times(history: History) -> tuple[str, ...]:
    """Return when a run began in UTC, and how long ago its last event was then; nothing where nobody knows."""
    known = [each.at for each in history.times if each.at is not None]
    if not known:
        return ()
    seconds = max(0, known[-1] - known[0]) / _SECOND
    return f"began {_format_time(known[0], '%Y-%m-%d %H:%M:%S')} UTC", f"last event after {seconds:,.1f} s"


def _format_exactly(nanoseconds: int | None) -> str | None:
    """Return a time in UTC with its milliseconds."""
    if nanoseconds is None:
        return None
    return f"{_format_time(nanoseconds, '%Y-%m-%dT%H:%M:%S')}.{nanoseconds // 10**6 % 1000:03}Z"


def export_run(run: str, stored: StoredHistory) -> None:
    """Print a run: nothing in it depends on when and where it was run, but for why it is interrupted."""
    put(format_json(_describe_run(run, stored), 2) + "\n")


def _describe_run(run: str, stored: StoredHistory, times: Sequence[Object] = ()) -> Object:
    """Return a run as JSON; with times, each event has its own."""
    history = stored.history
    begun = load_program(history.plan, f"the plan of run {quote(run)}")
    program, state, ledger = _read_through(begun, history)
    timed = times or ({},) * len(history.events)
    events = [
        {"seq": seq, **time, **object_of(event_to_json(each))}
        for seq, (time, each) in enumerate(zip(timed, history.events, strict=True))
    ]
    rows = list_stages(begun, history.events, is_executed=stored.is_executed)
    stages = [_describe_stage(each) for each in rows]
    told = _explain(stored, state)
    return {
        "run": run,
        "plan": program.plan.id,
        "digest": program.digest,
        "status": find_standing(state, is_executed=stored.is_executed),
        "outcome": None if state.ended is None else str(state.ended),
        "reason": told.reason,
        **({"retryAt": _tell_time(told.retry_at)} if told.retry_at is not None else {}),
        "failure": failure_to_json(state.failure),
        **({"stages": stages} if stages else {}),
        **ledger_to_json(ledger),
        "events": events,
    }


def _describe_stage(each: StageRow) -> Object:
    return {
        "stage": each.stage,
        "status": each.status,
        "attempts": each.attempts,
        "seconds": each.seconds,
        "ending": each.ending,
        "said": each.said,
        "checkpoint": each.checkpoint,
    }


_WHAT = {"what": "its requests or trace events differ", "state": "its state differs"}


def compare_replay(run: str, stored: StoredHistory) -> Exit:
    """Print whether a replay of a run equals the run, and return the exit status that this deserves."""
    if stored.is_executed:
        raise explain_journal_error(run, JournalError(Reason.BUSY, "another process is running it"))
    history = stored.history
    named = f"the plan of run {quote(run)}"
    found = replay_twice(load_program(history.plan, named), load_program(history.plan, named), history)
    if isinstance(found, Difference):
        key = visible(key_of(history.events[found.seq]))
        replay = f"different: event {found.seq}, {key}: {_WHAT[found.what]} from the journal"
    else:
        counts = f"{format_count(len(history.events), 'event')}, {format_count(found.executions, 'execution')}"
        ended = "not ended" if found.ended is None else f"{found.ended}: {visible(found.reason)}"
        replay = f"equal: {counts}, {ended}"
    put(f"{replay}\n")
    return Exit.FINDINGS if isinstance(found, Difference) else Exit.CLEAN
