"""What is done to runs from the page: answer, pause, cancel, resume, start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stagec.core.failure import Failure
from stagec.core.json import Object, object_of, text_in
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.words import visible
from stagec.drivers.following import UnreachableError
from stagec.drivers.messages import MessageKind, OtherAnswerError
from stagec.runtime import Effect, Started
from stagec.serve.plan_shelf import PlanShelf, find_complaints
from stagec.serve.run_api import EXECUTED, answer_error, answer_json
from stagec.serve.run_source import StartOrder
from stagec.serve.serve_setup import ServeSetup
from stagec.serve.watch import Watch
from stagec.serve.watched_run import WatchedRun
from stagec.world.questions import is_for_people, read_decision

_WORDS = {True: "yes", False: "no"}


class RefusalError(Exception):
    """What cannot be done: a status, and a sentence with whatever is known besides."""

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
    """Return what takes a request, and answers whatever is refused."""
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
