"""What the results of a node can be, as far as the schema of its answers says, and where they lead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Any

from stagec.core.json import Json, list_of, object_of
from stagec.core.value import replace, value
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt
from stagec.plan.gate import Among, IntentGate, Reads, Term
from stagec.plan.node import Edge, Fork, Named, Pick, list_begun, list_targets
from stagec.plan.template import Path
from stagec.runtime.gate import ABORT
from stagec.runtime.json_values import MISSING
from stagec.runtime.program import choose

_HEADS: dict[type, str] = {Converse: "parsed", Prompt: "answer"}
"""Under which name the results of acts have the answer."""
_OPAQUE = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas"})
"""Keywords of schemas that are not looked into."""
_MOST = 4_000
"""Results that are tried at most; of more, nothing is said."""
_FRESH = "a text that no condition names"


@value
class Domain:
    """What can stand at a path: all values, None where they are not known, and whether there may be nothing."""

    values: tuple[Json, ...] | None
    is_optional: bool


def list_values(plan: Plan, name: str, path: Path) -> tuple[Json, ...]:
    """Return all values that a result of a node can have at a path; nothing where they are not known."""
    return find_domain(plan, name, path).values or ()


def find_domain(plan: Plan, name: str, path: Path) -> Domain:
    """Return what can stand at a path of the results of a node that lead somewhere."""
    node = plan.nodes[name]
    content = node.act.schema if isinstance(node.act, Converse | Prompt) else None
    is_changed = bool(node.hooks or node.admission) or plan.session is not None
    if content is None or is_changed or not path[1:] or path[0] != _HEADS[type(node.act)]:
        return Domain(None, is_optional=True)
    schema, is_optional = json.loads(plan.contents[content]), False
    for key in path[1:]:
        part = object_of(schema)
        inner = object_of(part.get("properties"))
        if not isinstance(key, str) or not _OPAQUE.isdisjoint(part) or key not in inner or part.get("type") != "object":
            return Domain(None, is_optional=True)
        is_optional |= key not in list_of(part.get("required"))
        schema = inner[key]
    return Domain(_list_constants(schema), is_optional)


def _list_constants(schema: Json) -> tuple[Json, ...] | None:
    part = object_of(schema)
    if not _OPAQUE.isdisjoint(part):
        return None
    if "const" in part:
        return (part["const"],)
    if isinstance(part.get("enum"), list):
        return tuple(list_of(part["enum"]))
    return (True, False) if part.get("type") == "boolean" else None


def lead_alike(plan: Plan, name: str, others: tuple[Edge, ...]) -> bool:
    """Tell whether other edges of a node lead wherever its own do, after every result that it can have."""
    old = tuple(_resolve(plan, each) for each in plan.nodes[name].edges)
    new = tuple(_resolve(plan, each) for each in others)
    return all(
        _lead_alike(plan, name, [each for each in old if each.on == on], [each for each in new if each.on == on])
        for on in _list_outcomes(plan, name, (*old, *new))
    )


def _resolve(plan: Plan, edge: Edge) -> Edge:
    return replace(edge, target=Named(plan.choices[edge.target.choices])) if isinstance(edge.target, Pick) else edge


def _list_outcomes(plan: Plan, name: str, edges: Iterable[Edge]) -> list[str]:
    """Return the outcomes of edges that results of a node can have and that are followed."""
    gate = plan.nodes[name].gate
    found = [*dict.fromkeys(each.on for each in edges)]
    if isinstance(gate, IntentGate):
        found = [each for each in found if each in gate.intents or each == ABORT]
    return [each for each in found if each == "fail"] if name in find_branches(plan) else found


def find_branches(plan: Plan) -> frozenset[str]:
    """Return the nodes that runs come to only as branches of forks, which end with them unless they fail."""
    branches, others = set(), {each for entry in plan.entries.values() for each in list_begun(entry)}
    others |= {each for nodes in plan.choices.values() for each in nodes.values()}
    for node in plan.nodes.values():
        for edge in node.edges:
            if isinstance(edge.target, Fork):
                branches |= {*edge.target.nodes}
                others |= {edge.target.join or ""}
            else:
                others |= {*list_targets(edge.target)}
        if node.validation is not None:
            others |= {*plan.nodes}  # a refusal leads back
    return frozenset(branches - others)


def _lead_alike(plan: Plan, name: str, old: list[Edge], new: list[Edge]) -> bool:
    terms = [term for each in (*old, *new) for term in each.when]
    options = {path: _list_options(plan, name, path, terms) for path in dict.fromkeys(term.path for term in terms)}
    names = [None, *dict.fromkeys(key for each in (*old, *new) for key in _list_named(each))]
    if any(each is None for each in options.values()) or _overlap([*options]) or () in options:
        return False
    listed = [each or [] for each in options.values()]
    if prod(map(len, listed)) * len(names) > _MOST:
        return False
    for chosen in product(*listed):
        result: dict[str, Any] = {}
        for path, each in zip(options, chosen, strict=True):
            if each is not MISSING:
                _put(result, path, each)
        if any(choose(old, result, named) != choose(new, result, named) for named in names):
            return False
    return True


def _put(result: dict[str, Any], path: Path, given: Json) -> None:
    """Put a value at a path of an object, and what leads there."""
    *before, last = map(str, path)
    for key in before:
        result = result.setdefault(key, {})
    result[last] = given


def _list_named(edge: Edge) -> Iterator[str]:
    yield from edge.target.nodes if isinstance(edge.target, Named) else ()


def _list_options(plan: Plan, name: str, path: Path, terms: list[Term]) -> list[Json] | None:
    """Return one value of each kind that conditions tell apart at a path; None where they cannot be told."""
    domain = find_domain(plan, name, path)
    absent: list[Json] = [MISSING] if domain.is_optional else []
    if domain.values is not None:
        return [*domain.values, *absent]
    mine = [each for each in terms if each.path == path]
    if any(isinstance(each, Reads) for each in mine) and any(isinstance(each, Among) for each in mine):
        return None
    constants: list[Json] = [one for each in mine if isinstance(each, Among) for one in each.values]
    texts: list[Json] = [one for each in mine if isinstance(each, Reads) for one in each.texts]
    return [*constants, *texts, _FRESH, *absent]


def _overlap(paths: list[Path]) -> bool:
    """Tell whether one path leads into what another one leads to."""
    return any(one != other and other[: len(one)] == one for one in paths for other in paths)
