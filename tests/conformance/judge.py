"""What is wrong with the history of a run, compared with the machine alone and in itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.samples import Sample
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.replay import find_difference, replay_twice
from stagec.runtime.machine import Answered, Event, State, StepResult, advance, load
from stagec.runtime.machine.exchange import Cancelled, Started, Wait


class Judge:
    """Judges what a driver has kept of a run of a sample."""

    def __init__(self, run: str, sample: Sample, history: History | None) -> None:
        self.run, self.sample, self.history = run, sample, history
        self.steps = list(_follow(sample, history))

    def list_keys(self) -> Iterator[str]:
        """Yield the requests whose answers are acknowledged."""
        return (event.key for event, _ in self.steps if isinstance(event, Answered))

    def list_of_world(self) -> Iterator[str]:
        """Yield those of them that the world of the suite answers: neither people nor the time."""
        people = {key for key, _ in self.sample.questions}
        waits = {each.key for _, step in self.steps for each in step.effects if isinstance(each, Wait)}
        return (key for key in self.list_keys() if key not in waits and key.partition("/")[2] not in people)

    def find_faults(self) -> Iterator[str]:
        """Yield what is wrong with a run that has ended by itself."""
        yield from self._find_damage()
        expected = list(self.sample.play(self.run))
        order, happened = [*map(_strip, expected)], [*map(_strip, self.steps)]
        wanted, found = Counter(order), Counter(happened)
        for event in (wanted - found) + (found - wanted):
            yield f"{self.run}: {event[:200]} happened {found[event]} times instead of {wanted[event]}"
        plan = self.sample.program.plan
        has_waits = any(edge.wait for node in plan.nodes.values() for edge in node.edges)  # they take no place
        if wanted == found and order != happened and plan.limits.parallel == 1 and not has_waits:
            yield f"{self.run}: its events have another order"

    def find_faults_of_cancelled(self) -> Iterator[str]:
        """Yield what is wrong with a run that was cancelled."""
        yield from self._find_damage()
        if not self.steps or not isinstance(self.steps[-1][0], Cancelled) or self.steps[-1][1].state.ended is None:
            yield f"{self.run}: it does not end with the cancellation"

    def _find_damage(self) -> Iterator[str]:
        """Yield what is wrong with a history by itself."""
        if self.history is None:
            yield f"{self.run}: nothing is kept of it"
            return
        if self.history.plan != self.sample.plan:
            yield f"{self.run}: its plan is another one"
        before = State()
        for number, ((event, step), digest) in enumerate(zip(self.steps, self.history.step_digests, strict=True)):
            yield from (f"{self.run}: event {number} {why}" for why in _find_misplacement(number, event, before))
            if find_difference(number, step, digest) is not None:
                yield f"{self.run}: something else follows from event {number} than its step digest says"
            before = step.state
        if not isinstance(replay_twice(self.sample.program, load(self.sample.plan), self.history), State):
            yield f"{self.run}: its replay is not equal"


def _find_misplacement(number: int, event: Event, before: State) -> Iterator[str]:
    """Yield why an event cannot have happened in a state."""
    if isinstance(event, Started) != (number == 0):
        yield f"is {type(event).__name__}"
    if isinstance(event, Answered) and event.key not in before.pending:
        yield f"acknowledges {event.key}, for which nobody waits"
    if before.ended is not None:
        yield "happened after the end"


def _follow(sample: Sample, history: History | None) -> Iterator[tuple[Event, StepResult]]:
    state = State()
    for event in history.events if history else ():
        step = advance(sample.program, state, event)
        yield event, step
        state = step.state


def _strip(happened: tuple[Event, StepResult]) -> str:
    """Return an event without who has answered: people have names and messages, which samples have not."""
    event = happened[0]
    if isinstance(event, Answered) and isinstance(event.answer, dict):
        answer = {name: each for name, each in event.answer.items() if name not in {"by", "message"}}
        event = Answered(event.key, answer)
    return repr(event)
