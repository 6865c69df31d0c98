"""The runs of the suite: the vectors of the plan format, each a plan and a trace that says what the world answers.

Those count of which the same comes in whatever order answers arrive, so that a driver may choose the order.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from conformance.port import Submission
from stagec.core.json import Json
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Event, Program, Started, State, StepResult, advance, load
from stagec.runtime.world.questions import is_for_people, read_decision

VECTORS = Path(__file__).parents[1] / "plan_vectors"
_ORDERS = 5
"""In how many random orders the answers of a sample arrive before it is taken."""


class Sample:
    """A plan and how it is begun; `answer` is the answer to a request of any run of it."""

    def __init__(self, trace: Path) -> None:
        self.name = f"{trace.parent.name}-{trace.name.partition('.')[0]}"
        self._path = trace

    @cached_property
    def plan(self) -> bytes:
        """The bytes of the plan."""
        return (self._path.parent / "plan.json").read_bytes()

    @cached_property
    def program(self) -> Program:
        """The program of the plan."""
        return load(self.plan)

    @cached_property
    def _events(self) -> list[Any]:
        steps = json.loads(self._path.read_text(encoding="utf-8"))
        return [each["event"] for each in steps]

    @cached_property
    def _answers(self) -> Mapping[str, Json]:
        return {each["to"].partition("/")[2]: each["answer"] for each in self._events if each["is"] == "answer"}

    def answer(self, key: str) -> Json:
        """Return what the world answers under a key."""
        return self._answers[key.partition("/")[2]]

    def submission(self, number: int = 0) -> Submission:
        """Return a run of the sample; each number is another run."""
        first = self._events[0]
        return Submission(f"{self.name}.{number}", self.plan, first.get("entry"), first.get("inputs", {}))

    def play(self, run: str, chance: random.Random | None = None) -> Iterator[tuple[Event, StepResult]]:
        """Yield what happens to a run in memory; answers arrive in the order of the requests, or in a random one."""
        first, state = self.submission(), State()
        event: Event = Started(run, first.entry, first.inputs)
        while True:
            step = advance(self.program, state, event)
            yield event, step
            state = step.state
            if state.ended is not None:
                return
            waiting = list(state.pending)
            key = waiting[0] if chance is None else chance.choice(waiting)
            event = Answered(key, {} if type(state.pending[key]).__name__ == "Wait" else self.answer(key))

    @cached_property
    def questions(self) -> tuple[tuple[str, bool], ...]:
        """The requests for people, without the name of their run, and what they answer."""
        return tuple((key, decision is True) for key, decision in self._decide())

    def _decide(self) -> Iterator[tuple[str, bool | None]]:
        asked = (each for _, step in self.play("run") for each in step.effects if is_for_people(each))
        return ((each.key.partition("/")[2], read_decision(each, self.answer(each.key))) for each in asked)

    @cached_property
    def length(self) -> int:
        """How many events a run has."""
        return len(list(self.play("run")))

    def is_fit(self) -> bool:
        """Tell whether a driver can be asked to do exactly this."""
        if any(each["is"] not in {"start", "answer"} for each in self._events) or len(self._events) < 3:
            return False
        if any(type(node.act).__name__ == "Process" for node in self.program.plan.nodes.values()):
            return False  # processes of stages have a folder, and a protocol of their own
        try:
            known = _summarise(self.play("run"))
            if any(decision is None for _, decision in self._decide()):
                return False  # no person answers like that
            orders = (random.Random(number) for number in range(_ORDERS))  # noqa: S311
            return all(_summarise(self.play("run", each)) == known for each in orders)
        except KeyError:  # a request of which the trace says nothing
            return False


def _summarise(played: Iterator[tuple[Event, StepResult]]) -> tuple[Counter[str], Outcome | None]:
    events, ended = Counter[str](), None
    for event, step in played:
        events[repr(event)] += 1
        ended = step.state.ended
    return events, ended


class _Samples(dict[str, Sample]):
    """The samples by name, read when they are needed."""

    def __missing__(self, name: str) -> Sample:
        folder, _, trace = name.rpartition("-")
        paths = [each for each in VECTORS.glob("*/*.trace.json") if f"{each.parent.name}-" in f"{name}-"]
        found = next(each for each in paths if Sample(each).name == name)
        assert (folder, trace) != ("", "")
        return self.setdefault(name, Sample(found))


SAMPLES: dict[str, Sample] = _Samples()


def sample_of(key: str) -> str:
    """Return the name of the sample that a request, or a run, belongs to."""
    return key.partition("/")[0].rpartition(".")[0]


@cache
def list_samples() -> tuple[Sample, ...]:
    """Return all samples that are fit."""
    return tuple(each for each in (Sample(path) for path in sorted(VECTORS.glob("*/*.trace.json"))) if each.is_fit())
