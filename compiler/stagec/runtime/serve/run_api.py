"""The API that shows runs: JSON, the drawing, and the stream of news."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from secrets import token_hex
from shlex import join
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.version import __version__
from stagec.core.words import visible
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.history import event_to_json
from stagec.runtime.drivers.local.request_descriptions import describe_answer, describe_request
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError
from stagec.runtime.machine import Effect, Started
from stagec.runtime.machine.exchange import Ask, Call, Message, Run, Shell, Turn, visit_of
from stagec.runtime.serve.run_source import PlanShelf, ServeSetup, StartOrder, describe_plan, find_complaints
from stagec.runtime.serve.run_view import RequestRecord, RunView
from stagec.runtime.serve.watch import Watch, WatchedRun
from stagec.runtime.world.questions import is_for_people, question_to_json, read_decision

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
    """Yield the messages; every turn of a model gets the whole transcript, of which only the new part is told."""
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
_STREAMS_ROWS = 500
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
    """The stream of events for one page.

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
        """Return the news, each kind in one event."""
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
            rows: Json = [each.to_json() for each in view.rows[first:][-_STREAMS_ROWS:]]
            self._rows = len(view.rows)
        news: Json = {"events": rows, "count": self._rows, "begins": begins}
        return [_format_streams("run", describe(name)), *([_format_streams("journal", news)] if rows or begins else [])]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _format_streams(event: str, given: Json) -> bytes:
    return f"event: {event}\ndata: {json.dumps(given, separators=(',', ':'))}\n\n".encode()


EXECUTED = frozenset({"running", "waiting"})
"""The statuses of runs that somebody executes."""
_RUN_API_ROWS = 1_000
"""Rows of a journal that are given at once."""


def answer_json(given: Json, status: int = 200) -> Response:
    """Return a response of JSON in ASCII: names may be half characters, which UTF-8 cannot hold."""
    return Response(json.dumps(given, separators=(",", ":")).encode(), status, media_type="application/json")


def answer_error(status: int, sentence: str, **more: Json) -> Response:
    """Return a response that says what is wrong."""
    return answer_json({"error": sentence, **more}, status)


class RunApi:
    """Answers questions about the runs that are watched."""

    def __init__(self, watch: Watch, shelf: PlanShelf, *, can_start: bool) -> None:
        self._watch, self._shelf, self._can_start = watch, shelf, can_start
        self._boot = token_hex(4)
        self.streams = StreamRegister()

    def list_routes(self) -> list[Route]:
        """Return the requests that are answered here."""
        return [
            Route("/api/state", self.show_state),
            Route("/api/stream", self.open_stream),
            Route("/api/runs/{name}", self.show_run),
            Route("/api/runs/{name}/picture", self.show_picture),
            Route("/api/runs/{name}/journal", self.show_journal),
            Route("/api/runs/{name}/event", self.show_event),
            Route("/api/runs/{name}/node", self.show_node),
        ]

    def show_state(self, _request: Request) -> Response:
        """Answer with the plans that can be started and all runs."""
        changes = self._watch.list_changes(0)
        plans = [describe_plan(each) for each in self._shelf.list_plans()] if self._can_start else []
        rows: Json = [each.to_json() for each in changes.rows]
        told: Json = {"version": __version__, "canStart": self._can_start, "plans": plans, "runs": rows}
        return answer_json(told)

    def show_run(self, request: Request) -> Response:
        """Answer with how a run stands, on its graph and besides."""
        name = str(request.path_params["name"])
        return answer_json(self.describe(name)) if self._watch.find(name) is not None else _miss()

    def describe(self, name: str) -> Json:
        """Return how a run stands."""
        run = self._watch.find(name)
        if run is None or run.row is None:
            return None
        with self._watch.lock:
            view, row = run.view, run.row.to_json()
            if view is None:
                return {"row": row, "flow": None, "questions": [], "budget": None, "failure": None, "next": []}
            is_executed = run.row.status in EXECUTED
            return {
                "row": row,
                "names": {"node": view.program.plan.names.node, "outcome": view.program.plan.names.outcome},
                "flow": view.describe_flow(is_executed=is_executed),
                "questions": [question_to_json(each) for each in view.list_questions()],
                "budget": view.describe_budget(run.facts),
                "failure": view.describe_failure(),
                "next": list(self._advise(run, view)),
            }

    def _advise(self, run: WatchedRun, view: RunView) -> Iterator[Json]:
        """Yield the next steps for a run that nobody executes: sentences, each with a command."""
        status, name_command = None if run.row is None else run.row.status, self._watch.source.name_command
        if status == "interrupted":
            yield {"sentence": "The run continues with", "command": name_command(run.name, "resume")}
            if not self._can_start:
                told = "This page resumes runs when its server is started with"
                yield {"sentence": told, "command": "stagec serve --allow-start"}
        elif status in {"failed", "blocked"} and view.state.statuses:
            told = "The run continues from its checkpoints with"
            yield {"sentence": told, "command": name_command(run.name, "resume")}

    def show_picture(self, request: Request) -> Response:
        """Answer with the drawing of the plan of a run."""
        return self._look(request, lambda view: Response(view.drawing.svg, media_type="image/svg+xml"), is_long=True)

    def show_journal(self, request: Request) -> Response:
        """Answer with some rows of a journal: the last ones, or those from a number on."""
        limit = min(_read_number(request, "limit", 200), _RUN_API_ROWS)

        def answer(view: RunView) -> Response:
            begin = _read_number(request, "from", max(0, len(view.rows) - limit))
            rows: Json = [each.to_json() for each in view.rows[begin : begin + limit]]
            return answer_json({"events": rows, "count": len(view.rows)})

        return self._look(request, answer)

    def show_event(self, request: Request) -> Response:
        """Answer with one event as the journal has it, as a text for people."""
        seq = _read_number(request, "seq", 0)

        def answer(view: RunView) -> Response:
            if seq >= len(view.events):
                return answer_error(404, "there is no such event")
            text = json.dumps(event_to_json(view.events[seq]), indent=2, ensure_ascii=False)
            return answer_json({"seq": seq, "text": text})

        return self._look(request, answer)

    def show_node(self, request: Request) -> Response:
        """Answer with what was said in each visit of a node."""
        node, before = request.query_params.get("node", ""), _read_number(request, "before", 0) or None
        return self._look(
            request, lambda view: answer_json({"node": node, "visits": describe_visits(view, node, before)})
        )

    def _look(self, request: Request, answer: Callable[[RunView], Response], *, is_long: bool = False) -> Response:
        """Answer what is asked about a run, which stays as it is meanwhile; what is long looks at no events."""
        run = self._watch.find(str(request.path_params["name"]))
        view = run.view if run is not None else None
        if view is None:
            return _miss() if run is None else answer_error(409, _explain(run))
        if is_long:
            return answer(view)
        with self._watch.lock:
            return answer(view)

    async def open_stream(self, request: Request) -> Response:
        """Answer with everything that changes, until the page goes away."""
        if self.streams.is_full:
            return answer_error(503, "too many pages are open")
        run, place = request.query_params.get("run"), request.headers.get("last-event-id", "")
        stream = Stream(self._watch, self._boot, run, place or f"from.0.{_read_number(request, 'from', 0)}")
        return StreamingResponse(self._send(stream), media_type="text/event-stream")

    async def _send(self, stream: Stream) -> AsyncIterator[bytes]:
        self.streams.add(stream)
        try:
            async for message in stream.list_messages(self.describe):
                yield message
        finally:
            self.streams.remove(stream)


def _miss() -> Response:
    return answer_error(404, "there is no such run")


def _explain(run: WatchedRun) -> str:
    return run.row.reason if run.row is not None and run.row.reason else "the run cannot be read"


def _read_number(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len("1000000000") else usual


_WORDS = {True: "yes", False: "no"}


class RefusalError(Exception):
    """A refused request: a status, a sentence, and further facts."""

    def __init__(self, status: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.more = status, more


class SteeringApi:
    """Changes runs, by what keeps them."""

    def __init__(self, setup: ServeSetup, watch: Watch, shelf: PlanShelf, tell: Callable[[str], None]) -> None:
        self._setup, self._watch, self._shelf, self._tell = setup, watch, shelf, tell
        self._source = watch.source

    def list_routes(self) -> list[Route]:
        """Return the requests that change something."""
        named = {"answer": self._answer, "pause": self._pause, "cancel": self._cancel, "resume": self._resume}
        own = [Route(f"/api/runs/{{name}}/{each}", _wrap(act), methods=["POST"]) for each, act in named.items()]
        return [Route("/api/runs", _wrap(self._start), methods=["POST"]), *own]

    def _answer(self, name: str, given: Object) -> Response:
        """Answer a question; the first answer counts, wherever it comes from."""
        run = self._find(name)
        key, yes = text_in(given, "key"), given.get("answer")
        if key is None or not isinstance(yes, bool):
            raise RefusalError(400, "an answer has a key, and is true or false")
        effect = self._find_request(run, key)
        if effect is None or not is_for_people(effect):
            raise RefusalError(409, "no question waits for this answer")
        self._refuse_idle(run)
        try:
            self._source.answer(name, effect, yes=yes)
        except OtherAnswerError as error:
            first, by = _WORDS.get(bool(read_decision(effect, error.answer))), error.by or "the run itself"
            raise RefusalError(
                409, f"the question is already answered: {first}, by {by}", answer=first, by=by
            ) from error
        self._tell(f"the page has answered {_WORDS[yes]} to run {visible(name)}")
        return answer_json({})

    def _find_request(self, run: WatchedRun, key: str) -> Effect | None:
        with self._watch.lock:
            return None if run.view is None else run.view.state.pending.get(key)

    def _pause(self, name: str, _given: Object) -> Response:
        """Ask the process that executes a run to end."""
        run = self._find(name)
        self._refuse_idle(run)
        self._send(run, MessageKind.PAUSE)
        return answer_json({}, 202)

    def _cancel(self, name: str, _given: Object) -> Response:
        """End a run: by the process that executes it, else by one of its own."""
        run = self._find(name)
        if run.row is not None and run.row.status in EXECUTED:
            self._send(run, MessageKind.CANCEL)
        elif run.row is not None and run.row.status in {"interrupted", "not begun"}:
            self._source.cancel(name)
        else:
            raise RefusalError(409, "the run has ended")
        return answer_json({}, 202)

    def _send(self, run: WatchedRun, kind: MessageKind) -> None:
        if self._source.send(run.name, kind):  # otherwise it is asked to end already
            self._tell(f"the page asks run {visible(run.name)} to {kind}")

    def _resume(self, name: str, _given: Object) -> Response:
        """Start a process that goes on with a run."""
        self._refuse_starting()
        run = self._find(name)
        if run.row is None or run.row.status != "interrupted":
            raise RefusalError(409, "only a run that was interrupted can be resumed")
        self._source.resume(name)
        return answer_json({}, 202)

    def _start(self, _name: str, given: Object) -> Response:
        """Start a run of a plan that somebody has named for that."""
        self._refuse_starting()
        shelved = self._shelf.find(text_in(given, "plan") or "")
        if shelved is None:
            raise RefusalError(404, "there is no such plan: it may have been compiled again")
        name = self._source.name_run(text_in(given, "name") or None, shelved.plan)
        if self._source.holds(name):
            raise RefusalError(409, "there is a run of this name already")
        entry, inputs = text_in(given, "entry"), object_of(given.get("inputs"))
        wrong = find_complaints(shelved.program, Started(name, entry, inputs))
        if wrong:
            sentence = wrong.get("") or "some inputs cannot be used"
            raise RefusalError(422, sentence, fields={name: why for name, why in wrong.items() if name})
        self._source.start(StartOrder(shelved, name, entry, inputs))
        return answer_json({"name": name}, 201)

    def _find(self, name: str) -> WatchedRun:
        run = self._watch.find(name)
        if run is None:
            raise RefusalError(404, "there is no such run")
        return run

    def _refuse_idle(self, run: WatchedRun) -> None:
        if run.row is None or run.row.status not in EXECUTED:
            raise RefusalError(409, "no process executes the run")

    def _refuse_starting(self) -> None:
        if not self._setup.can_start:
            raise RefusalError(403, "this page cannot start runs without --allow-start")


def _wrap(act: Callable[[str, Object], Response]) -> Callable[[Request], Any]:
    """Return a handler of requests that answers refusals."""
    from starlette.concurrency import run_in_threadpool

    async def take(request: Request) -> Response:
        try:
            given = read_json(await request.body())
        except UnreadableError as error:
            return answer_error(400, f"the body cannot be read: {error}")
        try:
            return await run_in_threadpool(act, str(request.path_params.get("name", "")), object_of(given))
        except RefusalError as error:
            return answer_error(error.status, str(error), **error.more)
        except UnreachableError as failure:
            return answer_error(503, str(failure))
        except Failure as failure:
            return answer_error(422, str(failure))

    return take
