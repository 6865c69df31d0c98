"""Resume a run with another plan: what prevents it, who vouches for the plan, and the event."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from shlex import quote as quote_word

from stagec.cli.differences import dump_document
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import collect_inputs, load_program, read_program
from stagec.cli.signatures import SIGNATURE, demand_signature
from stagec.comparison.run_compatibility import Hindrance, RunCompatibility, list_breaking_codes
from stagec.core.failure import Failure
from stagec.core.json import Json, object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import format_count, quote, shorten_digest
from stagec.drivers.local import History
from stagec.drivers.redaction import redact_value
from stagec.drivers.replay import fold_run
from stagec.plan.node import Outcome
from stagec.runtime import Program, Replanned, State
from stagec.runtime.replanning import ObstacleError, is_process


@value
class Standpoint:
    """The state of a run, with its name and its current program."""

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
    """A request to continue a run with another plan.

    Its file, the codes that do not count, what begins again, and the inputs that the run is given.
    """

    plan: Path
    allow: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def read(self, standpoint: Standpoint) -> tuple[Program, Replanned | None]:
        """Return the program with which a run continues, and the event; None if it has that plan already.

        Raises `Failure` where the change is breaking for the state of the run, and where nobody vouches for the plan
        whom the project trusts.
        """
        data, program = read_program(self.plan)
        self._refuse_unknown(standpoint)
        if program.digest == standpoint.program.digest and not self.again and not self.inputs:
            return standpoint.program, None
        self._refuse_ended(standpoint)
        inputs = object_of(redact_value(Redactor(os.environ), dict(collect_inputs(program, {}, self.inputs))))
        compatibility = RunCompatibility(standpoint.program, program)
        try:
            found = compatibility.find_hindrances(standpoint.state, self.allow, self.again, inputs)
        except ObstacleError as error:
            near = next(
                (hint(each, NameIndex(program.plan.inputs)) for each in inputs.keys() - program.plan.inputs), ""
            )
            raise Failure(f"--input is refused: {error}{near}") from error
        if found:
            raise self._refuse(standpoint, program, found, inputs)
        vouched = demand_signature(self.plan, data, load_configuration((Path(),)))
        return program, Replanned(program.digest, data.decode(), self.again, vouched.get(SIGNATURE), inputs)

    def _refuse_unknown(self, standpoint: Standpoint) -> None:
        """Refuse codes of nothing that breaks, and nodes that are not under way."""
        codes = list_breaking_codes()
        for each in self.allow:
            if each not in codes:
                raise Failure(f"--allow {quote(each)} is not a code of a breaking change{hint(each, NameIndex(codes))}")
        going = {each.node for each in standpoint.state.active.values()}
        for each in self.again:
            if each not in going:
                near = hint(each, NameIndex(going))
                raise Failure(f"--again {quote(each)}: no such node is under way in run {quote(standpoint.name)}{near}")
            if is_process(standpoint.program, each):
                raise Failure(f"--again {quote(each)} is a stage: it continues from its checkpoints, see --consent")

    def _refuse_ended(self, standpoint: Standpoint) -> None:
        state = standpoint.state
        if state.ended is Outcome.DONE or (state.ended is not None and not state.statuses):
            told = f"run {quote(standpoint.name)} has ended as {state.ended}, {state.reason}"
            raise Failure(f"{told}: no other plan can change that")

    def _refuse(
        self, standpoint: Standpoint, program: Program, found: tuple[Hindrance, ...], given: Collection[str]
    ) -> BreakingChangeError:
        """Return why a run cannot continue, line by line, and the remedies."""
        name, state = standpoint.name, standpoint.state
        change = f"{shorten_digest(standpoint.program.digest)} to {shorten_digest(program.digest)}"
        counted = format_count(len(found), "reason")
        lines = [f"run {quote(name)} cannot continue with {quote(self.plan)}, from {change}: {counted}"]
        lines += [f"  {line}" for each in found for line in each.describe().splitlines()]
        nodes = {each.node for each in found if each.node is not None and not each.flow}
        going = dict.fromkeys(each.node for each in state.active.values() if each.node in nodes)
        again = tuple(each for each in going if not is_process(standpoint.program, each))
        if again:
            told = "stops the open execution, starts it again, and makes all its requests again"
            lines.append(f"{' '.join(f'--again {quote_word(each)}' for each in again[:_MOST])} {told}")
        needed = (each for each, one in program.plan.inputs.items() if one.required and one.default is None)
        missing = tuple(each for each in needed if each not in state.inputs and each not in given)
        if missing:
            told = f"{'give' if len(missing) > 1 else 'gives'} the run the missing inputs"
            lines.append(f"{' '.join(f'--input {quote_word(each)}=VALUE' for each in missing[:_MOST])} {told}")
        lines.append(f"'stagec resume {name}' continues the run with the plan that it has")
        return BreakingChangeError("\n".join(lines), program, found, (again, missing))


class BreakingChangeError(Failure):
    """A change of plans that is breaking for the state of a run.

    It has the program of the new plan, what hinders the run, and which nodes may begin again and which inputs the run
    lacks.
    """

    def __init__(
        self,
        message: str,
        program: Program,
        found: tuple[Hindrance, ...],
        ways: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> None:
        super().__init__(message)
        self.program, self.found = program, found
        self.again, self.missing = ways


_MOST = 4
"""Nodes that are named."""


def write_outlook(standpoint: Standpoint, after: str, refusal: BreakingChangeError | None = None) -> str:
    """Return whether a run could continue as a JSON document, as `schemas/resume.schema.json` describes it."""
    found = () if refusal is None else refusal.found
    return dump_document(
        {
            "version": 1,
            "run": standpoint.name,
            "goesOn": refusal is None,
            "before": standpoint.program.digest,
            "after": after,
            "reasons": [_write_hindrance(each) for each in found],
            "again": [] if refusal is None else list(refusal.again),
            "missing": [] if refusal is None else list(refusal.missing),
        }
    )


def _write_hindrance(given: Hindrance) -> Json:
    return {
        "code": None if given.kind is None else given.kind.code,
        "kind": None if given.kind is None else given.kind.name,
        "message": given.sentence,
        "agent": given.flow or None,
        "node": given.node,
        "here": given.here or None,
        "remedy": given.remedy or None,
    }
