"""Resume a run with another plan: what prevents it, who vouches for the plan, and the event."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from shlex import quote as quote_word

from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import load_program, read_program
from stagec.cli.signatures import SIGNATURE, demand_signature
from stagec.comparison.crossing import Crossing, Hindrance, list_breaking_codes
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import format_count, quote, shorten_digest
from stagec.drivers.local import History
from stagec.drivers.replay import fold_run
from stagec.plan.node import Outcome
from stagec.runtime import Program, Replanned, State
from stagec.runtime.replanning import is_process


@value
class Standpoint:
    """Where a run stands: its name, the program with which it goes on, and its state."""

    name: str
    program: Program
    state: State

    @classmethod
    def of(cls, name: str, history: History) -> Standpoint:
        """Return where a history leads; raise `Failure` for a plan in it that is refused."""
        begun = load_program(history.plan, f"the plan of run {quote(name)}")
        return cls(name, *fold_run(begun, history.events))


@value
class ChangeRequest:
    """The plan with which a run shall go on, as given: its file, the codes that do not count, what begins again."""

    plan: Path
    allow: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    def read(self, standpoint: Standpoint) -> tuple[Program, Replanned | None]:
        """Return the program with which a run goes on, and the event; none when it has that plan already.

        Raises `Failure` where the change is breaking for the state of the run, and where nobody vouches for the plan
        whom the project trusts.
        """
        data, program = read_program(self.plan)
        self._refuse_unknown(standpoint)
        if program.digest == standpoint.program.digest and not self.again:
            return standpoint.program, None
        self._refuse_ended(standpoint)
        found = Crossing(standpoint.program, program).find_hindrances(standpoint.state, self.allow, self.again)
        if found:
            raise BreakingChangeError(self._explain(standpoint, program, found))
        vouched = demand_signature(self.plan, data, load_configuration((Path(),)))
        return program, Replanned(program.digest, data.decode(), self.again, vouched.get(SIGNATURE))

    def _refuse_unknown(self, standpoint: Standpoint) -> None:
        """Refuse codes of nothing that breaks, and nodes that are not under way."""
        codes = list_breaking_codes()
        for each in self.allow:
            if each not in codes:
                raise Failure(f"--allow {quote(each)} is no code of a breaking change{hint(each, NameIndex(codes))}")
        going = {each.node for each in standpoint.state.active.values()}
        for each in self.again:
            if each not in going:
                near = hint(each, NameIndex(going))
                raise Failure(f"--again {quote(each)}: no such node is under way in run {quote(standpoint.name)}{near}")
            if is_process(standpoint.program, each):
                raise Failure(f"--again {quote(each)} is a stage: it goes on from its checkpoints, see --consent")

    def _refuse_ended(self, standpoint: Standpoint) -> None:
        state = standpoint.state
        if state.ended is Outcome.DONE or (state.ended is not None and not state.statuses):
            told = f"run {quote(standpoint.name)} has ended as {state.ended}, {state.reason}"
            raise Failure(f"{told}: no other plan can change that")

    def _explain(self, standpoint: Standpoint, program: Program, found: Collection[Hindrance]) -> str:
        """Return why a run cannot go on, line by line, and what can be done."""
        name, state = standpoint.name, standpoint.state
        change = f"{shorten_digest(standpoint.program.digest)} to {shorten_digest(program.digest)}"
        counted = format_count(len(found), "reason")
        lines = [f"run {quote(name)} cannot go on with {quote(self.plan)}, from {change}: {counted}"]
        lines += [f"  {line}" for each in found for line in each.describe().splitlines()]
        nodes = {each.node for each in found if each.node is not None and not each.flow}
        going = dict.fromkeys(each.node for each in state.active.values() if each.node in nodes)
        again = [f"--again {quote_word(each)}" for each in going if not is_process(standpoint.program, each)]
        if again:
            told = "lets what is under way begin once more, and asks all of it anew"
            lines.append(f"{' '.join(again[:_MOST])} {told}")
        lines.append(f"'stagec resume {name}' goes on with the plan that the run has")
        return "\n".join(lines)


class BreakingChangeError(Failure):
    """A change of plans that is breaking for the state of a run."""


_MOST = 4
"""Nodes that are named."""
