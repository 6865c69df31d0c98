"""The tool calls of models in steps: decided, asked about, and carried out while the step waits for its answer."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Protocol

from stagec.core.canonical import as_text
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import find_unreadable
from stagec.core.words import quote
from stagec.runtime.acts.authority import APPROVE, ASK, DENY, digest_of
from stagec.runtime.exchange import Ask, Call, Effect, Grant, Turn, execution_of, read_key, request_key
from stagec.runtime.json_values import normalise
from stagec.runtime.readable_answers import read_answer
from stagec.world.request_json import ToolDefinition
from stagec.world.tools.policy import decide_for, explain_absence
from stagec.world.tools.toolbox import Toolbox, describe_error

_SUMMARY = 200
"""Characters of the arguments of a call that its request has as a text."""
_PLACES = 10**16
"""Where the keys of calls in the course of a request begin; the machine never counts so far."""


class Answering(Protocol):
    """What answers calls and grants: the same parts that answer those of stages."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether there is somebody who answers a request."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""


class StepCalls:
    """Defines the tools of steps and carries their calls out, by the policy for them."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._world: Answering = toolbox
        self._asking = Lock()
        self._lock = Lock()
        self._under_way: dict[str, str] = {}
        self._cancelled: set[str] = set()

    def join(self, world: Answering) -> None:
        """Have calls and grants answered by a whole world instead of the toolbox alone."""
        self._world = world

    def define(self, request: Ask | Turn) -> tuple[ToolDefinition, ...]:
        """Return the tools that a model is told of; a step is not told of those that are denied to it anyway."""
        if isinstance(request, Turn):
            return self._toolbox.define(request.tools)
        names = self._toolbox.names if request.tools is None else request.tools
        return tuple(each for each in self._toolbox.define(names) if decide_for(request, each).kind != DENY)

    def begin(self, step: Ask) -> Callable[[str, str, Json, Object | None], Object]:
        """Return what carries a call of a step out: given its id, its tool and its arguments, it returns a result.

        A result that is known already is returned as it is; the call counts for the keys of those that follow.
        """
        made: dict[str, int] = {}
        key = read_key(step.key)

        def carry_out(proposal: str, tool: str, arguments: Json, known: Object | None = None) -> Object:
            found = find_unreadable(arguments)
            if found is not None:
                return describe_error("InvalidArguments", f"the arguments cannot be read: {found}")
            arguments = normalise(arguments)
            digest = digest_of([tool, arguments]) or ""
            made[digest] = made.get(digest, 0) + 1
            if known is not None:
                return known
            call = Call(_make_key(step.key, digest, made[digest]), tool, arguments, proposal)
            summary = as_text(arguments)[:_SUMMARY]
            grant = Grant(call.key, execution_of(step.key), key.attempt, proposal, tool, digest, summary, arguments)
            return self._refuse(step, call, grant) or self._answer(step.key, call)

        return carry_out

    def _refuse(self, step: Ask, call: Call, grant: Grant) -> Object | None:
        """Return why a call is not made; nothing when it may be made."""
        allowed = self._toolbox.names if step.tools is None else step.tools
        missing = explain_absence(call.tool, allowed, is_there=self._world.takes(call))
        if missing is not None or not self._world.takes(call):
            return describe_error("Unavailable", missing or f"nothing executes the tool {quote(call.tool)} here")
        (tool,) = self._toolbox.define((call.tool,))
        verdict = decide_for(step, tool)
        may = verdict.kind == APPROVE or (verdict.kind == ASK and self._ask_people(step.key, grant))
        return None if may else describe_error("Denied", f"{call.tool} may not be called: {verdict.reason}")

    def _ask_people(self, request: str, grant: Grant) -> bool:
        """Return what people say of a call; nobody is asked two questions at the same time."""
        if not self._world.takes(grant):
            return False
        with self._asking:
            return object_of(self._await(request, grant)).get("granted") is True

    def _await(self, request: str, effect: Call | Grant) -> Json:
        """Return the answer of the world, which is cancelled with the step; nothing if that was cancelled before."""
        with self._lock:
            if request in self._cancelled:
                return None
            self._under_way[request] = effect.key
        try:
            return read_answer(effect, self._world.answer(effect))
        finally:
            with self._lock:
                self._under_way.pop(request, None)

    def _answer(self, request: str, call: Call) -> Object:
        told = self._await(request, call)
        if not isinstance(told, dict):
            return describe_error("Cancelled", "the step was cancelled")
        return told if "value" in told or text_in(object_of(told.get("error")), "message") else {"value": told}

    def cancel(self, key: str) -> None:
        """End the call of a step that is under way, or the question about it, and begin no other."""
        with self._lock:
            self._cancelled.add(key)
            call = self._under_way.get(key)
        if call is not None:
            self._world.cancel(call)


def is_step_call(key: str) -> bool:
    """Tell whether a call is made in the course of a step, by its key."""
    return read_key(key).index >= _PLACES


def _make_key(request: str, digest: str, number: int) -> str:
    """Return the key of a call, which no other call has: the same when a repeated step calls the same again."""
    key = read_key(request)
    place = int(sha256(f"{digest} {number}".encode()).hexdigest(), 16) % _PLACES
    return request_key(execution_of(request), key.attempt, (key.index + 1) * _PLACES + place)
