"""Whether a run may continue with another plan: what prevents it in its state, and the remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stagec.change.comparison.classify import JudgedChange, judge_flow, list_kinds
from stagec.change.comparison.compare import compare_flows
from stagec.change.comparison.kind import ChangeKind, Grade
from stagec.change.comparison.situation import Situation
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.ir.plan.act import Delegate
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.execution import AgentRun
from stagec.runtime.machine.program import Program
from stagec.runtime.machine.replanning import ObstacleError, give_inputs, set_aside, transfer
from stagec.runtime.machine.state import State

_REMEDY = "## What to do"
"""The heading on the page of a breaking kind with its remedy."""


@value
class Hindrance:
    """Why a run cannot continue with another plan.

    `kind` is that of the change, None where no change is known that says it. `flow` is the agent in whose run it is,
    empty for the run itself; `here` says why it concerns this run, `remedy` what can be done.
    """

    kind: ChangeKind | None
    sentence: str
    node: str | None = None
    flow: str = ""
    here: str = ""
    remedy: str = ""

    def describe(self) -> str:
        """Return it in lines: its code and sentence, why it concerns the run, and the remedy."""
        named = "" if self.kind is None else f"{self.kind.code}  {self.kind.name}  "
        inside = f"agent {quote(self.flow)}: " if self.flow else ""
        told = {"": f"{named}{inside}{self.sentence}", "  here: ": self.here, "  remedy: ": self.remedy}
        return "\n".join(f"{word}{each}" for word, each in told.items() if each)


class RunCompatibility:
    """Two programs, and what has changed between them: asked once, and for any number of states."""

    def __init__(self, old: Program, new: Program) -> None:
        self.old, self.new = old, new
        flows = compare_flows([old.plan], [new.plan])
        self._broken = [(each, judge_flow(each).changes) for each in flows if each.old is not None]

    def find_hindrances(
        self,
        state: State,
        allowed: Collection[str] = (),
        again: Collection[str] = (),
        inputs: Mapping[str, Json] = NOTHING,
    ) -> tuple[Hindrance, ...]:
        """Return what prevents a run in a state from continuing with the new program; nothing if it can.

        `allowed` are codes of kinds that do not count. What the machine itself refuses always counts. `again` are nodes
        that begin once more, `inputs` those that the run is given; raises `ObstacleError` for inputs that it cannot be.
        """
        state = give_inputs(self.new, set_aside(advance, self.old, state, again).state, inputs)
        broken = self._find_broken(state)
        found = [each for each in broken if each.kind is None or each.kind.code not in allowed]
        try:
            transfer(self.old, self.new, state)
        except ObstacleError as error:
            if not found:
                found.append(Hindrance(None, error.obstacle.why, error.obstacle.node))
        return tuple(found)

    def _find_broken(self, state: State) -> Iterator[Hindrance]:
        """Yield the breaking changes that concern a run, and those that concern the runs of agents inside it."""
        for flow, changes in self._broken:
            breaking = [each for each in changes if each.kind.grade is Grade.BREAKING]
            if flow.flow == self.old.plan.id:
                yield from self._judge(breaking, "", None if flow.new is None else Situation(self.old, self.new, state))
                continue
            agent = flow.flow.removeprefix(f"{self.old.plan.id}: ")
            for inner in self._list_agent_runs(state, agent):
                program = self.new.agents.get(agent)
                situation = None if program is None else Situation(self.old.agents[agent], program, inner)
                yield from self._judge(breaking, agent, situation)

    def _judge(self, changes: Iterable[JudgedChange], agent: str, situation: Situation | None) -> Iterator[Hindrance]:
        for each in changes:
            here = "the run is one of it" if situation is None else situation.ask(each.kind.code, each.change)
            if here:
                remedy = " ".join(each.kind.explanation.partition(_REMEDY)[2].split())
                yield Hindrance(each.kind, each.sentence, each.change.node, agent, here, remedy)

    def _list_agent_runs(self, state: State, agent: str) -> Iterator[State]:
        for execution in state.active.values():
            act = self.old.plan.nodes[execution.node].act
            if isinstance(execution.progress, AgentRun) and isinstance(act, Delegate) and act.agent == agent:
                yield execution.progress.state


def list_breaking_codes() -> tuple[str, ...]:
    """Return the codes of the kinds that can hinder a run."""
    return tuple(each.code for each in list_kinds() if each.grade is Grade.BREAKING)
