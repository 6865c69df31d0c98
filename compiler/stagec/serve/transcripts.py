"""What was said in each visit of a node, as a conversation: prompts, answers, tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.drivers.local.request_descriptions import describe_answer, describe_request
from stagec.runtime import Effect
from stagec.runtime.exchange import Ask, Call, Message, Run, Shell, Turn, visit_of
from stagec.serve.run_view import RequestRecord, RunView

_MOST = 20
"""Visits that are described at once."""
_LONGEST = 100_000
"""Characters of one text that the page is given; the journal has the others."""


def describe_visits(view: RunView, node: str, before: int | None = None) -> list[Json]:
    """Return the last visits of a node, or the last before one, each with its messages in order."""
    visits: list[Json] = []
    every = list(view.executions.get(node, {}).items())
    known = every if before is None else [each for each in every if visit_of(each[0]) < before]
    for execution, keys in known[-_MOST:]:
        visit = visit_of(execution)
        records = [view.records[key] for key in keys]
        messages = list(_list_messages(records, is_over=execution not in view.state.active))
        visits.append({"visit": visit, "outcome": view.outcomes.get((node, visit), ""), "messages": messages})
    return visits


def _list_messages(records: Sequence[RequestRecord], *, is_over: bool) -> Iterator[Json]:
    """Yield what was said; every turn of a model is given the whole transcript, of which only the new part is told."""
    told: tuple[Message, ...] = ()
    turns = [each for each in records if isinstance(each.effect, Turn)]
    for each in records:
        effect = each.effect
        if isinstance(effect, Turn):
            new = effect.transcript[len(told) :] if effect.transcript[: len(told)] == told else effect.transcript
            yield from map(_describe_message, new)
            told = effect.transcript
            if each is turns[-1]:
                yield from _describe_turn(each, is_over=is_over)
        elif not (isinstance(effect, Call) and turns):
            yield from _describe_record(each, is_over=is_over)


def _describe_message(message: Message) -> Json:
    calls: list[Json] = [{"tool": each.tool, "arguments": _format(each.arguments)} for each in message.calls]
    return _make(message.role, message.text, calls=calls)


def _describe_turn(record: RequestRecord, *, is_over: bool) -> Iterator[Json]:
    """Yield the answer of the last turn, which no later transcript has."""
    answer = object_of(record.answer)
    if record.end is None:
        yield _make("note", "no answer" if is_over else "the model has not answered yet", pending=not is_over)
    elif "error" in answer:
        yield _make("error", _format(answer["error"]))
    else:
        yield _make("assistant", text_in(answer, "text") or "", calls=_list_calls(answer))


def _describe_part(part: Object) -> Json:
    """Return a response in the course of a step with the calls that the model makes, or the result of a call."""
    if "result" in part:
        result = object_of(part["result"])
        return _make("error" if "error" in result else "tool", _format(result.get("error", result.get("value"))))
    return _make("assistant", text_in(part, "text") or "", calls=_list_calls(part))


def _list_calls(said: Object) -> list[Json]:
    calls = map(object_of, list_of(said.get("calls")))
    return [{"tool": _format(each.get("tool")), "arguments": _format(each.get("arguments"))} for each in calls]


def _describe_record(record: RequestRecord, *, is_over: bool) -> Iterator[Json]:
    effect, answer = record.effect, object_of(record.answer)
    if isinstance(effect, Ask):
        if effect.system:
            yield _make("system", effect.system)
        yield _make("user", effect.prompt)
        if effect.complaint:
            yield _make("note", f"the answer before was refused: {effect.complaint}")
        yield from (_describe_part(object_of(each)) for _, each in record.parts)
    else:
        yield _make("note", _name(effect))
    if record.end is None:
        yield _make("note", "no answer" if is_over else "not answered yet", pending=not is_over)
    elif isinstance(effect, Ask):
        said = text_in(answer, "text")
        yield _make("assistant", "\n\n".join(filter(None, (said, _format(answer.get("answer"))))))
    elif isinstance(effect, Run | Shell):
        output = "\n".join(filter(None, (text_in(answer, "stdout"), text_in(answer, "stderr"))))
        yield _make("tool", "\n".join(filter(None, (describe_answer(effect, record.answer), output))))
    else:
        yield _make("tool", describe_answer(effect, record.answer))


def _name(effect: Effect) -> str:
    return join(effect.words) if isinstance(effect, Run) else describe_request(effect)


def _make(role: str, text: str, **more: Json) -> Object:
    cut = {} if len(text) <= _LONGEST else {"cut": len(text)}
    return {"role": role, "text": text[:_LONGEST], **cut, **more}


def _format(given: Json) -> str:
    """Return a value for people to read."""
    import json

    return given if isinstance(given, str) else json.dumps(given, indent=2, ensure_ascii=False)
