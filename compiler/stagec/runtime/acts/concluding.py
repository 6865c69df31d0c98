"""Assert and Exit: judge an attempt, try again, and hand in the result of a stage (§§ 3.6 and 3.7 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of, text_in
from stagec.core.value import replace
from stagec.plan.gate import Check, VerdictGate
from stagec.runtime import gate as gates
from stagec.runtime.acts import phases
from stagec.runtime.acts.authority import digest_of
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.messages import plain
from stagec.runtime.acts.talk import Talk, talk_of
from stagec.runtime.acts.waits import pause
from stagec.runtime.effect import Effect, Hook, Message
from stagec.runtime.fault import code_of
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_VERDICTS = frozenset({"ok", "retry", "fail"})


def conclude(moment: Moment, over: Conclusion) -> Finished | None:
    """Go on with an attempt that is over: judge it, by a callable if there is one, unless it was refused."""
    execution = _recorded(over)
    if over.refused is not None:
        refused: dict[str, Json] = {"verdict": "fail", "reason": over.refused, "capHit": False}
        return leave(moment, execution, {**refused, "attemptCount": execution.attempt})
    execution = moment.keep(execution)
    if phases.call(moment, execution, "assert", **_acted(execution), **over.attempt):
        return None
    return _judged(moment, execution, _declared(moment, execution))


def answered(moment: Moment, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> Finished | None:
    """Take what the callables for judging and for handing in say."""
    if isinstance(effect, Hook) and effect.phase == "assert":
        return _judged(moment, execution, _heard(moment, execution, given))
    said, result = phases.hear(execution, "exit", given), dict(talk_of(execution).result)
    if said.failure is not None:
        result |= {"verdict": "fail", "reason": code_of(said.failure)}
    elif said.value is not None:
        result["output"] = said.value
    return _over(moment, execution, result)


def leave(moment: Moment, execution: Execution, result: Mapping[str, Json]) -> Finished | None:
    """Let a stage exit with a result."""
    execution = moment.keep(replace(execution, detail=replace(talk_of(execution), result=result)))
    if phases.call(moment, execution, "exit", result=result, **_acted(execution)):
        return None
    return _over(moment, execution, result)


def _recorded(over: Conclusion) -> Execution:
    """Return an execution that remembers an attempt as one that is over."""
    talk = talk_of(over.execution)
    record: dict[str, Json] = {"turns": talk.turns, "capHit": over.attempt.get("capHit") is True}
    if talk.error is not None:
        record["parseError"] = talk.error
    talk = replace(talk, attempts=(*talk.attempts, record), error=None, result=over.attempt)
    return replace(over.execution, detail=talk)


def _acted(execution: Execution) -> Mapping[str, Json]:
    """Return what callables that look back at an act are given."""
    talk = talk_of(execution)
    return {"transcript": plain(talk.transcript), "attempts": list(talk.attempts)}


def _declared(moment: Moment, execution: Execution) -> Check:
    gate = moment.nodes[execution.node].gate
    given = {"verdict": "ok", "reason": "", "attemptCount": execution.attempt, **talk_of(execution).result}
    return gates.judged(gate, given) if type(gate) is VerdictGate else Check("ok")


def _heard(moment: Moment, execution: Execution, given: Mapping[str, Json]) -> Check:
    """Return the judgement of a callable: a verdict, perhaps with a reason; null leaves it to the declared checks."""
    said = phases.hear(execution, "assert", given)
    if said.failure is None and said.value is None:
        return _declared(moment, execution)
    told = object_of(said.value) or {"verdict": said.value}
    verdict = told.get("verdict")
    if said.failure is None and isinstance(verdict, str) and verdict in _VERDICTS:
        return Check(verdict, reason=text_in(told, "reason"))
    return Check("fail", reason=code_of(said.failure or phases.FAILED))


def _judged(moment: Moment, execution: Execution, check: Check) -> Finished | None:
    retry, talk = moment.nodes[execution.node].retry, talk_of(execution)
    parsed = digest_of(talk.result["parsed"]) if "parsed" in talk.result else None
    facts: dict[str, Json] = {"capHit": talk.result.get("capHit"), "parsedDigest": parsed, "reason": check.reason or ""}
    moment.tell("StageAssertOutcome", execution, verdict=check.verdict, **facts)
    if check.verdict != "retry":
        return leave(moment, execution, _result(execution, check.verdict, check.reason or ""))
    if execution.attempt >= (retry.attempts if retry is not None else 1):
        return leave(moment, execution, _result(execution, "fail", "retry-exhausted"))
    pause(moment, replace(execution, detail=_told(talk, check.reason)), execution.attempt)
    return None


def _told(talk: Talk, reason: str | None) -> Talk:
    return replace(talk, transcript=(*talk.transcript, Message("user", reason or "Try again.")))


def _result(execution: Execution, verdict: str, reason: str) -> Mapping[str, Json]:
    return {"verdict": verdict, "reason": reason, **talk_of(execution).result, "attemptCount": execution.attempt}


def _over(moment: Moment, execution: Execution, result: Mapping[str, Json]) -> Finished:
    verdict = result["verdict"]
    moment.tell("StageExited", execution, verdict=verdict, attemptCount=result["attemptCount"], capHit=result["capHit"])
    return Finished(execution, "fail" if verdict == "fail" else "ok", result)
