"""Plays runs of phases: agents end as a table says, or their runs are answered one request after the other."""

from __future__ import annotations

from collections.abc import Mapping

from phased import Worker, make_agent, make_phases

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.document import Contents, Phases
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Effect, Event, Started, State, StepResult, advance
from stagec.runtime.machine.exchange import Dispatch, read_key
from stagec.runtime.machine.program import program_of

RUN = "r"


class Issue:
    """A run of phases that goes on with every answer."""

    def __init__(self, plan: Plan, entry: str = "kind:build", issue: Json = "seven") -> None:
        self.program = program_of(plan)
        self.state = State()
        self.events: list[Event] = []
        self.asked: list[Effect] = []
        self.step = self.tell(Started(RUN, entry, {"issue": issue}))

    def tell(self, event: Event) -> StepResult:
        """Let an event happen."""
        step = advance(self.program, self.state, event)
        assert step == advance(self.program, self.state, event)
        self.events.append(event)
        self.asked.extend(step.effects)
        self.state, self.step = step.state, step
        return step

    @property
    def open(self) -> Effect:
        """What is asked for."""
        (effect,) = self.state.pending.values()
        return effect

    def answer(self, given: Json) -> StepResult:
        """Answer what is asked for."""
        return self.tell(Answered(self.open.key, given))

    def find(self, kind: type) -> list[Effect]:
        """Return what was asked for of a kind."""
        return [each for each in self.asked if type(each) is kind]


def phased(plan: Plan, answers: Mapping[str, Json], error: str = "", issue: Json = "seven") -> Issue:
    """Return a run whose agents give the closing answers of a table, by phase; those of other phases are run.

    With an error, nothing can be written down.
    """
    run = Issue(plan, issue=issue)
    while run.state.ended is None:
        effect, node = run.open, read_key(run.open.key).node
        if isinstance(effect, Dispatch):
            run.answer({"answer": answers[node]} if node in answers else {})
        else:
            run.answer({"error": error} if error else {})
    return run


def again(row: int = 2) -> Plan:
    """Make a phase that leads to itself with one verdict, and nowhere with another."""
    worker = Worker("builder", "validator", {"again": "build"})
    labels = {"build": ("kind:build",)}
    return make_phases({"build": worker}, {}, Phases(9, row, labels=labels), (make_agent("builder"),))


def strict() -> Plan:
    """Make a phase whose agent takes an issue by number alone, which no orchestrator says."""
    agent, contents = make_agent("builder"), Contents()
    inputs = {"issue": replace(agent.inputs["issue"], schema=contents.add('{"type":"integer"}'))}
    agent = replace(agent, inputs=inputs, contents={**agent.contents, **contents.texts})
    workers = {"build": Worker("builder", "transformer", {"success": "done"}, "done")}
    return make_phases(workers, {"done": Outcome.DONE}, Phases(2, labels={"build": ("kind:build",)}), (agent,))
