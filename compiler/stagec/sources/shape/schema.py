"""A user's JSON Schema: its dialect, its validity, its references, and the cost of its patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NoReturn

from stagec.core.budgets import Budgets
from stagec.core.expansion import PatternTally
from stagec.core.json import Json, Object, kind_of
from stagec.core.place import Key, Place, Pointer
from stagec.core.value import replace, value
from stagec.core.version import schema_file
from stagec.sources.shape.dialects import (
    DIALECTS,
    LATEST,
    Dialect,
    DialectPart,
    is_known,
    list_dialect_parts,
    list_ignored,
)
from stagec.sources.shape.faults import faults_of, link_swapped, missing, pointer_of, value_at
from stagec.sources.shape.patterns import PatternTrouble, trouble
from stagec.sources.shape.quick_check import METASCHEMAS, QUICK_CHECK
from stagec.sources.shape.subschemas import (
    KEYWORDS,
    Subschema,
    foreign,
    identities,
    report_repetitions,
    report_rounded,
    report_slips,
    subschemas,
)
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


def compile_schema(schema: Json, dialect: str = "Draft202012Validator", *, as_runs: bool = False) -> Any:
    """Compile a schema so that checking it opens nothing and takes time linear in what is checked.

    `dialect` names one of the library's classes. `as_runs` judges as runs do, formats and any pattern included.
    """
    import jsonschema_rs

    kind = getattr(jsonschema_rs, dialect)
    options = {"validate_formats": False, "pattern_options": jsonschema_rs.RegexOptions()}
    if as_runs:
        options = {"pattern_options": jsonschema_rs.FancyRegexOptions(backtrack_limit=_TRIES)}
    return kind(schema, retriever=refuse, mask="it", **options)  # messages would repeat whole files


def refuse(uri: str) -> NoReturn:
    """Answer a library that asks for another document: never, whatever it is."""
    raise LookupError(f"{uri} is not looked up")


_TRIES = 50_000
"""Steps after which an engine gives a pattern up that it can only try, as in a run."""
_LEGACY = ("behavior", "prompts", "logging")


def other_generation(tree: Tree, schema: str) -> Fault | None:
    """Return the one fault that says everything about a document of another generation, or None."""
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
_DOCUMENT_MOST = 10_000
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
    known = _faults_document(tree, wish := load_published(schema))
    unread = {fault.at.pointer for fault in tree.about("number-out-of-range")}
    found = tuple(islice((fault for fault in known if not unread or fault.at.pointer not in unread), _DOCUMENT_MOST))
    if not found:
        return tree

    def rejudge(other: Json) -> list[Pointer]:
        return [each.at.pointer for each in _faults_document(replace(tree, value=other), wish)]

    found = link_swapped(found, tree.value, (), len(tree.data), rejudge)
    broken = any(fault.at == tree.at and fault.reason == "type" for fault in found)
    return replace(tree, faults=(*tree.faults, *found), readable=tree.readable and not broken)


def _faults_document(tree: Tree, wish: Published) -> Iterator[Fault]:
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
        # the library makes all errors at once: of a file that can have very many, only the first is told
        is_crowded = tree.data.count(b",") + tree.data.count(b"\n") > _CROWDED
        errors = find_first(validator, tree.value) if is_crowded else validator.iter_errors(tree.value)
    except UnicodeEncodeError:  # a lone surrogate; it has a fault of its own, and nothing can be said about the rest
        return
    yield from faults_of(islice(errors, _DOCUMENT_MOST), wish.schema, tree.value, tree.at)


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
"""Text that must be in a file with such a number, once all its digits are zeros."""
_DOCUMENT_LARGE = re.compile(rb"[0-9]{16}|0x[0-9a-fA-F]{14}")


def judge_numbers(tree: Tree, schema: str, unheld: Iterable[Pointer] = ()) -> Tree:
    """Return the tree of a document with the whole numbers in it that a plan could not hold exactly.

    `schema` is the name of its published schema. Remarks are left out, and so are places that have a fault already or
    lie at or inside the pointers of `unheld`: no plan holds these as numbers.
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
    return _CANDIDATE in data.translate(_UNIFORM) and _DOCUMENT_LARGE.search(data) is not None


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


_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_SCHEMA_LARGE = 100_000
"""Bytes of a file from which on only the first violation of each of its schemas is told: finding all takes seconds."""
_SCHEMA_MOST = 1_000
"""Violations told of one file; whoever has more starts with these."""
_PATTERNS = 50
"""All patterns of one file together may be this many times as long as one."""


def judge_schema(tree: Tree, budgets: Budgets, tally: PatternTally | None = None) -> Tree:
    """Return the tree of a user's schema with what is wrong with it; nothing that it names is opened.

    The members of the root that are no keywords are schemas of their own, named after steps. `tally` counts the
    patterns of the whole project.
    """
    if not tree.readable:
        return tree
    if not isinstance(tree.value, dict):
        facts = {"allowed": ("object",), "kind": kind_of(tree.value)}
        return replace(tree, faults=(*tree.faults, Fault("invalid-schema", tree.at, "type", facts)), readable=False)
    return _with_faults(tree, tree.at, tree.value, _Patterns(budgets, tally))


def judge_member(tree: Tree, pointer: Pointer, budgets: Budgets, tally: PatternTally | None = None) -> Tree:
    """Return a tree with what is wrong with a schema that one of its members is; nothing where no object is.

    Unknown members of that schema are data, whatever they look like.
    """
    given = part_at(tree.value, pointer)
    if not isinstance(given, dict):
        return tree
    return _with_faults(tree, _place(tree.at, pointer), given, _Patterns(budgets, tally))


def judge_part(tree: Tree, pointer: Pointer, draft: Dialect, budgets: Budgets, tally: PatternTally | None) -> Tree:
    """Return a tree with what is wrong with a part of it that is used as a schema in a draft.

    Without a `tally`, what its references and patterns cost is known already.
    """
    at, given = _place(tree.at, pointer), part_at(tree.value, pointer)
    if not isinstance(given, dict):
        errors = _errors(_meta(draft), given)
        found = tuple(_violation(at, given, error.kind) for error in errors[:1])
        return replace(tree, faults=(*tree.faults, *found)) if found else tree
    if tally is not None:
        return _with_faults(tree, at, given, _Patterns(budgets, tally), draft)
    parts = tuple(list_dialect_parts(given, draft, members=False))
    apart = {part.pointer: (part.value, part.draft) for part in parts if part.apart}
    faults = (*_violations(at, given, apart, everything=True), *_report_ignored(at, parts))
    return replace(tree, faults=(*tree.faults, *faults)) if faults else tree


def part_at(given: Json, pointer: Pointer) -> Json:
    """Return the part of a value at a pointer into it, nothing where there is none."""
    for key in pointer:
        if isinstance(given, dict) and isinstance(key, str):
            given = given.get(key)
        else:
            given = given[key] if isinstance(given, list) and isinstance(key, int) else None
    return given


def _with_faults(tree: Tree, at: Place, schema: Object, patterns: _Patterns, outer: Dialect = LATEST) -> Tree:
    found = tuple(_faults_schema(tree, at, schema, patterns, outer))
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def _faults_schema(tree: Tree, at: Place, given: Object, patterns: _Patterns, outer: Dialect) -> Iterator[Fault]:
    is_file = not at.pointer
    root = given if is_file else {key: each for key, each in given.items() if key in KEYWORDS}
    parts = tuple(subschemas(root))
    unknown = tuple(_dialects(at, parts))
    yield from unknown
    if not unknown:
        may_be_mixed = any(mark in tree.data for mark in _MARKS)
        found = tuple(list_dialect_parts(root, outer, members=is_file)) if may_be_mixed else ()
        apart = {part.pointer: (part.value, part.draft) for part in found if part.apart}
        members = apart or _find_members(at, root)
        violations = tuple(_violations(at, root, members, everything=len(tree.data) < _SCHEMA_LARGE))

        def rejudge(other: Json) -> list[Pointer]:
            """Return the mistakes in the schema in another form, as pointers into it."""
            again = other if isinstance(other, dict) else {}
            named = list_dialect_parts(again, outer, members=is_file) if may_be_mixed else ()
            starts = {each.pointer: (each.value, each.draft) for each in named if each.apart}
            told = _violations(at, again, starts or _find_members(at, again), everything=True)
            return [each.at.pointer[len(at.pointer) :] for each in told]

        violations = link_swapped(violations, root, at.pointer, len(tree.data), rejudge)
        yield from violations
        yield from report_repetitions(at, parts, {each.at for each in violations})
        yield from _report_ignored(at, found)
        yield from report_rounded(at, parts) if has_large(tree.data) else ()
        yield from report_slips(at, (Subschema((), given), *parts[1:]))
    yield from foreign(at, parts, identities(parts))
    yield from patterns.faults(at, parts)


_MARKS = (b"$schema", b"additionalItems", b"$recursiveRef", b"\\")
"""A text without any of these has only schemas of the latest draft."""


_Starts = Mapping[Pointer, tuple[Object, Dialect]]
"""The schemas that are judged by themselves, with their drafts, by their place."""


def _find_members(at: Place, root: Object) -> _Starts:
    """Return a schema of the latest draft, and the schemas of its own that each member of a file's root is."""
    found: dict[Pointer, tuple[Object, Dialect]] = {(): (root, LATEST)}
    for key, each in root.items() if not at.pointer else ():
        if key not in KEYWORDS and isinstance(each, dict):
            found[key,] = each, LATEST
    return found


def _report_ignored(at: Place, parts: Iterable[DialectPart]) -> Iterator[Fault]:
    """State which keywords of each schema say nothing: their draft does not know them, or not beside a `$ref`."""
    for part in parts:
        names = list_ignored(part.value, part.draft)
        if names:
            unknown = tuple(each for each in names if not is_known(each, part.value[each], part.draft))
            told, reason = (unknown, "draft") if unknown else (names, "sibling")
            place = _place(at, (*part.pointer, told[0])).key
            yield Fault("ineffective-keyword", place, reason, {"names": told, "draft": part.draft})


def dialect_of(schema: Object) -> str:
    """Return the library's class for the dialect of a schema, the latest where it names none that is known."""
    return tuple(DIALECTS.values())[Dialect.of(schema, LATEST)]


def _dialects(at: Place, parts: tuple[Subschema, ...]) -> Iterator[Fault]:
    for part in parts:
        named = part.value.get("$schema")
        if isinstance(named, str) and named.removesuffix("#") not in DIALECTS:
            facts = {"dialect": named, "known": tuple(DIALECTS)}
            yield Fault("unknown-dialect", _place(at, (*part.pointer, "$schema")), facts=facts)


def _violations(at: Place, root: Object, apart: _Starts, *, everything: bool) -> Iterator[Fault]:
    """State what the schemas of dialects find wrong: one fault for each place, none inside another."""
    told: set[Pointer] = set()
    for start, (schema, draft) in apart.items():
        known = METASCHEMAS.get(tuple(DIALECTS.values())[draft])
        if known is not None and QUICK_CHECK.satisfies(schema, known):
            continue
        validator = _meta(draft)
        for error in _errors(validator, schema) if everything else _error(validator, schema):
            if len(told) == _SCHEMA_MOST:
                return
            pointer = (*start, *pointer_of(error, schema))
            around = [pointer[:length] for length in range(len(pointer) + 1)]
            is_own = not any(len(each) > len(start) and each in apart for each in around)
            if is_own and told.isdisjoint(around):
                told.add(pointer)
                yield _violation(_place(at, pointer), value_at(root, pointer), error.kind)


def _errors(validator: Any, schema: Json) -> tuple[Any, ...]:
    try:
        return () if validator.is_valid(schema) else tuple(validator.iter_errors(schema))
    except UnicodeEncodeError:  # a lone surrogate; it has a fault of its own
        return ()


def _error(validator: Any, schema: Object) -> tuple[Any, ...]:
    """Return the first error only."""
    try:
        return find_first(validator, schema)
    except UnicodeEncodeError:
        return ()


def _violation(at: Place, got: Json, kind: Any) -> Fault:
    facts: dict[str, object] = {"got": got if isinstance(got, (str, int, float)) else None, "kind": kind_of(got)}
    if kind.name == "anyOf" and at.pointer[-1:] == ("type",) and isinstance(got, str):
        return Fault("invalid-schema", at, "enum", {**facts, "allowed": _TYPES})
    for name in ("types", "limit", "options"):
        if hasattr(kind, name):
            told = getattr(kind, name)
            facts["allowed"] = tuple(told) if isinstance(told, list) else told
    return Fault("invalid-schema", at, kind.name, facts)


@cache
def _meta(draft: Dialect) -> Any:
    address, kind = tuple(DIALECTS.items())[draft]
    return compile_schema({"$ref": address}, kind)


def judge_patterns(tree: Tree, patterns: Mapping[Pointer, str], tally: PatternTally) -> Tree:
    """Return a tree with the patterns in it, given by place, that cost too much to be compiled or cannot be read."""
    faults: list[Fault] = []
    for at, each in patterns.items():
        excess = tally.excess(each)
        if excess:
            faults.append(Fault("costly-schema", Place(tree.file, at), excess, {"got": each}))
        elif _ask_engine(each) is not None:
            faults.append(Fault("unreadable-pattern", Place(tree.file, at), facts={"got": each}))
    return replace(tree, faults=(*tree.faults, *faults)) if faults else tree


class _Patterns:
    """The patterns of one file: how long each may be, and how large all of the project become."""

    def __init__(self, budgets: Budgets, tally: PatternTally | None) -> None:
        self._longest = budgets.pattern_length
        self._left = self._longest * _PATTERNS
        self._tally = tally or PatternTally(budgets)
        self._seen: dict[str, PatternTrouble | None] = {}

    def faults(self, at: Place, parts: tuple[Subschema, ...]) -> Iterator[Fault]:
        """State what is wrong with every pattern; one that costs too much is not compiled."""
        for place, pattern in _list_patterns(at, parts):
            if pattern not in self._seen:
                self._left -= len(pattern)
                if self._left < 0:
                    limit = self._longest * _PATTERNS
                    yield Fault("costly-pattern", place, "total", {"got": pattern, "limit": limit})
                    return
                self._seen[pattern] = trouble(pattern, self._longest) or self._compile(pattern)
            found = self._seen[pattern]
            facts: dict[str, object] = {"got": pattern, "kind": "string", "limit": self._longest}
            if found is PatternTrouble.SYNTAX or found is PatternTrouble.ENGINE:
                yield Fault("invalid-schema", place, found.value, facts)
            elif found is PatternTrouble.SIZE or found is PatternTrouble.TOTAL:
                yield Fault("costly-schema", place, found.value, facts)
            elif found is not None:
                yield Fault("costly-pattern", place, found.value, facts)

    def _compile(self, pattern: str) -> PatternTrouble | None:
        excess = self._tally.excess(pattern)
        return PatternTrouble(excess) if excess else _ask_engine(pattern)


def _ask_engine(pattern: str) -> PatternTrouble | None:
    """Ask the engine with which answers are judged; it lacks some of what ECMA 262 allows, and bounds the size."""
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for({"pattern": pattern})
    except (ValueError, jsonschema_rs.ValidationError):
        return PatternTrouble.ENGINE
    return None


def _list_patterns(at: Place, parts: tuple[Subschema, ...]) -> Iterator[tuple[Place, str]]:
    for part in parts:
        pattern, named = part.value.get("pattern"), part.value.get("patternProperties")
        if isinstance(pattern, str):
            yield _place(at, (*part.pointer, "pattern")), pattern
        for key in named if isinstance(named, dict) else ():
            yield _place(at, (*part.pointer, "patternProperties", key)).key, key


def _place(root: Place, pointer: Pointer) -> Place:
    return Place(root.file, (*root.pointer, *pointer))
