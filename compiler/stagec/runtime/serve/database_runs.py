"""The runs of a database: workers execute them, and the page submits what it starts."""

from __future__ import annotations

from collections.abc import Callable
from shlex import join
from time import monotonic

from stagec.core.failure import Failure
from stagec.core.json import text_in
from stagec.ir.plan import Plan
from stagec.runtime.drivers.dbos import LiveRun, RunBrief, RunStore, Submission, Transitions, list_briefs
from stagec.runtime.drivers.following import Standing
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, write_message
from stagec.runtime.serve.run_source import BY, RunRow, RunStamp, StartOrder
from stagec.runtime.world.questions import AskedOfPeople

_WHOLE = 30.0
"""Seconds between complete listings of runs, which find the removed ones."""
_BACK = 10_000
"""Milliseconds for which a run that has ended is asked for again: transactions may end in another order."""

MakeSubmission = Callable[[StartOrder], Submission]
"""Returns what is submitted to start a run; raises `Failure` for a plan that may not be run."""
NameRun = Callable[[str | None, Plan], str]


class DatabaseRuns:
    """The runs of a database. A run that has ended does not change any more, so it is listed once in a while."""

    quick, slow = 0.25, 1.0

    def __init__(self, store: RunStore, name_run: NameRun, make: MakeSubmission, tell: Callable[[str], None]) -> None:
        self._store, self._transitions = store, Transitions(store)
        self.name_run, self._make, self._tell = name_run, make, tell
        self._ended: dict[str, RunStamp] = {}
        self._since, self._whole_at = 0, 0.0

    def list_stamps(self) -> list[tuple[str, RunStamp]]:
        """Return the names of all runs, each with how it stands."""
        if monotonic() >= self._whole_at:
            self._since, self._ended, self._whole_at = 0, {}, monotonic() + _WHOLE
        found = {each.record.run: each for each in list_briefs(self._store, self._since)}
        stamps = {
            name: RunStamp(each.stamp, each.moved_at / 1000, row=self._describe(each)) for name, each in found.items()
        }
        self._ended |= {name: stamps[name] for name, each in found.items() if each.record.ended_at is not None}
        last = max((each.record.ended_at or 0 for each in found.values()), default=0)
        self._since = max(self._since, last - _BACK)
        return list((self._ended | stamps).items())

    def _describe(self, brief: RunBrief) -> RunRow:
        """Return the row of a run, of what the database knows without its history."""
        record, used = brief.record, brief.used
        try:
            plan = text_in(record.summary, "plan") or self._store.load_program(record).plan.id
        except Failure as failure:
            return RunRow(record.run, "unusable", str(failure), digest=record.plan, changed=brief.moved_at)
        asked = record.summary.get("questions")
        return RunRow(
            record.run,
            brief.standing,
            record.interruption.sentence,
            plan,
            brief.plan,
            brief.executions,
            brief.events,
            0 if used is None else used.input + used.output,
            None if used is None else used.cost,
            len(asked) if isinstance(asked, list) and brief.standing is Standing.WAITING else 0,
            brief.moved_at,
        )

    def holds(self, name: str) -> bool:
        """Tell whether there is a run of a name."""
        return self._store.has(name)

    def follow(self, name: str) -> LiveRun:
        """Return a run, of which nothing has been read."""
        return LiveRun(self._store, name)

    def answer(self, name: str, asked: AskedOfPeople, *, yes: bool) -> None:
        """Answer a question by a signal; raises `OtherAnswerError` when somebody was first."""
        self._transitions.send_answer(name, asked.key, yes=yes, by=BY)

    def send(self, name: str, kind: MessageKind) -> bool:
        """Ask the workers to pause or to cancel a run."""
        try:
            self._transitions.send(name, write_message(kind, BY))
        except OtherAnswerError:
            return False
        return True

    def cancel(self, name: str) -> None:
        """Ask the workers to end a run."""
        self.send(name, MessageKind.CANCEL)

    def name_command(self, name: str, command: str) -> str:
        """Return the line of a shell with which `stagec` does something to a run; the URL may have a password."""
        return f"{join(('stagec', command, name))} --database URL"

    def resume(self, name: str) -> None:
        """Let a worker go on with a run."""
        record = self._store.find(name)
        self._store.refuse_other_machine(record, self._store.read_history(record))
        self._transitions.resume(name)
        self._tell(f"the page has queued run {name} for a worker")

    def start(self, order: StartOrder) -> None:
        """Submit a run."""
        list(self._store.submit([self._make(order)]))
        self._tell(f"the page has submitted run {order.name}")
