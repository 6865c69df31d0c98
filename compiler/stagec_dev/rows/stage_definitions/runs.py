"""The rows of `cases/` that are about running: how each kind is answered, and when an answer is the wanted one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.core.value import value
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.acts import hooks
from stagec.runtime.machine.acts.conversation_state import digest_of
from stagec.runtime.machine.exchange import Call, Effect, Grant, Hook, Turn
from stagec.runtime.machine.gate import may_join
from stagec_dev.rows import Agreement, is_out_of_scope, out_of_scope
from stagec_dev.rows.stage_definitions.cases import (
    HOOK,
    ToldWorld,
    Trace,
    diagnose_files,
    find_error,
    freeze_pipeline,
    machine,
    minimal,
    rules,
    run,
    stage_of,
)

Given = Mapping[str, Any]
_GUARD = {"stage": "TOOL_CALL", "when": "pre", "kind": "guard"}
_CALL = f"{HOOK}_"
"""The prefix of the callables of guards; their number follows."""
_CALLS_CHAT = "default chat is out of scope (rulings, § 2): every call of a run is made inside a stage"
_BOUND = "every execution has a key, and a grant is used by the call for which it was asked: none can be outstanding"


def stack(given: Given) -> Any:
    """Decide about a call as often as a row says, by running a stage whose model makes it."""
    stage = given.get("sm")
    if stage is None:
        return out_of_scope(_CALLS_CHAT)
    if given.get("stageExecutionId", "row") is None:
        return out_of_scope(_BOUND)
    count = int(given.get("repeat", 1))
    call: Json = {"id": "row-1", "tool": given["tool"], "arguments": given.get("args", {})}
    decisions = _decisions(given, stage, [call] * count, [stage.get("grant")] * count)
    return decisions if "repeat" in given else decisions[0]


def _decisions(given: Given, stage: Given, calls: list[Json], replies: list[Any]) -> list[Any]:
    """Return the decisions of a stage whose model makes calls one after the other; `replies` are people's answers."""
    object_ = {**minimal("row"), "allowedTools": stage["allowedTools"], "turnCap": len(calls)}
    members: dict[str, Any] = {"securityMode": given.get("mode", "ask")}
    said = given.get("guard")
    guards = said if isinstance(said, list) else [] if said is None else [said]
    if guards:
        members["loopHooks"] = [{**_GUARD, "call": f"{_CALL}{index}"} for index in range(len(guards))]
    _, plan = freeze_pipeline(machine([object_], "row", **members))
    made = iter(zip(calls, replies, strict=True))
    reply: list[Any] = []

    def answer(effect: Effect) -> Json:
        if isinstance(effect, Hook):
            return {"value": guards[int(effect.call.removeprefix(_CALL))] or True}
        if isinstance(effect, Turn):
            call, heard = next(made)
            reply[:] = [heard]
            return {"calls": [call]}
        return _GRANTED.get(reply[0], {}) if isinstance(effect, Grant) else {"value": ""}

    trace = run(plan, ToldWorld(answer))
    return [_of_event(each.name, each.facts) for each in trace.trace if each.name in _DECIDED]


_GRANTED: Mapping[Any, Json] = {"approve": {"granted": True}, "deny": {"granted": False}}
_DECIDED = {"ToolCallApproved": "approve", "ToolCallDenied": "deny"}


def _of_event(name: str, facts: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {"kind": _DECIDED[name], "source": facts["source"]}
    return {**found, "code": facts["code"]} if "code" in facts else found


def digest(given: Given) -> Any:
    """Name the arguments of a call."""
    return {"sha256": digest_of(given["args"]) if "args" in given else None}


def sequence(given: Given) -> Any:
    """Follow grants step by step, by running a stage whose model makes the calls that use them."""
    steps = given["steps"]
    if any(step[0] == "clear" for step in steps) or not _is_used_at_once(steps):
        return out_of_scope(_BOUND)
    issued: Any = None
    calls: list[Json] = []
    replies: list[Any] = []
    for step in steps:
        if step[0] == "issue":
            issued = step[2] if len(step) > _DECIDED_AT else "approve"
        else:
            token = step[1]
            arguments = {"digest": token["argsDigest"]}
            calls.append({"id": token["proposalId"], "tool": token["tool"], "arguments": arguments})
            replies.append(issued)
    told = iter(_decisions({}, {"allowedTools": []}, calls, replies))
    outcomes = [None if step[0] == "issue" else _outcome(next(told)) for step in steps]
    return {"steps": outcomes, "refused": _is_refused(steps, outcomes)}


_DECIDED_AT = 2
"""The place of people's decisions in an `issue`."""


def _is_used_at_once(steps: Iterable[Any]) -> bool:
    """Tell whether each grant is used by the call that follows it."""
    issued: Any = None
    for kind, token, *_ in steps:
        if kind == "consume" and issued not in {None, token["argsDigest"]}:
            return False
        issued = token["argsDigest"] if kind == "issue" else issued
    return True


def _outcome(decision: Mapping[str, Any]) -> str:
    return "approve" if decision["kind"] == "approve" else f"ERR Validation/{decision['code']}"


def _is_refused(steps: list[Any], outcomes: list[Any]) -> bool:
    """Tell whether a call was denied that directly follows the grant for it."""
    pairs = zip(steps, outcomes[1:], strict=False)
    return any(step[0] == "issue" and outcome is not None and outcome != "approve" for step, outcome in pairs)


def show_model(given: Given) -> Any:
    """See what the model of a stage is shown in a run; the tools of a session are the catalogue of the pipeline."""
    completion = given["completionTool"]
    object_ = {**minimal("row"), "allowedTools": given["allowedTools"], "completionTool": completion}
    document = machine([object_], "row")
    catalogue = json.dumps({"bundled": given["sessionTools"]})
    files = {"pipeline.json": json.dumps({**document, "tools": "tools.json"}), "tools.json": catalogue}
    found = rules(diagnose_files(files, ("pipeline.json",)))
    if _COLLISIONS.intersection(found):
        return {"error": "completion-tool-collision"}
    if "allowed-tools-unknown" in found:
        return out_of_scope("a tool that the catalogue lacks is a compile error, so no run is without it")
    (turn,) = run(freeze_pipeline(document)[1], ToldWorld(lambda _: {})).effects(Turn)
    return {"manifest": [*turn.tools, turn.completion]}


_COLLISIONS = {"completion-tool-collision", "completion-tool-in-allowed"}


def headless(given: Given) -> Any:
    """Ask for the grant of a tool when nobody is there; the stage that asks goes on."""
    if given["kind"] != "grantStageTool":
        return out_of_scope(f"no run asks for {given['kind']!r} of default chat, which is out of scope (rulings, § 2)")
    mode = "yolo" if given["yolo"] else "ask"
    _, plan = freeze_pipeline(machine([{**minimal("row"), "turnCap": 2}], "row", securityMode=mode))
    call: Json = {"calls": [{"id": "row-1", "tool": "bash", "arguments": {}}]}
    trace = run(plan, ToldWorld(lambda effect: call if isinstance(effect, Turn) else {}))
    return {"outcome": _denials(trace)}


def _denials(trace: Trace) -> Json:
    """Return whether every call was denied, told so in a typed result, and followed by another turn."""
    denied = trace.facts("ToolCallDenied", code="GrantDenied")
    turns = trace.effects(Turn)
    typed = [message for turn in turns[1:] for message in turn.transcript if message.role == "tool"]
    return {
        "denied": bool(denied) and not trace.effects(Call),
        "typed": bool(typed) and all('"code":"GrantDenied"' in each.text for each in typed),
        "goesOn": len(turns) > 1,
    }


_START, _JOIN = "row-start", "row-join"
_FEWEST = 2
"""How many stages can run together; with none nothing follows, so that no run shows it."""
_TOO_FEW = "ExtensionHost/InvalidParallelPlan"
_VERDICT = {"assert": HOOK, "exit": HOOK}


def fan_out(given: Given) -> Any:
    """Run siblings that take some time each and end with some verdict."""
    siblings = {str(name): (float(delay), verdict) for name, delay, verdict in given["siblings"]}
    found, plan = freeze_pipeline(_document(list(siblings)))
    refused = [find_error(each.origin) for each in found if each.severity is Severity.ERROR]
    if any(refused) or len(siblings) < _FEWEST:
        return {"error": next(filter(None, refused), _TOO_FEW)}
    trace = run(plan, _Siblings(given, siblings).world())
    return _describe_failure(trace) or _describe_join(trace, list(siblings))


def join(given: Given) -> Any:
    """Let siblings end, and then run their join if it may run."""
    verdicts = {str(name): (0.0, verdict) for name, verdict in given["siblings"]}
    siblings = _Siblings(given, {**verdicts, _JOIN: (0.0, given.get("join"))})
    if len(verdicts) < _FEWEST:
        return {"error": _TOO_FEW}
    if "abort" not in given and not may_join([_alone(name, siblings) for name in verdicts]):
        return {"error": "ExtensionHost/JoinPreconditionViolated"}
    trace = run(freeze_pipeline(_document(list(verdicts)))[1], siblings.world())
    if trace.error is not None:
        return {"error": trace.error}
    told = _describe_join(trace, list(verdicts))
    ended = trace.facts("SessionTurnEnd", compoundTurnId=_compound(trace))
    return {"ok": True, "SessionTurnEnd": len(ended), "upstream": told["order"], "siblingKeys": sorted(told["order"])}


def _compound(trace: Trace) -> str:
    return str(next(each["compoundTurnId"] for each in trace.facts("SessionTurnStart") if "compoundTurnId" in each))


def _alone(name: str, siblings: _Siblings) -> Json:
    """Return the result that a stage hands in."""
    document = machine([minimal(name)], name, hooks={name: _VERDICT})
    trace = run(freeze_pipeline(document)[1], siblings.world())
    found: Json = next(each.given["result"] for each in trace.effects(Hook) if each.phase == "exit")
    return found


def _document(siblings: list[str]) -> dict[str, Any]:
    """Return a pipeline of a stage, some that run together after it, and their join."""
    following: dict[str, Any] = {"nextStages": siblings, "execution": "parallel", "join": _JOIN}
    first = {**minimal(_START), "next": following}
    hooks = dict.fromkeys((*siblings, _JOIN), _VERDICT)
    stages = [first, *map(minimal, siblings), minimal(_JOIN)]
    return machine(stages, _START, hooks=hooks, maxParallel=max(len(siblings), 1))


class _Siblings:
    """The model and the author's code of each stage: the time of its result, and its verdict."""

    def __init__(self, given: Given, stages: Mapping[str, tuple[float, Any]]) -> None:
        self._abort, self._stages = given.get("abort"), stages

    def world(self) -> ToldWorld:
        """Return the world that answers the stages."""
        return ToldWorld(self._answer, self._delay, _time(self._abort))

    def _answer(self, effect: Effect) -> Json:
        name = stage_of(effect)
        if isinstance(effect, Turn):
            return {"calls": [{"tool": effect.completion, "arguments": {"id": name}}]}
        if isinstance(effect, Hook) and effect.phase == "assert":
            return {"value": self._stages.get(name, (0, "ok"))[1]}
        return {"value": None}

    def _delay(self, effect: Effect) -> float:
        return self._stages.get(stage_of(effect), (0.0, ""))[0] if isinstance(effect, Turn) else 0.0


def _time(abort: Any) -> float | None:
    """Return when somebody wants a run to end: `before` everything, or after some milliseconds."""
    if abort is None:
        return None
    found = re.match(r"\d+", str(abort))
    return float(found[0]) if found is not None else -1.0


def _describe_failure(trace: Trace) -> dict[str, Json] | None:
    if trace.error is None:
        return None
    cancelled = [each["stageId"] for each in trace.facts("StageCancelled")]
    told: dict[str, Json] = {"error": trace.error, "cancelled": cancelled}
    failures = trace.facts("ParallelSiblingFailure")
    return {**told, **{key: failures[0][key] for key in ("failedSiblingId", "joinReady")}} if failures else told


def _describe_join(trace: Trace, siblings: list[str]) -> dict[str, Any]:
    """Return the input of the join, and the numbers of session turns that the siblings have begun and ended."""
    entered = next(each for each in trace.effects(Hook) if stage_of(each) == _JOIN)
    order = [each["parsed"]["id"] for each in entered.given["ctx"]["upstream"]]
    turns = {
        name: sum(len(trace.facts(name, stageId=each)) for each in siblings)
        for name in ("SessionTurnStart", "SessionTurnEnd")
    }
    return {"joinReady": True, "n": len(order), "order": order, **turns}


_STAGE = "sm"
_LIVES_CHAT = "the loop of default chat is out of scope (rulings, § 2)"
_AFTERWARDS = 10
"""How often it is asked beyond a bound whether a loop may go on."""


def access(given: Given) -> Any:
    """Tell whether a phase may do something with the context: its callable tries, where the phase has one."""
    phase, hook = given["phase"], _HOOK_OF.get(given["phase"])
    if hook is None or given["access"] != hooks.WRITE:
        failure = hooks.find_refusal(phase, given["access"])
    else:
        failure = _write_in(hook)
    return {"ok": failure is None, **({} if failure is None else {"error": failure})}


def _write_in(hook: str) -> str | None:
    """Return the failure of a stage whose callable changes the context, None if it may."""
    _, plan = freeze_pipeline(machine([minimal("row")], "row", hooks={"row": {hook: HOOK}}))

    def answer(effect: Effect) -> Json:
        if isinstance(effect, Hook):
            return {"value": None, "ctx": {"written": True}}
        return {"calls": [{"tool": effect.completion, "arguments": {}}]} if isinstance(effect, Turn) else {}

    return None if run(plan, ToldWorld(answer)).outcome is Outcome.DONE else "Validation/ContextMutationForbidden"


_HOOK_OF = {"Setup": "setup", "CheckGate": "gate", "Assert": "assert", "Exit": "exit"}


def continuation(given: Given) -> Any:
    """Tell of every turn up to the bound, and of some beyond it, whether it may be taken: a stage takes all it may."""
    if given["kind"] != _STAGE:
        return out_of_scope(_LIVES_CHAT)
    trace = _work(int(given["max"]), _Script("always-tool", "hand_in_row"))
    capped: Json = [False, bool(trace.facts("StageAssertOutcome")[0]["capHit"])]
    return {"calls": [*([[True, False]] * len(trace.effects(Turn))), *([capped] * _AFTERWARDS)]}


def loop(given: Given) -> Any:
    """Count what happens in a loop whose model follows a script."""
    if given["kind"] != _STAGE:
        return out_of_scope(_LIVES_CHAT)
    trace = _work(int(given["max"]), _Script(given["script"], "hand_in_row"))
    return {
        "capHit": trace.facts("StageAssertOutcome")[0]["capHit"],
        "llmTurns": len(trace.effects(Turn)),
        "toolCallRounds": len(trace.facts("StagePreFired", stage="TOOL_CALL")),
        "render": bool(trace.facts("StagePreFired", stage="RENDER")),
    }


def _work(turns: int, script: _Script) -> Trace:
    _, plan = freeze_pipeline(machine([{**minimal("row"), "allowedTools": ["work"], "turnCap": turns}], "row"))
    return run(plan, ToldWorld(script.answer))


class _Script:
    """The turns of a model: `always-tool`, `tool-then-stop` and the like; at the end it goes on as it did.

    A turn may make several calls, as in `two-tools`.
    """

    def __init__(self, text: str, completion: str) -> None:
        self._moves = text.removeprefix("always-").split("-then-")
        call: Json = {"tool": "work", "arguments": {}}
        self._calls: Mapping[str, Json] = {
            "tool": [call],
            "tools": [call, call],
            "complete": [{"tool": completion, "arguments": {}}],
        }
        self._turn = -1

    def move(self) -> str:
        """Return the next move of the model."""
        self._turn += 1
        words = self._moves[min(self._turn, len(self._moves) - 1)].split("-")
        return next((each for each in words if each in self._calls), words[0])

    def answer(self, effect: Effect) -> Json:
        """Answer a request of the stage."""
        if isinstance(effect, Turn):
            return {"text": "", "calls": self._calls.get(self.move(), [])}
        return {"value": ""} if isinstance(effect, Call) else {}


def body(given: Given) -> Any:
    """Make a prompt in a context that a hook for the setup provides."""
    members = {"hooks": {"row": {"setup": HOOK}}}
    _, plan = freeze_pipeline(machine([{**minimal("row"), "body": given["body"]}], "row", **members))
    trace = run(plan, ToldWorld(lambda effect: {"value": dict(given["ctx"])} if isinstance(effect, Hook) else {}))
    failed = trace.facts("StageInitFailed")
    if failed:
        return {"error": "StageInitFailed", "phase": failed[0]["phase"], "reason": failed[0]["reason"]}
    return {"out": trace.effects(Turn)[0].transcript[0].text}


def stage(given: Given) -> Any:
    """Run a stage with a hook for every phase, and another after it."""
    trace = run(_compile_followed("Do it."), ToldWorld(_Author(given).answer))
    judged = trace.facts("StageAssertOutcome", stageId="row")
    gated = trace.facts("StageInitFailed", phase="CheckGate")
    if gated or (judged and judged[0]["reason"] == "LifecycleFailure"):
        return {"applicable": False, "error": hooks.FAILED, "phase": "CheckGate" if gated else "Assert"}
    exited = trace.facts("StageExited", stageId="row")[0]
    return {
        "assertOutcome": judged[0]["verdict"] if judged else exited["verdict"],
        "phases": _phases(trace, run(_compile_followed("${ctx.missing}"), ToldWorld(_Author(given).answer))),
        "hooks": [each for each in ("exit", "next") if each in _list_calls(trace)],
    }


def _compile_followed(text: str) -> Plan:
    hooks = dict.fromkeys(("setup", "gate", "assert", "exit"), HOOK)
    first = {**minimal("row"), "body": text, "next": {"nextStages": ["after"], "execution": "sequential"}}
    return freeze_pipeline(machine([first, minimal("after")], "row", hooks={"row": hooks}))[1]


class _Author:
    """Author code that decides the content of a row, and a model that submits at once or never."""

    def __init__(self, given: Given) -> None:
        self._says: Mapping[str, Json] = {"gate": given.get("gate"), "assert": given.get("assertVerdict")}
        self._never = bool(given.get("capHit"))

    def answer(self, effect: Effect) -> Json:
        """Answer a request of the stage."""
        if isinstance(effect, Hook):
            return {"value": self._says.get(effect.phase)}
        if isinstance(effect, Turn) and not self._never:
            return {"calls": [{"tool": effect.completion, "arguments": {}}]}
        return {}


_HOOKED: Mapping[str, str] = {"setup": "Setup", "gate": "CheckGate", "assert": "Assert", "exit": "Exit"}


def _list_calls(trace: Trace) -> list[str]:
    """Return the called callables, and `next` when another stage has followed."""
    called = [each.phase for each in trace.effects(Hook)]
    return [*called, "next"] if trace.facts("StageEntered", stageId="after") else called


def _phases(whole: Trace, broken: Trace) -> list[str]:
    """Return the phases in the order in which they show; that of Init in a run whose prompt cannot be made."""
    found = [*_show(broken), *_show(whole)]
    return list(dict.fromkeys(found))


def _show(trace: Trace) -> list[str]:
    found = []
    for each in trace.happened:
        if isinstance(each, Hook):
            found.append(_HOOKED[each.phase])
        elif isinstance(each, Turn):
            found.append("Act")
        elif not isinstance(each, Call) and getattr(each, "name", "") == "StageInitFailed":
            found.append(trace.facts("StageInitFailed")[0]["phase"])
    return [*found, "Next"] if "next" in _list_calls(trace) else found


_REMARKS = frozenset({"why", "reason"})
"""Members of a row's answer that explain it."""


@value
class RowCase:
    """One kind of row: the result of stagec, and whether the row expects it."""

    answer: Callable[[Given], Any]
    agrees: Callable[[Given, Any], bool | None]


def _want(given: Given) -> Any:
    return given.get("stagec", given.get("expect"))


def _same(given: Given, got: Any) -> bool | None:
    """Compare member by member; a row whose answer is that there is no such thing is answered so."""
    wanted = _want(given)
    if isinstance(wanted, str):
        return bool(got.get("applicable") is False) if wanted.startswith("not applicable") else None
    if wanted is None:
        return None
    return _meets(wanted, got, given)


def _meets(wanted: Any, got: Any, given: Given) -> bool:
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(
            _meets(one, other, given) for one, other in zip(wanted, got, strict=True)
        )
    return all(_is(each, got.get(key), given) for key, each in wanted.items() if key not in _REMARKS)


def _is(wanted: Any, got: Any, given: Given) -> bool:
    """Compare one member; a described order is the order of the row's siblings."""
    if isinstance(wanted, str) and wanted.endswith("declared order"):
        return bool(got == [each[0] for each in given["siblings"]])
    return bool(wanted == got)


def _access(given: Given, got: Any) -> bool | None:
    return None if "ok" not in given else {key: given[key] for key in ("ok", "error") if key in given} == got


def _compare_calls(given: Given, got: Any) -> bool | None:
    """Compare the calls that a row makes; stagec answers more of them."""
    return given["calls"] == got["calls"][: len(given["calls"])] if "calls" in given else None


def _digest(given: Given, got: Any) -> bool | None:
    """Compare digests; where the order of names depends on who sorts them, it is by code points, as the ruling says."""
    if "sha256" not in given:
        return None
    text = json.dumps(given["args"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    ruled = hashlib.sha256(text.encode()).hexdigest()
    return got["sha256"] == given["sha256"] or (got["sha256"] == ruled and _has_odd_names(given["args"]))


def _has_odd_names(given: Any) -> bool:
    """Tell whether any names are of more than small letters, which everybody sorts alike."""
    if isinstance(given, dict):
        return any(not _PLAIN.fullmatch(name) for name in given) or any(map(_has_odd_names, given.values()))
    return isinstance(given, list) and any(map(_has_odd_names, given))


_PLAIN = re.compile(r"[a-z]+")


def _compare_step(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(got["refused"])
    consumed = [(step, told) for step, told in zip(given["steps"], got["steps"], strict=True) if step[0] == "consume"]
    return all(told in (step[2:] or [told]) for step, told in consumed) and not got["refused"]


def _compare_answer(given: Given, got: Any) -> bool | None:
    """Compare the answer of nobody; a sentence wants a denial that is told as a typed result, and another turn."""
    if "stagec" in given:
        return bool(got["outcome"] == {"denied": True, "typed": True, "goesOn": True})
    return bool(given["expect"] == got["outcome"]) if "expect" in given else None


def _compare_error(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(got.get("error") == str(given["stagec"]).partition(":")[0])
    return bool(got.get("out") == given["out"]) if "out" in given else None


def _compare_shown(given: Given, got: Any) -> bool | None:
    if "stagec" in given:
        return bool(given["stagec"] == got)
    return bool(given["manifest"] == got.get("manifest")) if "manifest" in given else None


CASES: Mapping[str, RowCase] = {
    "approval-stack": RowCase(stack, _same),
    "args-digest": RowCase(digest, _digest),
    "continuation-controller": RowCase(continuation, _compare_calls),
    "ctx-access": RowCase(access, _access),
    "fan-out": RowCase(fan_out, _same),
    "grant-token-sequences": RowCase(sequence, _compare_step),
    "headless": RowCase(headless, _compare_answer),
    "join": RowCase(join, _same),
    "loop-bound": RowCase(loop, _same),
    "render-body": RowCase(body, _compare_error),
    "run-stage": RowCase(stage, _same),
    "tool-manifest": RowCase(show_model, _compare_shown),
}


def compare(case: RowCase, given: Given, got: Any) -> Agreement:
    """Tell how an answer stands to that of a row."""
    if is_out_of_scope(got):
        return Agreement.OUT_OF_SCOPE
    agrees = case.agrees(given, got)
    return Agreement.UNKNOWN if agrees is None else Agreement.AGREE if agrees else Agreement.DISAGREE
