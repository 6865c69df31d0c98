"""What is answered about runs that are read: JSON, the picture, and the stream of what is new."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from stagec.core.json import Json
from stagec.core.version import __version__
from stagec.drivers.history import event_to_json
from stagec.serve.plan_shelf import PlanShelf, describe_plan
from stagec.serve.run_view import RunView
from stagec.serve.streams import Stream, StreamRegister
from stagec.serve.transcripts import describe_visits
from stagec.serve.watch import Watch
from stagec.serve.watched_run import WatchedRun
from stagec.world.questions import question_to_json

EXECUTED = frozenset({"running", "waiting"})
"""The statuses of runs that somebody executes."""
_ROWS = 1_000
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
        """Yield what people can do next with a run that nobody executes: sentences, each with a command."""
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
        limit = min(_read_number(request, "limit", 200), _ROWS)

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
