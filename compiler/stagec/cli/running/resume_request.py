"""Resume a run as asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from shlex import join
from shlex import quote as quote_word
from typing import Annotated

from stagec.change.comparison.situation import Hindrance, RunCompatibility, list_breaking_codes
from stagec.cli.limits import load_configuration
from stagec.cli.report import ReportForm
from stagec.cli.running.inputs import collect_inputs, load_program, read_program
from stagec.cli.running.options import words_for
from stagec.cli.running.report import announce, format_json
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
from stagec.cli.sheet import draw_columns
from stagec.cli.signatures import SIGNATURE, demand_signature, locate_signature, read_signature, refuse_unsigned
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Exit, Failure
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote, shorten_digest, visible
from stagec.ir.plan.codec import Digest
from stagec.ir.plan.node import Outcome
from stagec.ir.protocol.checkpoint import TrustLevel
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.local import Journal, JournalError, Reason
from stagec.runtime.drivers.local.drive import change_plan, rewind
from stagec.runtime.drivers.local.journal import fork_journal
from stagec.runtime.drivers.redaction import redact_value
from stagec.runtime.drivers.replay import RunPlace, fold_events, fold_run, list_places
from stagec.runtime.machine import Program, State
from stagec.runtime.machine.exchange import Replanned, Resumed, Rewound
from stagec.runtime.machine.replanning import ObstacleError, is_process
from stagec.runtime.world.stage_files import RunFolder
from stagec.sources.project.settings import Settings


@value
class Standpoint:
    """The state of a run, with its name and its current program."""

    name: str
    program: Program
    state: State

    @classmethod
    def of(cls, name: str, history: History) -> Standpoint:
        """Return the standpoint after a history; raise `Failure` for a refused plan in it."""
        begun = load_program(history.plan, f"the plan of run {quote(name)}")
        return cls(name, *fold_run(begun, history.events))


@value
class ChangeRequest:
    """A request to continue a run with another plan.

    The file of the plan, the codes to accept, the nodes to begin again, and the new inputs of the run.
    """

    plan: Path
    allow: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def read(self, standpoint: Standpoint) -> tuple[Program, Replanned | None]:
        """Return the program with which a run continues, and the event; None if it has that plan already.

        Raises `Failure` if the change breaks the state of the run, or if the project requires a signature that the plan
        does not have.
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

    It has the program of the new plan, the hindrances of the run, the nodes that may begin again, and the inputs that
    the run lacks.
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


@value
class ResumeReason:
    """A change that is breaking for the state of this run, or something that has no meaning at all."""

    code: Annotated[
        str | None,
        "The code of the kind of change, as 'stagec breaking' has it; null where no change says it. --allow takes it.",
    ]
    kind: Annotated[str | None, "The name of the kind of change."]
    message: Annotated[str, "The change, in a sentence."]
    agent: Annotated[str | None, "The agent of an orchestrator in whose run it is; null for the run itself."]
    node: Annotated[str | None, "The node that it is about."]
    here: Annotated[str | None, "Why it concerns this run."]
    remedy: Annotated[str | None, "The possible actions."]

    @classmethod
    def of(cls, given: Hindrance) -> ResumeReason:
        """Return the report of a hindrance."""
        code, kind = (None, None) if given.kind is None else (given.kind.code, given.kind.name)
        others = (given.flow or None, given.node, given.here or None, given.remedy or None)
        return cls(code, kind, given.sentence, *others)


@value
class Outlook:
    """Whether a run would go on, with which plan, and if not, why."""

    run: Annotated[str, "The name of the run."]
    goes_on: Annotated[bool, "Whether the run would go on. The exit status is 0 then, and 1 otherwise."]
    before: Annotated[Digest, "The digest of the plan that the run has."]
    after: Annotated[Digest, "The digest of the plan with which it would go on; the same one without a change."]
    reasons: Annotated[tuple[ResumeReason, ...], "Why the run cannot go on; empty if it would."]
    again: Annotated[
        tuple[str, ...], "The nodes under way that --again could begin once more, of those that a reason names."
    ]
    missing: Annotated[tuple[str, ...], "The required inputs that --input has to give."]

    @classmethod
    def of(cls, standpoint: Standpoint, after: str, refusal: BreakingChangeError | None) -> Outlook:
        """Return the outlook of a run with another plan, or with its own."""
        found, again, missing = ((), (), ()) if refusal is None else (refusal.found, refusal.again, refusal.missing)
        reasons = tuple(map(ResumeReason.of, found))
        return cls(standpoint.name, refusal is None, standpoint.program.digest, after, reasons, again, missing)


FORM = ReportForm("resume", "resume --dry-run", Outlook)


FORKED = "forked"
"""The journal's fact about a fork: the original run, and the number of events shared with it."""


def find_rewind(run: str, history: History, given: str) -> Rewound:
    """Return the event that takes a run back to NODE or NODE#VISIT; without a number, to the last visit."""
    found = read_places(run, history)
    matching = [each for each in found if given in {each.node, _label(each)}]
    if matching:
        return Rewound(matching[-1].to)
    nodes = {each.node for each in found}
    node, _, number = given.rpartition("#")
    known = [_label(each) for each in found if each.node == node] if number.isdigit() and node in nodes else []
    told = f"there are {', '.join(known)}" if known else f"'stagec runs show {run} --places' lists the places"
    raise Failure(f"run {quote(run)} cannot continue from {quote(given)}: {told}")


def read_places(run: str, history: History) -> list[RunPlace]:
    """Return the places of a run; raise `Failure` for a run of stages, which has none."""
    return list_places(_load_begun(run, history), history.events)


def _load_begun(run: str, history: History) -> Program:
    program = load_program(history.plan, f"the plan of run {quote(run)}")
    if has_stages(program.plan):
        raise Failure(
            f"run {quote(run)} is one of a stage plan, which continues from its published outputs and checkpoints: "
            f"it cannot be taken back or forked; 'stagec resume {run}' runs again what is not complete"
        )
    return program


def cut_history(run: str, history: History, rewind: Rewound | None) -> History:
    """Return the past of a fork: the events before a place, or all of them if the run has not ended."""
    if rewind is None and fold_events(_load_begun(run, history), history.events).ended is not None:
        raise Failure(f"run {quote(run)} has ended: --fork needs --from, which names the place to continue from")
    count = len(history.events) if rewind is None else rewind.to
    return replace(
        history,
        events=history.events[:count],
        step_digests=history.step_digests[:count],
        times=history.times[:count],
        facts={**history.facts, FORKED: f"{run}@{count}"},
    )


def show_places(run: str, history: History, output_format: str) -> None:
    """Print the places of a run that `resume --from` takes."""
    found = read_places(run, history)
    if output_format == "json":
        places = [{"place": _label(each), "node": each.node, "visit": each.visit, "events": each.to} for each in found]
        put(format_json({"run": run, "places": places}, 2) + "\n")
        return
    put(_draw_places(found) or f"no places in {visible(run)}\n")


def _draw_places(found: Sequence[RunPlace]) -> str:
    rows = [(_label(each), f"after {format_count(each.to, 'event')}") for each in found]
    return draw_columns(find_canvas(sys.stdout, os.environ), rows)


def _label(place: RunPlace) -> str:
    return f"{place.node}#{place.visit}"


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
                f"{listing(unused)} {'need' if len(unused) > 1 else 'needs'} --plan, which names another plan"
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
        put(FORM.dump(Outlook.of(standpoint, program.digest, refusal)))
        return Exit.CLEAN if refusal is None else Exit.FINDINGS
    if refusal is not None:
        raise Failure(str(refusal), Exit.FINDINGS) from refusal
    own, other = shorten_digest(standpoint.program.digest), shorten_digest(program.digest)
    change = f"would continue with {other}, and has {own}" if own != other else f"would continue with {own}, as before"
    put(f"run {quote(standpoint.name)} {change}\n")
    return Exit.CLEAN
