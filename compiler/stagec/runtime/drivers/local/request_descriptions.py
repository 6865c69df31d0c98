"""Describe a request to the world, or its answer, in one line for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import join

from stagec.core.canonical import compact
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.words import listing, shorten_digest
from stagec.runtime.drivers.local.stage_ledger import describe_end
from stagec.runtime.machine import Answered, Effect, Event, Replanned, Rewound
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Close,
    Comment,
    Confirm,
    Dispatch,
    Execute,
    Grant,
    Hook,
    Interrupt,
    Judge,
    OrchestratorRequest,
    Preserve,
    Publish,
    Relabel,
    Run,
    Shell,
    Turn,
    Wait,
    is_deadline,
    label_execution,
    read_agent_run,
    read_key,
    whole_key,
)

_LONGEST = 200
"""Characters of an answer that are looked at; a line shows fewer."""


def label_request(key: str) -> str:
    """Return the execution of a request; one in the run of an agent is named after the agent first."""
    parts = read_key(key)
    agent, label = read_agent_run(parts.run), label_execution(parts.node, parts.visit) if parts.node else "run"
    return label if agent is None else f"{label_execution(agent.agent, agent.number)}: {label}"


def describe_request(effect: Effect) -> str:
    """Return the request in words."""
    match effect:
        case Ask() | Turn() | Judge() | Confirm() | Execute() | Publish() | Preserve() | Interrupt():
            return type(effect).__name__.lower()
        case Call() | Grant():
            return f"{type(effect).__name__.lower()} {effect.tool}"
        case Run() | Shell():
            return f"run {join(effect.words) if isinstance(effect, Run) else effect.command}"
        case Hook():
            return f"hook {effect.call}"
        case Wait():
            return f"{'deadline' if is_deadline(effect.key) else 'wait'} {effect.milliseconds} ms"
        case _:
            return _describe_phase_request(effect)


def _describe_phase_request(effect: OrchestratorRequest) -> str:
    match effect:
        case Dispatch():
            return f"dispatch {effect.agent}"
        case Relabel():
            return f"relabel {', '.join(effect.add) or 'as nothing'}"
        case Comment():
            return f"comment {_shorten(effect.text)}"
        case Close():
            return "close"


def describe_answer(effect: Effect, answer: Json) -> str:
    """Return the answer in words."""
    given = object_of(answer)
    match effect:
        case Turn():
            said = []
            for each in map(object_of, list_of(given.get("calls"))):
                is_completion = each.get("tool") == effect.completion
                said.append(f"{each.get('tool')}{' ' + _shorten(each.get('arguments')) if is_completion else ''}")
            return ", ".join(said) or _shorten(text_in(given, "text") or "")
        case Run() | Shell() | Execute() | Publish() | Preserve() | Interrupt():
            return _describe_process(effect, given)
        case Grant() | Judge() | Confirm():
            return "yes" if True in given.values() else "no"
        case Wait() | Dispatch() | Relabel() | Comment() | Close():
            return _describe_phase_answer(given)
        case Call() if "error" in given:
            return f"error: {_shorten(given['error'])}"
        case _:
            return _shorten(given.get("answer", given.get("value")))


def describe_event(pending: Mapping[str, Effect], event: Event) -> tuple[str, str, str]:
    """Return the request and the answer in words, given the open requests; of other events, the event."""
    key = event.key if isinstance(event, Answered) else ""
    whole = whole_key(key)
    if isinstance(event, Answered) and key in pending:
        return label_request(key), describe_request(pending[key]), describe_answer(pending[key], event.answer)
    if isinstance(event, Answered) and whole is not None and whole in pending:
        return label_request(whole), *_describe_part(object_of(event.answer))
    return "", type(event).__name__.lower(), describe_change(event)


def _describe_part(part: Object) -> tuple[str, str]:
    """Return the kind of a part of an answer and its text: the calls of a model, or the result of one."""
    if "result" not in part:
        tools = ", ".join(str(object_of(each).get("tool")) for each in list_of(part.get("calls")))
        return "response", tools or _shorten(text_in(part, "text") or "")
    result = object_of(part["result"])
    return "result", f"error: {_shorten(result['error'])}" if "error" in result else _shorten(result.get("value"))


def describe_change(event: Event) -> str:
    """Return the plan with which a run continues, and its new inputs, or where a new branch begins; else nothing."""
    if isinstance(event, Rewound):
        return f"continues after event {event.to - 1}"
    if not isinstance(event, Replanned):
        return ""
    given = f", given {listing(sorted(event.inputs))}" if event.inputs else ""
    return f"continues with {shorten_digest(event.digest)}{given}"


def _describe_phase_answer(given: Object) -> str:
    """Return the result of an agent that ran elsewhere, the reason why something was not written down, or nothing."""
    if "error" in given or "failed" in given:
        return f"error: {_shorten(given.get('error', given.get('failed')))}"
    return _shorten(given["answer"]) if "answer" in given else ""


def _describe_process(effect: Effect, given: Object) -> str:
    """Return the result of a program or a stage, or the checkpoint that was written."""
    if isinstance(effect, Run | Shell):
        status = given.get("exit")
        return "no exit status" if status is None else f"exit {status}"
    if not isinstance(effect, Execute):
        return text_in(given, "error") or text_in(given, "checkpoint") or ""
    seconds = given.get("seconds")
    return f"{describe_end(given) or 'success'}{f', {seconds:.1f} s' if isinstance(seconds, int | float) else ''}"


def _shorten(given: Json) -> str:
    try:
        text = given if isinstance(given, str) else compact(given)
    except ValueError:  # a number that is more than plans can hold
        text = json.dumps(given, separators=(",", ":"))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
