"""The answers of a scenario for one visit of a node: the turns of a model, and the calls that it makes."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, list_of, object_of, text_in
from stagec.runtime.exchange import Call, Grant, RequestKey
from stagec.runtime.json_values import MISSING, equal
from stagec.world.scenario import Scenario

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
    """Return what people say of a call beside it, or of the same call in a turn that is repeated; else nothing."""
    calls = _list_calls(scenario.conversations.get(key.node), key)
    told = [
        (_is_same(each, effect), name == effect.proposal, each["granted"]) for name, each in calls if "granted" in each
    ]
    meant = [each for each in told if each[0] or each[1]]
    return max(meant, key=lambda each: (each[1], each[0]))[2] is True if meant else None


def find_result(scenario: Scenario, effect: Call, key: RequestKey) -> Json:
    """Return what a scenario says comes of a call, first of this one; nothing where it does not say."""
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
    """Return what stands inside `{value: …}`, and everything else as it is."""
    return object_of(told)["value"] if set(object_of(told)) == _VALUE else told


def select_visit(key: RequestKey, given: Json) -> Json:
    """Return what a list has for the visit, its last where it is shorter, nothing of an empty one; else the value.

    Nothing is `MISSING`.
    """
    if not isinstance(given, list):
        return given
    found: Json = given[min(key.visit, len(given)) - 1] if given else MISSING
    return found
