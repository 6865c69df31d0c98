"""Server-sent events: what has changed of all runs, and everything that is new of one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from shlex import join

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.local.request_descriptions import describe_answer, describe_request
from stagec.runtime.machine import Effect
from stagec.runtime.machine.exchange import Ask, Call, Message, Run, Shell, Turn, visit_of
from stagec.runtime.serve.run_view import RequestRecord, RunView
from stagec.runtime.serve.watch import Watch

_TRANSCRIPTS_MOST = 20
"""Visits that are described at once."""
_LONGEST = 100_000
"""Characters of one text that the page is given; the journal has the others."""


def describe_visits(view: RunView, node: str, before: int | None = None) -> list[Json]:
    """Return the last visits of a node, or the last before one, each with its messages in order."""
    visits: list[Json] = []
    every = list(view.executions.get(node, {}).items())
    known = every if before is None else [each for each in every if visit_of(each[0]) < before]
    for execution, keys in known[-_TRANSCRIPTS_MOST:]:
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
    calls: list[Json] = [
        {"tool": each.tool, "arguments": _format_transcripts(each.arguments)} for each in message.calls
    ]
    return _make(message.role, message.text, calls=calls)


def _describe_turn(record: RequestRecord, *, is_over: bool) -> Iterator[Json]:
    """Yield the answer of the last turn, which no later transcript has."""
    answer = object_of(record.answer)
    if record.end is None:
        yield _make("note", "no answer" if is_over else "the model has not answered yet", pending=not is_over)
    elif "error" in answer:
        yield _make("error", _format_transcripts(answer["error"]))
    else:
        yield _make("assistant", text_in(answer, "text") or "", calls=_list_calls(answer))


def _describe_part(part: Object) -> Json:
    """Return a response in the course of a step with the calls that the model makes, or the result of a call."""
    if "result" in part:
        result = object_of(part["result"])
        return _make(
            "error" if "error" in result else "tool", _format_transcripts(result.get("error", result.get("value")))
        )
    return _make("assistant", text_in(part, "text") or "", calls=_list_calls(part))


def _list_calls(said: Object) -> list[Json]:
    calls = map(object_of, list_of(said.get("calls")))
    return [
        {"tool": _format_transcripts(each.get("tool")), "arguments": _format_transcripts(each.get("arguments"))}
        for each in calls
    ]


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
        yield _make("assistant", "\n\n".join(filter(None, (said, _format_transcripts(answer.get("answer"))))))
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


def _format_transcripts(given: Json) -> str:
    """Return a value for people to read."""
    import json

    return given if isinstance(given, str) else json.dumps(given, indent=2, ensure_ascii=False)


_PAUSE = 0.25
"""Seconds between two messages: people do not read faster, and a page has to draw what it is told."""
_SILENCE = 15.0
"""Seconds between comments; a failed comment shows that a connection is gone."""
_NUMBERS, _DIGITS = 2, 15
_STREAMS_MOST = 100
"""Streams that may be open."""
_ROWS = 500
"""Rows of a journal in one message."""


class StreamRegister:
    """The streams that are open, which all end together."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more."""
        return len(self._open) >= _STREAMS_MOST

    def add(self, stream: Stream) -> None:
        """Take note of a stream that is open."""
        self._open.add(stream)

    def remove(self, stream: Stream) -> None:
        """Forget a stream that is over."""
        self._open.discard(stream)

    def close(self) -> None:
        """End every stream."""
        for stream in self._open:
            stream.close()


class Stream:
    """What one page is told.

    Its place is `boot.version.rows`, so that a page which was away goes on after it, or `from.0.rows` to begin with.
    """

    def __init__(self, watch: Watch, boot: str, run: str | None, place: str) -> None:
        self._watch, self._boot, self._run = watch, boot, run
        self._version = self._rows = self._seen = 0
        self._trouble = ""
        self._wake, self._loop, self._is_closed = asyncio.Event(), asyncio.get_running_loop(), False
        known, *numbers = place.split(".")
        if known in {boot, "from"} and all(map(_is_number, numbers)) and len(numbers) == _NUMBERS:
            self._version, self._rows = map(int, numbers)

    async def list_messages(self, describe: Callable[[str], Json]) -> AsyncIterator[bytes]:
        """Yield messages for as long as somebody listens; `describe` says how a run stands."""
        stop = self._watch.listen(self._call)
        try:
            yield b"retry: 1000\n\n"
            while not self._is_closed:
                self._wake.clear()
                message = await asyncio.to_thread(self._compose, describe)
                if message:
                    yield message
                    await asyncio.sleep(_PAUSE)
                try:
                    await asyncio.wait_for(self._wake.wait(), _SILENCE)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            stop()

    def close(self) -> None:
        """End it after what it is sending."""
        self._is_closed = True
        self._wake.set()

    def _call(self) -> None:
        """Wake this from another thread, unless its loop has just ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake.set)

    def _compose(self, describe: Callable[[str], Json]) -> bytes:
        """Return what is new, each kind in one event."""
        changes = self._watch.list_changes(self._version)
        told: list[bytes] = []
        trouble = self._watch.trouble
        if changes.rows or changes.gone or not self._version or trouble != self._trouble:
            rows: Json = [each.to_json() for each in changes.rows]
            told.append(_format_streams("rows", {"rows": rows, "gone": list(changes.gone), "trouble": trouble}))
            self._trouble = trouble
        self._version = changes.version
        if self._run is not None:
            told.extend(self._compose_run(self._run, describe))
        if told:  # whoever has the last event has all of them
            told[-1] = f"id: {self._boot}.{self._version}.{self._rows}\n".encode() + told[-1]
        return b"".join(told)

    def _compose_run(self, name: str, describe: Callable[[str], Json]) -> list[bytes]:
        try:
            run = self._watch.find(name)
        except UnreachableError:  # the trouble is told with the rows
            return []
        if run is None or run.version == self._seen:
            return []
        self._seen = run.version
        with self._watch.lock:
            view = run.view
            if view is None:
                return [_format_streams("run", describe(name))]
            begins = self._rows > len(view.rows)
            first = 0 if begins else self._rows
            rows: Json = [each.to_json() for each in view.rows[first:][-_ROWS:]]
            self._rows = len(view.rows)
        news: Json = {"events": rows, "count": self._rows, "begins": begins}
        return [_format_streams("run", describe(name)), *([_format_streams("journal", news)] if rows or begins else [])]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _format_streams(event: str, given: Json) -> bytes:
    return f"event: {event}\ndata: {json.dumps(given, separators=(',', ':'))}\n\n".encode()
