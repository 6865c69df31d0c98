"""Resume a run as asked."""

from __future__ import annotations

import os
from contextlib import closing
from decimal import Decimal
from pathlib import Path

from stagec.cli.running.inputs import load_program, read_program, read_scenario, refuse_hooks
from stagec.cli.running.other_worlds import OtherWorlds, read_models, recall_worlds
from stagec.cli.running.people import PeopleSetup, choose_people
from stagec.cli.running.report import announce
from stagec.cli.running.run_session import RunSetup, execute
from stagec.cli.running.runs import Runs, name_of, open_run
from stagec.cli.running.stage_reporter import choose_reporter
from stagec.cli.running.stages import (
    Consent,
    StageOptions,
    find_folder,
    has_stages,
    is_resumable,
    refuse_silent_stages,
    refuse_unfit_stages,
    verify_stages,
)
from stagec.cli.running.worlds import OpenedWorld, WorldSetup, open_world
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, shorten_digest
from stagec.drivers.local import History, Journal
from stagec.drivers.local.replay import fold_events
from stagec.plan.node import Outcome
from stagec.protocol.manifest import TrustLevel
from stagec.runtime import Program
from stagec.runtime.exchange import Resumed
from stagec.world.budget import Budget
from stagec.world.local_world import LIMIT, Permissions
from stagec.world.stages.run_folder import RunFolder


@value
class ResumeRequest:
    """The arguments and options as given; None where one is absent."""

    run: str
    runs: Path
    scenario: Path | None = None
    plan: Path | None = None
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
    project: Path | None = None
    executor: str | None = None
    max_parallel: int | None = None
    consent: tuple[str, ...] = ()
    trust: str = TrustLevel.IMPORTED

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


def resume(request: ResumeRequest) -> Exit:
    """Resume a run; return the exit status of its end."""
    path = Runs(request.runs).find(request.run)
    with closing(open_run(path)) as journal:
        history = journal.history
        if not history.events:
            hint = "nothing of it has happened, 'stagec run' starts it again"
            raise Failure(f"run {quote(name_of(path))} never began: {hint}")
        program = load_program(history.plan, f"the plan of run {quote(name_of(path))}")
        if request.consent and not has_stages(program.plan):
            raise Failure(f"--consent is for stages, and {quote(program.plan.id)} has none")
        if request.plan is not None:
            _refuse_other(request.plan, name_of(path), history)
        return _continue(request, path, journal, program)


def _continue(request: ResumeRequest, path: Path, journal: Journal, program: Program) -> Exit:
    history, reporter = journal.history, choose_reporter(program.plan, request.events)
    options = request.stages.recall(history.facts) if has_stages(program.plan) else request.stages
    refuse_unfit_stages(program.plan, options)
    scenario = read_scenario(_find_scenario(request, history), program.plan)
    refuse_hooks(program, scenario, allowed=request.allow_hooks)
    refuse_silent_stages(program.plan, scenario, options.words)
    announce(program.plan, program.digest, name_of(path), quiet=request.events is not None)
    permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout, options.words)
    given = OtherWorlds(
        request.world, request.world_command, read_models(request.models), request.tools_in, request.servers
    )
    others = recall_worlds(given, history.facts)
    folder = find_folder(program.plan, name_of(path), options)
    with open_world(
        WorldSetup(path, program, scenario, permissions, others, folder, reporter, request.budget, request.people)
    ) as opened:
        event = _resume_stages(request, opened, folder, program, history)
        return execute(RunSetup(path, journal, program, opened.world, reporter, request.max_parallel), event)


def _resume_stages(
    request: ResumeRequest, opened: OpenedWorld, folder: RunFolder | None, program: Program, history: History
) -> Resumed | None:
    """Return the event with which a run of stages goes on, once what it has left is verified."""
    state = fold_events(program, history.events)
    if folder is None or opened.stages is None or state.ended is Outcome.DONE:
        return None
    if not is_resumable(state):
        raise Failure(f"run {quote(request.run)} has ended as {state.ended}, {state.reason}: it cannot be resumed")
    opened.turns.hold()  # nothing of an earlier process may change what is verified
    finished = opened.stages.finish(state.pending.values())
    consent = Consent(request.consent, TrustLevel(request.trust))
    found = verify_stages(folder, program, history, consent, finished)
    opened.stages.take_kept(found.published, found.checkpoint)
    return Resumed(tuple(found.published), request.consent, found.checkpoint)


def _refuse_other(plan: Path, name: str, history: History) -> None:
    _, program = read_program(plan)
    if program.digest != history.digest:
        other, own = shorten_digest(program.digest), shorten_digest(history.digest)
        raise Failure(f"{quote(plan)} is {other}, and run {quote(name)} is one of {own}: a run keeps its plan")


def _find_scenario(request: ResumeRequest, history: History) -> Path | None:
    """Return the file of the scenario: the one that is given, else the one with which the run was begun."""
    if request.scenario is not None or "scenario" not in history.facts:
        return request.scenario
    remembered = Path(history.facts["scenario"])
    if not os.path.isfile(remembered):  # unlike `is_file`, never raises
        raise Failure(f"the scenario of the run, {quote(remembered)}, is not there any more: --scenario gives another")
    return remembered
