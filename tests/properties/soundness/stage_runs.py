"""One run of a stage plan in a world of chance, with time that passes as its limits say, and what must hold of it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from properties.random_world import World

from stagec.core.json import Json
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan.act import Process
from stagec.ir.plan.node import Outcome, Schedule
from stagec.ir.protocol.lifecycle import STAGE_CHANGES, StageEvent, StageStatus
from stagec.runtime.machine import Answered, Cancelled, Effect, Event, Program, Resumed, Started, State, advance
from stagec.runtime.machine.exchange import Execute, Wait, read_key
from stagec.runtime.machine.failures import FailureKind

SETTLED = frozenset({StageStatus.COMPLETED, StageStatus.RESUMABLE, StageStatus.BLOCKED})
"""The statuses with which a stage may end: only somebody's decision changes them."""
_MOST = 2_000
"""Transitions of a run, more than any has that goes on as it should."""
_RESUMES = 3
_NONSENSE: tuple[Any, ...] = (None, 5, "x", [], {"exit": []}, {"valid": "x", "error": 0}, {"outputs": [[]], "exit": {}})


class UnsoundStageError(Exception):
    """Something happened in a run that must not."""


class StageRun:
    """A run that goes on until it has ended for good; `clock` is the time in milliseconds since it was begun."""

    def __init__(self, program: Program, random: Random, kinds: Counter[str], *, rude: bool) -> None:
        self._program, self._random, self._kinds, self._rude = program, random, kinds, rude
        self._nodes = program.plan.nodes
        (entry,) = program.plan.entries.values()
        assert isinstance(entry, Schedule)
        self._needs = entry.needs
        self._world = World({"nodes": {}}, random)
        self._due: dict[str, tuple[int, Json]] = {}
        self._clock = self._begun = 0
        self._resumes = 0
        self._ran: Counter[str] = Counter()
        self._allowed: set[str] = set()
        self.state = State()
        self.transitions = 0

    def play(self) -> None:
        """Run until nothing more can happen, and raise an error for what must not."""
        self._tell(Started("run"))
        while self.transitions < _MOST:
            event = self._choose()
            if event is None:
                return
            self._tell(event)
        raise UnsoundStageError("the run goes on without end")

    def _choose(self) -> Event | None:
        """Return what happens next: somebody's decision, or the answer that is due first."""
        state, chance = self.state, self._random.random()
        if state.ended is not None:
            return self._resume() if state.ended is not Outcome.DONE and self._resumes < _RESUMES else None
        if chance < 0.01 and self._resumes < _RESUMES:
            return self._resume()
        if chance < 0.03:
            self._kinds["cancelled"] += 1
            return Cancelled("enough")
        if not state.pending:
            raise UnsoundStageError("nothing is asked, and the run has not ended")
        key = min(state.pending, key=lambda each: self._due[each][0])
        self._clock, answer = max(self._clock, self._due[key][0]), self._due[key][1]
        return Answered(key, answer)

    def _resume(self) -> Resumed:
        """Let the run go on: kept is what has completed, perhaps not all of it, and more that nobody has run."""
        self._resumes += 1
        self._kinds["resumed"] += 1
        completed = [name for name, status in self.state.statuses.items() if status is StageStatus.COMPLETED]
        kept = [name for name in completed if self._random.random() < 0.8]
        kept += [name for name in self._needs if self._random.random() < 0.1 and name not in kept]
        consented = [name for name in self._needs if self._random.random() < 0.4]
        return Resumed(tuple(kept), tuple(consented), self._random.choice((None, "ckpt-1")))

    def _tell(self, event: Event) -> None:
        before = self.state
        try:
            step = advance(self._program, before, event)
        except Exception as error:
            raise UnsoundStageError(f"{type(event).__name__} leads to {type(error).__name__}: {error}") from error
        self.transitions += 1
        self.state = step.state
        if isinstance(event, Resumed) and step.state != before:
            self._begin_anew(event)
        for change in (each.facts for each in step.trace if each.name == "StageStatusChanged"):
            self._look_at_change(str(change["from"]), str(change["to"]), str(change["on"]))
        for effect in step.effects:
            self._ask(effect)
        self._look_at_state()

    def _begin_anew(self, event: Resumed) -> None:
        self._begun = self._clock
        self._allowed = {*event.consented}
        self._due = {key: due for key, due in self._due.items() if key in self.state.pending}
        kept = [name for name in self._needs if self.state.statuses[name] is StageStatus.COMPLETED]
        self._kinds["kept"] += bool(kept)
        for name in kept:
            if not all(self.state.statuses[each] is StageStatus.COMPLETED for each in self._needs[name]):
                raise UnsoundStageError(f"{name} is kept without all that it needs")

    def _look_at_change(self, before: str, after: str, on: str) -> None:
        if STAGE_CHANGES.get((StageStatus(before), StageEvent(on))) != after:
            raise UnsoundStageError(f"{before} becomes {after} on {on}")
        self._kinds[f"{before} to {after}"] += 1

    def _ask(self, effect: Effect) -> None:
        """Decide when a request is answered, and how."""
        self._kinds[_KINDS.get(type(effect).__name__, type(effect).__name__.lower())] += 1
        answer: Json = self._world.answer({"is": type(effect).__name__.lower(), **_describe(effect)})
        if self._rude and self._random.random() < 0.3:
            self._kinds["answer that is none"] += 1
            answer = self._random.choice(_NONSENSE)
        self._due[effect.key] = (self._clock + self._take(effect, answer), answer)
        if isinstance(effect, Execute):
            self._look_at_execution(effect)

    def _take(self, effect: Effect, answer: Json) -> int:
        """Return the milliseconds that an answer takes: a process that is not interrupted ends before it would be."""
        if isinstance(effect, Wait):
            return effect.milliseconds
        if not isinstance(effect, Execute):
            return 0
        is_stopped = isinstance(answer, dict) and answer.get("interrupted") in {"timeout", "abort"}
        most = effect.limits.kill if is_stopped else effect.limits.interrupt
        return self._random.choice((0, most // 2, most))

    def _look_at_execution(self, effect: Execute) -> None:
        """Hold against the plan that a process begins now."""
        node, key = self._nodes[effect.node], read_key(effect.key)
        act = node.act
        assert isinstance(act, Process)
        lost = [each for each in self._needs[effect.node] if self.state.statuses[each] is not StageStatus.COMPLETED]
        if lost:
            raise UnsoundStageError(f"{effect.node} begins before {lost} have completed")
        if key.attempt > (node.retry.attempts if node.retry is not None else 1):
            raise UnsoundStageError(f"{effect.node} makes attempt {key.attempt}")
        if self._ran[effect.node] and not act.retryable and effect.node not in self._allowed:
            raise UnsoundStageError(f"{effect.node} runs again without consent")
        self._ran[effect.node] += 1

    def _look_at_state(self) -> None:
        state, plan = self.state, self._program.plan
        if len(state.active) > plan.limits.parallel:
            raise UnsoundStageError(f"{len(state.active)} executions act")
        if plan.facts is None or state.executions > plan.facts.executions:
            raise UnsoundStageError(f"there are {state.executions} executions")
        self._kinds["waits for room"] += bool(state.waiting)
        longest = bound(plan, Assumed()).entries[0].milliseconds.most if state.ended is not None else None
        if longest is not None and self._clock - self._begun > longest:
            raise UnsoundStageError(f"the run takes {self._clock - self._begun} ms, and at most {longest} is proved")
        if state.ended is not None:
            self._look_at_end()

    def _look_at_end(self) -> None:
        state = self.state
        self._kinds[f"end: {state.ended}"] += 1
        if state.active or state.pending or state.waiting or state.scopes:
            raise UnsoundStageError("something goes on after the end")
        is_cancelled = state.failure is not None and state.failure.kind is FailureKind.CANCELLED
        allowed = SETTLED | {StageStatus.PENDING} if is_cancelled else SETTLED
        open_ = [name for name, status in state.statuses.items() if status not in allowed]
        if open_:
            raise UnsoundStageError(f"{open_} are in no status that a run may end with")
        is_done = all(each is StageStatus.COMPLETED for each in state.statuses.values())
        if is_done is not (state.ended is Outcome.DONE) and not is_cancelled:
            raise UnsoundStageError(f"the run has ended as {state.ended}")
        refused = state.failure is not None and state.failure.kind is FailureKind.STAGE_BLOCKED
        self._kinds["refused to begin again"] += refused


_KINDS = {"Execute": "process"}


def _describe(effect: Effect) -> dict[str, Any]:
    return {"outputs": dict(effect.outputs)} if isinstance(effect, Execute) else {}
