"""TOOL_CALL: decide about each call of a response in order, carry out together what may be, collect what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.plan.canonical import as_text
from stagec.runtime.acts import authority, grants, hooking
from stagec.runtime.acts.authority import ENVELOPE, GRANT, GUARD, Decision, Envelope, Proposal, digest_of
from stagec.runtime.acts.grants import Token
from stagec.runtime.acts.talk import talk_of
from stagec.runtime.effect import Call, Effect, Grant, Message, Request
from stagec.runtime.fault import error
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_BEFORE, _AFTER = "TOOL_CALL/pre", "TOOL_CALL/post"
_SUMMARY = 200
"""Characters of a call's arguments that people are shown."""

Collected = Execution | None
"""An execution in whose transcript every call is answered; None while anything is waited for."""


def begin(moment: Moment, act: Converse, execution: Execution) -> Collected:
    """Work off the calls of the last response."""
    for call in talk_of(execution).calls:
        _tell(moment, execution, "ToolInvocationProposed", call, argsDigest=digest_of(call.arguments))
    return _decide(moment, act, execution)


def answered(
    moment: Moment, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> Collected:
    """Take what people say of a call, or what came of it."""
    if isinstance(effect, Grant):
        return _heard(moment, act, execution, given)
    if isinstance(effect, Call):
        return _returned(moment, execution, effect, given)
    return None


def passed(moment: Moment, act: Converse, passage: hooking.Passage) -> Collected:
    """Go on with what hooks leave of the arguments of a call, or of what came of one."""
    if passage.slot == _AFTER:
        return _post(moment, _seen(passage))
    return _decide(moment, act, _allowed(moment, act, passage))


def _decide(moment: Moment, act: Converse, execution: Execution) -> Collected:
    """Decide about the calls that are not decided, one after the other, so that people are asked in their order."""
    while len(talk_of(execution).decided) < len(talk_of(execution).calls):
        call = _current(execution)
        if not call.tool or not isinstance(call.arguments, dict):
            why = error("ProviderCapability/OutputMalformed", message="the call cannot be read")
            execution = _denied(moment, execution, Decision(authority.DENY, GRANT, "OutputMalformed"), why)
            continue
        passage = _authorised(moment, act, execution, None)
        if passage is None:
            return None
        execution = passage if isinstance(passage, Execution) else _allowed(moment, act, passage)
    return _dispatch(moment, execution)


def _authorised(
    moment: Moment, act: Converse, execution: Execution, heard: str | None
) -> hooking.Passage | Execution | None:
    """Return what comes through to a call that may be made, an execution in which it was denied, None to wait."""
    call, talk, session = _current(execution), talk_of(execution), moment.program.plan.session
    token = _token(execution, call)
    decision = authority.decide_call(
        None if session is None else session.mode,
        Proposal(call.tool, heard=heard),
        Envelope(act.tools, token, talk.grants),
    )
    if decision.kind == authority.ASK and token is not None:
        _ask_people(moment, execution, token, call)
        return None
    if decision.kind != authority.APPROVE:
        return _denied(moment, execution, decision, _why(decision, call))
    if decision.source == GRANT and token is not None:
        execution = _spend(execution, token)
    about: Mapping[str, Json] = {"call": call.id, "tool": call.tool, "source": decision.source}
    return hooking.enter(moment, execution, _BEFORE, call.arguments, about)


def _heard(moment: Moment, act: Converse, execution: Execution, given: Mapping[str, Json]) -> Collected:
    """Take what people say; whoever says neither yes nor no has not granted anything."""
    call, said = _current(execution), given.get("granted")
    heard = "approve" if said is True else "deny" if said is False else "defer"
    _tell(moment, execution, "StageGranted", call, argsDigest=digest_of(call.arguments), decision=heard)
    passage = _authorised(moment, act, execution, heard)
    if passage is None:
        return None
    return _decide(moment, act, passage if isinstance(passage, Execution) else _allowed(moment, act, passage))


def _token(execution: Execution, call: Request) -> Token | None:
    digest = digest_of(call.arguments)
    return None if digest is None else Token(execution.key, execution.attempt, call.id, call.tool, digest)


def _spend(execution: Execution, token: Token) -> Execution:
    """Mint a token for one call, and use it up with this call."""
    talk = talk_of(execution)
    minted = grants.issue(talk.grants, token, authority.APPROVE).grants
    return replace(execution, detail=replace(talk, grants=grants.consume(minted, token).grants))


def _ask_people(moment: Moment, execution: Execution, token: Token, call: Request) -> None:
    moment.request(
        execution,
        Grant,
        execution=token.execution,
        attempt=token.attempt,
        proposal=token.proposal,
        tool=token.tool,
        digest=token.digest,
        summary=as_text(call.arguments)[:_SUMMARY],
    )


def _allowed(moment: Moment, act: Converse, passage: hooking.Passage) -> Execution:
    """Return an execution in which a call may be made with what hooks leave of its arguments, if they leave it."""
    execution, arguments = passage.execution, passage.subject
    call = _current(execution)
    refused = passage.refused if isinstance(arguments, dict) else "HookTransformFailed"
    if refused is not None:
        decision = Decision(authority.DENY, GUARD, refused)
        return _denied(moment, execution, decision, _why(decision, call))
    _tell(moment, execution, "ToolCallApproved", call, source=ENVELOPE if call.tool in act.tools else GRANT)
    talk = talk_of(execution)
    index = len(talk.decided)
    calls = (*talk.calls[:index], replace(call, arguments=arguments), *talk.calls[index + 1 :])
    return replace(execution, detail=replace(talk, calls=calls, decided=(*talk.decided, True)))


def _why(decision: Decision, call: Request) -> Mapping[str, Json]:
    return error(f"ToolTerminal/{decision.code}", message=f"{call.tool} may not be called so: {decision.code}")


def _denied(moment: Moment, execution: Execution, decision: Decision, why: Mapping[str, Json]) -> Execution:
    """Return an execution in which a call is answered without having been made."""
    talk = talk_of(execution)
    _tell(moment, execution, "ToolCallDenied", _current(execution), source=decision.source, code=decision.code)
    outcomes = (*talk.outcomes, (len(talk.decided), {"error": why}))
    return replace(execution, detail=replace(talk, decided=(*talk.decided, False), outcomes=outcomes))


def _dispatch(moment: Moment, execution: Execution) -> Collected:
    """Carry out, all together, the calls that may be made."""
    talk = talk_of(execution)
    running = []
    for index, (call, may) in enumerate(zip(talk.calls, talk.decided, strict=True)):
        if may:
            running.append((moment.key_of(execution), index))
            _tell(moment, execution, "ToolInvocationStarted", call)
            execution = moment.request(execution, Call, tool=call.tool, arguments=call.arguments, id=call.id)
    execution = moment.keep(replace(execution, detail=replace(talk, running=tuple(running))))
    return None if running else _post(moment, execution)


def _returned(moment: Moment, execution: Execution, effect: Call, given: Mapping[str, Json]) -> Collected:
    talk = talk_of(execution)
    index, outcome = dict(talk.running)[effect.key], _outcome(given)
    name = "ToolInvocationFailed" if "error" in outcome else "ToolInvocationSucceeded"
    _tell(moment, execution, name, talk.calls[index], **outcome if "error" in outcome else {})
    running = tuple(each for each in talk.running if each[1] != index)
    talk = replace(talk, running=running, outcomes=(*talk.outcomes, (index, outcome)))
    execution = moment.keep(replace(execution, detail=talk))
    return None if running else _post(moment, execution)


def _outcome(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what came of a call: a value, or an error with class, code and message."""
    if "value" in given:
        return {"value": given["value"]}
    told = given.get("error")
    if isinstance(told, dict) and all(isinstance(told.get(each), str) for each in ("class", "code", "message")):
        return {"error": told}
    return {"error": error("ToolTerminal/ToolExecutionFailed", message=as_text(told) or "the call failed")}


def _post(moment: Moment, execution: Execution) -> Collected:
    """Let hooks see what came of the calls that were made, in their order; then answer all calls in the transcript."""
    while (index := _unseen(execution)) is not None:
        talk = talk_of(execution)
        call, outcome = talk.calls[index], dict(talk.outcomes)[index]
        passage = hooking.enter(moment, execution, _AFTER, outcome, {"call": call.id, "tool": call.tool})
        if passage is None:
            return None
        execution = _seen(passage)
    return _gathered(execution)


def _unseen(execution: Execution) -> int | None:
    """Return the next of the calls that were made whose outcome no hook has seen."""
    talk = talk_of(execution)
    made = [index for index, may in enumerate(talk.decided) if may]
    return made[talk.finished] if talk.finished < len(made) else None


def _seen(passage: hooking.Passage) -> Execution:
    """Return an execution with what hooks leave of an outcome."""
    execution, left = passage.execution, passage.subject
    talk, index = talk_of(execution), _unseen(execution)
    if passage.refused is not None or not (isinstance(left, dict) and ("value" in left or "error" in left)):
        left = {"error": error("ExtensionHost/HookTransformFailed", message="what came of the call cannot be told")}
    outcomes = tuple((each, left if each == index else outcome) for each, outcome in talk.outcomes)
    return replace(execution, detail=replace(talk, outcomes=outcomes, finished=talk.finished + 1))


def _gathered(execution: Execution) -> Execution:
    """Return an execution in whose transcript every call is answered, in the order of the calls."""
    talk = talk_of(execution)
    outcomes = dict(talk.outcomes)
    told = (Message("tool", _text(outcomes[index]), call=call.id) for index, call in enumerate(talk.calls))
    return replace(execution, detail=replace(talk, transcript=(*talk.transcript, *told)))


def _text(outcome: Mapping[str, Json]) -> str:
    return as_text(outcome["value"]) if "value" in outcome else as_text(outcome.get("error"))


def _current(execution: Execution) -> Request:
    """Return the call that is to be decided."""
    talk = talk_of(execution)
    return talk.calls[len(talk.decided)]


def _tell(moment: Moment, execution: Execution, name: str, call: Request, **facts: Json) -> None:
    moment.tell(name, execution, tool=call.tool, proposalId=call.id, **facts)
