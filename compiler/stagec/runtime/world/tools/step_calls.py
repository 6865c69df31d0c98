"""The tool calls of models in steps: decided, asked about, and carried out while the step waits for its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from hashlib import sha256
from threading import Lock
from typing import Protocol

from stagec.core.canonical import as_text
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import find_unreadable
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import listing as list_names
from stagec.core.words import quote
from stagec.ir.plan.act import Converse
from stagec.ir.plan.document import Plan, is_boundary_tool
from stagec.runtime.machine.acts.conversation_state import APPROVE, ASK, DENY, digest_of
from stagec.runtime.machine.answer_schemas import read_answer
from stagec.runtime.machine.exchange import Ask, Call, Effect, Grant, Turn, execution_of, read_key, request_key
from stagec.runtime.machine.json_values import normalise
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.toolbox import Toolbox, describe_error


class ToolConduct(StrEnum):
    """The known effects of calling a tool."""

    READS = "reads"
    EDITS = "edits files"
    CHANGES = "changes something"
    UNKNOWN = "has unknown effects"


class Listing(StrEnum):
    """Whether a tool is on the list of a step, if the step has one."""

    LISTED = "listed"
    UNLISTED = "not listed"
    OPEN = "no list"


@value
class CallVerdict:
    """The decision about a call (`approve`, `ask` or `deny`), and the reason."""

    kind: str
    reason: str


_DEFAULT, _ACCEPT, _PLAN, _BYPASS = "default", "acceptEdits", "plan", "bypassPermissions"
_EDITING = frozenset(name for each in ("Edit", "Write", "NotebookEdit") for name in (each, each.lower()))
_ORDER = (ToolConduct.READS, ToolConduct.EDITS, ToolConduct.CHANGES, ToolConduct.UNKNOWN)
_CAUTIOUS = (APPROVE, DENY, DENY, ASK)
_KINDS: Mapping[Listing, Mapping[str, tuple[str, str, str, str]]] = {
    Listing.LISTED: {
        _DEFAULT: (APPROVE, APPROVE, APPROVE, APPROVE),
        _ACCEPT: (APPROVE, APPROVE, APPROVE, APPROVE),
        _PLAN: _CAUTIOUS,
        _BYPASS: (APPROVE, APPROVE, APPROVE, APPROVE),
    },
    Listing.UNLISTED: {
        _DEFAULT: (ASK, ASK, ASK, ASK),
        _ACCEPT: (ASK, ASK, ASK, ASK),
        _PLAN: (ASK, DENY, DENY, ASK),
        _BYPASS: (DENY, DENY, DENY, DENY),
    },
    Listing.OPEN: {
        _DEFAULT: (APPROVE, ASK, ASK, ASK),
        _ACCEPT: (APPROVE, APPROVE, ASK, ASK),
        _PLAN: _CAUTIOUS,
        _BYPASS: (APPROVE, APPROVE, APPROVE, APPROVE),
    },
}
"""The decision about a call, by its list, by the mode of its step, and by the tool's effects, in the order above."""


def classify(tool: ToolDefinition) -> ToolConduct:
    """Return the effects of calling a tool."""
    if tool.effects == "mutating":
        return ToolConduct.EDITS if tool.name in _EDITING and tool.origin != "mcp" else ToolConduct.CHANGES
    return ToolConduct.READS if tool.effects == "read" else ToolConduct.UNKNOWN


def decide(mode: str | None, listing: Listing, tool: ToolDefinition) -> CallVerdict:
    """Decide about a call of a step in a permission mode; an unknown mode is as careful as none."""
    known = mode if mode in _KINDS[listing] else _DEFAULT
    if listing is not Listing.LISTED and is_boundary_tool(tool.name):
        return CallVerdict(DENY, f"only a closing step whose list has {quote(tool.name)} may call it")
    conduct = classify(tool)
    kind = _KINDS[listing][known or _DEFAULT][_ORDER.index(conduct)]
    on = {Listing.LISTED: "is on the list", Listing.UNLISTED: "is not on the list", Listing.OPEN: "has no list"}
    who = "its step" if listing is Listing.OPEN else quote(tool.name)
    return CallVerdict(kind, f"{who} {on[listing]}, the tool {conduct.value}, and the permission mode is {known}")


def decide_for(step: Ask, tool: ToolDefinition) -> CallVerdict:
    """Decide about a call in the course of a step."""
    if step.tools is None:
        return decide(step.permission, Listing.OPEN, tool)
    return decide(step.permission, Listing.LISTED if tool.name in step.tools else Listing.UNLISTED, tool)


_SHOWN = 10
"""Names of tools that a model is told at once."""


def explain_absence(tool: str, allowed: Iterable[str], *, is_there: bool) -> str | None:
    """Return that a call means no tool, with the nearest ones that are allowed; None for a tool that may be meant.

    A name that differs from an allowed tool only in case means that tool, even if another tool has exactly this name.
    """
    known = tuple(allowed)
    if tool in known or (is_there and all(each.lower() != tool.lower() for each in known)):
        return None
    others = f" The tools that may be called here are {list_names(known[:_SHOWN])}" if known else ""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    near = hint(tool, NameIndex(known)) or ("." if known else ": none may be called here")
    return f"there is no tool {quote(tool)}{near}{others}{more}"


_SUMMARY = 200
"""Characters of the arguments of a call that its request has as a text."""
_PLACES = 10**16
"""The first number of calls in the course of a request; the machine never counts so far."""


class Answering(Protocol):
    """The part that answers calls and grants, the same as for stages."""

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
        """Return the executor of a step's calls: given the id, the tool and the arguments, it returns a result.

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
        """Return why a call is not made; None if it may be made."""
        allowed = self._toolbox.names if step.tools is None else step.tools
        missing = explain_absence(call.tool, allowed, is_there=self._world.takes(call))
        if missing is not None or not self._world.takes(call):
            return describe_error("Unavailable", missing or f"nothing executes the tool {quote(call.tool)} here")
        (tool,) = self._toolbox.define((call.tool,))
        verdict = decide_for(step, tool)
        may = verdict.kind == APPROVE or (verdict.kind == ASK and self._ask_people(step.key, grant))
        return None if may else describe_error("Denied", f"{call.tool} may not be called: {verdict.reason}")

    def _ask_people(self, request: str, grant: Grant) -> bool:
        """Return the answer of people about a call; nobody is asked two questions at the same time."""
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


class MissingTools:
    """The last part of a world in which models answer; calls of steps are refused before anybody is asked."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether a stage calls a tool."""
        return isinstance(effect, Call) and not is_step_call(effect.key)

    def answer(self, effect: Effect) -> Json:
        """Return that there is no such tool."""
        tool = effect.tool if isinstance(effect, Call) else effect.key
        return describe_error("Unavailable", f"nothing executes the tool {quote(tool)} here")

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that calls may be under way beside each other."""
        return True

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def close(self) -> None:
        """Hold nothing open."""


class UnknownTools:
    """Refuses calls of stages that mean no tool, so that no person is asked about them.

    `is_there` tells of a node and a name whether anybody has the tool.
    """

    def __init__(self, plan: Plan, is_there: Callable[[str, str], bool]) -> None:
        self._plan, self._is_there = plan, is_there

    def takes(self, effect: Effect) -> bool:
        """Tell whether somebody would be asked about a tool that is not there."""
        return isinstance(effect, Grant) and self._explain(effect) is not None

    def answer(self, effect: Effect) -> Json:
        """Return that the call is refused, and why."""
        return {"granted": False, "reason": self._explain(effect) if isinstance(effect, Grant) else None}

    def _explain(self, effect: Grant) -> str | None:
        node = read_key(effect.key).node
        act = self._plan.nodes[node].act if node in self._plan.nodes else None
        allowed = act.tools if isinstance(act, Converse) else ()
        is_there = effect.tool in self._plan.tools or self._is_there(node, effect.tool)
        return explain_absence(effect.tool, allowed, is_there=is_there) if isinstance(act, Converse) else None

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that other requests may be under way beside one."""
        return True

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def close(self) -> None:
        """Hold nothing open."""
