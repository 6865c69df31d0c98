"""Setup and Init: make the context and the prompt of a stage, or fail before anything was done (§ 3.10)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import listing
from stagec.plan.act import Converse
from stagec.runtime.acts import hooks
from stagec.runtime.acts.conversation_state import conversation_of
from stagec.runtime.exchange import WITH_KEPT_NAMES, Message
from stagec.runtime.execution import Conversation, Execution, NodeResult
from stagec.runtime.failures import FailureKind, RunFailure
from stagec.runtime.json_values import equal
from stagec.runtime.render import UnfilledError
from stagec.runtime.step_builder import StepBuilder, error


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> Execution | NodeResult | None:
    """Set the context up; None while a callable for that is called."""
    complaint = next((each for given in execution.upstream if (each := builder.judge(act.accepts, given))), None)
    if complaint is not None:
        return fail_setup(builder, execution, "Setup", complaint)
    names = {name: each for name, each in builder.now.inputs.items() if name not in hooks.RESERVED}
    execution = _set_context(builder, execution, names)
    return None if hooks.call_hook(builder, execution, "setup") else _initialise(builder, act, execution)


def resume(
    builder: StepBuilder, act: Converse, execution: Execution, given: Mapping[str, Json]
) -> Execution | NodeResult | None:
    """Take the names that the callable for the setup provides; one that changes a reserved name has failed."""
    said = hooks.read_reply(execution, "setup", given)
    if said.failure is not None or not (said.value is None or isinstance(said.value, dict)):
        return fail_setup(builder, execution, "Setup", "its hook has failed", said.failure or hooks.FAILED)
    own = hooks.context_of(execution)
    left = conversation_of(execution).context if said.context is None else said.context
    names = {**left, **(said.value if isinstance(said.value, dict) else {})}
    changed = sorted(
        name for name in hooks.RESERVED & names.keys() if name not in own or not equal(names[name], own[name])
    )
    if changed and builder.now.machine >= WITH_KEPT_NAMES:
        return fail_setup(builder, execution, "Setup", f"its hook writes {listing(changed)}", hooks.FORBIDDEN)
    provided = {name: each for name, each in names.items() if name not in hooks.RESERVED}
    complaint = _complaint(builder, provided)
    if complaint is not None:
        return fail_setup(builder, execution, "Setup", complaint)
    return _initialise(builder, act, _set_context(builder, execution, provided))


def fail_setup(
    builder: StepBuilder, execution: Execution, phase: str, reason: str, failure: str | None = None
) -> NodeResult:
    """Return an execution that has failed before it could act."""
    why: dict[str, Json] = {} if failure is None else {"error": error(failure, phase=phase, stageId=execution.node)}
    builder.emit("StageInitFailed", execution, phase=phase, reason=reason, **why)
    result: dict[str, Json] = {"verdict": "fail", "reason": "init-failed", "capHit": False, "attemptCount": 0}
    return NodeResult(execution, "fail", result, failure=RunFailure(FailureKind.INIT, f"{phase}: {reason}"))


def _set_context(builder: StepBuilder, execution: Execution, names: Mapping[str, Json]) -> Execution:
    """Return an execution whose context has some names, and those that every stage has."""
    context = {
        **names,
        "upstream": list(execution.upstream),
        "workflowRunId": builder.now.run,
        "stageExecutionId": execution.key,
    }
    return builder.keep(replace(execution, progress=Conversation(context)))


def _complaint(builder: StepBuilder, names: Mapping[str, Json]) -> str | None:
    """Return what is wrong with the values of names that the run declares, nothing when all are in order."""
    for name, wanted in builder.program.plan.inputs.items():
        complaint = builder.judge(wanted.schema, names[name]) if name in names else None
        if complaint is not None:
            return f"{name}: {complaint}"
    return None


def _initialise(builder: StepBuilder, act: Converse, execution: Execution) -> Execution | NodeResult:
    """Make the prompt, once, in a fresh transcript."""
    if act.completion in act.tools:
        return fail_setup(builder, execution, "Init", "completion-tool-collision")
    conversation = conversation_of(execution)
    try:
        body = builder.program.renderer.render(act.prompt, {"ctx": conversation.context})
    except UnfilledError as unfilled:
        return fail_setup(builder, execution, "Init", f"{unfilled} has no value")
    return replace(execution, progress=replace(conversation, transcript=(Message("system", body),)))
