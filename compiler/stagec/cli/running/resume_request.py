"""Resume a run as asked."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from shlex import join

from stagec.cli.limits import load_configuration
from stagec.cli.running.options import words_for
from stagec.cli.running.plan_change import BreakingChangeError, ChangeRequest, Standpoint, write_outlook
from stagec.cli.running.report import announce
from stagec.cli.running.rewinding import cut_history, find_rewind
from stagec.cli.running.run_session import RunSetup, execute
from stagec.cli.running.runs import SUFFIX, Runs, check_name, explain_journal_error, name_of, open_run, read_run
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
from stagec.cli.running.world_sources import choose_worlds, recall_worlds
from stagec.cli.running.worlds import OpenedWorld, open_world, prepare_world, protect
from stagec.cli.signatures import SIGNATURE, locate_signature, read_signature, refuse_unsigned
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import replace, value
from stagec.core.words import listing, quote, shorten_digest
from stagec.drivers.local import History, Journal, JournalError, Reason
from stagec.drivers.local.drive import change_plan, rewind
from stagec.drivers.local.journal import fork_journal
from stagec.plan.node import Outcome
from stagec.project.settings import Settings
from stagec.protocol.manifest import TrustLevel
from stagec.runtime import Program, State
from stagec.runtime.exchange import Replanned, Resumed, Rewound
from stagec.world.stages.run_folder import RunFolder


@value
class ResumeRequest:
    """The arguments and options as given; None where one is absent."""

    run: str
    runs: Path
    world: WorldOptions
    plan: Path | None = None
    allow: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    dry_run: bool = False
    output_format: str = "text"
    consent: tuple[str, ...] = ()
    trust: str = TrustLevel.IMPORTED
    origin: str | None = None
    fork: str | None = None

    def find_change(self, standpoint: Standpoint) -> tuple[Program, Replanned | None]:
        """Return the program with which a run continues, and the event that changes its plan, if any."""
        if self.plan is not None:
            return ChangeRequest(self.plan, self.allow, self.again, self.inputs).read(standpoint)
        given = (("--allow", self.allow), ("--again", self.again), ("--input", self.inputs))
        unused = [name for name, each in given if each]
        if unused:
            raise Failure(
                f"{listing(unused)} {'are' if len(unused) > 1 else 'is'} for another plan, which --plan names"
            )
        return standpoint.program, None

    def resume_stages(
        self, opened: OpenedWorld, folder: RunFolder | None, program: Program, history: History
    ) -> Resumed | None:
        """Return the event that resumes a run of stages, once its published results are verified."""
        state = State() if folder is None else Standpoint.of(self.run, history).state
        if folder is None or opened.stages is None or state.ended is Outcome.DONE:
            return None
        if not is_resumable(state):
            raise Failure(f"run {quote(self.run)} has ended as {state.ended}, {state.reason}: it cannot be resumed")
        opened.turns.hold()  # nothing of an earlier process may change what is verified
        finished = opened.stages.finish(state.pending.values())
        consent = Consent(self.consent, TrustLevel(self.trust))
        found = verify_stages(folder, program, history, consent, finished)
        opened.stages.take_kept(found.published, found.checkpoint)
        return Resumed(tuple(found.published), self.consent, found.checkpoint)

    def choose_past(self, name: str, history: History) -> tuple[History, Rewound | None]:
        """Return the history from which the run continues, and the event that takes it back, if any."""
        back = None if self.origin is None else find_rewind(name, history, self.origin)
        if self.fork is not None:
            return cut_history(name, history, back), None
        if back is None:
            return history, None
        return replace(history, events=(*history.events, back)), back

    def proceed(self, path: Path, past: Past, change: tuple[Standpoint, Program, Replanned | None]) -> Exit:
        """Execute the run from where it is, with the plan that has changed if it has."""
        standpoint, program, changed = change
        options = self.complete_options(past, program)
        refuse_unfit_stages(program.plan, choose_stages(options))
        configuration = load_configuration((Path(),))
        policies = Settings(model_policies=configuration.settings.model_policies)
        others = recall_worlds(choose_worlds(options, policies), past.history.facts)
        signature = None if self.plan is None else locate_signature(self.plan)
        protection = protect(path.parent, options, configuration, (self.plan, others.prices, signature))
        setup = prepare_world(path, program, options, others, protection)
        announce(program.plan, program.digest, name_of(path), quiet=options.events is not None)
        if setup.folder is not None and setup.folder.root != os.path.realpath(os.curdir):
            say(f"stagec: the run executes in {setup.folder.root}")
        with open_world(setup) as opened:
            journal = past.begin()  # last of all: whatever is wrong with the rest leaves the run as it was
            setup.mail.begin(is_new=past.is_new)  # what answered the old branch does not answer the new one
            if changed is not None:
                change_plan(journal, standpoint.program, standpoint.state, changed)
                say(f"stagec: the plan has changed, from {shorten_digest(standpoint.program.digest)}")
            event = self.resume_stages(opened, setup.folder, program, journal.history)
            run = RunSetup(path, journal, program, opened.world, setup.reporter, setup.mail, options.max_parallel)
            with send_live(options, run):
                return execute(run, event)

    def complete_options(self, past: Past, program: Program) -> WorldOptions:
        """Return the options with what the journal remembers where they are absent."""
        history = past.history
        scenario, remembered = self.world.scenario, history.facts.get("scenario")
        if scenario is None and remembered is not None:
            scenario = Path(remembered)
            if not os.path.isfile(scenario):  # unlike `is_file`, never raises
                raise Failure(f"the scenario of the run, {quote(scenario)}, no longer exists: --scenario gives another")
        stages = choose_stages(self.world)
        if has_stages(program.plan):
            stages = stages.recall(history.facts, past.path)
        return replace(self.world, scenario=scenario, project=stages.project, executor=stages.executor)

    def refuse_unsigned(self, name: str, history: History) -> None:
        """Raise `Failure` if a demanded signature lacks: that of the journal counts, else the one beside --plan."""
        changed = history.last_change
        signature = history.facts.get(SIGNATURE) if changed is None else changed.signature
        beside = None if self.plan is None else locate_signature(self.plan)
        if signature is None and beside is not None:
            signature = read_signature(beside)
        refuse_unsigned(signature, history.latest[0], load_configuration((Path(),)), f"the plan of run {quote(name)}")


@value
class Past:
    """The history from which a run continues, and its journal: `rewind` is to be written first; None is a new one."""

    path: Path
    history: History
    journal: Journal | None = None
    rewind: Rewound | None = None

    @property
    def is_new(self) -> bool:
        """Whether a branch or a run begins, which nobody has sent anything to."""
        return self.journal is None or self.rewind is not None

    def begin(self) -> Journal:
        """Return the journal, which from now on leads to where the run continues."""
        try:
            journal = fork_journal(self.path, self.history) if self.journal is None else self.journal
            if self.rewind is not None:
                rewind(journal, self.rewind)
        except JournalError as error:
            raise explain_journal_error(name_of(self.path), error) from error
        return journal


def resume(request: ResumeRequest) -> Exit:
    """Resume a run, or a fork of it; return the exit status of its end."""
    if request.output_format != "text" and not request.dry_run:
        raise Failure(f"--format {request.output_format} is for --dry-run: use --events for a run that continues")
    path = Runs(request.runs).find(request.run)
    if request.fork is not None:
        stored, new = read_run(path), request.runs / f"{check_name(request.fork, 'run')}{SUFFIX}"
        if stored.is_executed:
            raise explain_journal_error(name_of(path), JournalError(Reason.BUSY, "another process is running it"))
        if os.path.lexists(new):
            raise explain_journal_error(request.fork, JournalError(Reason.TAKEN, "there is a run of this name already"))
        return _continue(request, path, Past(new, stored.history))
    with closing(open_run(path)) as journal:
        return _continue(request, path, Past(path, journal.history, journal))


def _continue(request: ResumeRequest, path: Path, past: Past) -> Exit:
    """Continue a run in its own journal or in a new one."""
    history = past.history
    if not history.events:
        hint = "it has no events, 'stagec run' starts it"
        raise Failure(f"run {quote(name_of(path))} has not started: {hint}")
    history, back = request.choose_past(name_of(path), history)
    past = replace(past, history=history, rewind=back)
    standpoint = Standpoint.of(name_of(path), history)
    try:
        program, event = request.find_change(standpoint)
    except BreakingChangeError as error:
        if request.dry_run:
            return tell_change(request, standpoint, error.program, error)
        raise
    if standpoint.state.ended not in {None, Outcome.DONE} and not has_stages(program.plan):
        _tell_way_back(path)
    if request.consent and not has_stages(program.plan):
        raise Failure(f"--consent is for stages, and {quote(program.plan.id)} has none")
    if event is None:
        request.refuse_unsigned(name_of(path), history)
    if request.dry_run:
        return tell_change(request, standpoint, program)
    return request.proceed(past.path, past, (standpoint, program, event))


def _tell_way_back(path: Path) -> None:
    """Say how a run continues that has not ended well."""
    resumes, lists = (join(("stagec", *each, *words_for(path))) for each in (("resume",), ("runs", "show")))
    say(f"stagec: the run has ended; '{resumes} --from NODE' continues it, and '{lists} --places' lists the places")


def tell_change(
    request: ResumeRequest, standpoint: Standpoint, program: Program, refusal: BreakingChangeError | None = None
) -> Exit:
    """Say with which plan the run would continue, or why it cannot."""
    if request.output_format == "json":
        put(write_outlook(standpoint, program.digest, refusal))
        return Exit.CLEAN if refusal is None else Exit.FINDINGS
    if refusal is not None:
        raise Failure(str(refusal), Exit.FINDINGS) from refusal
    own, other = shorten_digest(standpoint.program.digest), shorten_digest(program.digest)
    change = f"would continue with {other}, and has {own}" if own != other else f"would continue with {own}, as before"
    put(f"run {quote(standpoint.name)} {change}\n")
    return Exit.CLEAN
