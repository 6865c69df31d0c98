"""The act of a stage: its phases in order (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, equal, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.core.words import format_duration, listing
from stagec.ir.plan.act import Converse
from stagec.ir.plan.gate import Admission
from stagec.runtime.machine.acts import conclusion, hooks
from stagec.runtime.machine.acts.conclusion import Conclusion, pause
from stagec.runtime.machine.acts.conversation_state import (
    APPROVE,
    ASK,
    DENY,
    ENVELOPE,
    GRANT,
    GUARD,
    Authority,
    Decision,
    Token,
    calls_to_json,
    conversation_of,
    decide_call,
    digest_of,
    explain_call,
    messages_to_json,
    read_calls,
    read_messages,
    update,
)
from stagec.runtime.machine.acts.hooks import HookResult
from stagec.runtime.machine.answer_schemas import explain_finish, name_finish
from stagec.runtime.machine.exchange import (
    WITH_KEPT_NAMES,
    WITH_OBEYED_ANSWERS,
    WITH_PLACES,
    Call,
    Confirm,
    Effect,
    Grant,
    Hook,
    Message,
    Request,
    Turn,
    Wait,
)
from stagec.runtime.machine.execution import Conversation, Execution, NodeResult
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_error
from stagec.runtime.machine.json_values import all_hold
from stagec.runtime.machine.program import UnfilledError
from stagec.runtime.machine.state import find_element
from stagec.runtime.machine.step_builder import StepBuilder, error, session_turn_of

_BEFORE, _TOOL_CALLS_AFTER = "TOOL_CALL/pre", "TOOL_CALL/post"
_SUMMARY = 200
"""Characters of the arguments of a call that its request has as a text; journals have digests of it."""


Collected = Execution | None
"""An execution in whose transcript every call is answered; None while anything is waited for."""


def begin_tool_calls(builder: StepBuilder, act: Converse, execution: Execution) -> Collected:
    """Work off the calls of the last response."""
    for call in conversation_of(execution).calls:
        _emit(builder, execution, "ToolInvocationProposed", call, argsDigest=digest_of(call.arguments))
    return _decide(builder, act, execution)


def resume_tool_calls(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> Collected:
    """Take the answer of people about a call, or its result."""
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
    if hooked.slot == _TOOL_CALLS_AFTER:
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
    """Return the reads of a permitted call, the execution after a denial, or None to wait.

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
    """Return the result of a call: a value, or an error with class, code and message."""
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
        hooked = hooks.enter(builder, execution, _TOOL_CALLS_AFTER, outcome, {"call": call.id, "tool": call.tool})
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


_FAILED = "HookTransformFailed"


LoopResult = Conclusion | None
"""An attempt that is over; None while anything is waited for."""


def begin_message_loop(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """RECEIVE_INPUT: the prompt is the input, and begins the transcript."""
    _emit_pre(builder, execution, "RECEIVE_INPUT")
    return _enter(builder, act, execution, "RECEIVE_INPUT/pre", conversation_of(execution).transcript[0].text)


def retry(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """Begin another attempt on the same transcript."""
    conversation = replace(conversation_of(execution), turns=0, result={})
    return _loop(builder, act, replace(execution, attempt=execution.attempt + 1, asked=0, progress=conversation))


def resume_message_loop(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> LoopResult:
    """Take a response of the model, what hooks and people say, or what became of a call."""
    if isinstance(effect, Turn):
        # `SEND_REQUEST` is over and `STREAM_RESPONSE` begins; a provider that fails ends the attempt
        conversation = conversation_of(execution)
        if "error" in given:
            builder.emit("ProviderRequestFailed", execution, turn=conversation.turns, error=given["error"])
            _emit_post(builder, execution, "SEND_REQUEST", "failed")
            failure = RunFailure(FailureKind.PROVIDER, describe_error(given["error"]))
            return Conclusion(execution, refused="provider-failed", failure=failure)
        calls = read_calls(given.get("calls"), f"{conversation.turns}.")
        said = Message("assistant", text_in(given, "text") or "", calls)
        transcript = (*conversation.transcript, said)
        conversation = replace(conversation, transcript=transcript, calls=calls, finish=explain_finish(given))
        execution = replace(execution, progress=conversation)
        if builder.now.machine < WITH_KEPT_NAMES:
            _emit_arrival(builder, execution)
        response: Mapping[str, Json] = {"text": said.text, "calls": calls_to_json(calls)}
        return _enter(builder, act, execution, "SEND_REQUEST/post", response)
    if isinstance(effect, Hook):
        return _continue(builder, act, hooks.resume(builder, execution, effect, given))
    return _after_calls(builder, act, resume_tool_calls(builder, act, execution, effect, given))


def _enter(builder: StepBuilder, act: Converse, execution: Execution, slot: str, subject: Json) -> LoopResult:
    return _continue(builder, act, hooks.enter(builder, execution, slot, subject))


def _continue(builder: StepBuilder, act: Converse, hooked: HookResult | None) -> LoopResult:
    """Continue with what has come through a slot."""
    if hooked is None:
        return None
    stage = hooked.slot.partition("/")[0]
    if stage == "TOOL_CALL":
        return _after_calls(builder, act, continue_call(builder, act, hooked))
    if hooked.refused is not None:
        return _stop(builder, hooked.execution, stage, hooked.refused, "failed" if hooked.failed else "denied")
    return _MESSAGE_LOOP_AFTER[hooked.slot](builder, act, hooked)


def _stop(builder: StepBuilder, execution: Execution, stage: str, code: str, outcome: str) -> Conclusion:
    _emit_post(builder, execution, stage, outcome)
    kind = FailureKind.REFUSED if outcome == "denied" else FailureKind.HOOK
    return Conclusion(execution, refused=code, failure=RunFailure(kind, f"{code} at {stage}"))


def _emit_pre(builder: StepBuilder, execution: Execution, stage: str) -> None:
    builder.emit("StagePreFired", execution, stage=stage, **_ids(builder, execution))


def _emit_post(builder: StepBuilder, execution: Execution, stage: str, outcome: str = "ok", **facts: Json) -> None:
    builder.emit("StagePostFired", execution, stage=stage, **_ids(builder, execution), outcome=outcome, **facts)


def _emit_arrival(builder: StepBuilder, execution: Execution) -> None:
    """Tell that the last response arrives, and that it is complete."""
    conversation = conversation_of(execution)
    if conversation.transcript[-1].text:
        builder.emit("ProviderTokensStreamed", execution, turn=conversation.turns)
    finish = name_finish(conversation.finish)
    about: Mapping[str, Json] = {} if finish is None else {"finish": finish}
    builder.emit("ProviderRequestCompleted", execution, turn=conversation.turns, **about)


def _ids(builder: StepBuilder, execution: Execution) -> dict[str, Json]:
    return {
        "turnId": session_turn_of(builder.now.scopes, execution),
        "correlationId": f"{execution.key}/{execution.attempt}",
    }


def _receive(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Put what hooks leave of the input at the head of the transcript."""
    text = hooked.subject
    if not isinstance(text, str):
        return _stop(builder, hooked.execution, "RECEIVE_INPUT", _FAILED, "failed")
    execution = hooked.execution
    if hooked.changed:
        execution = _rewrite(execution, (Message("system", text),))
    if hooked.slot == "RECEIVE_INPUT/pre":
        return _enter(builder, act, execution, "RECEIVE_INPUT/post", text)
    _emit_post(builder, execution, "RECEIVE_INPUT")
    return _loop(builder, act, execution)


def _loop(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """COMPOSE_REQUEST, unless the cap is hit."""
    conversation = conversation_of(execution)
    if conversation.turns >= act.turns:
        return Conclusion(execution, {"capHit": True})
    conversation = replace(conversation, request=None, calls=(), decided=(), running=(), outcomes=(), finished=0)
    execution = replace(execution, progress=conversation)
    _emit_pre(builder, execution, "COMPOSE_REQUEST")
    return _compose(builder, act, execution, "COMPOSE_REQUEST/pre")


def _compose(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> LoopResult:
    """Show a request to the hooks of a slot, if there are any."""
    conversation = conversation_of(execution)
    request: Json = None
    if hooks.is_attached(builder, slot):
        request = conversation.request or {
            "transcript": messages_to_json(conversation.transcript),
            "tools": list(dict.fromkeys(act.tools)),
        }
    return _enter(builder, act, execution, slot, request)


def _after_compose(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Keep the request as hooks changed it: for sending, not for the transcript."""
    execution, stage = hooked.execution, hooked.slot.partition("/")[0]
    if hooked.changed:
        tools = object_of(hooked.subject).get("tools")
        named = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
        if not (named and read_messages(object_of(hooked.subject).get("transcript")) is not None):
            return _stop(builder, execution, stage, _FAILED, "failed")
        conversation = replace(conversation_of(execution), request=object_of(hooked.subject))
        execution = replace(execution, progress=conversation)
    if hooked.slot == "COMPOSE_REQUEST/pre":
        return _compose(builder, act, execution, "COMPOSE_REQUEST/post")
    if stage == "COMPOSE_REQUEST":
        _emit_post(builder, execution, stage)
        _emit_pre(builder, execution, "SEND_REQUEST")
        return _compose(builder, act, execution, "SEND_REQUEST/pre")
    _send(builder, act, execution)
    return None


def _send(builder: StepBuilder, act: Converse, execution: Execution) -> None:
    """Let the model take a turn."""
    conversation = conversation_of(execution)
    transcript, tools = conversation.transcript, tuple(dict.fromkeys(act.tools))
    if conversation.request is not None:
        transcript = read_messages(conversation.request["transcript"]) or transcript
        tools = tuple(dict.fromkeys(map(str, list_of(conversation.request["tools"]))))
    execution = replace(execution, progress=replace(conversation, turns=conversation.turns + 1, request=None))
    builder.emit("ProviderRequestStarted", execution, turn=conversation.turns + 1)
    given = {"transcript": transcript, "tools": tools, "completion": act.completion, "schema": act.schema}
    builder.request(execution, Turn, **given)


def _after_send(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    execution = hooked.execution
    _emit_post(builder, execution, "SEND_REQUEST")
    _emit_pre(builder, execution, "STREAM_RESPONSE")
    if builder.now.machine >= WITH_KEPT_NAMES:
        _emit_arrival(builder, execution)
    return _stream(builder, act, execution, "STREAM_RESPONSE/pre")


def _stream(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> LoopResult:
    """Show a response to the hooks of a slot; one that arrives whole is one token."""
    said = conversation_of(execution).transcript[-1]
    about: Mapping[str, Json] = {"calls": calls_to_json(said.calls)} if hooks.is_attached(builder, slot) else {}
    return _continue(builder, act, hooks.enter(builder, execution, slot, said.text, about))


def _after_stream(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    execution, text = hooked.execution, hooked.subject
    if not isinstance(text, str):
        return _stop(builder, execution, "STREAM_RESPONSE", _FAILED, "failed")
    if hooked.slot == "STREAM_RESPONSE/pre":
        if hooked.changed:
            *before, said = conversation_of(execution).transcript
            execution = _rewrite(execution, (*before, replace(said, text=text)))
        return _stream(builder, act, execution, "STREAM_RESPONSE/post")
    _emit_post(builder, execution, "STREAM_RESPONSE")
    # go on as the calls of a response ask for
    calls = conversation_of(execution).calls
    completions = sum(each.tool == act.completion for each in calls)
    if not calls:
        why = conversation_of(execution).finish
        told = f"Call {act.completion} when you are done."
        told = told if why is None else f"Not accepted: {why}. {told}"
        return _loop(builder, act, _append(execution, Message("user", told)))
    if completions and len(calls) > 1:
        why = f"Not carried out: {act.completion} must be the only call of a turn."
        return _loop(builder, act, _append(execution, *(Message("tool", why, call=each.id) for each in calls)))
    if completions:
        return _complete(builder, act, execution, calls[0])
    _emit_pre(builder, execution, "TOOL_CALL")
    return _after_calls(builder, act, begin_tool_calls(builder, act, execution))


def _complete(builder: StepBuilder, act: Converse, execution: Execution, call: Request) -> LoopResult:
    complaint: str | None = "the argument is no object" if call.unreadable is None else explain_call(call)
    if isinstance(call.arguments, dict):
        complaint = builder.judge(act.schema, call.arguments)
    if complaint is not None:
        execution = _append(execution, Message("tool", f"Not accepted: {complaint}", call=call.id))
        return _loop(builder, act, update(execution, error=complaint))
    text = conversation_of(execution).transcript[-1].text
    execution = _append(execution, Message("tool", "Accepted.", call=call.id))
    result: Mapping[str, Json] = {"parsed": call.arguments, "capHit": False}
    execution = update(execution, result=result)
    _emit_pre(builder, execution, "RENDER")
    return _enter(builder, act, execution, "RENDER/pre", {"text": text, "parsed": call.arguments})


def _after_render(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Hand what hooks leave of the payload to whoever watches, and end the attempt."""
    execution, payload = hooked.execution, hooked.subject
    if hooked.slot == "RENDER/pre":
        return _enter(builder, act, execution, "RENDER/post", payload)
    _emit_post(builder, execution, "RENDER", payload=payload)
    return Conclusion(execution, conversation_of(execution).result)


def _after_calls(builder: StepBuilder, act: Converse, execution: Execution | None) -> LoopResult:
    """Take another turn once all calls are answered."""
    if execution is None:
        return None
    _emit_post(builder, execution, "TOOL_CALL")
    return _loop(builder, act, execution)


def _append(execution: Execution, *messages: Message) -> Execution:
    return _rewrite(execution, (*conversation_of(execution).transcript, *messages))


def _rewrite(execution: Execution, transcript: tuple[Message, ...]) -> Execution:
    return update(execution, transcript=transcript)


_MESSAGE_LOOP_AFTER: Mapping[str, Callable[[StepBuilder, Converse, HookResult], LoopResult]] = {
    "RECEIVE_INPUT/pre": _receive,
    "RECEIVE_INPUT/post": _receive,
    "COMPOSE_REQUEST/pre": _after_compose,
    "COMPOSE_REQUEST/post": _after_compose,
    "SEND_REQUEST/pre": _after_compose,
    "SEND_REQUEST/post": _after_send,
    "STREAM_RESPONSE/pre": _after_stream,
    "STREAM_RESPONSE/post": _after_stream,
    "RENDER/pre": _after_render,
    "RENDER/post": _after_render,
}
"""The next action after a slot of the message loop."""


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
    """Return the mistake in the values of names that the run declares, None if all are in order."""
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
    """Take the answer of a callable or a person."""
    if type(effect) is Confirm:
        return execution if given.get("yes") is True else _give_up(builder, execution, "a person did not let it act")
    said = hooks.read_reply(execution, "gate", given)
    outcome = _evaluate_terms(builder, execution) if said.value is None else said.value
    if said.failure is not None or not (isinstance(outcome, str) and outcome in _OUTCOMES):
        return fail_setup(builder, execution, "CheckGate", "its hook has failed", said.failure or hooks.FAILED)
    return _apply_policy(builder, execution, outcome)


def _evaluate_terms(builder: StepBuilder, execution: Execution) -> str:
    """Return the result of the terms of the node; `block` goes before `defer`."""
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
"""The words for a node that people do not let proceed."""


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
    """Set the stage up and go on as far as nobody has to be asked; from now on its time passes."""
    builder.set_deadline(execution, act.deadline)
    return _after_setup(builder, act, begin_setup(builder, act, execution))


def exceed_deadline(builder: StepBuilder, execution: Execution, effect: Effect) -> NodeResult:
    """Stop the current work, and fail: no more callables are called, since there is no time for them."""
    milliseconds = effect.milliseconds if isinstance(effect, Wait) else 0
    builder.emit("DeadlineExceeded", execution, milliseconds=milliseconds)
    builder.break_off(execution)
    return conclusion.exceed_deadline(builder, execution, format_duration(milliseconds))


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
            return _after_act(builder, resume_message_loop(builder, act, execution, effect, given))
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
        return _after_act(builder, begin_message_loop(builder, act, found))
    return _finish(found)


def _after_wait(builder: StepBuilder, act: Converse, execution: Execution) -> tuple[NodeResult, ...]:
    """Begin another attempt, or ask for admission again."""
    if conversation_of(execution).result:
        return _after_act(builder, retry(builder, act, execution))
    return _after_gate(builder, act, ask(builder, execution))


def _after_act(builder: StepBuilder, over: Conclusion | None) -> tuple[NodeResult, ...]:
    """Judge an attempt that is over."""
    return _NOTHING if over is None else _finish(conclusion.conclude(builder, over))


def _finish(found: NodeResult | None) -> tuple[NodeResult, ...]:
    return _NOTHING if found is None else (found,)
