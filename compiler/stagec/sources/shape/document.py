"""A document against the schema that stagec publishes for its kind, and its numbers against what a plan can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NoReturn

from stagec.core.json import Json, Object
from stagec.core.place import Key, Place, Pointer
from stagec.core.published import schema_file
from stagec.core.value import replace, value
from stagec.sources.shape.faults import faults_of, missing
from stagec.sources.shape.quick_check import QUICK_CHECK
from stagec.sources.shape.swaps import link_swapped
from stagec.sources.tree import Fault, Tree


@value
class Published:
    """One published schema: its name, and as written.

    `wanted` are the members that it wishes for without requiring them, each as a path in which `*` stands for every
    member, with the topic of its absence.
    """

    name: str
    schema: Object
    wanted: tuple[tuple[tuple[str, ...], str], ...]


@cache
def load_published(name: str) -> Published:
    """Return the schema `schemas/NAME.schema.json`."""
    import json

    with open(schema_file(name), encoding="utf-8") as file:
        schema = json.load(file)
    wanted = tuple((tuple(each["path"]), each["x-rules"]["required"]) for each in schema.get("x-wanted", ()))
    return Published(name, schema, wanted)


@cache
def load_validator(name: str) -> Any:
    """Return a published schema, compiled."""
    return compile_schema(load_published(name).schema)


def compile_schema(schema: Json, dialect: str = "Draft202012Validator") -> Any:
    """Compile a schema so that checking it opens nothing and takes time linear in what is checked.

    `dialect` names one of the library's classes.
    """
    import jsonschema_rs

    kind = getattr(jsonschema_rs, dialect)
    options = {"validate_formats": False, "pattern_options": jsonschema_rs.RegexOptions()}
    return kind(schema, retriever=refuse, mask="it", **options)  # messages would repeat whole files


def refuse(uri: str) -> NoReturn:
    """Answer a library that asks for another document: never, whatever it is."""
    raise LookupError(f"{uri} is not looked up")


_LEGACY = ("behavior", "prompts", "logging")


def other_generation(tree: Tree, schema: str) -> Fault | None:
    """Return the one fault that says everything about a document of another generation, or nothing."""
    recognise = _RECOGNISED.get(schema)
    if recognise is None or not isinstance(tree.value, dict):
        return None
    return next(recognise(tree.at, tree.value), None)


def _legacy(at: Place, root: Object) -> Iterator[Fault]:
    """Find agent definitions from before everything about running moved below `runner`."""
    signs = [name for name in _LEGACY if name in root]
    if "runner" not in root and signs:
        yield Fault("legacy-agent", at / signs[0], facts={"members": tuple(signs)})


_RECOGNISED: Mapping[str, Callable[[Place, Object], Iterator[Fault]]] = {"agent": _legacy, "agent_1_14": _legacy}


_SMALL = 60_000
"""Bytes of a file that may be judged without the library."""
_MOST = 10_000
"""Faults of one file's shape that are kept; nobody reads more, and a hostile file could have a million."""


def judge(tree: Tree, schema: str) -> Tree:
    """Return the tree with what is wrong with its shape; `schema` is the name of a published schema.

    A tree of another generation of its format gets one fault and is no longer readable, nor is one whose root is not
    of the type the schema wants. A clean document costs one call of the compiled schema.
    """
    if tree.value is None and not tree.readable:
        return tree
    other = other_generation(tree, schema)
    if other is not None:
        return replace(tree, faults=(*tree.faults, other), readable=False)
    # leave out what is wrong with a number that could not even be read: a stand-in was judged in its place
    known = _faults(tree, wish := load_published(schema))
    unread = {fault.at.pointer for fault in tree.about("number-out-of-range")}
    found = tuple(islice((fault for fault in known if not unread or fault.at.pointer not in unread), _MOST))
    if not found:
        return tree

    def rejudge(other: Json) -> list[Pointer]:
        return [each.at.pointer for each in _faults(replace(tree, value=other), wish)]

    found = link_swapped(found, tree.value, (), len(tree.data), rejudge)
    broken = any(fault.at == tree.at and fault.reason == "type" for fault in found)
    return replace(tree, faults=(*tree.faults, *found), readable=tree.readable and not broken)


def _faults(tree: Tree, wish: Published) -> Iterator[Fault]:
    # state what is absent though wished for; the compiled schema does not know of it, so that absence stays cheap
    for path, topic in wish.wanted:
        *way, name = path
        # the objects that a path leads to, `*` standing for every member
        found: list[tuple[Pointer, Json]] = [((), tree.value)]
        for key in way:
            found = [each for pointer, owner in found for each in _members(pointer, owner, key)]
        for pointer, owner in [(pointer, owner) for pointer, owner in found if isinstance(owner, dict)]:
            if name not in owner:
                yield missing(topic, Place(tree.file, pointer), (name,))
    if len(tree.data) < _SMALL and QUICK_CHECK.satisfies(tree.value, wish.schema):
        return
    validator = load_validator(wish.name)
    try:
        if validator.is_valid(tree.value):
            return
        errors = find_first(validator, tree.value) if _is_crowded(tree) else validator.iter_errors(tree.value)
    except UnicodeEncodeError:  # a lone surrogate; it has a fault of its own, and nothing can be said about the rest
        return
    yield from faults_of(islice(errors, _MOST), wish.schema, tree.value, tree.at)


def _is_crowded(tree: Tree) -> bool:
    """Tell whether a file can have so many values that only its first fault is told: the library makes all at once."""
    return tree.data.count(b",") + tree.data.count(b"\n") > _CROWDED


_CROWDED = 150_000
"""An error of the library takes about 3 kB, and what people write 20 bytes or more for each value."""


def find_first(validator: Any, given: Json) -> tuple[Any, ...]:
    """Return the first error that a compiled schema finds, none where there is none; no other is made."""
    from jsonschema_rs import ValidationError

    try:
        validator.validate(given)
    except ValidationError as error:
        return (error,)
    return ()


def _members(pointer: Pointer, owner: Json, key: str) -> Iterator[tuple[Pointer, Json]]:
    if not isinstance(owner, dict):
        return
    for name in owner if key == "*" else (key,):
        if name in owner:
            yield (*pointer, name), owner[name]


_LARGEST = 2**53 - 1
_UNIFORM = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)
_CANDIDATE = b"0" * 14
"""What a text must contain in which such a number is written, once all its digits are zeros."""
_LARGE = re.compile(rb"[0-9]{16}|0x[0-9a-fA-F]{14}")


def judge_numbers(tree: Tree, schema: str, unheld: Iterable[Pointer] = ()) -> Tree:
    """Return the tree of a document with the whole numbers in it that a plan could not hold exactly.

    `schema` is the name of its published schema. What that calls a remark is left out, what has a fault already, and
    what lies at or inside the pointers of `unheld`: no plan holds it as a number.
    """
    if not tree.readable or not has_large(tree.data):
        return tree
    silent = {*unheld, *(fault.at.pointer for fault in tree.faults if fault.at.pointer)}
    numbers: list[tuple[Pointer, int]] = []
    whole: Any = load_published(schema).schema
    todo: list[tuple[Pointer, Json, Any]] = [((), tree.value, whole)]
    while todo:
        pointer, given, described = todo.pop()
        if pointer in silent:
            continue
        if isinstance(given, int):
            numbers.append((pointer, given))
        described = whole["$defs"][described["$ref"].rpartition("/")[2]] if "$ref" in described else described
        todo.extend(((*pointer, key), inner, inside) for key, inner, inside in _describe_members(given, described))
    found = tuple(
        Fault("inexact-number", Place(tree.file, pointer), facts={"number": number, "limit": _LARGEST})
        for pointer, number in numbers
        if not -_LARGEST <= number <= _LARGEST
    )
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def has_large(data: bytes) -> bool:
    """Tell whether a text may have whole numbers beyond those that every program holds."""
    return _CANDIDATE in data.translate(_UNIFORM) and _LARGE.search(data) is not None


def _describe_members(given: Json, described: Any) -> Iterator[tuple[Key, Json, Any]]:
    """Yield the members of a value with what a published schema says of each; none that is a remark."""
    if isinstance(given, dict):
        known, others = described.get("properties", {}), described.get("additionalProperties")
        remarks = [*described.get("patternProperties", ()), *(["^comment$"] if "comment" in known else ())]
        for name, inner in given.items():
            if not any(re.search(pattern, name) for pattern in remarks):
                yield name, inner, known.get(name, others if isinstance(others, dict) else {})
    elif isinstance(given, list):
        inside = described.get("items", {})
        yield from ((index, inner, inside) for index, inner in enumerate(given))
