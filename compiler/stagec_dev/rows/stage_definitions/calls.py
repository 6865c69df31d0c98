"""Answer rows about calls of tools: who decides, grants, digests, and what a model is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.runtime.acts.authority import digest_of
from stagec.runtime.exchange import Call, Effect, Grant, Hook, Turn
from stagec_dev.row import out_of_scope
from stagec_dev.rows.stage_definitions.projects import diagnose_files, freeze_pipeline, machine, minimal
from stagec_dev.rows.stage_definitions.scripted import HOOK, Trace, World, run
from stagec_dev.rows.stage_definitions.verdicts import rules

Given = Mapping[str, Any]
_GUARD = {"stage": "TOOL_CALL", "when": "pre", "kind": "guard"}
_CALL = f"{HOOK}_"
"""How the callables of guards begin; their number follows."""
_CHAT = "default chat is out of scope (rulings, § 2): every call of a run is made inside a stage"
_BOUND = "every execution has a key, and a grant is used by the call for which it was asked: none can be outstanding"


def stack(given: Given) -> Any:
    """Decide about a call as often as a row says, by running a stage whose model makes it."""
    stage = given.get("sm")
    if stage is None:
        return out_of_scope(_CHAT)
    if given.get("stageExecutionId", "row") is None:
        return out_of_scope(_BOUND)
    count = int(given.get("repeat", 1))
    call: Json = {"id": "row-1", "tool": given["tool"], "arguments": given.get("args", {})}
    decisions = _decisions(given, stage, [call] * count, [stage.get("grant")] * count)
    return decisions if "repeat" in given else decisions[0]


def _decisions(given: Given, stage: Given, calls: list[Json], replies: list[Any]) -> list[Any]:
    """Return what a stage decides whose model makes calls one after the other; `replies` are what people say."""
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

    trace = run(plan, World(answer))
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
"""Where an `issue` says what people have decided."""


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
    (turn,) = run(freeze_pipeline(document)[1], World(lambda _: {})).effects(Turn)
    return {"manifest": [*turn.tools, turn.completion]}


_COLLISIONS = {"completion-tool-collision", "completion-tool-in-allowed"}


def headless(given: Given) -> Any:
    """Ask for the grant of a tool when nobody is there; the stage that asks goes on."""
    if given["kind"] != "grantStageTool":
        return out_of_scope(f"no run asks for {given['kind']!r} of default chat, which is out of scope (rulings, § 2)")
    mode = "yolo" if given["yolo"] else "ask"
    _, plan = freeze_pipeline(machine([{**minimal("row"), "turnCap": 2}], "row", securityMode=mode))
    call: Json = {"calls": [{"id": "row-1", "tool": "bash", "arguments": {}}]}
    trace = run(plan, World(lambda effect: call if isinstance(effect, Turn) else {}))
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
