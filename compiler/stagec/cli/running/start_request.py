"""Start a run as asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from stagec.cli.options import load_configuration
from stagec.cli.running.inputs import collect_inputs, read_program, read_scenario, refuse_hooks, refuse_unfit
from stagec.cli.running.other_worlds import OtherWorlds, read_models
from stagec.cli.running.people import PeopleSetup, choose_people
from stagec.cli.running.report import announce
from stagec.cli.running.run_session import RunSetup, execute
from stagec.cli.running.runs import Runs, explain_journal_error, name_of
from stagec.cli.running.stage_reporter import choose_reporter
from stagec.cli.running.stages import (
    StageOptions,
    find_folder,
    has_stages,
    name_stage_run,
    refuse_other_results,
    refuse_silent_stages,
    refuse_unfit_stages,
)
from stagec.cli.running.worlds import WorldSetup, open_world
from stagec.core.failure import Exit
from stagec.core.value import value
from stagec.drivers.local import Journal, JournalError, create
from stagec.plan import Plan
from stagec.runtime import Program, Started
from stagec.world.budget import Budget
from stagec.world.local_world import LIMIT, Permissions
from stagec.world.scenario import Scenario


@value
class StartRequest:
    """The arguments and options as given; None where one is absent."""

    plan: Path
    runs: Path
    scenario: Path | None = None
    name: str | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None
    models: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None
    tools_in: Path | None = None
    servers: bool | None = None
    answers: str | None = None
    answer_timeout: float | None = None
    world: str | None = None
    world_command: str | None = None
    events: str | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = LIMIT
    digest: str | None = None
    project: Path | None = None
    executor: str | None = None
    max_parallel: int | None = None

    @property
    def budget(self) -> Budget:
        """What models may use."""
        return Budget(self.max_tokens, self.max_cost, self.max_time)

    @property
    def people(self) -> PeopleSetup:
        """Who answers for people."""
        return choose_people(self.answers, self.answer_timeout)

    @property
    def stages(self) -> StageOptions:
        """What is said about stages."""
        return StageOptions(self.project, self.executor, self.max_parallel)


def start(request: StartRequest) -> Exit:
    """Run a plan; return the exit status of its end."""
    data, program = read_program(request.plan, request.digest)
    refuse_unfit_stages(program.plan, request.stages)
    scenario = read_scenario(request.scenario, program.plan)
    refuse_hooks(program, scenario, allowed=request.allow_hooks)
    refuse_silent_stages(program.plan, scenario, request.stages.words)
    path = _choose_path(request, program.plan)
    folder = find_folder(program.plan, name_of(path), request.stages)
    started = _describe_start(request, program, scenario, name_of(path))
    configured = load_configuration((Path(),)).settings.models
    others = OtherWorlds(
        request.world, request.world_command, read_models(request.models, configured), request.tools_in, request.servers
    )
    reporter = choose_reporter(program.plan, request.events)
    permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout, request.stages.words)
    with open_world(
        WorldSetup(path, program, scenario, permissions, others, folder, reporter, request.budget, request.people)
    ) as opened:
        facts = {**_locate(request.scenario), **others.facts, **(request.stages.facts if folder else {})}
        journal = _create_journal(path, data, program, facts)
        announce(program.plan, program.digest, name_of(path), quiet=request.events is not None)
        return execute(RunSetup(path, journal, program, opened.world, reporter, request.max_parallel), started)


def _choose_path(request: StartRequest, plan: Plan) -> Path:
    """Return the file of a run that is to begin; its directory, if it has one, must be free, too."""
    runs = Runs(request.runs)
    path = runs.new(name_stage_run(runs) if request.name is None and has_stages(plan) else request.name, plan.id)
    if not os.path.lexists(path):
        refuse_other_results(find_folder(plan, name_of(path), request.stages))
    return path


def _describe_start(request: StartRequest, program: Program, scenario: Scenario, name: str) -> Started:
    entry = request.entry if request.entry is not None else scenario.entry
    started = Started(name, entry, collect_inputs(program, scenario.inputs, request.inputs))
    refuse_unfit(program, started)
    return started


def _locate(scenario: Path | None) -> Mapping[str, str]:
    """Return where the scenario is, for whoever resumes the run."""
    where = "" if scenario is None else os.path.abspath(scenario)
    return {"scenario": where} if where and where.isprintable() else {}  # a name may hold what is no text


def _create_journal(path: Path, data: bytes, program: Program, facts: Mapping[str, str]) -> Journal:
    """Begin the journal, which remembers what resuming the run takes."""
    try:
        return create(path, data, program.digest, facts)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
