"""stagec's machine, told the events of traces, and its states and requests written as traces write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.runtime import Answered, Cancelled, Effect, Event, Program, Started, State, StepResult, advance
from stagec.runtime import exchange as effects
from stagec.runtime.exchange import Message
from stagec.runtime.execution import Branch, Execution

Json = dict[str, Any]

_REASONS = (
    ("stop", r"completed|.* failed"),
    ("limit", r"bound reached"),
    ("abort", r"aborted"),
    ("cancelled", r"cancelled"),
    ("no-edge", r".* leads nowhere"),
    ("answer", r".* got no usable answer: .*"),
    ("intent", r".* answered with no intent that is allowed"),
    ("validation", r"the validation of .* failed by .*"),
    ("fork", r".* leads to a fork of fewer than two nodes"),
    ("join", r".* cannot join .*"),
    ("command", r".* cannot start: input\..*"),
    ("cannot-start", r".* cannot start: .*"),
    ("entry", r"no entry was selected|there is no entry .*"),
    ("inputs", r"there is no input .*|the input .*|its inputs cannot be read"),
)
"""The word of traces for each reason that the machine gives."""

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
}
"""What traces say of each kind of request."""


def told(program: Program, state: State, event: Mapping[str, Any]) -> StepResult:
    """Tell the machine an event of a trace."""
    return advance(program, state, _event(event))


def _event(event: Mapping[str, Any]) -> Event:
    if event["is"] == "start":
        return Started(event["run"], event.get("entry"), event.get("inputs", {}))
    return Cancelled() if event["is"] == "cancel" else Answered(event["to"], event["answer"])


def projected(state: State) -> Json:
    """Return a state as traces have it."""
    reason = next(
        (word for word, sentence in _REASONS if re.fullmatch(sentence, state.reason, re.DOTALL)), state.reason
    )
    refused = reason in {"entry", "inputs"}
    return {
        "executions": state.executions,
        "active": [_active(state, each) for each in state.active.values()],
        "waiting": [{"node": each.node, "branch": _names(state, each.branch)} for each in state.waiting],
        "ended": None if state.ended is None else "refused" if refused else state.ended.value,
        "reason": None if state.ended is None else reason,
    }


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
