"""Say why a plan of the right form is not sound, as § 2.4 of the page says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from plan_vectors.proved import cycles
from plan_vectors.references import spelt_out
from plan_vectors.scheduling import unsound_schedules

Json = Mapping[str, Any]
Scope = Mapping[str, Collection[str] | None]
"""The names in which a template is evaluated, with the names in them where these are known."""

_GATES = {"prompt": {"intent", "judge"}, "converse": {"verdict"}, "command": {"exit"}, "process": {"stage"}}
_DEEPEST = 100
_OUTCOMES = {
    "judge": {"verdict", "next"},
    "exit": {"closing", "repeat"},
    "stage": {"success", "failure", "interrupted"},
}


def unsound(plan: Json) -> Iterator[str]:
    """Yield a sentence for each way in which a plan is not sound."""
    nodes = spelt_out(plan)["nodes"]
    for name, node in nodes.items():
        yield from (f"{name}: {fault}" for fault in (*_gate(node), *_edges(node), *_act(node), *_validation(node)))
        yield from (f"{name}: a template is too deep" for each in _templates(node) if _depth(each) > _DEEPEST)
    yield from unsound_schedules(plan)
    if "system" in plan:
        yield from _strays(plan["system"]["prompt"], _variables(plan["system"]))
    if "executions" not in plan["limits"] and cycles(nodes):
        yield "a cycle has no bound"
    for name, tool in plan.get("tools", {}).items():
        if (tool["origin"] == "mcp") != ("server" in tool):
            yield f"{name} has another origin than its server"
    yield from (
        f"{name} is nowhere" for name, each in plan.get("servers", {}).items() if not {"command", "url"} & {*each}
    )


def _templates(node: Json) -> Iterator[Any]:
    act = node["act"]
    yield act.get("prompt", ())
    yield from act["words"] if act["is"] == "command" else ()
    yield from node.get("validation", {}).get("prompts", {}).values()


def _depth(template: Any) -> int:
    inner = [[*piece.get("body", ()), *piece.get("then", ()), *piece.get("otherwise", ())] for piece in template]
    nested = [_depth(each) for each, piece in zip(inner, template, strict=True) if piece["is"] in {"each", "choice"}]
    return 1 + max(nested) if nested else 0


def _gate(node: Json) -> Iterator[str]:
    gate = node["gate"]
    if gate["is"] not in _GATES[node["act"]["is"]]:
        yield "the gate cannot judge the act"
    if gate["is"] == "intent" and not gate.get("failFast", True) and gate.get("fallback") not in gate["intents"]:
        yield "there is nothing to fall back on"


def _edges(node: Json) -> Iterator[str]:
    gate = node["gate"]
    for outcome in _outcomes(gate) - {edge["on"] for edge in node["edges"]} - {"abort"}:
        yield f"there is no edge for {outcome}"
    if any(edge.get("wait") and edge["target"]["is"] == "stop" for edge in node["edges"]):
        yield "a wait comes before an end"
    for target in (edge["target"] for edge in node["edges"]):
        if target["is"] == "named" and "target" not in gate:
            yield "nothing names the node"
        if target["is"] in {"fork", "each"} and len({*target["nodes"]} - {target.get("join")}) < len(target["nodes"]):
            yield "a fork has a node twice"


def _outcomes(gate: Json) -> set[str]:
    if gate["is"] == "verdict":
        return {"fail"} if gate.get("checks") else {"ok", "fail"}
    return _OUTCOMES.get(gate["is"], {*gate.get("intents", ())})


def _act(node: Json) -> Iterator[str]:
    act = node["act"]
    yield from (f"{name} is no variable" for name in act.get("needed", ()) if name not in act.get("variables", ()))
    if act["is"] == "command":
        for word in act["words"]:
            yield from _strays(word, {"input": None})
    else:
        yield from _strays(act.get("prompt", ()), _variables(act) if act["is"] == "prompt" else {"ctx": None})
    for repeat in act.get("repeats", ()):
        needed = (name for name in act.get("needed", ()) if name not in repeat.get("variables", ()))
        yield from (f"{name} is no variable of a repeat" for name in needed)
        yield from _strays(repeat.get("prompt", ()), _variables(repeat))


def _validation(node: Json) -> Iterator[str]:
    for prompt in node.get("validation", {}).get("prompts", {}).values():
        yield from _strays(prompt, {"failure": None})


def _variables(holder: Json) -> Scope:
    return {"variable": holder.get("variables", {}), "stdin": None}


def _strays(template: Any, scope: Scope) -> Iterator[str]:
    for piece in template:
        if piece["is"] != "text" and not _leads(piece["path"], scope):
            yield f"{piece['path']} leads out of the scope"
        yield from _strays(piece.get("body", ()), {**scope, "this": None})
        yield from _strays([*piece.get("then", ()), *piece.get("otherwise", ())], scope)


def _leads(path: list[str | int], scope: Scope) -> bool:
    if not path or path[0] not in scope:
        return False
    below = scope[str(path[0])]
    return below is None or len(path) == 1 or path[1] in below
