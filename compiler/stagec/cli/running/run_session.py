"""Start, resume or cancel a run, and execute it until it ends, is interrupted, or the world has no answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shlex import join
from threading import current_thread, main_thread

from stagec.cli.running.inputs import (
    collect_inputs,
    load_program,
    read_program,
    read_scenario,
    refuse_hooks,
    refuse_unfit,
)
from stagec.cli.running.options import FOLDER
from stagec.cli.running.report import RunReporter, announce, choose_reporter, label_request
from stagec.cli.running.runs import Runs, explain_journal_error, name_of, open_run
from stagec.cli.running.worlds import OtherWorlds, WorldSetup, open_world, recall_worlds
from stagec.cli.streams import find_canvas, say, show_progress
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.terminal import columns
from stagec.core.value import value
from stagec.core.words import quote, shorten_digest, visible
from stagec.drivers.local import History, Journal, JournalError, RunSession, create, proceed, restore
from stagec.plan.node import Outcome
from stagec.runtime import Effect, Event, Program, Started, State
from stagec.runtime.exchange import Hook, Run, Shell, Wait
from stagec.world.composed import ComposedWorld
from stagec.world.local_world import LIMIT, Permissions


@value
class RunSetup:
    """What executing a run takes: its file, its journal and program, the world that answers, and the reporter."""

    path: Path
    journal: Journal
    program: Program
    world: ComposedWorld
    reporter: RunReporter


def execute(setup: RunSetup, event: Event | None) -> Exit:
    """Execute a run, beginning with an event if one has just happened; return the exit status."""
    start_collector()
    try:
        state = _proceed(setup, event)
    except KeyboardInterrupt:
        say(f"stagec: {_describe_resumption(setup.path)}")
        raise
    except Failure as failure:
        raise Failure(f"{failure}\n{_describe_resumption(setup.path)}", failure.status) from failure
    except JournalError as error:
        raise explain_journal_error(name_of(setup.path), error) from error
    finally:
        setup.journal.close()
    setup.reporter.conclude(state)
    return choose_status(state)


def _proceed(setup: RunSetup, event: Event | None) -> State:
    state = restore(setup.program, setup.journal.history, setup.reporter.recall)
    return proceed(
        RunSession(setup.program, setup.journal, WorldWithProgress(setup.world), setup.reporter.observe), state, event
    )


def choose_status(state: State) -> Exit:
    """Return the exit status for the end of a run."""
    return Exit.CLEAN if state.ended is Outcome.DONE else Exit.FINDINGS


def _describe_resumption(path: Path) -> str:
    """Return a sentence with the command that resumes a run."""
    folder = () if path.parent == FOLDER else ("--runs", str(path.parent))
    return f"the run is kept; to resume it: {join(('stagec', 'resume', name_of(path), *folder))}"


class WorldWithProgress:
    """A world that says on a terminal who takes so long, unless several do."""

    def __init__(self, world: ComposedWorld) -> None:
        self._world = world
        self.overlaps, self.cancel = world.overlaps, world.cancel

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if current_thread() is not main_thread():
            return self._world.answer(effect)
        with show_progress(_describe_wait(effect) if sys.stderr.isatty() else ""):
            return self._world.answer(effect)


def _describe_wait(effect: Effect) -> str:
    """Return who takes so long, on one line of a terminal: a longer one could not be wiped out again."""
    paper = find_canvas(sys.stderr, os.environ)
    doing, name = f"{_name_activity(effect)} …", label_request(effect.key)[:_LONGEST]
    while name and paper.width and columns(visible(f"{name} {doing}", paper.encoding)) >= paper.width:
        name = name[:-1]
    return visible(f"{name} {doing}", paper.encoding)


_LONGEST = 50
"""Characters of the name of an execution that are shown at most."""


def _name_activity(effect: Effect) -> str:
    match effect:
        case Run() | Shell():
            return "runs a command"
        case Hook():
            return "calls a hook"
        case Wait():
            return f"waits {effect.milliseconds / 1000:g} s"
        case _:
            return "waits for an answer"


@value
class StartRequest:
    """The arguments and options as given; None where one is absent."""

    plan: Path
    runs: Path
    scenario: Path | None = None
    name: str | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None
    world: str | None = None
    world_command: str | None = None
    events: str | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = LIMIT
    digest: str | None = None


def start(request: StartRequest) -> Exit:
    """Run a plan; return the exit status of its end."""
    data, program = read_program(request.plan, request.digest)
    scenario = read_scenario(request.scenario, program.plan)
    refuse_hooks(program, scenario, allowed=request.allow_hooks)
    inputs = collect_inputs(program, scenario.inputs, request.inputs)
    path = Runs(request.runs).new(request.name, program.plan.id)
    entry = request.entry if request.entry is not None else scenario.entry
    started = Started(name_of(path), entry, inputs)
    refuse_unfit(program, started)
    others = OtherWorlds(request.world, request.world_command)
    permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout)
    with open_world(WorldSetup(path, program, scenario, permissions, others)) as world:
        journal = _create_journal(path, data, program, {**_locate(request.scenario), **others.facts})
        announce(program.plan, program.digest, name_of(path), quiet=request.events is not None)
        return execute(RunSetup(path, journal, program, world, choose_reporter(program.plan, request.events)), started)


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


@value
class ResumeRequest:
    """The arguments and options as given; None where one is absent."""

    run: str
    runs: Path
    scenario: Path | None = None
    plan: Path | None = None
    world: str | None = None
    world_command: str | None = None
    events: str | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = LIMIT


def resume(request: ResumeRequest) -> Exit:
    """Resume a run; return the exit status of its end."""
    path = Runs(request.runs).find(request.run)
    with closing(open_run(path)) as journal:
        history = journal.history
        if not history.events:
            hint = "nothing of it has happened, 'stagec run' starts it again"
            raise Failure(f"run {quote(name_of(path))} never began: {hint}")
        program = load_program(history.plan, f"the plan of run {quote(name_of(path))}")
        if request.plan is not None:
            _refuse_other(request.plan, name_of(path), history)
        scenario = read_scenario(_find_scenario(request, history), program.plan)
        refuse_hooks(program, scenario, allowed=request.allow_hooks)
        permissions = Permissions(request.allow_hooks, request.pass_env, request.command_timeout)
        announce(program.plan, program.digest, name_of(path), quiet=request.events is not None)
        others = recall_worlds(OtherWorlds(request.world, request.world_command), history.facts)
        with open_world(WorldSetup(path, program, scenario, permissions, others)) as world:
            return execute(RunSetup(path, journal, program, world, choose_reporter(program.plan, request.events)), None)


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
