"""Finds the edges that no answer of a node can take: a search may leave them out; the others stay open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path

from stagec.change.flow_tests.paths.choices import WayFinder
from stagec.core.budgets import Budgets
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Key, Place
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import JudgeDefinition
from stagec.ir.plan.gate import Among, Check, Exists, IntentGate, JudgeGate, Reads, Term, VerdictGate
from stagec.ir.plan.node import Edge, ForEach, Named, Node
from stagec.runtime.machine import Program
from stagec.runtime.machine.gate import ALIASES
from stagec.runtime.world.samples import find_in_answer, read_text
from stagec.sources.contract.conflict import conflict, emptiness
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources

_OFFERED, _DEMANDED = "answer.json", "demand.json"
_DEEPEST = 24
"""Schemas inside each other in which texts are looked for."""


class Refuter:
    """Decides about the schemas of one program that nothing satisfies them together with a demand."""

    def __init__(self, program: Program) -> None:
        self._contents = program.plan.contents
        self._known: dict[tuple[str, str], bool] = {}

    def is_empty(self, content: str) -> bool:
        """Tell whether no value at all satisfies a schema, for sure."""
        return self.excludes(content, True)

    def excludes(self, content: str | None, demand: Json) -> bool:
        """Tell whether no value that satisfies the schema of a content satisfies another schema, for sure."""
        if content is None:
            return False
        wanted = json.dumps(demand)
        if (content, wanted) not in self._known:
            self._known[content, wanted] = self._exclude(content, wanted)
        return self._known[content, wanted]

    def has_no_other(self, content: str | None, tried: Iterable[tuple[Iterable[Key], Iterable[Json]]]) -> bool:
        """Tell whether all values that satisfy a schema have, at each of some paths, one of the values tried there."""
        denials = [_deny_at(tuple(map(str, path)), {"enum": [*values]}) for path, values in tried]
        return bool(denials) and all(self.excludes(content, each) for each in denials)

    def _exclude(self, content: str, wanted: str) -> bool:
        files = {_OFFERED: self._contents[content].encode(), _DEMANDED: wanted.encode()}
        schemas = Schemas(Sources(Path("/"), Budgets(), files))
        offered = Schema(json.loads(files[_OFFERED]), Place(_OFFERED))
        schemas.root(_OFFERED)
        if emptiness(schemas, offered) is not None:
            return True
        demanded = schemas.root(_DEMANDED)
        return isinstance(demanded, Schema) and conflict(schemas, offered, demanded) is not None

    def may_hold(self, content: str | None, word: str) -> bool:
        """Tell whether a value that satisfies a schema may hold a text with a word in it, at any depth."""
        root = {} if content is None else json.loads(self._contents[content])
        return _TextSearch(root, word).may_hold(root)

    def has_patterns(self, content: str | None) -> bool:
        """Tell whether a schema has patterns for texts, or is absent."""
        return content is None or '"pattern' in self._contents[content]


class _TextSearch:
    """Looks for a text with a word in it among all that the values of a schema may hold."""

    def __init__(self, root: Json, word: str) -> None:
        self._root, self._word = root, word
        self._known: dict[int, bool] = {}

    def may_hold(self, schema: Json, depth: int = 0) -> bool:
        """Tell whether a value that satisfies a part of the schema may hold the word; each part is looked at once."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return schema is not False
        if id(schema) not in self._known:
            self._known[id(schema)] = True  # of what a part holds inside itself nothing is said
            self._known[id(schema)] = self._look_into(schema, depth + 1)
        return self._known[id(schema)]

    def _look_into(self, body: Object, depth: int) -> bool:
        inner = partial(self.may_hold, depth=depth)
        reference = body.get("$ref")
        if isinstance(reference, str):
            return inner(_follow(self._root, reference))
        if isinstance(body.get("enum"), list):
            return any(self._word in each for each in _texts_in(body["enum"]))
        needed = [inner(each) for each in list_of(body.get("allOf"))]
        choices = (list_of(body.get(each)) for each in ("anyOf", "oneOf"))
        needed += [any(map(inner, some)) for some in choices if some]
        kinds = list_of(body.get("type")) or [body.get("type")]
        return all(needed) and any(self._may_kind_hold(inner, body, str(each)) for each in kinds)

    def _may_kind_hold(self, inner: Callable[[Json], bool], body: Object, kind: str) -> bool:
        """Tell whether a value of one type that satisfies a schema may hold the word."""
        match kind:
            case "number" | "integer" | "boolean" | "null":
                return False
            case "string":
                most = body.get("maxLength")
                return not isinstance(most, int) or most >= len(self._word)
            case "object":
                named = (object_of(body.get(each)).values() for each in ("properties", "patternProperties"))
                parts = [each for some in named for each in some]
                return any(map(inner, (*parts, body.get("additionalProperties", True))))
            case "array":
                items = body.get("items", True)
                if isinstance(items, list):
                    return any(map(inner, (*items, body.get("additionalItems", True))))
                return any(map(inner, (*list_of(body.get("prefixItems")), items)))
            case _:
                return True


def _texts_in(given: Json) -> Iterator[str]:
    todo = [given]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
        todo += each if isinstance(each, list) else each.values() if isinstance(each, dict) else ()


def _follow(root: Json, reference: str) -> Json:
    found = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = object_of(found).get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found


def demand_at(path: Iterable[Key], schema: Json) -> Json:
    """Return the schema of objects that hold at a path what satisfies another one."""
    found = schema
    for key in reversed(tuple(map(str, path))):
        in_object: Json = {"type": "object", "required": [key], "properties": {key: found}}
        found = {"anyOf": [in_object, _demand_element(int(key), found)]} if _is_index(key) else in_object
    return found


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < _LONG


_LONG = 4
"""Digits of an index that no list of a demand is long enough for."""


def _demand_element(index: int, schema: Json) -> Json:
    """Return the schema of lists that hold at an index what satisfies another one."""
    return {"type": "array", "minItems": index + 1, "prefixItems": [*([True] * index), schema]}


def _deny_at(path: tuple[str, ...], schema: Json) -> Json:
    """Return the schema of values that do not hold at a path what satisfies another one."""
    if not any(map(_is_index, path)):
        return {"not": demand_at(path, schema)}
    found: Json = {"not": schema}
    for key in reversed(path):
        kinds: list[Json] = ["object"]
        ways: list[Json] = [{"type": "object", "properties": {key: found}}]
        if _is_index(key):
            kinds.append("array")
            ways += [{"type": "array", "maxItems": int(key)}, _demand_element(int(key), found)]
        found = {"anyOf": [{"not": {"type": kinds}}, *ways]}
    return found


def deny_all(demands: Iterable[Json]) -> Json:
    """Return the schema of what satisfies none of some demands: values named at one path are denied together."""
    named: dict[tuple[str, ...], list[Json]] = {}
    others = list[Json]()
    for each in demands:
        path, inner = _unwrap(each)
        if object_of(inner).keys() == {"enum"}:
            named.setdefault(path, []).extend(list_of(object_of(inner)["enum"]))
        else:
            others.append(each)
    others += (demand_at(path, {"enum": values}) for path, values in named.items())
    return {"allOf": [{"not": each} for each in others]}


def _unwrap(demand: Json) -> tuple[tuple[str, ...], Json]:
    """Return the path at which a demand is about a value, and what it demands there."""
    path, inner = list[str](), demand
    while object_of(inner).keys() == {"type", "required", "properties"}:
        ((name, inner),) = object_of(object_of(inner)["properties"]).items()
        path.append(name)
    return tuple(path), inner


class ElementRefuter:
    """Decides whether all elements of the lists of a program are alike to the conditions that look at them."""

    def __init__(self, program: Program, refuter: Refuter, terms: Iterable[Term]) -> None:
        self._plan, self._refuter, self._terms = program.plan, refuter, [*terms]

    def are_alike(self, name: str) -> bool:
        """Tell whether conditions about the element, or about its index, say the same in every run, for sure."""
        terms = [each for each in self._terms if each.path[1] == name]
        each_list = [
            (node, edge.target)
            for node in self._plan.nodes.values()
            for edge in node.edges
            if isinstance(edge.target, ForEach)
        ]
        judge = self._is_index_settled if name == "index" else self._is_settled
        return name in _ELEMENT and all(judge(*self._find(*each), term) for each in each_list for term in terms)

    def _find(self, node: Node, target: ForEach) -> tuple[str | None, tuple[Key, ...]]:
        """Return the schema in which a list is, and its path there; no schema where none describes the list."""
        first, *path = target.list
        if first == "ctx" and path and str(path[0]) in self._plan.inputs:
            return self._plan.inputs[str(path[0])].schema, tuple(path[1:])
        return (_schema_of(node) if first == "parsed" else None), tuple(path)

    def _is_settled(self, schema: str | None, path: tuple[Key, ...], term: Term) -> bool:
        """Tell whether a condition holds of each element of every list, which has some; or of no element."""
        demand = _demand_told(term.path[2:], term)
        if schema is None or demand is None or _ODD_ELEMENTS.search(self._plan.contents[schema]):
            return False
        ways: tuple[Json, ...] = (
            {"type": "array", "items": {"not": demand}},
            {"type": "array", "minItems": 1, "items": demand},
        )
        return any(self._refuter.excludes(schema, demand_at(path, each)) for each in ways)

    def _is_index_settled(self, schema: str | None, path: tuple[Key, ...], term: Term) -> bool:
        """Tell whether every list has an element at each index that a condition asks for, or none has.

        Or whether the condition asks for each index that there may be.
        """
        if not isinstance(term, Among) or len(term.path) > _INDEX_PATH:
            return False
        asked = [int(each) for each in term.values if isinstance(each, int | float) and each == int(each) >= 0]
        never = partial(self._has_no_list, schema, path)
        beyond = next(each for each in count() if each not in asked)
        is_any = bool(asked) and never({"minItems": beyond + 1}) and never({"maxItems": 0})
        return is_any or all(never({"maxItems": each}) or never({"minItems": each + 1}) for each in asked)

    def _has_no_list(self, schema: str | None, path: tuple[Key, ...], bound: Object) -> bool:
        return self._refuter.excludes(schema, demand_at(path, {"type": "array", **bound}))


_ELEMENT = frozenset({"item", "index"})
"""What is in the context of stages that run for an element."""
_INDEX_PATH = 2
_ODD_ELEMENTS = re.compile(r'"(prefixItems|additionalItems|contains|uniqueItems|enum": ?\[\[|items": ?\[)')
"""What says of elements of one list that they differ."""


def list_open(program: Program, refuter: Refuter, ways: WayFinder, name: str) -> Iterator[str]:
    """Yield in a few words which ways on from a node no made-up answer takes, and some other answer may take."""
    node = program.plan.nodes[name]
    taken = [each.name.removesuffix(" again") for each in ways.find(name)]
    if isinstance(node.gate, IntentGate):
        for outcome, edges in program.routes[name].items():
            yield from _IntentWays(node, node.gate, refuter, taken).list_open(outcome, edges)
    elif isinstance(node.gate, VerdictGate):
        yield from _list_open_verdicts(node, node.gate, program.routes[name], refuter, taken)
    elif isinstance(node.gate, JudgeGate):
        judge = program.plan.judge
        if judge is None:
            yield "the judge of the work, which the project does not declare"
        elif not any("True" in each for each in taken):
            yield from _list_open_signals(judge, refuter, _schema_of(node))


def _schema_of(node: Node) -> str | None:
    return node.act.schema if isinstance(node.act, Prompt | Converse) else None


class _IntentWays:
    """The ways on from a node whose answers name an intent."""

    def __init__(self, node: Node, gate: IntentGate, refuter: Refuter, taken: list[str]) -> None:
        self._gate, self._refuter, self._taken = gate, refuter, taken
        self._schema = _schema_of(node)
        self._any_letters = refuter.has_patterns(self._schema)

    def list_open(self, outcome: str, edges: tuple[Edge, ...]) -> Iterator[str]:
        """Yield the ways of one outcome."""
        if not any(each.split(" ")[0] == outcome for each in self._taken) and self._is_refuted(outcome):
            return
        taken: list[Json] = []  # demands of the edges so far
        for at, edge in enumerate(edges):
            nodes = [*edge.target.nodes] if isinstance(edge.target, Named) else [""]
            if taken and self._refuter.excludes(self._schema, deny_all(taken)):
                return
            for named in nodes:
                if not self._is_taken(f"{outcome} {at}", named) and not (
                    self._excludes_name(named) or _is_excluded(self._gate, edge.when, self._schema, self._refuter)
                ):
                    yield f"an answer with {outcome!r}{' that names ' * bool(named)}{named}"
            if not edge.when and not isinstance(edge.target, Named):
                return  # no later edge counts
            taken += [each for each in (self._demand_edge(edge),) if each is not None]

    def _is_taken(self, way: str, named: str) -> bool:
        """Tell whether an answer takes an edge; one of another edge than a jump may name a node all the same."""
        return any(each == f"{way} {named}" if named else f"{each} ".startswith(f"{way} ") for each in self._taken)

    def _demand_edge(self, edge: Edge) -> Json | None:
        """Return the schema of the answers that take an edge; None if no schema describes them."""
        if not isinstance(edge.target, Named):
            return _demand_all(self._gate, edge.when)
        path = self._gate.target if not edge.when else None
        return None if path is None else demand_at(path, {"enum": [*edge.target.nodes]})

    def _is_refuted(self, outcome: str) -> bool:
        words = [outcome, *(word for word, meant in ALIASES.items() if meant == outcome)]
        every = [spelt for word in words for spelt in (word, word.upper(), word.capitalize(), word.title())]
        falls_back = not self._gate.fail_fast and self._gate.fallback == outcome
        excluded = self._refuter.excludes(self._schema, demand_at(self._gate.field, {"enum": every}))
        return not falls_back and not self._any_letters and excluded

    def _excludes_name(self, named: str) -> bool:
        path = self._gate.target
        return (
            bool(named) and path is not None and self._refuter.excludes(self._schema, demand_at(path, {"const": named}))
        )


def _is_excluded(gate: IntentGate | VerdictGate, terms: Iterable[Term], schema: str | None, refuter: Refuter) -> bool:
    """Tell whether one of some conditions never holds of an answer."""
    demands = (_demand(gate, each) for each in terms)
    return any(each is not None and refuter.excludes(schema, each) for each in demands)


def _demand_all(gate: IntentGate | VerdictGate, terms: Iterable[Term]) -> Json | None:
    """Return the schema of the answers that satisfy all conditions; None if these look at something else."""
    demands = [_demand(gate, each) for each in terms]
    return None if None in demands else demands[0] if len(demands) == 1 else {"allOf": demands}


def _demand(gate: IntentGate | VerdictGate, term: Term) -> Json | None:
    """Return a schema that all answers satisfy of which a condition holds; None where it looks at something else."""
    path = find_in_answer(gate, term)
    return _demand_told(path, term) if path else None


def _demand_told(path: Iterable[Key], term: Term) -> Json | None:
    """Return a schema that all values satisfy of which a condition about a path in them holds; None without one."""
    match term:
        case Among(values=values):
            return demand_at(path, {"enum": [*values]})
        case Reads(texts=texts):
            inexact = any(each[:1] in {"[", "{"} for each in texts)  # lists and objects have texts of many kinds
            read = [None if each == "null" else read_text(each) for each in texts]
            return None if inexact else demand_at(path, {"enum": [*texts, *read]})
        case Exists(present=present):
            return demand_at(path, True) if present else {"not": demand_at(path, True)}


def _list_open_verdicts(
    node: Node, gate: VerdictGate, routes: Mapping[str, tuple[Edge, ...]], refuter: Refuter, taken: list[str]
) -> Iterator[str]:
    possible, schema = list[str](), _schema_of(node)
    decided: list[Json] = []  # demands of the checks so far
    for check in (*gate.checks, Check("ok")):
        if not refuter.excludes(schema, deny_all(decided)) and not _is_excluded(gate, check.when, schema, refuter):
            possible.append(check.verdict)
        if all(_holds_always(node, each) for each in check.when):
            break
        decided += [each for each in (_demand_all(gate, check.when),) if each is not None]
    seen = {each.split(" ")[0] for each in taken}
    yield from (f"a result that is judged as {each!r}" for each in dict.fromkeys(possible) if each not in seen)
    if "ok" not in possible:
        return
    is_played = True  # the search plays every number of attempts, with and without a cap hit
    passed = list[Json]()  # demands of the cases so far
    for at, edge in enumerate(routes.get("ok", ())):
        if passed and refuter.excludes(schema, deny_all(passed)):
            return
        is_played = is_played and all(each.path in _PLAYED for each in edge.when)
        is_settled = is_played or f"ok {at}" in taken or any(map(_is_foreign, edge.when))
        if not is_settled and not _is_excluded(gate, edge.when, schema, refuter):
            yield f"a result of which the conditions of case {at + 1} hold"
        if all(_holds_always(node, each) for each in edge.when):
            return
        passed += [each for each in (_demand_all(gate, edge.when),) if each is not None]


_PLAYED = frozenset({("verdict",), ("attemptCount",), ("capHit",)})
"""The paths of a result that conditions can read and that do not depend on the model's answer."""


def _is_foreign(term: Term) -> bool:
    """Tell whether a condition asks for another verdict than that of results that are accepted."""
    return isinstance(term, Among) and term.path == ("verdict",) and "ok" not in term.values


def _holds_always(node: Node, term: Term) -> bool:
    """Tell whether a condition about the verdict or the attempts holds of every result that is accepted."""
    if not isinstance(term, Among) or term.path == ("verdict",):
        return isinstance(term, Among) and "ok" in term.values
    counts = [each for each in term.values if isinstance(each, int | float) and not isinstance(each, bool)]
    most = 1 if node.retry is None else node.retry.attempts
    return term.path == ("attemptCount",) and all(each in counts for each in range(1, 1 + most))


def _list_open_signals(judge: JudgeDefinition, refuter: Refuter, schema: str | None) -> Iterator[str]:
    """Yield the signals by which a judge may see in an answer that the work is done."""
    conditions = [object_of(each) for each in list_of(judge.settings.get("conditions"))]
    parts = [(str(each.get("type")), object_of(each.get("config"))) for each in conditions]
    for kind, settings in parts or [(judge.kind, judge.settings)]:
        if kind in _TEXTS:
            word = settings.get(_TEXTS[kind])
            if isinstance(word, str) and refuter.may_hold(schema, word):
                yield f"an answer in which the judge finds {word!r}"
        elif kind == "detect:graph":
            signs: tuple[tuple[str, Json], ...] = (("status", "completed"), ("complete", True))
            if not all(refuter.excludes(schema, demand_at((key,), {"const": each})) for key, each in signs):
                yield "an answer that says that the work is completed"


_TEXTS = {"detect:keyword": "verdictKeyword", "detect:structured": "signalType"}
"""The setting with the text that answers have to hold, by the kind of judge."""
