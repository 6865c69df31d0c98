"""What the schemas of a project expand to when their references are followed, across files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from stagec.contract.schemas import Miss, Schema, Schemas
from stagec.core.expansion import ENDLESS, Expansion
from stagec.core.json import Object, object_of
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.sources.read import Sources
from stagec.sources.shape.schema import part_at
from stagec.sources.shape.subschemas import Subschema, subschemas
from stagec.sources.tree import Fault, Tree

_MARKS = (b"$ref", b"$dynamicRef", b"$recursiveRef", b"unevaluated", b"\\u", b"*")
"""What a schema has that expands to more than is written; `*` is an alias of YAML."""


def judge_expansion(sources: Sources, tree: Tree, pointers: Iterable[Pointer] = ((),)) -> Tree:
    """Return a tree with what is wrong with the size of schemas in it once their references are followed."""
    most = sources.budgets.expansion
    tree = _accept_addresses(sources, tree, pointers := tuple(pointers))
    if not tree.readable or (len(tree.data) <= most and not any(mark in tree.data for mark in _MARKS)):
        return tree
    weights = _WEIGHTS.setdefault(sources, _Weights(sources))
    found = tuple(fault for pointer in pointers for fault in weights.faults(tree, pointer, most))
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def _accept_addresses(sources: Sources, tree: Tree, pointers: Iterable[Pointer]) -> Tree:
    """Return a tree without its faults about references that lead to a schema of the project by its `$id`."""
    if all(fault.topic != _FOREIGN for fault in tree.faults):
        return tree
    schemas = _WEIGHTS.setdefault(sources, _Weights(sources)).schemas
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
        """Return what a reference leads to; where it is written is known of every schema that was come upon."""
        at = self._places.get(id(body))
        if at is None:
            return ()
        found = self.schemas.resolve(text, at.file, self.schemas.base(at))
        if not isinstance(found, Schema) or not isinstance(found.value, dict):
            return ()
        for part in subschemas(found.value) if id(found.value) not in self._places else ():
            self._places.setdefault(id(part.value), Place(found.at.file, (*found.at.pointer, *part.pointer)))
        return (object_of(found.value),)


_WEIGHTS: WeakKeyDictionary[Sources, _Weights] = WeakKeyDictionary()
