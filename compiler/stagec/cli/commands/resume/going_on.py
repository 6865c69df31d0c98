"""Go on with a run as asked, by the plan that is in its journal."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from stagec.cli.running.programs import program_in, read_program, refuse_hooks
from stagec.cli.running.runs import Runs, name_of, opened, turns_of
from stagec.cli.running.scenarios import read_scenario
from stagec.cli.running.sitting import Table, sit
from stagec.cli.running.telling import begin, teller
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, shortened
from stagec.drivers.local import History
from stagec.world.local import LIMIT, LocalWorld, Permissions
from stagec.world.scripted import ScriptedWorld
from stagec.world.turns import Turns


@value
class Request:
    """The arguments and options as given; None where nothing was said."""

    run: str
    runs: Path
    scenario: Path | None = None
    plan: Path | None = None
    events: str | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = LIMIT


def go_on(request: Request) -> Exit:
    """Go on with a run; return the exit status that its end deserves."""
    path = Runs(request.runs).find(request.run)
    with closing(opened(path)) as journal:
        history = journal.history
        if not history.events:
            told = "nothing of it has happened, 'stagec run' begins it anew"
            raise Failure(f"run {quote(name_of(path))} never began: {told}")
        program = program_in(history.plan, f"the plan of run {quote(name_of(path))}")
        if request.plan is not None:
            _refuse_other(request.plan, name_of(path), history)
        scenario = read_scenario(_scenario(request, history), program.plan)
        refuse_hooks(program, scenario, allowed=request.allow_hooks)
        permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout)
        begin(program.plan, program.digest, name_of(path), quiet=request.events is not None)
        with closing(Turns(turns_of(path))) as turns:
            world = ScriptedWorld(scenario, LocalWorld(permissions, turns))
            return sit(Table(path, journal, program, world, teller(program.plan, request.events)), None)


def _refuse_other(plan: Path, name: str, history: History) -> None:
    _, program = read_program(plan)
    if program.digest != history.digest:
        other, own = shortened(program.digest), shortened(history.digest)
        raise Failure(f"{quote(plan)} is {other}, and run {quote(name)} is one of {own}: a run keeps its plan")


def _scenario(request: Request, history: History) -> Path | None:
    """Return the file of the scenario: the one that is given, else the one with which the run was begun."""
    if request.scenario is not None or "scenario" not in history.facts:
        return request.scenario
    remembered = Path(history.facts["scenario"])
    if not os.path.isfile(remembered):  # unlike `is_file`, never raises
        raise Failure(f"the scenario of the run, {quote(remembered)}, is not there any more: --scenario gives another")
    return remembered
