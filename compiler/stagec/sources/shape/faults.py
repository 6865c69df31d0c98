"""From the errors of a JSON Schema library to faults: one for each root cause, under the topic its schema names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from stagec.core.json import Json, Object, kind_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place, Pointer
from stagec.core.value import replace, value
from stagec.sources.tree import Fault

SWAPPED = "swapped"
"""The fact of a fault that names the places of all faults of the same mistake."""
_FEWEST, _MOST, _SMALL = 2, 8, 60_000
"""More faults, and larger files, are not looked at: each pair of faults is judged with its values exchanged."""


def link_swapped(
    faults: tuple[Fault, ...], value: Json, at: Pointer, size: int, judge: Callable[[Json], Iterable[Pointer]]
) -> tuple[Fault, ...]:
    """Return faults of a value, those of two members with each other's values with the places of all of these.

    `at` is where the value stands. `judge` returns the pointers, into the value, of what is wrong with another value.
    """
    if not _FEWEST <= len(faults) <= _MOST or size >= _SMALL:
        return faults
    found = list(faults)
    for one, other in _list_pairs([each.at.pointer[len(at) :] for each in faults]):
        linked = [index for index, each in enumerate(found) if _is_inside(each.at.pointer[len(at) :], one, other)]
        if any(SWAPPED in found[index].facts for index in linked):
            continue
        swapped = _swap(value, one, other)
        if swapped is not None and not any(_is_inside(each, one, other) for each in judge(swapped)):
            places = tuple(found[index].at for index in linked)
            for index in linked:
                found[index] = replace(found[index], facts={**found[index].facts, SWAPPED: places})
    return tuple(found)


def _list_pairs(pointers: Iterable[Pointer]) -> Iterator[tuple[Pointer, Pointer]]:
    """Yield the pairs of members of one object in which something is wrong, each once."""
    seen: set[tuple[Pointer, Pointer]] = set()
    for one, other in combinations(pointers, 2):
        common = next((at for at, keys in enumerate(zip(one, other, strict=False)) if keys[0] != keys[1]), None)
        if common is not None and isinstance(one[common], str):
            pair = (one[: common + 1], other[: common + 1])
            if pair not in seen:
                seen.add(pair)
                yield pair


def _is_inside(pointer: Pointer, *outer: Pointer) -> bool:
    return any(pointer[: len(each)] == each for each in outer)


def _swap(value: Json, one: Pointer, other: Pointer) -> Json | None:
    """Return a value in which two members of one object have each other's values; None if one is not there."""
    key, *rest = one
    if rest and isinstance(value, dict) and key in value:
        inner = _swap(value[str(key)], one[1:], other[1:])
        return None if inner is None else {**value, str(key): inner}
    if rest and isinstance(value, list) and isinstance(key, int) and key < len(value):
        inner = _swap(value[key], one[1:], other[1:])
        return None if inner is None else [*value[:key], inner, *value[key + 1 :]]
    if rest or not isinstance(value, dict) or not {one[0], other[0]} <= value.keys():
        return None
    first, second = str(one[0]), str(other[0])
    return {**value, first: value[second], second: value[first]}


_FIRST = ("type", "const", "enum", "minLength", "minItems", "minProperties", "pattern", "minimum")
"""The order in which one of several errors about one value is chosen."""


@value
class Violation:
    """One error: its place, its keyword, and the value of that keyword."""

    pointer: Pointer
    keyword: str
    topic: str
    subschema: Object
    got: Json
    kind: Any

    def free(self) -> tuple[str, ...]:
        """Return the members of an open object that its schema does not describe."""
        if not isinstance(self.got, dict) or any(keyword in self.subschema for keyword in _CLOSED):
            return ()
        known = self.subschema.get("properties")
        return tuple(name for name in self.got if name not in known) if isinstance(known, dict) else ()

    def facts(self) -> dict[str, object]:
        """Return the facts of the message: the value found, and the limit of the keyword."""
        got = self.got
        facts: dict[str, object] = {"got": got if isinstance(got, (str, int, float)) else None, "kind": kind_of(got)}
        wanted = _WANTED.get(self.keyword)
        if wanted is not None:
            facts["allowed"] = wanted(self)
        if "x-expects" in self.subschema:
            facts["expects"] = self.subschema["x-expects"]
        if isinstance(got, dict):
            facts["members"] = tuple(sorted(got))  # in any order, they are the same members
        return facts


def faults_of(errors: Iterable[Any], schema: Object, document: Json, root: Place) -> Iterator[Fault]:
    """Return the faults that errors amount to; nothing inside a value of the wrong type is worth a second one."""
    # drop what lies inside a value of the wrong type, and all but the first elements of the wrong type of an array
    misses = [_miss(error, schema, document) for error in errors]
    mistyped = dict.fromkeys(miss.pointer for miss in misses if miss.keyword == "type")
    arrays: dict[Pointer, Pointer] = {}
    for pointer in mistyped:
        if pointer and isinstance(pointer[-1], int):
            arrays.setdefault(pointer[:-1], pointer)
    blamed = {pointer for pointer in mistyped if arrays.get(pointer[:-1], pointer) == pointer}
    whole = [miss for miss in misses if miss.pointer in blamed or miss.pointer not in mistyped]
    told = [miss for miss in whole if not any(miss.pointer[:end] in blamed for end in range(len(miss.pointer)))]
    gone: dict[Pointer, list[Violation]] = {}
    for miss in told:
        if miss.keyword == "required":
            gone.setdefault(miss.pointer, []).append(miss)
    unexpected_members = {miss.pointer: tuple(miss.kind.unexpected) for miss in told if miss.keyword in _CLOSED}
    # state what each object lacks, all members of which one rule speaks together
    for pointer, misses in gone.items():
        strangers = unexpected_members.get(pointer, misses[0].free())
        for topic in dict.fromkeys(miss.topic for miss in misses):
            names = tuple(miss.kind.property for miss in misses if miss.topic == topic)
            lacking = NameIndex(names)
            misspelt = tuple(name for name in strangers if lacking.nearest(name) is not None)
            yield missing(topic, _at(root, pointer), names, misspelt)
    yield from _foreign(told, gone, root)
    for miss in _worst(miss for miss in told if miss.keyword not in _OBJECTS).values():
        yield Fault(miss.topic, _at(root, miss.pointer), miss.keyword, miss.facts())


def missing(topic: str, owner: Place, names: tuple[str, ...], misspelt: tuple[str, ...] = ()) -> Fault:
    """State that an object lacks members, at the place where the first of them would be."""
    facts: dict[str, object] = {"missing": names, "misspelt": misspelt}
    related = tuple(((owner / name).key, "misspelt") for name in misspelt)
    return Fault(topic, owner / names[0], "required", facts, related)


def topic_of(schema: Object, path: Iterable[str | int]) -> tuple[str, Object]:
    """Return the rule that an error's schema path names, nearest first, and the schema the keyword stands in."""
    *way, keyword = path
    nodes: list[Any] = [schema]
    for key in way:
        nodes.append(_inside(nodes[-1], key))
    owner = next(node for node in reversed(nodes) if isinstance(node, dict))
    rules = (node.get("x-rules", {}) for node in reversed(nodes) if isinstance(node, dict))
    return next((each[keyword] for each in rules if keyword in each), "wrong-shape"), owner


def _inside(node: Any, key: str | int) -> Any:
    """Return a part of a schema, an empty one where the library calls it by another way than it is written."""
    try:
        return node[key]
    except (KeyError, IndexError, TypeError):
        return {}


def _miss(error: Any, schema: Object, document: Json) -> Violation:
    topic, subschema = topic_of(schema, error.schema_path)
    if error.schema_path[-1] == "required":  # a schema may name another rule for one of the members
        topic = text_in(object_of(subschema.get("x-rules")), f"required {error.kind.property}") or topic
    pointer = pointer_of(error, document)
    return Violation(pointer, str(error.schema_path[-1]), topic, subschema, value_at(document, pointer), error.kind)


def pointer_of(error: Any, document: Json) -> Pointer:
    """Return the pointer to an error in a document; the library's own path leaves out empty names and makes `"0"` 0."""
    possible = list(_pointers(document, tuple(error.instance_path)))
    meant = (pointer for pointer, found in possible if found == error.instance)
    return next(meant, possible[0][0] if possible else ())


def _pointers(start: Any, path: Pointer) -> Iterator[tuple[Pointer, Any]]:
    """Yield every pointer that is a path when its empty names are left out, and what it leads to."""
    if not path:
        yield (), start
    elif isinstance(start, dict) and str(path[0]) in start:
        key: str | int = str(path[0])
        yield from (((key, *rest), found) for rest, found in _pointers(start[key], path[1:]))
    elif isinstance(start, list) and isinstance(path[0], int) and path[0] < len(start):
        yield from (((path[0], *rest), found) for rest, found in _pointers(start[path[0]], path[1:]))
    if isinstance(start, dict) and "" in start:
        yield from ((("", *rest), found) for rest, found in _pointers(start[""], path))


def value_at(document: Json, pointer: Pointer) -> Json:
    """Return the part of a document at a pointer; the library's own copy of it may have lost something."""
    found: Any = document
    for key in pointer:
        found = found[key]
    given: Json = found
    return given


def _foreign(told: Iterable[Violation], gone: Mapping[Pointer, list[Violation]], root: Place) -> Iterator[Fault]:
    """State the unknown members of each object, but not those that are the misspelt name of one that is wanted."""
    told = tuple(told)
    choosing = {miss.pointer for miss in told if miss.keyword in _CHOICES}
    for miss in told:
        if miss.keyword not in _CLOSED:
            continue
        lacking = NameIndex(each.kind.property for each in gone.get(miss.pointer, ()))
        members = miss.subschema.get("properties")
        known = tuple(members) if isinstance(members, dict) else ()
        wanted = NameIndex(known if miss.pointer in choosing else ())
        for name in miss.kind.unexpected:
            if lacking.nearest(name) is None and wanted.nearest(name) is None:
                yield Fault(miss.topic, (_at(root, miss.pointer) / name).key, "unknown", {"name": name, "known": known})


def _worst(misses: Iterable[Violation]) -> dict[Pointer, Violation]:
    found: dict[Pointer, Violation] = {}
    for miss in misses:
        if miss.pointer not in found or _rank(miss) < _rank(found[miss.pointer]):
            found[miss.pointer] = miss
    return found


def _rank(miss: Violation) -> int:
    return _FIRST.index(miss.keyword) if miss.keyword in _FIRST else len(_FIRST)


def _at(root: Place, pointer: Pointer) -> Place:
    return Place(root.file, (*root.pointer, *pointer))


def _limit(miss: Violation) -> object:
    return miss.subschema.get(miss.keyword)


_CLOSED = ("additionalProperties", "unevaluatedProperties")
_CHOICES = ("oneOf", "anyOf")
_OBJECTS = ("required", *_CLOSED)
_WANTED: Mapping[str, Callable[[Violation], object]] = {
    "type": lambda miss: tuple(miss.kind.types),
    "enum": lambda miss: tuple(miss.kind.options),
    "const": lambda miss: (miss.subschema.get("const"),),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _limit),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), _limit),
}
