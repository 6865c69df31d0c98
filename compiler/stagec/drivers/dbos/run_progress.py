"""How far a run has come: its program and its state, event by event."""

from __future__ import annotations

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.drivers.dbos.execution_setup import RunWorld
from stagec.drivers.history import History
from stagec.drivers.replay import digest_step, find_difference
from stagec.drivers.usage_ledger import UsageLedger, total_to_json
from stagec.runtime import Program, State, advance
from stagec.runtime.exchange import Event
from stagec.runtime.state import StepResult
from stagec.world.questions import list_open_questions

OUTAGE = "outage"
"""The member of the summary that counts the outages in a row since the last event."""


class RunProgress:
    """A run that is followed; `digest` is the step digest of the last of `count` events."""

    def __init__(self, program: Program) -> None:
        self.program, self.state = program, State()
        self.digest, self.count = "", 0
        self._ledger = UsageLedger()

    def follow(self, event: Event) -> StepResult:
        """Advance by an event."""
        step = advance(self.program, self.state, event)
        self.digest, self.state = digest_step(self.count, step), step.state
        self.program = step.program or self.program
        self.count += 1
        self._ledger.take(event, step)
        return step

    def restore(self, history: History, world: RunWorld) -> None:
        """Come to where a run has come; raise `Failure` when something else follows now than did."""
        for event, known in zip(history.events, history.step_digests, strict=True):
            step = self.follow(event)
            if find_difference(self.count - 1, step, known) is not None:
                told = f"event {self.count - 1} now has another result than recorded"
                raise Failure(f"{told}: another version of stagec executed the run")
            world.observe(event, step)

    def describe(self) -> Object:
        """Return the summary of the run that is kept in its row."""
        used = self._ledger.total
        asked = list_open_questions(self.program, self.state.pending.values())
        questions: list[Json] = [{"key": each.key, "kind": each.kind, "sentence": each.sentence} for each in asked]
        return {
            "executions": self.state.executions,
            "events": self.count,
            "plan": self.program.plan.id,
            "digest": self.program.digest,
            "usage": None if used is None else total_to_json(used),
            "questions": questions if self.state.ended is None else [],
            OUTAGE: None,
        }
