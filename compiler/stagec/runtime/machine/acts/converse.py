"""The act of a stage: its phases in order (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import listing
from stagec.ir.plan.act import Converse
from stagec.ir.plan.gate import Admission
from stagec.runtime.machine.acts import conclusion, hooks, message_loop
from stagec.runtime.machine.acts.conclusion import Conclusion, pause
from stagec.runtime.machine.acts.conversation_state import conversation_of
from stagec.runtime.machine.exchange import WITH_KEPT_NAMES, Call, Confirm, Effect, Grant, Hook, Message, Turn, Wait
from stagec.runtime.machine.execution import Conversation, Execution, NodeResult
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.json_values import all_hold, equal
from stagec.runtime.machine.render import UnfilledError
from stagec.runtime.machine.state import find_element
from stagec.runtime.machine.step_builder import StepBuilder, error


def begin_setup(builder: StepBuilder, act: Converse, execution: Execution) -> Execution | NodeResult | None:
    """Set the context up; None while a callable for that is called."""
    complaint = next((each for given in execution.upstream if (each := builder.judge(act.accepts, given))), None)
    if complaint is not None:
        return fail_setup(builder, execution, "Setup", complaint)
    reserved = _list_reserved(builder, execution)
    names = {name: each for name, each in builder.now.inputs.items() if name not in reserved}
    execution = _set_context(builder, execution, names)
    return None if hooks.call_hook(builder, execution, "setup") else _initialise(builder, act, execution)


def resume_setup(
    builder: StepBuilder, act: Converse, execution: Execution, given: Mapping[str, Json]
) -> Execution | NodeResult | None:
    """Take the names that the callable for the setup provides; one that changes a reserved name has failed."""
    said = hooks.read_reply(execution, "setup", given)
    if said.failure is not None or not (said.value is None or isinstance(said.value, dict)):
        return fail_setup(builder, execution, "Setup", "its hook has failed", said.failure or hooks.FAILED)
    own, reserved = hooks.context_of(execution), _list_reserved(builder, execution)
    left = conversation_of(execution).context if said.context is None else said.context
    names = {**left, **(said.value if isinstance(said.value, dict) else {})}
    changed = sorted(name for name in reserved & names.keys() if name not in own or not equal(names[name], own[name]))
    if changed and builder.now.machine >= WITH_KEPT_NAMES:
        return fail_setup(builder, execution, "Setup", f"its hook writes {listing(changed)}", hooks.FORBIDDEN)
    provided = {name: each for name, each in names.items() if name not in reserved}
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


_ELEMENT = ("item", "index")


def _list_reserved(builder: StepBuilder, execution: Execution) -> frozenset[str]:
    """Return the names of the context that nobody may give another meaning in an execution."""
    is_for_element = find_element(builder.now.scopes, execution.branch) is not None
    return hooks.RESERVED.union(_ELEMENT) if is_for_element else hooks.RESERVED


def _set_context(builder: StepBuilder, execution: Execution, names: Mapping[str, Json]) -> Execution:
    """Return an execution whose context has some names, and those that every stage has."""
    element = find_element(builder.now.scopes, execution.branch)
    context = {
        **names,
        **({} if element is None else dict(zip(_ELEMENT, element, strict=True))),
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


_PROCEED, _LATER = "proceed", "retry-later"
_OUTCOMES = frozenset({_PROCEED, "defer", "block"})


Admitted = Execution | NodeResult | None
"""An execution that may act; one that is over without having acted; None while somebody is asked."""


def ask(builder: StepBuilder, execution: Execution) -> Admitted:
    """Ask for admission."""
    conversation = conversation_of(execution)
    execution = builder.keep(replace(execution, progress=replace(conversation, asked=conversation.asked + 1)))
    return (
        None
        if hooks.call_hook(builder, execution, "gate")
        else _apply_policy(builder, execution, _evaluate_terms(builder, execution))
    )


def resume_check_gate(
    builder: StepBuilder, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> Admitted:
    """Take what a callable or a person says."""
    if type(effect) is Confirm:
        return execution if given.get("yes") is True else _give_up(builder, execution, "a person did not let it act")
    said = hooks.read_reply(execution, "gate", given)
    outcome = _evaluate_terms(builder, execution) if said.value is None else said.value
    if said.failure is not None or not (isinstance(outcome, str) and outcome in _OUTCOMES):
        return fail_setup(builder, execution, "CheckGate", "its hook has failed", said.failure or hooks.FAILED)
    return _apply_policy(builder, execution, outcome)


def _evaluate_terms(builder: StepBuilder, execution: Execution) -> str:
    """Return what the terms of the node say; `block` goes before `defer`."""
    admission, scope = _admission(builder, execution), {"ctx": conversation_of(execution).context}
    if admission is None:
        return _PROCEED
    if admission.block and all_hold(admission.block, scope):
        return "block"
    return "defer" if admission.defer and all_hold(admission.defer, scope) else _PROCEED


def _admission(builder: StepBuilder, execution: Execution) -> Admission | None:
    return builder.nodes[execution.node].admission


def _apply_policy(builder: StepBuilder, execution: Execution, outcome: str) -> Admitted:
    if outcome == _PROCEED:
        policy = None
    else:
        admission = _admission(builder, execution)
        policy = "fail" if admission is None else admission.on_block if outcome == "block" else admission.on_defer
    builder.emit("StageCheckGateResult", execution, outcome=outcome, policy=policy)
    tries = conversation_of(execution).asked
    retry = builder.nodes[execution.node].retry
    attempts = retry.attempts if retry is not None else 1
    match policy:
        case None:
            return execution
        case "ask":
            question = f"{execution.node} is {_HELD[outcome]}; shall it run all the same?"
            builder.request(execution, Confirm, question=question)
            return None
        case "skip":
            return conclusion.leave(builder, execution, _describe_stay("skip", "skipped"))
        case "retry-later" if tries < attempts:
            pause(builder, execution, tries)
            return None
        case _:
            after = f" after {tries} tries" if tries > 1 else ""
            return _give_up(builder, execution, f"it is {_HELD[outcome]}{after}")


_HELD = {"defer": "deferred", "block": "blocked"}
"""What a node is called by people that does not proceed."""


def _give_up(builder: StepBuilder, execution: Execution, why: str) -> NodeResult | None:
    """Let a stage exit that may not act."""
    failure = RunFailure(FailureKind.GATE, why)
    return conclusion.leave(builder, execution, _describe_stay("fail", "gate-unresolved"), failure)


def _describe_stay(verdict: str, reason: str) -> Mapping[str, Json]:
    """Return the result of a stage that has not acted."""
    return {"verdict": verdict, "reason": reason, "capHit": False, "attemptCount": 0}


_NOTHING: tuple[NodeResult, ...] = ()
_UNREADABLE: Mapping[str, Json] = {"error": "the answer is no object"}


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> tuple[NodeResult, ...]:
    """Set the stage up and go on as far as nobody has to be asked."""
    return _after_setup(builder, act, begin_setup(builder, act, execution))


def resume(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Resume with an answer of the world."""
    given: Mapping[str, Json] = answer if isinstance(answer, dict) else _UNREADABLE
    match effect:
        case Hook(phase="setup"):
            return _after_setup(builder, act, resume_setup(builder, act, execution, given))
        case Hook(phase="gate") | Confirm():
            return _after_gate(builder, act, resume_check_gate(builder, execution, effect, given))
        case Hook(phase="assert" | "exit"):
            return _finish(conclusion.resume(builder, execution, effect, given))
        case Wait():
            return _after_wait(builder, act, execution)
        case Turn() | Call() | Grant() | Hook():
            return _after_act(builder, message_loop.resume(builder, act, execution, effect, given))
        case _:
            return _NOTHING


def _after_setup(builder: StepBuilder, act: Converse, found: Execution | NodeResult | None) -> tuple[NodeResult, ...]:
    """Ask for admission once the prompt is made."""
    if isinstance(found, Execution):
        return _after_gate(builder, act, ask(builder, found))
    return _finish(found)


def _after_gate(builder: StepBuilder, act: Converse, found: Execution | NodeResult | None) -> tuple[NodeResult, ...]:
    """Act once the stage is admitted."""
    if isinstance(found, Execution):
        return _after_act(builder, message_loop.begin(builder, act, found))
    return _finish(found)


def _after_wait(builder: StepBuilder, act: Converse, execution: Execution) -> tuple[NodeResult, ...]:
    """Begin another attempt, or ask for admission again."""
    if conversation_of(execution).result:
        return _after_act(builder, message_loop.retry(builder, act, execution))
    return _after_gate(builder, act, ask(builder, execution))


def _after_act(builder: StepBuilder, over: Conclusion | None) -> tuple[NodeResult, ...]:
    """Judge an attempt that is over."""
    return _NOTHING if over is None else _finish(conclusion.conclude(builder, over))


def _finish(found: NodeResult | None) -> tuple[NodeResult, ...]:
    return _NOTHING if found is None else (found,)
