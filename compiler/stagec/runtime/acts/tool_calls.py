"""TOOL_CALL: decide about each call of a response in order, execute allowed calls together, collect their results."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, text_in
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.runtime.acts import hooks
from stagec.runtime.acts.authority import (
    APPROVE,
    ASK,
    DENY,
    ENVELOPE,
    GRANT,
    GUARD,
    Authority,
    Decision,
    Token,
    decide_call,
    digest_of,
)
from stagec.runtime.acts.conversation_state import conversation_of, explain_call, update
from stagec.runtime.exchange import WITH_OBEYED_ANSWERS, WITH_PLACES, Call, Effect, Grant, Message, Request
from stagec.runtime.execution import Execution
from stagec.runtime.step_builder import StepBuilder, error

_BEFORE, _AFTER = "TOOL_CALL/pre", "TOOL_CALL/post"
_SUMMARY = 200
"""Characters of the arguments of a call that its request has as a text; journals have digests of it."""

Collected = Execution | None
"""An execution in whose transcript every call is answered; None while anything is waited for."""


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> Collected:
    """Work off the calls of the last response."""
    for call in conversation_of(execution).calls:
        _emit(builder, execution, "ToolInvocationProposed", call, argsDigest=digest_of(call.arguments))
    return _decide(builder, act, execution)


def resume(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> Collected:
    """Take what people say of a call, or what came of it."""
    if isinstance(effect, Grant):
        # take what people say; whoever says neither yes nor no has not granted anything
        call, said = _current(execution), given.get("granted")
        reply = "approve" if said is True else "deny" if said is False else "defer"
        _emit(builder, execution, "StageGranted", call, argsDigest=digest_of(call.arguments), decision=reply)
        hooked = _authorise(builder, act, execution, reply, text_in(given, "reason"))
        if hooked is None:
            return None
        return _decide(builder, act, hooked if isinstance(hooked, Execution) else _allow(builder, act, hooked))
    if isinstance(effect, Call):
        conversation = conversation_of(execution)
        index, outcome = dict(conversation.running)[effect.key], _read_outcome(given)
        name = "ToolInvocationFailed" if "error" in outcome else "ToolInvocationSucceeded"
        _emit(builder, execution, name, conversation.calls[index], **outcome if "error" in outcome else {})
        running = tuple(each for each in conversation.running if each[1] != index)
        conversation = replace(conversation, running=running, outcomes=(*conversation.outcomes, (index, outcome)))
        execution = builder.keep(replace(execution, progress=conversation))
        return None if running else _show_outcomes(builder, execution)
    return None


def continue_call(builder: StepBuilder, act: Converse, hooked: hooks.HookResult) -> Collected:
    """Continue with what hooks leave of the arguments of a call, or of its result."""
    if hooked.slot == _AFTER:
        return _show_outcomes(builder, _apply_hooks(hooked))
    return _decide(builder, act, _allow(builder, act, hooked))


def _decide(builder: StepBuilder, act: Converse, execution: Execution) -> Collected:
    """Decide about the calls that are not decided, one after the other, so that people are asked in their order."""
    while len(conversation_of(execution).decided) < len(conversation_of(execution).calls):
        call = _current(execution)
        if not call.tool or not isinstance(call.arguments, dict):
            told = "the call cannot be read" if builder.now.machine < WITH_PLACES else explain_call(call)
            why = error("ProviderCapability/OutputMalformed", message=told)
            execution = _deny(builder, execution, Decision(DENY, GRANT, "OutputMalformed"), why)
            continue
        hooked = _authorise(builder, act, execution, None)
        if hooked is None:
            return None
        execution = hooked if isinstance(hooked, Execution) else _allow(builder, act, hooked)
    # carry out, all together, the calls that may be made
    conversation = conversation_of(execution)
    running = []
    for index, (call, may) in enumerate(zip(conversation.calls, conversation.decided, strict=True)):
        if may:
            running.append((builder.key_of(execution), index))
            _emit(builder, execution, "ToolInvocationStarted", call)
            execution = builder.request(execution, Call, tool=call.tool, arguments=call.arguments, id=call.id)
    execution = builder.keep(update(execution, running=tuple(running)))
    return None if running else _show_outcomes(builder, execution)


def _authorise(
    builder: StepBuilder, act: Converse, execution: Execution, reply: str | None, reason: str | None = None
) -> hooks.HookResult | Execution | None:
    """Return what comes through to a call that may be made, an execution in which it was denied, None to wait.

    `reason` is what whoever has refused the call says of it.
    """
    call, token = _current(execution), _token(execution)
    # what people said of a call counts, also where the run continues with a plan that allows the tool
    is_told = reply is not None and builder.now.machine >= WITH_OBEYED_ANSWERS
    authority = Authority(() if is_told else act.tools, conversation_of(execution).consumed)
    decision = decide_call(call.tool, token, authority, reply)
    if decision.kind == ASK and token is not None:
        builder.request(
            execution,
            Grant,
            execution=token.execution,
            attempt=token.attempt,
            proposal=token.proposal,
            tool=token.tool,
            digest=token.digest,
            summary=as_text(call.arguments)[:_SUMMARY],
            arguments=call.arguments,
        )
        return None
    if decision.kind != APPROVE:
        return _deny(builder, execution, decision, _explain_denial(decision, call, reason))
    if decision.source == GRANT and token is not None:
        execution = update(execution, consumed=(*authority.consumed, token.key))
    about: Mapping[str, Json] = {"call": call.id, "tool": call.tool, "source": decision.source}
    return hooks.enter(builder, execution, _BEFORE, call.arguments, about)


def _token(execution: Execution) -> Token | None:
    """Return the grant that would allow the call that is to be decided."""
    call = _current(execution)
    digest = digest_of(call.arguments)
    return None if digest is None else Token(execution.key, execution.attempt, call.id, call.tool, digest)


def _allow(builder: StepBuilder, act: Converse, hooked: hooks.HookResult) -> Execution:
    """Return an execution in which a call may be made with what hooks leave of its arguments, if they leave it."""
    execution, arguments = hooked.execution, hooked.subject
    call = _current(execution)
    refused = hooked.refused if isinstance(arguments, dict) else "HookTransformFailed"
    if refused is not None:
        decision = Decision(DENY, GUARD, refused)
        return _deny(builder, execution, decision, _explain_denial(decision, call))
    conversation, token = conversation_of(execution), _token(execution)
    is_granted = call.tool not in act.tools or (
        builder.now.machine >= WITH_OBEYED_ANSWERS and token is not None and token.key in conversation.consumed
    )
    _emit(builder, execution, "ToolCallApproved", call, source=GRANT if is_granted else ENVELOPE)
    index = len(conversation.decided)
    calls = (*conversation.calls[:index], replace(call, arguments=arguments), *conversation.calls[index + 1 :])
    return update(execution, calls=calls, decided=(*conversation.decided, True))


def _explain_denial(decision: Decision, call: Request, reason: str | None = None) -> Mapping[str, Json]:
    told = f"{call.tool} may not be called so: {decision.code}" if reason is None else reason
    return error(f"ToolTerminal/{decision.code}", message=told)


def _deny(builder: StepBuilder, execution: Execution, decision: Decision, why: Mapping[str, Json]) -> Execution:
    """Return an execution in which a call is answered without having been made."""
    conversation = conversation_of(execution)
    _emit(builder, execution, "ToolCallDenied", _current(execution), source=decision.source, code=decision.code)
    outcomes = (*conversation.outcomes, (len(conversation.decided), {"error": why}))
    return update(execution, decided=(*conversation.decided, False), outcomes=outcomes)


def _read_outcome(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what came of a call: a value, or an error with class, code and message."""
    if "value" in given:
        return {"value": given["value"]}
    told = given.get("error")
    if isinstance(told, dict) and all(isinstance(told.get(each), str) for each in ("class", "code", "message")):
        return {"error": told}
    return {"error": error("ToolTerminal/ToolExecutionFailed", message=as_text(told) or "the call failed")}


def _show_outcomes(builder: StepBuilder, execution: Execution) -> Collected:
    """Let hooks see what came of the calls that were made, in their order; then answer all calls in the transcript."""
    while (index := _next_unseen(execution)) is not None:
        conversation = conversation_of(execution)
        call, outcome = conversation.calls[index], dict(conversation.outcomes)[index]
        hooked = hooks.enter(builder, execution, _AFTER, outcome, {"call": call.id, "tool": call.tool})
        if hooked is None:
            return None
        execution = _apply_hooks(hooked)
    # an execution in whose transcript every call is answered, in the order of the calls
    conversation = conversation_of(execution)
    outcomes = dict(conversation.outcomes)
    told = (Message("tool", _text(outcomes[index]), call=call.id) for index, call in enumerate(conversation.calls))
    return update(execution, transcript=(*conversation.transcript, *told))


def _next_unseen(execution: Execution) -> int | None:
    """Return the next of the calls that were made whose outcome no hook has seen."""
    conversation = conversation_of(execution)
    made = [index for index, may in enumerate(conversation.decided) if may]
    return made[conversation.finished] if conversation.finished < len(made) else None


def _apply_hooks(hooked: hooks.HookResult) -> Execution:
    """Return an execution with what hooks leave of an outcome."""
    execution, left = hooked.execution, hooked.subject
    conversation, index = conversation_of(execution), _next_unseen(execution)
    if hooked.refused is not None or not (isinstance(left, dict) and ("value" in left or "error" in left)):
        left = {"error": error("ExtensionHost/HookTransformFailed", message="what came of the call cannot be told")}
    outcomes = tuple((each, left if each == index else outcome) for each, outcome in conversation.outcomes)
    return update(execution, outcomes=outcomes, finished=conversation.finished + 1)


def _text(outcome: Mapping[str, Json]) -> str:
    return as_text(outcome["value"]) if "value" in outcome else as_text(outcome.get("error"))


def _current(execution: Execution) -> Request:
    """Return the call that is to be decided."""
    conversation = conversation_of(execution)
    return conversation.calls[len(conversation.decided)]


def _emit(builder: StepBuilder, execution: Execution, name: str, call: Request, **facts: Json) -> None:
    builder.emit(name, execution, tool=call.tool, proposalId=call.id, **facts)
