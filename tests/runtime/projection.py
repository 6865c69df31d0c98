"""stagec's machine, told the events of traces, and its states and requests written as traces write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stagec.plan.act import Command, Converse, ProcessInput, ProcessLimits
from stagec.runtime import Answered, Cancelled, Effect, Event, Program, Resumed, Started, State, StepResult, advance
from stagec.runtime import exchange as effects
from stagec.runtime.exchange import Message
from stagec.runtime.execution import Branch, Execution
from stagec.runtime.failures import FailureKind

Json = dict[str, Any]

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

_KEPT = {
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


def told(program: Program, state: State, event: Mapping[str, Any]) -> StepResult:
    """Tell the machine an event of a trace."""
    return advance(program, state, _event(event))


def _event(event: Mapping[str, Any]) -> Event:
    if event["is"] == "start":
        return Started(event["run"], event.get("entry"), event.get("inputs", {}))
    if event["is"] == "resume":
        return Resumed(tuple(event["kept"]), tuple(event["consented"]), event.get("checkpoint"))
    return Cancelled() if event["is"] == "cancel" else Answered(event["to"], event["answer"])


def projected(program: Program, state: State) -> Json:
    """Return a state as traces have it."""
    reason = _reason(program, state)
    refused = reason in {"entry", "inputs"}
    return {
        "executions": state.executions,
        "active": [_active(state, each) for each in state.active.values()],
        "waiting": [{"node": each.node, "branch": _names(state, each.branch)} for each in state.waiting],
        "ended": None if state.ended is None else "refused" if refused else state.ended.value,
        "reason": None if state.ended is None else reason,
        **(
            {"statuses": {name: str(state.statuses[name]) for name in sorted(state.statuses)}} if state.statuses else {}
        ),
    }


def _reason(program: Program, state: State) -> str:
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


def _active(state: State, execution: Execution) -> Json:
    return {
        "execution": execution.key.removeprefix(f"{state.run}/"),
        "branch": _names(state, execution.branch),
        "attempt": execution.attempt,
        "requests": [key for key in state.pending if key.rpartition("/")[0] == execution.key],
    }


def _names(state: State, branch: Branch) -> list[str]:
    if branch.scope is None:
        return []
    name = f"{branch.scope.removeprefix(f'{state.run}/')}.{branch.index}"
    return [*_names(state, state.scopes[branch.scope].around), name]


def asked(made: Iterable[Effect]) -> list[Json]:
    """Return requests as traces have them; what a model is told is compared apart, see `coarse`."""
    return [_asked(each) for each in made]


def _asked(effect: Effect) -> Json:
    kept = ((name, _plain(getattr(effect, name))) for name in _KEPT[type(effect)])
    found: Json = {"key": effect.key, "is": type(effect).__name__.lower()}
    return found | {name: each for name, each in kept if each is not None} | _told(effect)


def _plain(given: Any) -> Any:
    if isinstance(given, ProcessLimits | ProcessInput):
        members = {name: getattr(given, name) for name in type(given).__match_args__}
        return {name: each for name, each in members.items() if each is not None}
    if isinstance(given, Mapping):
        return {name: _plain(each) for name, each in given.items()}
    return list(given) if isinstance(given, tuple) else given


def _told(effect: Effect) -> Json:
    """Return what a model is told before a turn: everything after what it has said last."""
    if not isinstance(effect, effects.Turn):
        return {}
    said = [index for index, message in enumerate(effect.transcript) if message.role == "assistant"]
    since = effect.transcript[said[-1] + 1 if said else 0 :]
    return {"told": [_message(each) for each in since]}


def _message(message: Message) -> Json:
    return {"text": message.text} if message.call is None else {"call": message.call, "text": message.text}


def texts(requests: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return what models are told that is not in the runner's own words: prompts, and the values of calls."""
    lines = (line for each in requests for line in each.get("told", ()))
    return {line["text"] for line in lines if line.get("is") in {"system", "value"}}


def coarse(requests: Iterable[Mapping[str, Any]], known: frozenset[str]) -> list[Json]:
    """Return requests without what models are told in the runner's own words, but with `GrantDenied`."""
    return [{**each, **_coarsely(each.get("told"), known)} for each in requests]


def _coarsely(lines: Any, known: frozenset[str]) -> Json:
    return {} if lines is None else {"told": [_line(each, known) for each in lines]}


def _line(line: Mapping[str, Any], known: frozenset[str]) -> Json:
    text = "GrantDenied" if line.get("is") == "denied" else line.get("text", "")
    own = "GrantDenied" if "GrantDenied" in text else ""
    return {"call": line.get("call"), "text": text if text in known else own}
