"""The machine: one pure function from a state and an event to the next state and what is asked of the world."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of
from stagec.core.json_reader import UnreadableError
from stagec.core.words import format_duration
from stagec.ir.plan.act import Process
from stagec.ir.plan.node import Outcome, Schedule
from stagec.runtime.machine.acts import process, resume_act
from stagec.runtime.machine.acts.hooks import find_misplacement, slot_of
from stagec.runtime.machine.exchange import (
    Answered,
    Cancelled,
    Event,
    Replanned,
    Resumed,
    Started,
    Wait,
    name_scope,
    run_deadline_key,
)
from stagec.runtime.machine.execution import ROOT, failure_in
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.json_values import normalise
from stagec.runtime.machine.program import Program
from stagec.runtime.machine.replanning import change_plan
from stagec.runtime.machine.scheduler import begin, end_run, move, open_schedule, reopen_schedule, stop_schedule
from stagec.runtime.machine.state import IssueStatus, PendingNode, State, StepResult
from stagec.runtime.machine.step_builder import StepBuilder


def advance(program: Program, state: State, event: Event) -> StepResult:
    """Return the step that follows from an event; total, and without clock, chance, environment and I/O.

    What comes after the end, a second beginning, answers that nobody waits for, and `Rewound` change nothing.
    """
    if type(event) is Replanned:
        return change_plan(advance, program, state, event)
    builder = StepBuilder(program, state, advance)
    if type(event) is Resumed:
        _resume(builder, event)
    elif state.ended is None:
        if type(event) is Answered:
            effect = builder.before.pending.get(event.key)
            execution = builder.find_asking(event.key)
            if isinstance(effect, Wait) and event.key == run_deadline_key(state.run):
                builder.settle(event.key)
                length = format_duration(effect.milliseconds)
                _stop(builder, RunFailure(FailureKind.RUN_DEADLINE, length))
            elif effect is not None and execution is not None:
                builder.settle(event.key)
                builder.acting = execution
                move(builder, resume_act(builder, execution, effect, _read(event.answer)))
        elif type(event) is Cancelled:
            detail = "" if event.reason == FailureKind.CANCELLED else event.reason
            _stop(builder, RunFailure(FailureKind.CANCELLED, detail))
        elif type(event) is Started and not state.run:
            _start(builder, event)
    return builder.step()


def _stop(builder: StepBuilder, why: RunFailure) -> None:
    """End the run because somebody wants it or its time is over, in what has begun first of what is under way.

    A run of processes ends when these are gone.
    """
    active = tuple(builder.now.active.values())
    if any(type(builder.nodes[each.node].act) is Process for each in active):
        if builder.now.cancelled is None:
            stop_schedule(builder, name_scope(builder.now.run), why)
            move(builder, [over for each in active for over in process.interrupt(builder, each)])
        return
    builder.stop(failure_in(active[0], why) if active else why)


def _resume(builder: StepBuilder, event: Resumed) -> None:
    """Go on with a run of processes that has not ended as done; any other run has nothing to be resumed from."""
    state, plan = builder.before, builder.program.plan
    entry = plan.entries.get(state.entry) if state.run else None
    unfit = state.failure is not None and state.failure.kind is FailureKind.UNFIT_START
    if not isinstance(entry, Schedule) or unfit or not state.statuses or state.ended is Outcome.DONE:
        return
    builder.restart()
    builder.set_run_deadline()
    scope = reopen_schedule(builder, name_scope(state.run), entry, event)
    if scope.open:
        move(builder, ())
    else:
        end_run(builder, scope.ended, scope.failure)


def _read(answer: Json) -> Json:
    """Return an answer if it can be read; one that cannot is none."""
    try:
        return normalise(answer)
    except UnreadableError:
        return None


def _start(builder: StepBuilder, event: Started) -> None:
    """Begin with the entry, or end at once when the run cannot begin."""
    plan = builder.program.plan
    entry = event.entry if event.entry is not None else plan.entry
    builder.change(run=event.run, entry=entry or "", machine=event.machine)
    why = find_trouble(builder.program, event)
    if why is not None or entry is None:
        builder.fail(FailureKind.UNFIT_START, why or "no entry was selected")
        return
    builder.change(inputs=_complete_inputs(builder.program, event.inputs))
    builder.set_run_deadline()
    begun = plan.entries[entry]
    if plan.phases is not None and isinstance(begun, str):
        known = plan.phases.labels.get(begun, ())
        builder.change(issue=IssueStatus((entry,) if entry in known else known[:1]))
    if isinstance(begun, str):
        move(builder, begin(builder, PendingNode(begun, ROOT)))
    else:
        open_schedule(builder, name_scope(event.run), ROOT, begun)
        move(builder, ())


def find_trouble(program: Program, event: Started) -> str | None:
    """Return why a run cannot begin (§ 3.1 of the format), None if it can."""
    plan = program.plan
    entry = event.entry if event.entry is not None else plan.entry
    if entry not in plan.entries:
        return "no entry was selected" if entry is None else f"there is no entry {entry!r}"
    if not event.run:
        return "the run has no id"
    return _find_hook_trouble(program) or _find_input_trouble(program, event)


def _find_hook_trouble(program: Program) -> str | None:
    session = program.plan.session
    for hook in session.hooks if session is not None else ():
        why = find_misplacement(hook)
        if why is not None:
            return f"{hook.call} cannot be attached to {slot_of(hook)} as {hook.kind}: {why}"
    return None


def _find_input_trouble(program: Program, event: Started) -> str | None:
    plan = program.plan
    foreign = next((name for name in event.inputs if name not in plan.inputs), None)
    if foreign is not None:
        return f"there is no input {foreign!r}"
    try:
        inputs = _complete_inputs(program, event.inputs)
    except UnreadableError:
        return "its inputs cannot be read"
    for name, wanted in plan.inputs.items():
        if name not in inputs and wanted.required:
            return f"the input {name!r} is missing"
        schema, schemas = wanted.schema, program.answer_schemas
        complaint = schemas.complaint(schema, inputs[name], event.machine) if name in inputs else None
        if complaint is not None:
            return f"the input {name!r} cannot be used: {complaint}"
    return None


def _complete_inputs(program: Program, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the inputs of a run with what is given when somebody gives nothing."""
    defaults = {name: each.default for name, each in program.plan.inputs.items() if each.default is not None}
    return {**defaults, **object_of(normalise(dict(given)))}
