"""Run a stage as a process, publish its outputs, and preserve those of a failed attempt (§§ 3.6, 3.7 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, follow, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.core.words import listing
from stagec.ir.plan.act import Command, Hole, Process
from stagec.ir.protocol.lifecycle import StageEvent, StageStatus
from stagec.runtime.machine.acts import validation
from stagec.runtime.machine.acts.conclusion import pause
from stagec.runtime.machine.acts.validation import read_output, read_whole
from stagec.runtime.machine.exchange import Effect, Execute, Interrupt, Preserve, Publish, Run, Shell, execution_of
from stagec.runtime.machine.execution import Execution, NodeResult, StageAttempt
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_error
from stagec.runtime.machine.program import UnfilledError
from stagec.runtime.machine.step_builder import StepBuilder

_NOTHING: tuple[NodeResult, ...] = ()


def begin_command(builder: StepBuilder, act: Command, execution: Execution) -> tuple[NodeResult, ...]:
    """Run the program, unless a word of its command line has no value."""
    scope = {"input": builder.now.inputs}
    render = builder.program.renderer.render
    try:
        words = tuple(render(word, scope) for word in act.words)
    except UnfilledError as unfilled:
        builder.fail(FailureKind.UNSTARTABLE, f"{unfilled} has no value", execution)
        return _NOTHING
    empty = [piece for word in act.words for piece in word if type(piece) is Hole and follow(scope, piece.path) is None]
    if empty:
        builder.fail(FailureKind.UNSTARTABLE, f"{'.'.join(map(str, empty[0].path))} is null", execution)
        return _NOTHING
    builder.request(execution, Run, words=words, milliseconds=act.milliseconds)
    return _NOTHING


def resume_command(
    builder: StepBuilder, _act: Command, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Take the exit status, or what the validation came to."""
    if type(effect) is Shell:
        return validation.resume(builder, execution, effect, answer)
    output = read_output(answer)
    result = {"answer": {"exit": output.status, "stdout": output.stdout}}
    outcome = "closing" if output.status == 0 else "repeat"
    builder.remember(execution.node, record=result["answer"])
    builder.emit("StageAssertOutcome", execution, exit=output.status)
    return validation.validate(builder, NodeResult(execution, outcome, result))


_SUCCESS, _FAILURE, _INTERRUPTED = "success", "failure", "interrupted"
_CAUSES = {"timeout": StageEvent.HARD_TIMEOUT, "abort": StageEvent.ABORT}
"""The source of a signal to a process, by the world's word for it."""
_OTHERWISE = frozenset({"failed", "interrupted"})
"""Statuses in the end marker of a stage that contradict its success."""


def begin(builder: StepBuilder, act: Process, execution: Execution) -> tuple[NodeResult, ...]:
    """Run the process."""
    builder.change_status(execution.node, StageEvent.START, execution)
    _execute(builder, act, execution)
    return _NOTHING


def resume(
    builder: StepBuilder, act: Process, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Take the result of the process, of its outputs or of its emergency checkpoint."""
    given = answer if isinstance(answer, dict) else {"error": "the answer is no object"}
    if isinstance(effect, Execute):
        _conclude(builder, act, execution, given)
    elif isinstance(effect, Publish):
        # complete a stage whose outputs are where they belong; else its attempt has failed
        attempt = StageAttempt.of(execution)
        if given.get("error") is not None:
            failed = _break_down(attempt, describe_error(given["error"]))
            _fail(builder, replace(execution, progress=failed))
            return _NOTHING
        checkpoint = text_in(given, "checkpoint")
        builder.change_status(execution.node, StageEvent.SUCCESS, execution, **attempt.facts, checkpoint=checkpoint)
        return (_result(execution, attempt),)
    elif isinstance(effect, Preserve):
        return _settle(builder, act, execution, given)
    elif not isinstance(effect, Interrupt):  # the wait before another attempt
        builder.change_status(execution.node, StageEvent.RESUME, execution)
        _execute(builder, act, replace(execution, attempt=execution.attempt + 1, asked=0, progress=None))
    return _NOTHING


def interrupt(builder: StepBuilder, execution: Execution) -> tuple[NodeResult, ...]:
    """End what an execution does as soon as that can be done, and return it if it is over at once."""
    running = [each for each in builder.now.pending.values() if execution_of(each.key) == execution.key]
    for effect in running:
        if isinstance(effect, Execute):
            builder.change_status(execution.node, StageEvent.ABORT, execution)
            builder.request(execution, Interrupt, request=effect.key)
        elif not isinstance(effect, Publish | Preserve):
            return (_result(execution, StageAttempt.of(execution)),)
    return _NOTHING


def _execute(builder: StepBuilder, act: Process, execution: Execution) -> None:
    builder.request(
        execution,
        Execute,
        node=execution.node,
        words=act.words,
        inputs=act.inputs,
        outputs=act.outputs,
        limits=act.limits,
    )


def _conclude(builder: StepBuilder, act: Process, execution: Execution, given: Mapping[str, Json]) -> None:
    """Judge a finished attempt: publish the outputs of a success, and preserve those of a failure."""
    attempt = _judge(act, given)
    if builder.status_of(execution.node) is StageStatus.INTERRUPTING:  # whatever it says
        attempt = _break_off(attempt, "abort")
    execution = replace(execution, progress=attempt)
    if attempt.outcome == _SUCCESS:
        builder.request(execution, Publish, node=execution.node, outputs=attempt.outputs, checkpoint=act.checkpoint)
    elif attempt.outcome == _INTERRUPTED:
        if builder.status_of(execution.node) is StageStatus.RUNNING:
            builder.change_status(execution.node, _CAUSES[attempt.reason], execution)
        builder.change_status(execution.node, StageEvent.PROCESS_EXITED, execution, **attempt.facts)
        _preserve(builder, execution)
    else:
        _fail(builder, execution)


def _fail(builder: StepBuilder, execution: Execution) -> None:
    facts = StageAttempt.of(execution).facts
    builder.change_status(execution.node, StageEvent.FAILURE, execution, **facts)
    _preserve(builder, execution)


def _preserve(builder: StepBuilder, execution: Execution) -> None:
    builder.request(execution, Preserve, node=execution.node, reason=StageAttempt.of(execution).reason)


def _settle(
    builder: StepBuilder, act: Process, execution: Execution, given: Mapping[str, Json]
) -> tuple[NodeResult, ...]:
    """Begin another attempt if there may be one; else the stage ends, and may be resumed or is blocked."""
    attempt = StageAttempt.of(execution)
    event = StageEvent.CHECKPOINT_VALID if given.get("valid") is True else StageEvent.CHECKPOINT_NONE
    if not act.retryable:
        event = StageEvent.RETRY_REFUSED
    builder.change_status(execution.node, event, execution, checkpoint=text_in(given, "checkpoint"))
    retry = builder.nodes[execution.node].retry
    is_left = retry is not None and execution.attempt < retry.attempts
    is_wanted = attempt.outcome == _FAILURE and event is StageEvent.CHECKPOINT_VALID and builder.now.cancelled is None
    if is_left and is_wanted:
        pause(builder, execution, execution.attempt)
        return _NOTHING
    return (_result(execution, attempt),)


def _result(execution: Execution, attempt: StageAttempt) -> NodeResult:
    answer: Mapping[str, Json] = {"outcome": attempt.outcome, "exit": attempt.exit, "outputs": attempt.outputs}
    return NodeResult(execution, attempt.outcome, {"answer": answer}, failure=attempt.failure)


def _judge(act: Process, given: Mapping[str, Json]) -> StageAttempt:
    """Return how an attempt has ended: as the world says it, and not as the stage itself does."""
    seconds, cause = given.get("seconds"), given.get("interrupted")
    # what is said of the outputs that the plan knows, as far as it can be read
    said = object_of(given.get("outputs"))
    known = {name: object_of(said.get(name)) for name in act.outputs}
    outputs = {name: each for name, each in known.items() if _is_told(each)}
    found = StageAttempt(
        exit=read_whole(given.get("exit")),
        seconds=float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None,
        outputs=outputs,
    )
    if isinstance(cause, str) and cause in _CAUSES:
        return _break_off(found, cause)
    why = _find_fault(act, found, given)
    return found if why is None else _break_down(found, why)


def _find_fault(act: Process, attempt: StageAttempt, given: Mapping[str, Json]) -> str | None:
    """Return why an attempt that nobody has interrupted is no success."""
    if given.get("error") is not None:
        return describe_error(given["error"])
    if attempt.exit != 0:
        return "it has no exit status" if attempt.exit is None else f"exit {attempt.exit}"
    if list_of(given.get("changed")):
        return f"what it reads has changed meanwhile: {_name(given['changed'])}"
    if list_of(given.get("missing")):
        return f"it has not left {_name(given['missing'])}"
    lost = [name for name in act.outputs if name not in attempt.outputs]
    if lost:
        return f"nothing is known of its output {listing(lost)}"
    status = given.get("status")
    return f"its own marker says {status}" if isinstance(status, str) and status in _OTHERWISE else None


def _name(given: Json) -> str:
    return listing([each if isinstance(each, str) else "?" for each in list_of(given)])


def _is_told(given: Mapping[str, Json]) -> bool:
    named = isinstance(given.get("path"), str) and isinstance(given.get("sha256"), str)
    return named and read_whole(given.get("sizeBytes")) is not None


def _break_off(attempt: StageAttempt, cause: str) -> StageAttempt:
    failure = RunFailure(FailureKind.STAGE_INTERRUPTED, cause)
    return replace(attempt, outcome=_INTERRUPTED, reason=cause, failure=failure)


def _break_down(attempt: StageAttempt, why: str) -> StageAttempt:
    failure = RunFailure(FailureKind.STAGE_FAILED, why)
    return replace(attempt, outcome=_FAILURE, reason="error", failure=failure)
