"""Events, requests and states of the machine as the JSON of traces (`tests/plan_vectors/README.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from stagec.core.json import Json, object_of
from stagec.ir.plan.act import Command, Converse, ProcessInput, ProcessLimits
from stagec.runtime.machine import Answered, Cancelled, Effect, Event, Program, Resumed, Started, State
from stagec.runtime.machine import exchange as effects
from stagec.runtime.machine.exchange import Message
from stagec.runtime.machine.execution import Branch
from stagec.runtime.machine.failures import FailureKind

Object = dict[str, Json]

_REASONS = {
    FailureKind.BOUND: "limit",
    FailureKind.ABORTED: "abort",
    FailureKind.CANCELLED: "cancelled",
    FailureKind.NO_EDGE: "no-edge",
    FailureKind.INVALID_ANSWER: "answer",
    FailureKind.PROVIDER: "answer",
    FailureKind.NO_INTENT: "intent",
    FailureKind.VALIDATION: "validation",
    FailureKind.PREFLIGHT: "preflight",
    FailureKind.CHAIN_EXHAUSTED: "repeats",
    FailureKind.SMALL_FORK: "fork",
    FailureKind.UNJOINABLE: "join",
    FailureKind.UNSTARTABLE: "cannot-start",
    FailureKind.UNFIT_START: "inputs",
    FailureKind.STAGE_BLOCKED: "consent",
}
"""The word of traces for each kind of failure; every other kind is that of a node that a `stop` follows."""

_KEPT: Mapping[type, tuple[str, ...]] = {
    effects.Ask: ("system", "prompt", "schema", "tools", "model", "permission"),
    effects.Turn: ("tools", "completion", "schema"),
    effects.Call: ("tool", "arguments"),
    effects.Grant: ("tool", "digest"),
    effects.Run: ("words", "milliseconds"),
    effects.Shell: ("command",),
    effects.Judge: ("kind", "settings"),
    effects.Wait: ("milliseconds",),
    effects.Confirm: (),
    effects.Execute: ("words", "inputs", "outputs", "limits"),
    effects.Publish: ("outputs", "checkpoint"),
    effects.Preserve: ("reason",),
    effects.Interrupt: ("request",),
}
"""What traces say of each kind of request."""


def read_event(event: Mapping[str, Any]) -> Event:
    """Return an event of a trace; raise `KeyError`, `TypeError` or `ValueError` for what is none."""
    match event["is"]:
        case "start":
            return Started(event["run"], event.get("entry"), event.get("inputs", {}))
        case "resume":
            return Resumed(tuple(event["kept"]), tuple(event["consented"]), event.get("checkpoint"))
        case "cancel":
            return Cancelled()
        case "answer":
            return Answered(event["to"], event["answer"])
        case other:
            raise ValueError(f"traces have no event {other!r}")


def state_to_json(program: Program, state: State) -> Object:
    """Return a state as traces have it."""
    reason = _name_reason(program, state)
    refused = reason in {"entry", "inputs"}
    statuses: Object = {name: str(state.statuses[name]) for name in sorted(state.statuses)}
    return {
        "executions": state.executions,
        "active": [
            {
                "execution": each.key.removeprefix(f"{state.run}/"),
                "branch": _name_branches(state, each.branch),
                "attempt": each.attempt,
                "requests": [key for key in state.pending if key.rpartition("/")[0] == each.key],
            }
            for each in state.active.values()
        ],
        "waiting": [{"node": each.node, "branch": _name_branches(state, each.branch)} for each in state.waiting],
        "ended": None if state.ended is None else "refused" if refused else state.ended.value,
        "reason": None if state.ended is None else reason,
        **({"statuses": statuses} if statuses else {}),
    }


def _name_reason(program: Program, state: State) -> str:
    """Return the word of traces for why a run has ended."""
    failure = state.failure
    if failure is None:
        return "stop" if state.reason == "completed" else "limit"
    act = None if failure.node is None else program.plan.nodes[failure.node].act
    if failure.kind is FailureKind.UNSTARTABLE and isinstance(act, Command):
        return "command"
    if failure.kind is FailureKind.PROVIDER and isinstance(act, Converse):
        return "stop"
    if failure.kind is FailureKind.UNFIT_START and failure.detail.startswith(("no entry was", "there is no entry")):
        return "entry"
    return _REASONS.get(failure.kind, "stop")


def _name_branches(state: State, branch: Branch) -> list[Json]:
    """Return the names of the branches that a branch is in, the outermost first."""
    found: list[Json] = []
    while branch.scope is not None:
        found.append(f"{branch.scope.removeprefix(f'{state.run}/')}.{branch.index}")
        branch = state.scopes[branch.scope].around
    return found[::-1]


def requests_to_json(made: Iterable[Effect]) -> list[Object]:
    """Return requests as traces have them; raise `KeyError` for a kind that traces do not have."""
    return [_request_to_json(each) for each in made]


def _request_to_json(effect: Effect) -> Object:
    kept = ((name, _to_json(getattr(effect, name))) for name in _KEPT[type(effect)])
    found: Object = {"key": effect.key, "is": type(effect).__name__.lower()}
    found |= {name: each for name, each in kept if each is not None}
    if isinstance(effect, effects.Turn):
        said = [index for index, message in enumerate(effect.transcript) if message.role == "assistant"]
        since = effect.transcript[said[-1] + 1 if said else 0 :]
        found["told"] = [_message_to_json(effect, each) for each in since]
    return found


def _to_json(given: Any) -> Json:
    """Return a member of a request; inputs of a process are a level below their names."""
    if isinstance(given, ProcessLimits):
        return _list_members(given)
    if isinstance(given, Mapping):
        return {name: _list_members(each) if isinstance(each, ProcessInput) else each for name, each in given.items()}
    found: Json = list(given) if isinstance(given, tuple) else given
    return found


def _list_members(given: ProcessInput | ProcessLimits) -> Json:
    members = {name: getattr(given, name) for name in type(given).__match_args__}
    return {name: each for name, each in members.items() if each is not None}


_BEGINNINGS = {"Accepted.": "accepted", "Not accepted: ": "wrong", "Not carried out: ": "alone"}
_CODES = {"GrantDenied": "denied", "GrantAlreadyConsumed": "used", "OutputMalformed": "unread"}
_ERROR = {"class", "code", "message"}


def _message_to_json(effect: effects.Turn, message: Message) -> Json:
    """Return the kind of what a model is told; the machine's own words are known by how they begin."""
    if message.role == "system":
        return {"is": "system", "text": message.text}
    if message.call is None:
        if message.text.endswith(f"Call {effect.completion} when you are done."):
            return {"is": "reminder"}
        return {"is": "again", "text": "" if message.text == "Try again." else message.text}
    kind = next((kind for words, kind in _BEGINNINGS.items() if message.text.startswith(words)), None)
    kind = kind or _name_error(message.text)
    text: Object = {"text": message.text} if kind == "value" else {}
    return {"is": kind, "call": message.call, **text}


def _name_error(text: str) -> str:
    """Return `error` or the kind of a denial for an object that is one, `value` for everything else."""
    told: Mapping[str, Json] = {}
    with suppress(ValueError):
        told = object_of(json.loads(text))
    return _CODES.get(str(told["code"]), "error") if set(told) == _ERROR else "value"
