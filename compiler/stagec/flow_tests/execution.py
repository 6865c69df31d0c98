"""Run a test in memory, and record what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.drivers.local.play import play
from stagec.flow_tests.document import FlowTest
from stagec.runtime import Event, Move, Program, Started, StepResult
from stagec.runtime.advance import find_trouble
from stagec.runtime.exchange import Ask, Call, Turn
from stagec.world.agents_world import script_world
from stagec.world.local_world import ClosedWorld

_RUN = "test"


@value
class Observation:
    """What came of a run: how it ended, its moves, how often what was asked, and the results of nodes.

    `trouble` is why it has no end: it cannot begin as the scenario says, or the scenario has no answer to a request.
    """

    outcome: str | None
    reason: str
    moves: tuple[Move, ...] = ()
    calls: Mapping[str, int] = NOTHING
    turns: int = 0
    executions: int = 0
    results: Mapping[str, Json] = NOTHING
    last: Json = None
    trouble: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes in the order in which their executions ended."""
        return tuple(each.node for each in self.moves)


class _Recorder:
    """Receives the steps of a run."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.calls: Counter[str] = Counter()
        self.turns = 0
        self.results: dict[str, Json] = {}
        self.last: Json = None

    def observe(self, _event: Event, step: StepResult) -> None:
        """Take note of what a step asks for, and of what has ended."""
        self.turns += sum(isinstance(each, Ask | Turn) for each in step.effects)
        self.calls.update(each.tool for each in step.effects if isinstance(each, Call))
        own = [each for each in step.moves if not each.run]
        self.moves += own
        if own and step.last is not None:
            self.results[own[-1].node] = step.last
            self.last = step.last


def run_test(program: Program, test: FlowTest) -> Observation:
    """Run the plan with the scenario of a test."""
    started = Started(_RUN, test.scenario.entry, test.scenario.inputs)
    trouble = find_trouble(program, started)
    if trouble is not None:
        return Observation(None, "", trouble=f"the run cannot begin: {trouble}")
    recorder = _Recorder()
    try:
        state = play(program, script_world(test.scenario, program.agents, ClosedWorld()), started, recorder.observe)
    except Failure as failure:  # the scenario has no answer
        return Observation(None, "", tuple(recorder.moves), recorder.calls, recorder.turns, trouble=str(failure))
    return Observation(
        str(state.ended),
        state.reason,
        tuple(recorder.moves),
        recorder.calls,
        recorder.turns,
        state.executions,
        recorder.results,
        recorder.last,
    )
