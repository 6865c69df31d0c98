"""The record of each stage of a run: attempts, seconds, checkpoints, and how the last attempt ended."""

from __future__ import annotations

import time
from collections.abc import Iterable

from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.value import replace, value
from stagec.core.words import listing
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Event, Program, State, StepResult
from stagec.runtime.machine.exchange import Execute, Preserve, Publish, Resumed

StageEffect = Execute | Publish | Preserve


@value
class StageRecord:
    """The record of a stage.

    `attempts` are all that have begun in the run. `seconds` is how long the last of them took; `ending` says how it has
    ended otherwise than as a success, and `said` is the last line of its error output then. `checkpoint` is the last
    one written, and `begun` the beginning of the current attempt, on a monotonic clock.
    """

    attempts: int = 0
    seconds: float | None = None
    ending: str = ""
    said: str = ""
    checkpoint: str | None = None
    begun: float | None = None


@value
class StageRow:
    """The status of a stage in a run; `seconds`, `ending` and `said` are those of its last attempt."""

    stage: str
    status: str
    attempts: int
    seconds: float | None
    ending: str
    said: str
    checkpoint: str | None

    def format_seconds(self) -> str:
        """Return how long the last attempt took, and how it has ended if not well."""
        told = ("" if self.seconds is None else f"{self.seconds:.1f} s", self.ending)
        return ", ".join(each for each in told if each)


def list_stages(program: Program, events: Iterable[Event], *, is_executed: bool) -> list[StageRow]:
    """Return how the stages of a run stand; what runs while nobody executes the run was interrupted."""
    ledger, state = StageLedger(program.plan), State()
    for event, step in advance_through(program, events):
        ledger.take(event, step)
        state = step.state
    if not is_executed:
        ledger.cut_off()
    stopped = {} if is_executed else dict.fromkeys(_UNDER_WAY, StageStatus.INTERRUPTED)
    statuses = {name: stopped.get(each, each) for name, each in state.statuses.items()}
    return [
        StageRow(name, statuses.get(name, ""), each.attempts, each.seconds, each.ending, each.said, each.checkpoint)
        for name, each in ledger.stages.items()
    ]


_UNDER_WAY = (StageStatus.RUNNING, StageStatus.INTERRUPTING)


class StageLedger:
    """Reads the events of a run, and remembers what they say of each stage."""

    def __init__(self, plan: Plan) -> None:
        self.stages = _list_records(plan)
        self._asked: dict[str, StageEffect] = {}

    def take(self, event: Event, step: StepResult) -> StageEffect | None:
        """Take an event with what followed; return the request that it answers, if that is about a stage."""
        if isinstance(event, Resumed):
            self.cut_off()
        if step.program is not None:
            self.stages = {**_list_records(step.program.plan), **self.stages}
        answered = self._asked.pop(event.key, None) if isinstance(event, Answered) else None
        if answered is not None and isinstance(event, Answered):
            self._note(answered, object_of(event.answer))
        for effect in step.effects:
            if isinstance(effect, Execute | Publish | Preserve):
                self._asked[effect.key] = effect
            if isinstance(effect, Execute):
                self._change(effect.node, attempts=self.stages[effect.node].attempts + 1, begun=time.monotonic())
        return answered

    def cut_off(self) -> None:
        """Take note that a session has ended: nobody answers any more what was asked in it."""
        for effect in self._asked.values():
            if isinstance(effect, Execute):
                self._change(effect.node, begun=None, seconds=None, ending="cut off", said="")
        self._asked.clear()

    def _note(self, effect: StageEffect, answer: Object) -> None:
        match effect:
            case Execute(node=node):
                seconds = answer.get("seconds")
                taken = float(seconds) if isinstance(seconds, int | float) else None
                said = text_in(answer, "said") or ""
                self._change(node, begun=None, seconds=taken, ending=describe_end(answer), said=said)
            case Publish(node=node) if "error" in answer:
                self._change(node, ending=text_in(answer, "error") or "not published")
            case Publish(node=node):
                self._change(node, checkpoint=text_in(answer, "checkpoint"))
            case Preserve(node=node):
                self._change(node, checkpoint=text_in(answer, "checkpoint") or self.stages[node].checkpoint)

    def _change(self, stage: str, **members: object) -> None:
        self.stages[stage] = replace(self.stages[stage], **members)


def _list_records(plan: Plan) -> dict[str, StageRecord]:
    return {name: StageRecord() for name, node in plan.nodes.items() if isinstance(node.act, Process)}


def describe_end(given: Object) -> str:
    """Return how an attempt has ended, by the answer to its request; nothing for a success."""
    interrupted, error = text_in(given, "interrupted"), text_in(given, "error")
    missing, changed = list_of(given.get("missing")), list_of(given.get("changed"))
    if interrupted is not None:
        return "took too long" if interrupted == "timeout" else "interrupted"
    if error is not None:
        return error
    if given.get("exit") != 0:
        return "killed" if given.get("exit") is None else f"exit {given.get('exit')}"
    if missing:
        return f"no output {listing(missing)}"
    if changed:
        return f"has changed its input {listing(changed)}"
    status = text_in(given, "status")
    return f"says that it has ended as {status}" if status not in {None, "success"} else ""
