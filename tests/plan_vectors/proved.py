"""Work the facts of a plan out again, as § 5 of the page says: slow, by following every way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plan_vectors.references import spelt_out, targets

_MOST = 10**15
_ASKED = {"prompt": 2, "command": 0, "process": 0}

Nodes = Mapping[str, Mapping[str, Any]]


def facts(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that follow from the rest of a plan."""
    nodes: Nodes = spelt_out(plan)["nodes"]
    after = {name: _after(nodes, name) for name in nodes}
    begun = ([entry] if isinstance(entry, str) else [*entry["needs"]] for entry in plan["entries"].values())
    executions = max((sum(_longest(nodes, after, name) for name in names) for names in begun), default=0)
    executions = min(executions, plan["limits"].get("executions", _MOST))
    interrupted = _ending(nodes, "interrupted")
    return {
        **({"interrupted": interrupted} if interrupted else {}),
        "done": _ending(nodes, "done"),
        "failed": _ending(nodes, "failed"),
        "cycles": cycles(nodes),
        "executions": executions,
        "turns": min(_MOST, executions * max((_turns(node) for node in nodes.values()), default=0)),
    }


def cycles(nodes: Nodes) -> list[tuple[str, ...]]:
    """Return the largest sets of nodes that lead back into themselves."""
    after = {name: _after(nodes, name) for name in nodes}
    return sorted({tuple(_together(after, name)) for name in nodes if name in after[name]})


def _next(node: Mapping[str, Any]) -> Iterator[str]:
    return (name for edge in node["edges"] for name in targets(edge["target"]))


def _after(nodes: Nodes, start: str) -> set[str]:
    """Return every node to which some way leads."""
    found: set[str] = set()
    todo = [*_next(nodes[start])]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(_next(nodes[name]))
    return found


def _together(after: Mapping[str, set[str]], name: str) -> list[str]:
    return sorted(other for other in after[name] if name in after[other])


def _ending(nodes: Nodes, outcome: str) -> list[str]:
    stop = {"is": "stop", "outcome": outcome}
    return sorted(name for name, node in nodes.items() if any(edge["target"] == stop for edge in node["edges"]))


def _turns(node: Mapping[str, Any]) -> int:
    act = node["act"]
    return int(_ASKED.get(act["is"], act.get("turns", 0)) * node.get("retry", {}).get("attempts", 1))


def _longest(nodes: Nodes, after: Mapping[str, set[str]], name: str) -> int:
    validation = nodes[name].get("validation")
    if name in after[name] or (validation is not None and validation.get("action", "retry") == "retry"):
        return _MOST
    numbers = (_follow(nodes, after, edge["target"]) for edge in nodes[name]["edges"])
    return min(_MOST, 1 + max(numbers, default=0))


def _follow(nodes: Nodes, after: Mapping[str, set[str]], target: Mapping[str, Any]) -> int:
    """Return the most executions that follow when a target is taken."""
    if target["is"] == "stop":
        return 0
    if target["is"] == "each":
        joined = _longest(nodes, after, target["join"]) if "join" in target else 0
        return joined + int(target["most"]) * sum(_longest(nodes, after, each) for each in target["nodes"])
    way = [_longest(nodes, after, other) for other in targets(target)]
    return sum(way) if target["is"] in {"fork", "chain", "schedule"} else max(way, default=0)
