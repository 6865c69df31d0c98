"""Begin a run as asked, once nothing speaks against it."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from stagec.cli.running.failing import failed
from stagec.cli.running.inputs import inputs_of, refuse_unfit
from stagec.cli.running.programs import read_program, refuse_hooks
from stagec.cli.running.runs import Runs, name_of, turns_of
from stagec.cli.running.scenarios import read_scenario
from stagec.cli.running.sitting import Table, sit
from stagec.cli.running.telling import begin, teller
from stagec.core.failure import Exit
from stagec.core.value import value
from stagec.drivers.local import Journal, JournalError, create
from stagec.runtime import Program, Started
from stagec.world.local import LIMIT, LocalWorld, Permissions
from stagec.world.scripted import ScriptedWorld
from stagec.world.turns import Turns


@value
class Request:
    """The arguments and options as given; None where nothing was said."""

    plan: Path
    runs: Path
    scenario: Path | None = None
    name: str | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None
    events: str | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = LIMIT
    digest: str | None = None


def start(request: Request) -> Exit:
    """Run a plan; return the exit status that its end deserves."""
    data, program = read_program(request.plan, request.digest)
    scenario = read_scenario(request.scenario, program.plan)
    refuse_hooks(program, scenario, allowed=request.allow_hooks)
    inputs = inputs_of(program, scenario.inputs, request.inputs)
    path = Runs(request.runs).new(request.name, program.plan.id)
    entry = request.entry if request.entry is not None else scenario.entry
    started = Started(name_of(path), entry, inputs)
    refuse_unfit(program, started)
    journal = _created(path, data, program, request.scenario)
    permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout)
    begin(program.plan, program.digest, name_of(path), quiet=request.events is not None)
    with closing(Turns(turns_of(path))) as turns:
        world = ScriptedWorld(scenario, LocalWorld(permissions, turns))
        return sit(Table(path, journal, program, world, teller(program.plan, request.events)), started)


def _created(path: Path, data: bytes, program: Program, scenario: Path | None) -> Journal:
    """Begin the journal; it remembers where the scenario is, for whoever goes on with the run."""
    where = "" if scenario is None else os.path.abspath(scenario)
    facts = {"scenario": where} if where and where.isprintable() else {}  # a name may hold what is no text
    try:
        return create(path, data, program.digest, facts)
    except JournalError as error:
        raise failed(name_of(path), error) from error
