"""The machine: one pure function from a state and an event to the next state and what is asked of the world."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of
from stagec.runtime.acts import resume_act
from stagec.runtime.acts.hooks import find_misplacement, slot_of
from stagec.runtime.exchange import Answered, Cancelled, Event, Started, execution_of
from stagec.runtime.execution import ROOT
from stagec.runtime.failures import FailureKind
from stagec.runtime.json_values import UnreadableError, normalise
from stagec.runtime.program import Program
from stagec.runtime.scheduler import begin, move
from stagec.runtime.state import PendingNode, State, StepResult
from stagec.runtime.step_builder import StepBuilder, error


def advance(program: Program, state: State, event: Event) -> StepResult:
    """Return what follows from an event; total, and without clock, chance, environment and I/O.

    What comes after the end, a second beginning, and answers that nobody waits for change nothing.
    """
    builder = StepBuilder(program, state)
    if state.ended is None:
        if type(event) is Answered:
            _answer(builder, event)
        elif type(event) is Cancelled:
            _cancel(builder, event)
        elif type(event) is Started and not state.run:
            _start(builder, event)
    return builder.step()


def _answer(builder: StepBuilder, event: Answered) -> None:
    effect = builder.before.pending.get(event.key)
    execution = builder.execution(execution_of(event.key))
    if effect is not None and execution is not None:
        builder.settle(event.key)
        builder.acting = execution
        move(builder, resume_act(builder, execution, effect, _read(event.answer)))


def _cancel(builder: StepBuilder, event: Cancelled) -> None:
    """End the run because somebody wants it, in what has begun first of what is under way."""
    detail = "" if event.reason == FailureKind.CANCELLED else event.reason
    first = next(iter(builder.now.active.values()), None)
    builder.fail(FailureKind.CANCELLED, detail, first, error("Cancellation/TurnCancelled"))


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
    builder.change(run=event.run, entry=entry or "")
    why = find_trouble(builder.program, event)
    begun = None if entry is None or why is not None else plan.entries[entry]
    if not isinstance(begun, str):
        builder.fail(FailureKind.UNFIT_START, why or "this machine runs no schedules")
        return
    builder.change(inputs=_complete_inputs(builder.program, event.inputs))
    move(builder, begin(builder, PendingNode(begun, ROOT)))


def find_trouble(program: Program, event: Started) -> str | None:
    """Return why a run cannot begin (§ 3.1 of the format), nothing when it can."""
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
        complaint = program.answer_schemas.complaint(wanted.schema, inputs[name]) if name in inputs else None
        if complaint is not None:
            return f"the input {name!r} cannot be used: {complaint}"
    return None


def _complete_inputs(program: Program, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the inputs of a run with what is given when somebody gives nothing."""
    defaults = {name: each.default for name, each in program.plan.inputs.items() if each.default is not None}
    return {**defaults, **object_of(normalise(dict(given)))}
