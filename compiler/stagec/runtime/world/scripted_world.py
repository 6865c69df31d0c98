"""A world that answers from a scenario; the same request always gets the same answer.

An answer follows from the request and from nothing else: no counter is kept, so a run that is resumed goes on as it
would have gone on, and may go on in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from shlex import join
from typing import Any, Protocol, assert_never

from stagec.core.failure import Failure
from stagec.core.json import MISSING, Json, Object, equal, list_of, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Close,
    Comment,
    Confirm,
    Dispatch,
    Effect,
    Execute,
    Grant,
    Hook,
    Interrupt,
    Judge,
    OrchestratorRequest,
    Preserve,
    Publish,
    Relabel,
    RequestKey,
    Run,
    Shell,
    StageRequest,
    Turn,
    Wait,
    read_key,
)
from stagec.runtime.world.scenario import MARKED_ANSWERS, PassedDeadlineError, Scenario, find_told

_EMPTY = sha256().hexdigest()
"""The digest of files that nobody has written."""


def simulate_stage(effect: StageRequest, told: Object) -> Json:
    """Return the answer to a request; by default the stage succeeds and leaves empty files."""
    match effect:
        case Execute():
            return _imagine_execution(effect, told)
        case Publish():
            if "unpublished" in told:
                return {"error": told["unpublished"]}
            return {"checkpoint": f"ckpt-{effect.node}" if effect.checkpoint else None}
        case Preserve():
            return {"checkpoint": None, "valid": told.get("valid", True)}
        case Interrupt():
            return {}


def _imagine_execution(effect: Execute, told: Object) -> Json:
    missing = list_of(told.get("missing"))
    left = {name: path for name, path in effect.outputs.items() if name not in missing}
    return {
        "exit": told.get("exit", None if "interrupted" in told else 0),
        "interrupted": told.get("interrupted"),
        "status": told.get("status"),
        "missing": missing,
        "changed": told.get("changed", []),
        "outputs": {name: {"path": path, "sha256": _EMPTY, "sizeBytes": 0} for name, path in left.items()},
        "error": told.get("error"),
        "seconds": told.get("seconds", 0),
    }


def has_agent_answer(scenario: Scenario, effect: OrchestratorRequest) -> bool:
    """Tell whether a scenario says something about a request."""
    if isinstance(effect, Dispatch):
        return isinstance(scenario.agents.get(effect.agent), list)
    return _name(effect) in scenario.issue


def answer_for_agent(scenario: Scenario, effect: OrchestratorRequest) -> Json:
    """Return how a scenario says that an agent ends, or that something cannot be written down; else nothing."""
    if isinstance(effect, Dispatch):
        return _end_agent(object_of(find_told(scenario, effect.agent, effect.run)))
    told = scenario.issue.get(_name(effect))
    if isinstance(told, dict):
        told = object_of(told.get("at")).get(read_key(effect.key).node)
    if isinstance(told, list):
        told = told[min(read_key(effect.key).visit, len(told)) - 1] if told else None
    return {"error": told} if isinstance(told, str) else {}


def _name(effect: OrchestratorRequest) -> str:
    return type(effect).__name__.lower()


def _end_agent(told: Mapping[str, Json]) -> Json:
    """Return how a scenario says that an agent ends; nothing where its plan is run."""
    answer = dict(object_of(told.get("answer")))
    if "verdict" in told:
        answer["verdict"] = told["verdict"]
    failed = {"failed": told["failed"]} if "failed" in told else {}
    return {"answer": answer, **failed} if answer or "answer" in told or "failed" in told else {}


_VALUE, _ERROR = {"value"}, {"error"}


def list_turns(given: Json, key: RequestKey) -> list[Json]:
    """Return the turns of a visit: those that are listed for it, or those of every visit."""
    listed = list_of(given)
    if any(isinstance(each, list) for each in listed):
        of_visit = select_visit(key, listed)
        return of_visit if isinstance(of_visit, list) else [of_visit]
    return listed or [{}]


def _list_calls(given: Json, key: RequestKey) -> list[tuple[str, Mapping[str, Json]]]:
    """Return the calls of a visit, each with its id."""
    turns = enumerate(object_of(each) for each in list_turns(given, key))
    calls = ((said, at, object_of(each)) for said, turn in turns for at, each in enumerate(list_of(turn.get("calls"))))
    return [(text_in(each, "id") or f"{said}.{at}", each) for said, at, each in calls]


def find_grant(scenario: Scenario, effect: Grant, key: RequestKey) -> bool | None:
    """Return the answer of people beside a call, or to the same call in a repeated turn; else None."""
    calls = _list_calls(scenario.conversations.get(key.node), key)
    told = [
        (_is_same(each, effect), name == effect.proposal, each["granted"]) for name, each in calls if "granted" in each
    ]
    meant = [each for each in told if each[0] or each[1]]
    return max(meant, key=lambda each: (each[1], each[0]))[2] is True if meant else None


def find_result(scenario: Scenario, effect: Call, key: RequestKey) -> Json:
    """Return the result of a call in a scenario, first of this one; None if there is none."""
    calls = _list_calls(scenario.conversations.get(key.node), key)
    same = (
        (name, each)
        for name, each in calls
        if each.get("tool") == effect.tool and ("result" in each or "error" in each)
    )
    ranked = sorted(same, key=lambda named: named[0] != effect.id)
    for name, each in ranked:
        if name == effect.id or _is_same(each, effect):
            return {"error": each["error"]} if "error" in each else {"value": each["result"]}
    told = select_visit(key, scenario.tools[effect.tool]) if effect.tool in scenario.tools else MISSING
    if told is MISSING:
        return None
    return {"error": object_of(told)["error"]} if set(object_of(told)) == _ERROR else {"value": unwrap(told)}


def _is_same(call: Mapping[str, Json], effect: Call | Grant) -> bool:
    return call.get("tool") == effect.tool and equal(call.get("arguments") or {}, effect.arguments)


def has_tool(scenario: Scenario, node: str, tool: str) -> bool:
    """Tell whether a scenario says what comes of any call of a tool by a node."""
    if tool in scenario.tools:
        return True
    turns = [each for listed in list_of(scenario.conversations.get(node)) for each in (list_of(listed) or [listed])]
    calls = [object_of(call) for turn in turns for call in list_of(object_of(turn).get("calls"))]
    return any(each.get("tool") == tool and not {"result", "error", "granted"}.isdisjoint(each) for each in calls)


def unwrap(told: Json) -> Json:
    """Return the value inside `{value: …}`, and everything else as it is."""
    return object_of(told)["value"] if set(object_of(told)) == _VALUE else told


def select_visit(key: RequestKey, given: Json) -> Json:
    """Return the element of a list for the visit, the last of a shorter list, none of an empty one; else the value.

    Nothing is `MISSING`.
    """
    if not isinstance(given, list):
        return given
    found: Json = given[min(key.visit, len(given)) - 1] if given else MISSING
    return found


_FAILED, _CHANGED = {"failed"}, {"value", "ctx"}
_MEANT = {"say": "text", "failed": "error"}


class Beyond(Protocol):
    """The part that answers the requests that a scenario leaves to the world: commands, stages, callables and waits."""

    def answer(self, effect: Run | Shell | Hook | Wait | StageRequest) -> Json:
        """Return the answer to a request."""

    def overlaps(self, effect: Run | Shell | Hook | Wait | StageRequest, /) -> bool:
        """Tell whether a request may be under way beside others."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""


_DEADLINES = ("stage", _OF_RUN := "run")
"""The subjects of deadlines that may pass in place of a turn."""
_OF_MODELS = {"answers", "conversations"}
"""Members of a scenario that answer in the place of models."""


class ScriptedWorld:
    """Answers requests by a scenario; raises `Failure` for a request that it has no answer to.

    It keeps nothing between two requests, so it may be asked in several threads. What the scenario answers at once does
    not overlap with anything: runs by a scenario alone have one order.
    """

    def __init__(self, scenario: Scenario, beyond: Beyond) -> None:
        self._scenario = scenario
        self._beyond = beyond

    def takes(self, effect: Effect) -> bool:
        """Tell whether the scenario itself says something about a request."""
        return _TAKEN[type(effect)](self._scenario, effect, read_key(effect.key))

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        match effect:
            case Ask() | Turn():
                self._take_time(effect)
                return self._ask(effect) if isinstance(effect, Ask) else self._turn(effect)
            case Call():
                return self._answer_call(effect)
            case Grant() | Judge() | Confirm():
                return self._decide(effect)
            case Hook() | Run() | Shell() | Wait():
                return self._worldly(effect)
            case Execute() | Publish() | Preserve() | Interrupt():
                return self._answer_for_stage(effect)
            case Dispatch() | Relabel() | Comment() | Close():
                return answer_for_agent(self._scenario, effect)
            case _:
                assert_never(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request takes time, and may be under way beside others."""
        match effect:
            case Ask() | Turn():
                return bool(self._scenario.pace) and not self._scenario.skips_waits
            case Wait():
                return not self._scenario.skips_waits and self._beyond.overlaps(effect)
            case Run() | Shell():
                return _line(effect) not in self._scenario.commands and self._beyond.overlaps(effect)
            case Execute() | Publish() | Preserve() | Interrupt():
                return self._scenario.processes is None and self._beyond.overlaps(effect)
            case _:
                return False

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""
        self._beyond.cancel(key)

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""

    def _take_time(self, effect: Ask | Turn) -> None:
        """Let the time pass that an answer of a model takes, if it takes any."""
        if self._scenario.pace:
            self._worldly(Wait(effect.key, self._scenario.pace))

    def _ask(self, effect: Ask) -> Json:
        key = read_key(effect.key)
        told = _of_attempt(key, self._of_node(key, "answers", self._scenario.answers))
        if told is MISSING:
            raise self._lacks(key, "answers", f"an answer to 'answers.{key.node}'")
        marked = object_of(told)
        if frozenset(marked) not in MARKED_ANSWERS:
            return {"answer": told}
        return {_MEANT.get(name, name): each for name, each in marked.items()}

    def _answer_for_stage(self, effect: StageRequest) -> Json:
        """Return the scenario's result of a stage; a stage that it does not name succeeds."""
        if self._scenario.processes is None:
            return self._beyond.answer(effect)
        key = read_key(effect.key)
        return simulate_stage(effect, object_of(_of_attempt(key, self._scenario.processes.get(key.node))))

    def _find_turn(self, effect: Turn) -> Object:
        """Return the entry of the scenario for a turn, which follows so many turns before it."""
        key = read_key(effect.key)
        turns = list_turns(self._of_node(key, "conversations", self._scenario.conversations), key)
        return object_of(turns[min(_count_said(effect), len(turns) - 1)])

    def _turn(self, effect: Turn) -> Json:
        told, said = self._find_turn(effect), _count_said(effect)
        if told.get("deadline") in _DEADLINES:
            raise PassedDeadlineError(effect.key, of_run=told["deadline"] == _OF_RUN)
        if "failed" in told:
            return {"text": text_in(told, "say") or "", "error": told["failed"]}
        calls = [_call(each, f"{said}.{index}") for index, each in enumerate(list_of(told.get("calls")))]
        if "complete" in told:
            calls.append({"id": f"{said}.complete", "tool": effect.completion, "arguments": told["complete"]})
        return {"text": text_in(told, "say") or "", "calls": calls}

    def _answer_call(self, effect: Call) -> Json:
        key, tools = read_key(effect.key), self._scenario.tools
        found = find_result(self._scenario, effect, key)
        if found is None:
            also = "or 'result' beside the call in its conversation"
            raise self._lacks(key, "tools", f"{quote(effect.tool)} to 'tools'{_near(effect.tool, tools)}, {also}")
        return found

    def _decide(self, effect: Grant | Judge | Confirm) -> Json:
        match effect:
            case Grant():
                beside = find_grant(self._scenario, effect, read_key(effect.key))
                return {"granted": self._is_granted(effect.tool) if beside is None else beside}
            case Judge():
                return {"done": self._find_decision(effect, "judge", self._scenario.judge)}
            case Confirm():
                return {"yes": self._find_decision(effect, "confirm", self._scenario.confirm)}

    def _find_decision(self, effect: Judge | Confirm, member: str, given: Json) -> bool:
        key = read_key(effect.key)
        if isinstance(given, dict):
            given = self._of_node(key, member, given)
        said = select_visit(key, given)
        if not isinstance(said, bool):
            raise self._lacks(key, member, f"{member!r}: true or false, or one of them for each visit")
        return said

    def _worldly(self, effect: Hook | Run | Shell | Wait) -> Json:
        """Return the scenario's result of a command line, a callable or a wait; else the real one."""
        key, told = read_key(effect.key), MISSING
        match effect:
            case Wait():
                return {} if self._scenario.skips_waits else self._beyond.answer(effect)
            case Hook():
                told = select_visit(key, _at(key, self._scenario.hooks.get(effect.call, MISSING)))
                return self._beyond.answer(effect) if told is MISSING else _return(told)
            case Run() | Shell():
                told = select_visit(key, _at(key, self._scenario.commands.get(_line(effect), MISSING)))
                return self._beyond.answer(effect) if told is MISSING else _output(object_of(told))

    def _of_node(self, key: RequestKey, member: str, given: Mapping[str, Json]) -> Json:
        if key.node not in given:
            near = _near(key.node, given)
            raise self._lacks(key, member, f"{quote(key.node)} to {member!r}{near}")
        return given[key.node]

    def _lacks(self, key: RequestKey, member: str, what: str) -> Failure:
        source = self._scenario.source
        if source is None:
            told = f"a scenario gives it under {member!r}: --scenario FILE"
            model = "; or a model does: --model PROVIDER:NAME" if member in _OF_MODELS else ""
            return Failure(f"nothing answers the request {quote(str(key))}: {told}{model}")
        return Failure(f"{quote(source)} has no answer to the request {quote(str(key))}: add {what}")

    def _is_granted(self, tool: str) -> bool:
        """Tell whether people grant a call; what nobody answers is refused."""
        if isinstance(self._scenario.grants, list):
            return tool in self._scenario.grants
        return (
            object_of(self._scenario.grants).get(tool) is True
            if isinstance(self._scenario.grants, dict)
            else self._scenario.grants is True
        )


def _count_said(effect: Turn) -> int:
    return sum(each.role == "assistant" for each in effect.transcript)


def _line(effect: Run | Shell) -> str:
    """Return a command line as scenarios write it."""
    return join(effect.words) if isinstance(effect, Run) else effect.command


def _near(name: str, known: Mapping[str, Json]) -> str:
    return hint(name, NameIndex(known)).replace("; did you mean", ", where there is").rstrip("?") if known else ""


def _call(given: Json, name: str) -> dict[str, Json]:
    told = object_of(given)
    made = {"id": text_in(told, "id") or name, "tool": text_in(told, "tool") or ""}
    return {**made, "arguments": told.get("arguments", {})}


def _return(told: Json) -> Json:
    """Return the answer of a callable: its value, with the changed context if the scenario gives one, or its error."""
    marked = object_of(told)
    if set(marked) == _FAILED:
        return {"error": marked["failed"]}
    return dict(marked) if set(marked) == _CHANGED else {"value": unwrap(told)}


def _at(key: RequestKey, told: Json) -> Json:
    """Return the entry for a node if entries differ by node: `{at: {NODE: …}}`; `MISSING` for other nodes."""
    found: Json = object_of(object_of(told)["at"]).get(key.node, MISSING) if set(object_of(told)) == {"at"} else told
    return found


def _output(told: Mapping[str, Json]) -> Json:
    return {"exit": told.get("exit", 0), "stdout": told.get("stdout", ""), "stderr": told.get("stderr", "")}


def _of_attempt(key: RequestKey, given: Json) -> Json:
    """Return the entry of an attempt: that of the visit, and inside it that of the attempt if attempts differ."""
    told = select_visit(key, given)
    attempts = object_of(told).get("attempts") if set(object_of(told)) == {"attempts"} else None
    if isinstance(attempts, list):
        told = attempts[min(key.attempt, len(attempts)) - 1] if attempts else MISSING
    return told


_TAKEN: Mapping[type[Effect], Callable[[Scenario, Any, RequestKey], bool]] = {
    Ask: lambda scenario, _effect, key: key.node in scenario.answers,
    Turn: lambda scenario, _effect, key: key.node in scenario.conversations,
    Call: lambda scenario, effect, key: find_result(scenario, effect, key) is not None,
    Grant: lambda scenario, effect, key: scenario.grants is not None or find_grant(scenario, effect, key) is not None,
    Judge: lambda scenario, _effect, _key: scenario.judge is not None,
    Confirm: lambda scenario, _effect, _key: scenario.confirm is not None,
    Hook: lambda scenario, effect, _key: effect.call in scenario.hooks,
    Run: lambda scenario, effect, _key: _line(effect) in scenario.commands,
    Shell: lambda scenario, effect, _key: _line(effect) in scenario.commands,
    Wait: lambda scenario, _effect, _key: scenario.skips_waits,
    **dict.fromkeys(
        (Dispatch, Relabel, Comment, Close), lambda scenario, effect, _key: has_agent_answer(scenario, effect)
    ),
    **dict.fromkeys(
        (Execute, Publish, Preserve, Interrupt), lambda scenario, _effect, _key: scenario.processes is not None
    ),
}
"""Whether a scenario says something about a request, by its kind."""
