"""Answer rows about calls of tools: who decides, grants, digests, what a model is shown, and what nobody answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.runtime.acts import grants
from stagec.runtime.acts.authority import (
    Decision,
    Envelope,
    Proposal,
    Rules,
    approval_key,
    decide_call,
    digest_of,
    guarded,
)
from stagec.runtime.acts.grants import Grants, Token
from stagec.runtime.effect import Call, Effect, Grant, Hook, Turn
from stagec.runtime.manifest import manifest
from stagec.runtime.unattended import unattended
from stagec_dev.rows.stage_definitions.projects import frozen, machine, minimal
from stagec_dev.rows.stage_definitions.scripted import HOOK, Trace, World, run

Given = Mapping[str, Any]
_GUARD = {"stage": "TOOL_CALL", "when": "pre", "kind": "guard"}
_CALL = f"{HOOK}_"
"""How the callables of guards begin; their number follows."""
_OTHER = frozenset({"name", "origin", "where", "tool", "args", "sm", "stageExecutionId", "attempt", "proposalId"})
_OTHER |= {"mode", "allowlist", "cached", "guard", "repeat", "expect", "stagec", "headless"}
"""Members of a row that do not say what people answer when they are asked outside of stages."""


def stack(given: Given) -> Any:
    """Decide about a call as often as a row says: in a stage by running one, outside of all by the mode."""
    stage = given.get("sm")
    if stage is None or given.get("stageExecutionId", "row") is None:
        decisions = [_told(_decided(given, stage))] * int(given.get("repeat", 1))
    else:
        decisions = _of_stage(given, stage)
    return decisions if "repeat" in given else decisions[0]


def _decided(given: Given, stage: Given | None) -> Decision:
    """Decide without a stage that runs: the mode decides, or a stage to which no grant can be bound."""
    tool, told = given["tool"], (each for name, each in given.items() if name not in _OTHER)
    key, heard = approval_key(tool, given.get("args", {})), _heard(next(told, None))
    proposal = Proposal(tool, key, "nobody" if given.get("headless") else heard)
    envelope = None if stage is None else Envelope(tuple(stage["allowedTools"]))
    rules = Rules(tuple(given.get("allowlist") or ()), _cached(given.get("cached"), key))
    return guarded(decide_call(given["mode"], proposal, envelope, rules), _guards(given))


def _cached(said: Any, key: str) -> tuple[str, ...]:
    """Return the keys that were approved before: those listed, or that of the call where it is only said to be one."""
    return tuple(said) if isinstance(said, list) else (key,) if said else ()


def _guards(given: Given) -> list[Any]:
    """Return what each guard says: the code with which it denies, or nothing."""
    said = given.get("guard")
    return said if isinstance(said, list) else [] if said is None else [said]


def _heard(said: Any) -> str:
    """Return what people say; whatever is neither yes nor no is nobody's answer."""
    told = said.get("kind") if isinstance(said, dict) else said
    return next((meant for meant, words in _WORDS.items() if told in words), "nobody")


_WORDS: Mapping[str, tuple[Any, ...]] = {"approve": (True, "approve", "accepted"), "deny": (False, "deny", "rejected")}


def _told(decision: Decision) -> dict[str, Json]:
    found: dict[str, Json] = {"kind": decision.kind, "source": decision.source}
    return found if decision.code is None else {**found, "code": decision.code}


def _of_stage(given: Given, stage: Given) -> list[Any]:
    """Return what a stage decides whose model makes one call again and again, under one id."""
    count = int(given.get("repeat", 1))
    object_ = {**minimal("row"), "allowedTools": stage["allowedTools"], "turnCap": count}
    members: dict[str, Any] = {"securityMode": given["mode"]}
    guards = _guards(given)
    if guards:
        members["loopHooks"] = [{**_GUARD, "call": f"{_CALL}{index}"} for index in range(len(guards))]
    _, plan = frozen(machine([object_], "row", **members))
    call = {"id": "row-1", "tool": given["tool"], "arguments": given.get("args", {})}
    answers: dict[type, Json] = {
        Turn: {"calls": [call]},
        Grant: _GRANTED.get(stage.get("grant"), {}),
        Call: {"value": ""},
    }

    def answer(effect: Effect) -> Json:
        if isinstance(effect, Hook):
            return {"value": guards[int(effect.call.removeprefix(_CALL))] or True}
        return answers.get(type(effect), {})

    trace = run(plan, World(answer))
    return [_of_event(each.name, each.facts) for each in trace.told if each.name in _DECIDED]


_GRANTED: Mapping[Any, Json] = {"approve": {"granted": True}, "deny": {"granted": False}}
_DECIDED = {"ToolCallApproved": "approve", "ToolCallDenied": "deny"}


def _of_event(name: str, facts: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {"kind": _DECIDED[name], "source": facts["source"]}
    return {**found, "code": facts["code"]} if "code" in facts else found


def digest(given: Given) -> Any:
    """Name the arguments of a call."""
    return {"sha256": digest_of(given["args"]) if "args" in given else None}


def sequence(given: Given) -> Any:
    """Issue, consume and clear grants, step by step: what each step comes to."""
    state, told = Grants(), []
    for step in given["steps"]:
        state, outcome = _STEPS[step[0]](state, step)
        told.append(outcome)
    issued = [each for each, step in zip(told, given["steps"], strict=True) if step[0] == "issue"]
    return {"steps": told, "refused": any(str(each).startswith("ERR") for each in issued)}


def _issue(state: Grants, step: Any) -> tuple[Grants, str]:
    handled = grants.issue(state, _token(step[1]), *step[2:])
    return handled.grants, _outcome(handled)


def _consume(state: Grants, step: Any) -> tuple[Grants, str]:
    handled = grants.consume(state, _token(step[1]))
    return handled.grants, _outcome(handled)


def _clear(state: Grants, step: Any) -> tuple[Grants, None]:
    return grants.close(state, step[1]), None


_STEPS: Mapping[str, Callable[[Grants, Any], tuple[Grants, str | None]]] = {
    "issue": _issue,
    "consume": _consume,
    "clear": _clear,
}


def _outcome(handled: grants.Handled) -> str:
    return "approve" if handled.failure is None else f"ERR {handled.failure}"


def _token(told: Given) -> Token:
    return Token(told["stageExecutionId"], told["attempt"], told["proposalId"], told["tool"], told["argsDigest"])


def shown(given: Given) -> Any:
    """Run a stage and see what its model is shown by a session that has some tools."""
    tools, completion = given["allowedTools"], given["completionTool"]
    object_ = {**minimal("row"), "allowedTools": tools, "completionTool": completion}
    _, plan = frozen(machine([object_], "row"))
    trace = run(plan, World(lambda _: {}))
    failed = trace.facts("StageInitFailed")
    if failed:
        return {"error": failed[0]["reason"]}
    (turn,) = trace.effects(Turn)
    offered = manifest(turn.tools, turn.completion, given["sessionTools"])
    return {"error": "completion-tool-collision"} if offered is None else {"manifest": list(offered)}


def headless(given: Given) -> Any:
    """Answer an interaction when nobody is there; the grant of a tool is asked for by a stage that runs."""
    kind, options = given["kind"], given.get("options", _OPTIONS)
    found = unattended(kind, yolo=given["yolo"], options=options)
    if kind != "grantStageTool":
        return {"outcome": "halt" if found.halts else found.answer}
    _, plan = frozen(
        machine([{**minimal("row"), "turnCap": 2}], "row", securityMode="yolo" if given["yolo"] else "ask")
    )
    call: Json = {"calls": [{"id": "row-1", "tool": "bash", "arguments": {}}]}

    def answer(effect: Effect) -> Json:
        return {"granted": found.answer} if isinstance(effect, Grant) else call if isinstance(effect, Turn) else {}

    trace = run(plan, World(answer))
    return {"outcome": "halt" if found.halts else _denials(trace)}


_OPTIONS = ("A", "B", "C")
"""The options of a `Select` in upstream's tests, for rows that do not repeat them."""


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
