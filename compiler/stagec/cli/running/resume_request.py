"""Resume a run as asked."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import load_program, read_program
from stagec.cli.running.other_worlds import choose_worlds, recall_worlds
from stagec.cli.running.report import announce
from stagec.cli.running.run_session import RunSetup, execute
from stagec.cli.running.runs import Runs, name_of, open_run
from stagec.cli.running.stages import (
    Consent,
    choose_stages,
    has_stages,
    is_resumable,
    refuse_unfit_stages,
    verify_stages,
)
from stagec.cli.running.telemetry import send_live
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.worlds import OpenedWorld, open_world, prepare_world
from stagec.cli.signatures import SIGNATURE, locate_signature, read_signature, refuse_unsigned
from stagec.core.failure import Exit, Failure
from stagec.core.value import replace, value
from stagec.core.words import quote, shorten_digest
from stagec.drivers.local import History, Journal
from stagec.drivers.replay import fold_events
from stagec.plan.node import Outcome
from stagec.protocol.manifest import TrustLevel
from stagec.runtime import Program
from stagec.runtime.exchange import Resumed
from stagec.world.stages.run_folder import RunFolder


@value
class ResumeRequest:
    """The arguments and options as given; None where one is absent."""

    run: str
    runs: Path
    world: WorldOptions
    plan: Path | None = None
    consent: tuple[str, ...] = ()
    trust: str = TrustLevel.IMPORTED


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
        _refuse_unsigned(request, name_of(path), history)
        return _continue(request, path, journal, program)


def _continue(request: ResumeRequest, path: Path, journal: Journal, program: Program) -> Exit:
    history = journal.history
    # the options with what the journal remembers where they are absent
    given = request.world
    # the file of the scenario: the one that is given, else the one with which the run was begun
    if given.scenario is not None or "scenario" not in history.facts:
        scenario = given.scenario
    else:
        remembered = Path(history.facts["scenario"])
        if not os.path.isfile(remembered):  # unlike `is_file`, never raises
            raise Failure(f"the scenario of the run, {quote(remembered)}, no longer exists: --scenario gives another")
        scenario = remembered
    stages = choose_stages(given).recall(history.facts) if has_stages(program.plan) else choose_stages(given)
    options = replace(given, scenario=scenario, project=stages.project, executor=stages.executor)
    refuse_unfit_stages(program.plan, choose_stages(options))
    setup = prepare_world(path, program, options, recall_worlds(choose_worlds(options), history.facts))
    setup.mail.begin(is_new=False)
    announce(program.plan, program.digest, name_of(path), quiet=options.events is not None)
    with open_world(setup) as opened:
        event = _resume_stages(request, opened, setup.folder, program, history)
        run = RunSetup(path, journal, program, opened.world, setup.reporter, setup.mail, options.max_parallel)
        with send_live(options, run):
            return execute(run, event)


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


def _refuse_unsigned(request: ResumeRequest, name: str, history: History) -> None:
    """Raise `Failure` if the project demands a signature: that of the journal counts, else the one beside --plan."""
    signature = history.facts.get(SIGNATURE)
    beside = None if request.plan is None else locate_signature(request.plan)
    if signature is None and beside is not None:
        signature = read_signature(beside)
    refuse_unsigned(signature, history.plan, load_configuration((Path(),)), f"the plan of run {quote(name)}")


def _refuse_other(plan: Path, name: str, history: History) -> None:
    _, program = read_program(plan)
    if program.digest != history.digest:
        other, own = shorten_digest(program.digest), shorten_digest(history.digest)
        raise Failure(f"{quote(plan)} is {other}, and run {quote(name)} is one of {own}: a run keeps its plan")
