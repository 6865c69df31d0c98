"""The events that a run reports: steps, questions to people, and the end."""

from __future__ import annotations

from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.exchange import Effect, Event
from stagec.runtime.machine.failures import RunFailure, describe_failure, failure_to_json
from stagec.runtime.machine.state import Move, State
from stagec.runtime.world.questions import OpenQuestion


@value
class StepTaken:
    """An event of the run, and what follows: the new requests, the executions that have ended, and where they lead.

    `seq` is the number of the event in the run, from 0.
    """

    seq: int
    event: Event
    requests: tuple[Effect, ...]
    moves: tuple[Move, ...]

    def to_json(self) -> Object:
        """Return what a page shows of it: which requests are new, and which executions have ended."""
        requests: list[Json] = [{"is": type(each).__name__.lower(), "key": each.key} for each in self.requests]
        moves: list[Json] = [
            {"node": each.node, "visit": each.visit, "outcome": each.outcome, "to": list(each.to)}
            for each in self.moves
        ]
        return {"is": "step", "seq": self.seq, "requests": requests, "moves": moves}


@value
class Questioned:
    """A question to people is open: `RunHandle.answer` answers it, under the key of the question."""

    question: OpenQuestion

    def to_json(self) -> Object:
        """Return what somebody needs who answers."""
        given = self.question
        rows: list[Json] = [*given.rows]
        return {"is": "question", "key": given.key, "who": given.who, "question": f"{given.sentence}?", "rows": rows}


@value
class RunResult:
    """How a run has ended: the last state, and the result of the execution that led somewhere last."""

    state: State
    result: Json

    @property
    def outcome(self) -> Outcome:
        """How the run has ended."""
        return self.state.ended or Outcome.FAILED

    @property
    def failure(self) -> RunFailure | None:
        """Why the run has failed; None if it has not."""
        return self.state.failure

    @property
    def reason(self) -> str:
        """Why the run has ended, in a sentence."""
        return self.state.reason if self.failure is None else describe_failure(self.failure)


@value
class RunEnded:
    """The run has ended; nothing follows."""

    result: RunResult

    def to_json(self) -> Object:
        """Return the outcome, the reason, and the failure if there is one."""
        given = self.result
        failure = failure_to_json(given.failure)
        return {"is": "end", "outcome": str(given.outcome), "reason": given.reason, "failure": failure}


RunEvent = StepTaken | Questioned | RunEnded
"""What `RunHandle.follow` yields."""
