"""The size of a project's schemas after their references are followed, across files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from stagec.core.expansion import ENDLESS, Expansion
from stagec.core.json import Object, object_of
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources
from stagec.sources.shape.dialects import is_seen
from stagec.sources.shape.schema import judge_part, part_at
from stagec.sources.shape.subschemas import Subschema, subschemas
from stagec.sources.tree import Fault, Tree

_MARKS = (b"$ref", b"$dynamicRef", b"$recursiveRef", b"unevaluated", b"\\u", b"*")
"""Marks of schemas that expand to more than their text; `*` is an alias of YAML."""
_PATTERN = b"pattern"

Judge = Callable[[], Tree]
"""Returns a tree with what is wrong with it."""


def judge_expansion(sources: Sources, tree: Tree, pointers: Iterable[Pointer] = ((),)) -> Tree:
    """Return a tree with what is wrong with the size of schemas in it once their references are followed."""
    most = sources.budgets.expansion
    weights = _weigh(sources)
    weights.judged.setdefault(tree.file, set()).update(pointers := tuple(pointers))
    tree = _accept_addresses(weights.schemas, tree, pointers)
    if not tree.readable or _is_plain(tree, most):
        return tree
    found = tuple(fault for pointer in pointers for fault in weights.faults(tree, pointer, most))
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def _is_plain(tree: Tree, most: int) -> bool:
    return len(tree.data) <= most and not any(mark in tree.data for mark in _MARKS)


def judge_kept(sources: Sources, tree: Tree, pointers: Iterable[Pointer], schema: str, judge: Judge) -> Tree:
    """Return a tree as `judge` judges it and the schemas at some pointers in it; the same text is judged once.

    A text with references, or with patterns, of which a project has a budget, is judged each time.
    """
    if _PATTERN in tree.data or not _is_plain(tree, sources.budgets.expansion):
        return judge()
    weights = _weigh(sources)
    weights.judged.setdefault(tree.file, set()).update(pointers)
    faults = tuple((each.topic, each.at, each.reason) for each in tree.faults)
    question = "judged", schema, tree.file, tree.kind, tree.data, tree.readable, faults
    return sources.keep(question, judge)


def reach_named(sources: Sources, file: str, name: str) -> None:
    """Take note of a schema that a registry means by file and name, for `judge_reached`."""
    weights = _weigh(sources)
    found = weights.schemas.find_named(file, name)
    if isinstance(found, Schema):
        weights.reached[found.at] = found


def judge_reached(sources: Sources) -> None:
    """Judge what references and registries lead to where nobody else looks: under any name, in data, in any file.

    Whatever a reference leads to is used as a schema, so it has to be one.
    """
    weights = _weigh(sources)
    for schema in sorted(weights.reached.values(), key=lambda each: (each.at.file, len(each.at.pointer))):
        tree, start = sources.find_tree(schema.at.file), weights.schemas.start(schema.at)
        if tree is None or not tree.readable or not isinstance(schema.value, dict | bool):
            continue
        is_judged = start in weights.judged.get(tree.file, ())
        inner = schema.at.pointer[len(start) :]
        if not (is_judged and is_seen(part_at(tree.value, start), inner, members=not start)):
            weights.judged.setdefault(tree.file, set()).add(schema.at.pointer)
            tally = None if is_judged else sources.patterns
            sources.replace(judge_part(tree, schema.at.pointer, weights.schemas.draft(schema), sources.budgets, tally))
    weights.reached.clear()


def _accept_addresses(schemas: Schemas, tree: Tree, pointers: Iterable[Pointer]) -> Tree:
    """Return a tree without its faults about references that lead to a schema of the project by its `$id`."""
    if all(fault.topic != _FOREIGN for fault in tree.faults):
        return tree
    for pointer in filter(None, pointers):
        schemas.embed(Schema(part_at(tree.value, pointer), Place(tree.file, pointer)))
    kept = (fault for fault in tree.faults if fault.topic != _FOREIGN or _is_foreign(schemas, fault))
    return replace(tree, faults=tuple(kept))


_FOREIGN = "foreign-reference"


def _is_foreign(schemas: Schemas, fault: Fault) -> bool:
    base = schemas.base(Place(fault.at.file, fault.at.pointer[:-1]))
    return isinstance(schemas.document(str(fault.facts["reference"]), fault.at.file, base), Miss)


class _Weights:
    """The weights of all schemas of one project that were asked for."""

    def __init__(self, sources: Sources) -> None:
        self.schemas = Schemas(sources)
        self._expansion = Expansion()
        self._places: dict[int, Place] = {}
        self.reached: dict[Place, Schema] = {}
        self.judged: dict[str, set[Pointer]] = {}

    def faults(self, tree: Tree, pointer: Pointer, most: int) -> list[Fault]:
        """Return a fault at the smallest of the schemas that are too heavy, if there is one."""
        root = part_at(tree.value, pointer)
        parts = list(subschemas(root)) if isinstance(root, dict) else []
        at = Place(tree.file, pointer)
        if pointer:
            self.schemas.embed(Schema(root, at))
        for part in parts:
            self._places[id(part.value)] = Place(tree.file, (*pointer, *part.pointer))
        self._expansion.add([part.value for part in parts], self._resolve)
        heavy = [part for part in parts if self._expansion.weight(part.value) > most]
        return [self._fault(at, min(heavy, key=self._rank), most)] if heavy else []

    def _rank(self, part: Subschema) -> int:
        return self._expansion.ranks[self._expansion.position(part.value)]

    def _fault(self, at: Place, part: Subschema, most: int) -> Fault:
        weight = self._expansion.weight(part.value)
        reason = "endless" if weight >= ENDLESS else "expansion"
        return Fault(
            "costly-schema", Place(at.file, (*at.pointer, *part.pointer)), reason, {"got": weight, "limit": most}
        )

    def _resolve(self, body: Object, _keyword: str, text: str) -> Sequence[Object]:
        """Return the target of a reference; the place of every found schema is known."""
        at = self._places.get(id(body))
        if at is None:
            return ()
        found = self.schemas.resolve(text, at.file, self.schemas.base(at))
        if isinstance(found, Schema):
            self.reached[found.at] = found
        if not isinstance(found, Schema) or not isinstance(found.value, dict):
            return ()
        for part in subschemas(found.value) if id(found.value) not in self._places else ():
            self._places.setdefault(id(part.value), Place(found.at.file, (*found.at.pointer, *part.pointer)))
        return (object_of(found.value),)


def _weigh(sources: Sources) -> _Weights:
    return sources.memo.once("weights", lambda: _Weights(sources))
