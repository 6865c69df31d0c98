"""Say what a plan refers to and does not contain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plan_vectors.forms import objects

Reference = tuple[str, str]
"""Which object of the plan must have the member, and its name."""

_MEMBERS = (
    ("Plan", "entry", "entries"),
    ("Carried", "node", "nodes"),
    ("Go", "node", "nodes"),
    ("Go", "otherwise", "nodes"),
    ("Fork", "join", "nodes"),
    ("Text", "content", "contents"),
    ("Prompt", "schema", "contents"),
    ("Converse", "schema", "contents"),
    ("Converse", "accepts", "contents"),
    ("Input", "schema", "contents"),
    ("Tool", "schema", "contents"),
    ("Condition", "validator", "validators"),
    ("Tool", "server", "servers"),
    ("Pick", "choices", "choices"),
    ("ProcessInput", "node", "nodes"),
)
"""Of which object which member names something of which object of the plan."""

_LISTS = (
    ("Plan", "entries", "nodes"),
    ("Fork", "nodes", "nodes"),
    ("Chain", "nodes", "nodes"),
    ("Named", "nodes", "nodes"),
    ("Prompt", "tools", "tools"),
    ("Converse", "tools", "tools"),
)


def missing(plan: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each reference that leads to nothing."""
    for table, value in objects(plan):
        for group, name in _references(table, value):
            if name not in plan.get(group, {}):
                yield f"{group} has no {name}"
    for nodes in plan.get("choices", {}).values():
        yield from (f"nodes has no {name}" for name in nodes.values() if name not in plan["nodes"])


def _references(table: str, value: dict[str, Any]) -> Iterator[Reference]:
    yield from ((group, value[member]) for of, member, group in _MEMBERS if of == table and member in value)
    for of, member, group in _LISTS:
        if of == table:
            names = value.get(member, ())
            listed = names.values() if isinstance(names, dict) else names
            yield from ((group, name) for name in listed if isinstance(name, str))
    if table == "Schedule":
        yield from (("nodes", name) for node, needed in value["needs"].items() for name in (node, *needed))


def spelt_out(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan in which each target whose choices the plan has names the nodes itself."""
    nodes = {
        name: {**node, "edges": [{**edge, "target": _spelt_out(plan, edge["target"])} for edge in node["edges"]]}
        for name, node in plan["nodes"].items()
    }
    return {**plan, "nodes": nodes}


def _spelt_out(plan: Mapping[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    return {"is": "named", "nodes": plan["choices"][target["choices"]]} if target["is"] == "pick" else target


def targets(target: dict[str, Any]) -> Iterator[str]:
    """Yield every node that a target names."""
    named = target.get("nodes", target.get("needs", ()))
    yield from named.values() if "nodes" in target and isinstance(named, dict) else named
    yield from (target[member] for member in ("node", "otherwise", "join") if member in target)
