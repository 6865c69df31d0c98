"""Make a simple value that satisfies a JSON Schema and has the required members."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from stagec.core.budgets import AnswerBudgets
from stagec.core.json import MISSING, Json, Object, kind_of, list_of, object_of
from stagec.core.place import Key
from stagec.core.value import value
from stagec.ir.plan.gate import Among, Exists, Gate, IntentGate, Reads, Term
from stagec.ir.plan.node import Node
from stagec.runtime.machine import Program
from stagec.runtime.machine.exchange import Run, Shell

_LONGEST = 1_000
"""Characters of the longest text that is written."""
_CATEGORIES = {"SPACE": " ", "NOT_DIGIT": "a", "NOT_WORD": "-", "NOT_SPACE": "a"}
_PLAIN = "abcxyzABCXYZ0123456789-_ .,:;/"


def make_matching_text(pattern: str) -> str:
    """Return a text for a pattern; one that cannot be read, or asks for what is around a place, may not be found."""
    try:
        todo: list[Any] = [*reversed(import_module("re._parser").parse(pattern))]
    except (re.error, OverflowError, RecursionError):
        return "text"
    text = ""
    while todo and len(text) < _LONGEST:
        operation, given = todo.pop()
        if str(operation) in _INSIDE:
            todo += reversed(_INSIDE[str(operation)](given))
        else:
            text += _CHARACTERS.get(str(operation), lambda _: "")(given)
    return text


_INSIDE: Mapping[str, Callable[[Any], list[Any]]] = {
    **dict.fromkeys(
        ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"), lambda given: [*given[2]] * min(given[0], _LONGEST)
    ),
    "SUBPATTERN": lambda given: [*given[-1]],
    "ATOMIC_GROUP": lambda given: [*given],
    "BRANCH": lambda given: [*given[1][0]],
}
"""The parts of composed parts of a pattern; of alternatives the first."""


def _choose(members: list[Any]) -> str:
    """Return a character of a class; of a set of excluded characters, the first usual one outside of it."""
    named = [_expand(str(kind), given) for kind, given in members if str(kind) != "NEGATE"]
    if str(members[0][0]) != "NEGATE":
        return named[0][0] if named and named[0] else "x"
    return next((each for each in _PLAIN if all(each not in some for some in named)), "é")


def _expand(kind: str, given: Any) -> str:
    """Return characters that a member of a class stands for."""
    if kind == "LITERAL":
        return chr(given)
    if kind == "RANGE":
        return "".join(map(chr, range(given[0], min(given[1], given[0] + 200) + 1)))
    name = str(given).removeprefix("CATEGORY_")
    if name == "DIGIT":
        return "1234567890"
    if name == "WORD":
        return "".join(each for each in _PLAIN if each.isalnum() or each == "_")
    return _CATEGORIES.get(name, "x")


_CHARACTERS: Mapping[str, Callable[[Any], str]] = {
    "LITERAL": chr,
    "ANY": lambda _: "x",
    "NOT_LITERAL": lambda given: "b" if given == ord("a") else "a",
    "IN": _choose,
}
"""A character for each part of a pattern that stands for one."""


_DEEPEST = 12
"""Objects inside each other that are made; a schema that wants more wants no end."""


_MOST = 2_000
"""Values that are made for one answer, or as many as its schema has parts: a small schema may ask for any number."""


_ALTERNATIVES = 4
"""The number of a schema's listed values, and of its alternatives, that are tried one after the other."""
_MAKERS = 120
"""Ways to choose among alternatives that are tried when the simple ones do not fit."""


@value
class RequiredValue:
    """A required value at a path; with `absent`, none."""

    path: tuple[Key, ...]
    value: Json = None
    absent: bool = False


def make_sample(program: Program, schema: str | None, required: Iterable[RequiredValue]) -> Json | None:
    """Return a value that satisfies the schema of a content, as wished; None if none can be made up simply."""
    return next(make_samples(program, schema, required), None)


def make_samples(program: Program, schema: str | None, required: Iterable[RequiredValue]) -> Iterator[Object]:
    """Yield different objects that satisfy the schema of a content, as wished, the simplest one first."""
    wanted = tuple(required)
    if any(len(each.path) > AnswerBudgets().depth for each in wanted):
        return  # no answer may be so deep
    demanded = _demand(each for each in wanted if not each.absent)
    seen: list[Json] = []
    for maker in _list_makers(program, schema):
        # what is wished is asked for like what the schema asks for, so that its alternatives are chosen accordingly
        made = maker.simplest({"allOf": [maker.root, demanded]}, 0)
        found = dict(made) if isinstance(made, dict) else {}
        for each in wanted:
            maker.put(found, each)
        if found not in seen and program.answer_schemas.complaint(schema, found) is None:
            yield found
        seen.append(found)


def _demand(wanted: Iterable[RequiredValue], depth: int = 0) -> Json:
    """Return a schema of the objects that have what is wished, each object in one part, as deep as any are made."""
    inside: dict[str, list[RequiredValue]] = {}
    found: list[Json] = []
    for each in wanted:
        if len(each.path) == depth:
            found.append({"const": each.value})
        else:
            inside.setdefault(str(each.path[depth]), []).append(each)
    if inside and depth < _DEEPEST:
        members = {name: _demand(some, depth + 1) for name, some in inside.items()}
        found.append({"required": [*inside], "properties": members})
    return found[0] if len(found) == 1 else {"allOf": found}


class PlainDemands:
    """The demands of a schema on the members of its objects in all of its alternatives; `size` counts its parts."""

    def __init__(self, program: Program, schema: str | None) -> None:
        self._root = _read_root(program, schema)
        text = "" if schema is None else program.plan.contents[schema]
        self.size = _count_parts(text)
        self._is_named = '"$id"' in text  # so references may lead elsewhere
        self._known: dict[tuple[Key, ...], list[Object]] = {(): self._write_out([self._root])}

    def allow(self, each: RequiredValue) -> bool:
        """Tell whether an object may have a required value; False is certain."""
        if len(each.path) > _DEEPEST:
            return True
        around = self._find(())
        for at in range(1, len(each.path)):
            around = self._find(each.path[:at])
            if not all(_may_be(inner, {}) for inner in around):
                return False
        if each.absent:
            return not any(str(each.path[-1]) in list_of(outer.get("required")) for outer in around)
        return all(_may_be(inner, each.value) for inner in self._find(each.path))

    def _find(self, path: tuple[Key, ...]) -> list[Object]:
        """Return the parts of the schema that every value at a path satisfies; those around it are known."""
        if path not in self._known:
            around = [object_of(each.get("properties")) for each in self._known[path[:-1]]]
            self._known[path] = self._write_out([each[str(path[-1])] for each in around if str(path[-1]) in each])
        return self._known[path]

    def _write_out(self, todo: list[Json]) -> list[Object]:
        """Return some schemas with all that they join, or what they refer to instead."""
        found: list[Object] = []
        seen = set[str]()
        for each in todo:  # grows while it is read
            schema = _NOTHING_FITS if each is False else object_of(each)
            reference = schema.get("$ref")
            if reference is None:
                found.append(schema)
                todo += list_of(schema.get("allOf"))
            elif not self._is_named and isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                todo += [_find_part(self._root, reference)] if reference.startswith("#/") else []
        return found


_NOTHING_FITS: Object = {"enum": []}
_NUMBERS = frozenset({"integer", "number"})


def _may_be(schema: Object, given: Json) -> bool:
    """Tell whether the type and the listed values of a schema leave room for a value; of an object only the type."""
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else list_of(kinds)
    kind = kind_of(given)
    if named and kind not in named and not (kind in _NUMBERS and not _NUMBERS.isdisjoint(map(str, named))):
        return False
    if isinstance(given, dict):
        return schema is not _NOTHING_FITS
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return not isinstance(listed, list) or given in listed


def make_value(program: Program, schema: str | None) -> Json:
    """Return a value of any kind that satisfies the schema of a content; `MISSING` when none can be made up simply."""
    if schema is None:
        return "text"
    made = (maker.simplest(maker.root, 0) for maker in _list_makers(program, schema))
    found: Json = next((each for each in made if program.answer_schemas.complaint(schema, each) is None), MISSING)
    return found


def list_values(program: Program, schema: str | None, path: Iterable[Key] = ()) -> list[Json] | None:
    """Return the values that the schema of a content lists one by one for a path, None where it lists none."""
    root = _read_root(program, schema)
    found = _follow(root, root)
    for key in path:
        found = _follow(root, object_of(found.get("properties")).get(str(key)))
    if "const" in found:
        return [found["const"]]
    if isinstance(found.get("enum"), list):
        return list_of(found["enum"])
    return [True, False] if found.get("type") == "boolean" else None


def _follow(root: Json, schema: Json) -> Object:
    """Return a schema, or the part of the root to which it does nothing but refer."""
    found = object_of(schema)
    for _ in range(_DEEPEST):
        reference = found.get("$ref")
        if not isinstance(reference, str):
            break
        found = object_of(_find_part(root, reference))
    return found


def _find_part(root: Json, reference: str) -> Json:
    found = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = object_of(found).get(part.replace("~1", "/").replace("~0", "~"))
    return found


def _read_root(program: Program, schema: str | None) -> Object:
    return {} if schema is None else _parse(program.plan.contents[schema])


@lru_cache(maxsize=100)
def _parse(text: str) -> Object:
    """Return the schema in a text, which nobody changes; no object says as little as an empty one."""
    return object_of(json.loads(text))


def _count_parts(text: str) -> int:
    """Return how many objects there may be in the text of a schema, each at most a schema of its own."""
    return text.count("{")


def _list_makers(program: Program, schema: str | None) -> Iterator[_Maker]:
    """Yield makers of values by a schema: with the members that it demands, with all, and with other alternatives.

    Each has to be used before the next one, which depends on its choices.
    """
    root, matches = _read_root(program, schema), program.answer_schemas.matches
    most = 0 if schema is None else _count_parts(program.plan.contents[schema])
    first: list[_Maker] = []
    made = 0
    for alternative in range(_ALTERNATIVES):
        for is_full in (False, True):
            maker = _Maker(root, matches, alternative, is_full=is_full, most=most)
            yield maker
            first = [*first, maker][:2]
            made += maker.made
        if made > _MADE or not any(count > 1 for maker in first for count in maker.choices):
            return  # without choices all others would make the same
    # choose otherwise at one place, at two places, and so on, as far as there is something to choose
    waiting: deque[tuple[Mapping[int, int], bool]] = deque()
    for is_full, maker in zip((False, True), first, strict=True):
        waiting.extend(_list_picks({}, maker, is_full=is_full))
    joined = sum(maker.joined for maker in first)
    for _ in range(_MAKERS):
        if not waiting or joined > _JOINED or made > _MADE:
            return
        picks, is_full = waiting.popleft()
        maker = _Maker(root, matches, picks=picks, is_full=is_full, most=most)
        yield maker
        joined, made = joined + maker.joined, made + maker.made
        waiting.extend(_list_picks(picks, maker, is_full=is_full))


def _list_picks(picks: Mapping[int, int], maker: _Maker, *, is_full: bool) -> Iterator[tuple[Mapping[int, int], bool]]:
    """Yield picks with one more choice that is made otherwise, after the last one."""
    first = max(picks, default=-1) + 1
    for at, count in enumerate(maker.choices[first:], first):
        yield from (({**picks, at: other}, is_full) for other in range(1, min(count, _MOST_CHOICES)))


_MOST_CHOICES = 16
"""Alternatives at one place that are tried."""
_MADE = 250_000
"""Values that are made for one answer before no further choices are tried."""
_JOINED = 50_000
"""Parts of schemas that are put together before no further choices are tried."""


class _Maker:
    """Makes values by one schema, which refers to nothing but parts of itself.

    At each choice, `picks` says which alternative is taken, by the number of the choice; otherwise the one that
    `alternative` says. `choices` are the numbers of alternatives at the choices so far. `joined` counts the schemas
    that were put together, `made` the values that were made.
    """

    def __init__(
        self,
        root: Mapping[str, Any],
        matches: Callable[[str, str], bool],
        alternative: int = 0,
        picks: Mapping[int, int] | None = None,
        *,
        is_full: bool = False,
        most: int = 0,
    ) -> None:
        self.root, self._matches = root, matches
        self.choices: list[int] = []
        self.joined = 0
        self._alternative, self._picks, self._is_full = alternative, picks or {}, is_full
        self._most = max(_MOST, most)
        self.made = 0

    def simplest(self, schema: Any, depth: int) -> Any:
        """Return the simplest value that a schema seems to allow, nothing where it wants no end."""
        self.made += 1
        if depth > _DEEPEST or self.made > self._most:
            return None
        expanded = self._resolve(schema, depth)
        if "const" in expanded:
            return expanded["const"]
        for listed in ("enum", "examples"):
            if list_of(expanded.get(listed)):
                return self._choose(expanded[listed])
        if "default" in expanded:
            return expanded["default"]
        kinds = _list_types(expanded)
        return self._of_kind(self._choose(kinds) if len(kinds) > 1 else kinds[0], expanded, depth)

    def put(self, found: Any, each: RequiredValue) -> None:
        """Put what is wished where it is wished; objects on the way there are made."""
        *way, last = each.path
        schema: Any = self.root
        for key in way:
            if not isinstance(found, dict):
                return
            schema = self._member(schema, key)
            inner = found.get(str(key))
            if not isinstance(inner, dict):
                inner = self.simplest(schema, len(way))
            found[str(key)] = dict(inner) if isinstance(inner, dict) else {}  # a default belongs to the schema
            found = found[str(key)]
        if each.absent:
            found.pop(str(last), None)
        elif isinstance(found, dict):
            found[str(last)] = each.value

    def _of_kind(self, kind: str, expanded: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                return self._make_object(expanded, depth)
            case "array":
                return self._make_array(expanded, depth)
            case "string":
                return self._write_text(expanded)
            case "integer" | "number":
                return self._find_number(expanded)
            case _:
                return False if kind == "boolean" else None

    def _make_object(self, expanded: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Return an object with the members that a schema wants, by name, because of others, or by their number."""
        declared = object_of(expanded.get("properties"))
        required = [str(each) for each in list_of(expanded.get("required"))] if depth < _DEEPEST else []
        names = dict.fromkeys([*required, *declared] if self._is_full else required)
        demanded = object_of(expanded.get("dependentRequired"))
        waiting = deque(names)
        while waiting:
            further = [str(each) for each in list_of(demanded.get(waiting.popleft()))]
            waiting.extend(dict.fromkeys(each for each in further if each not in names))
            names |= dict.fromkeys(further)
        least = min(int(expanded.get("minProperties", 0)), _MOST_MEMBERS)
        others = (*declared, *self._list_pattern_names(expanded), *(f"member{at}" for at in range(_MOST_MEMBERS)))
        for name in others:
            if len(names) < least and declared.get(name) is not False:
                names[name] = None
        return {name: self.simplest(self._member(expanded, name), depth + 1) for name in names}

    def _list_pattern_names(self, expanded: Mapping[str, Any]) -> Iterator[str]:
        """Yield names that the patterns of a schema allow."""
        for pattern, inner in object_of(expanded.get("patternProperties")).items():
            text = make_matching_text(pattern)
            ends = ("", *(f"{at}" for at in range(10)), *"abcdefgh") if inner is not False else ()
            names = (name for end in ends for name in (text + end, text[: len(text) - len(end)] + end))
            yield from (name for name in dict.fromkeys(names) if self._matches(pattern, name))

    def _make_array(self, expanded: Mapping[str, Any], depth: int) -> list[Any]:
        """Return a list with as many elements as a schema wants, those that it must contain among them."""
        first, items = list_of(expanded.get("prefixItems")), expanded.get("items", {})
        if isinstance(items, list):  # of the drafts before 2020-12
            first, items = items, expanded.get("additionalItems", {})
        contained = (
            [expanded["contains"]] * min(int(expanded.get("minContains", 1)), _DEEPEST)
            if "contains" in expanded
            else []
        )
        count = max(int(min(expanded.get("minItems", 0), _DEEPEST)), len(first) + len(contained), int(self._is_full))
        if "maxItems" in expanded:
            count = min(count, int(expanded["maxItems"]))
        parts = [*first, *[{"allOf": [items, each]} for each in contained], *[items] * count][:count]
        made = [self.simplest(each, depth + 1) for each in parts]
        return [self._number(each, at) for at, each in enumerate(made)] if expanded.get("uniqueItems") else made

    def _find_number(self, expanded: Mapping[str, Any]) -> Any:
        """Return a number between the bounds of a schema, next to one of them where 0 is none of these numbers."""
        least, most = (
            expanded.get("minimum", expanded.get("exclusiveMinimum")),
            expanded.get("maximum", expanded.get("exclusiveMaximum")),
        )
        if least is not None:
            number: float = least + ("minimum" not in expanded)
        else:
            number = 0 if most is None or most > 0 else most - ("maximum" not in expanded)
        step = expanded.get("multipleOf")
        return -(-number // step) * step if step else number

    def _number(self, given: Json, at: int) -> Json:
        """Return a value as the one of a place in a list whose values all differ."""
        if isinstance(given, str) and at:
            return f"{given}{at}"
        return given + at if isinstance(given, int | float) and not isinstance(given, bool) else given

    def _write_text(self, expanded: Mapping[str, Any]) -> str:
        """Return a text of the length, the format or the pattern that a schema asks for."""
        pattern, form = expanded.get("pattern"), expanded.get("format")
        text = _FORMATS.get(form, "text") if isinstance(form, str) else "text"
        if isinstance(pattern, str):
            text = make_matching_text(pattern)
        least, most = (expanded.get(name, other) for name, other in (("minLength", 0), ("maxLength", 1_000)))
        filler = text[-1:] if pattern is not None and text else "."
        return text.ljust(int(min(least, 1_000)), filler)[: int(min(most, 1_000))]

    def _choose(self, listed: Any) -> Any:
        """Return one of some values or alternatives, the last of them where there are fewer."""
        picked = self._picks.get(len(self.choices), 0 if self._picks else self._alternative)
        self.choices.append(len(listed))
        return listed[min(picked, len(listed) - 1)]

    def _member(self, schema: Any, key: Key) -> Any:
        expanded = self._resolve(schema, 0)
        name, declared = str(key), object_of(expanded.get("properties"))
        found = [declared[name]] if name in declared else []
        patterns = object_of(expanded.get("patternProperties"))
        found += [inner for pattern, inner in patterns.items() if self._matches(pattern, name)]
        if len(found) > 1:
            return {"allOf": found}
        return found[0] if found else expanded.get("additionalProperties", {})

    def _resolve(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """Return a schema with what it refers to and chooses from written out, as far as that is simple."""
        given = object_of(schema)
        if _COMPOSED.isdisjoint(given):
            return given
        expanded = dict(given)
        for _ in range(_DEEPEST):
            others: list[Json] = [self._at(expanded.pop("$ref"))] if "$ref" in expanded else []
            others += list_of(expanded.pop("allOf", None))
            others += [self._choose(each) for name in ("anyOf", "oneOf") if (each := list_of(expanded.pop(name, None)))]
            others += self._choose_branch(expanded)
            if not others or depth > _DEEPEST:
                break
            self.joined += len(others)
            for other in others:
                expanded = _join(expanded, object_of(other))
        return expanded

    def _choose_branch(self, expanded: dict[str, Any]) -> list[Json]:
        """Take the conditions out of a schema, and return what one branch of each asks for."""
        found: list[Json] = []
        for name, inner in object_of(expanded.pop("dependentSchemas", None)).items():
            is_there = name in list_of(expanded.get("required")) or (
                self._is_full and name in object_of(expanded.get("properties"))
            )
            found += [inner] if is_there else []
        if "if" in expanded:
            met, then, other = (expanded.pop(each, {}) for each in ("if", "then", "else"))
            found.append(self._choose([{"allOf": [met, then]}, {"allOf": [other]}]))
        return found

    def _at(self, reference: Any) -> Json:
        return object_of(_find_part(self.root, str(reference)))


def _join(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the joint demands of two schemas, as far as that is simple."""
    joined = {**other, **one}
    for key in one.keys() & other.keys():
        join = _JOINS.get(key)
        if join is not None:
            joined[key] = join(one[key], other[key])
    for key in ("$ref", "anyOf", "oneOf", "if", "contains"):  # a second one is a part of its own
        if key in one and key in other:
            rest = {name: other[name] for name in (_BRANCHES if key == "if" else (key,)) if name in other}
            joined["allOf"] = [*list_of(joined.get("allOf")), rest]
    return joined


_BRANCHES = ("if", "then", "else")
_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "dependentSchemas", "if"})
"""Keywords by which a schema has further parts that apply to the same value."""


def _join_named(one: Any, other: Any) -> dict[str, Any]:
    first, second = object_of(one), object_of(other)
    both = {name: {"allOf": [first[name], second[name]]} for name in first.keys() & second.keys()}
    return {**second, **first, **{name: each for name, each in both.items() if first[name] != second[name]}}


def _join_values(one: Any, other: Any) -> list[Any]:
    common = [each for each in list_of(one) if each in list_of(other)]
    return common or list_of(one)


def _join_types(one: Any, other: Any) -> Any:
    first, second = ([each] if isinstance(each, str) else list_of(each) for each in (one, other))
    common = [each for each in first if each in second]
    common += ["integer"] if {"integer", "number"} <= {*first, *second} and "integer" not in common else []
    return common or one


_JOINS: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("required", "allOf"), lambda one, other: [*list_of(one), *list_of(other)]),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependentRequired", "$defs"), _join_named),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "enum": _join_values,
    "type": _join_types,
}
"""The combination of two schemas for a keyword that both have."""
_MOST_MEMBERS = 12
"""Members that are made because an object needs so many."""


def _list_types(expanded: Mapping[str, Any]) -> Sequence[str]:
    """Return the types that a value may have, the likeliest first."""
    kind = expanded.get("type")
    if isinstance(kind, list) and kind:
        return sorted(map(str, kind), key=lambda each: each == "null")
    if isinstance(kind, str):
        return (kind,)
    if {"properties", "required", "minProperties", "patternProperties"} & set(expanded):
        return ("object",)
    return ("array",) if {"items", "contains", "prefixItems"} & set(expanded) else _TYPES


_TYPES = ("string", "integer", "boolean", "null", "object", "array")
_FORMATS: Mapping[str, str] = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "uri-reference": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.org",
}
"""A text of each format that schemas commonly name."""


def collect_required_values(
    gate: Gate, outcome: str, named: str | None, terms: Iterable[Term]
) -> Iterator[RequiredValue]:
    """Yield the values that an answer needs so that it has an outcome, names a node, and satisfies some conditions."""
    if isinstance(gate, IntentGate):
        yield RequiredValue(gate.field, outcome)
        if gate.target is not None and named is not None:
            yield RequiredValue(gate.target, named)
    for term in terms:
        path = find_in_answer(gate, term)
        if path:
            yield require_value(path, term)


def find_in_answer(gate: Gate, term: Term) -> tuple[Key, ...]:
    """Return the path, in an answer or a stage's result, of the value that a condition reads; () for nowhere."""
    first, *rest = term.path
    if first in {"answer", "parsed"}:
        return tuple(rest)
    if first == "handoff" and isinstance(gate, IntentGate) and rest:
        return next((path for path in reversed(gate.handoff) if path and str(path[-1]) == str(rest[0])), ())
    return ()


def require_value(path: tuple[Key, ...], term: Term) -> RequiredValue:
    """Return the value that satisfies a condition, for the path where the condition reads it."""
    match term:
        case Among(values=values):
            return RequiredValue(path, values[0])
        case Reads(texts=texts):
            return RequiredValue(path, read_text(texts[0]))
        case Exists(present=present):
            return RequiredValue(path, "text", absent=not present)


def read_text(text: str) -> Json:
    """Return the number or the boolean that a text is, else the text."""
    try:
        given: Json = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return given if isinstance(given, bool | int | float) else text


def make_output(program: Program, node: Node, effect: Run | Shell, *, succeeds: bool) -> Mapping[str, Json]:
    """Return an output of a node's command that counts as success, or as failure."""
    success = None
    if isinstance(effect, Shell) and node.validation is not None:
        known = [program.plan.validators[each.validator] for each in node.validation.checked]
        exact = (each.success for each in known if each.command == effect.command)
        begun = (each.success for each in known if effect.command.startswith(each.command.partition("${")[0]))
        success = next(exact, None) or next(begun, None)
    if success is None or success.kind == "exit":
        wanted = int(success.argument) if success and success.argument.isdigit() else 0
        return write_output(wanted if succeeds else int(wanted == 0))
    text = "" if success.kind == "empty" else success.argument
    return write_output(0 if succeeds else 1, text if succeeds else "" if text else "something")


def write_output(status: int, stdout: str = "") -> Mapping[str, Json]:
    """Return the answer about a command with an exit status and an output."""
    return {"exit": status, "stdout": stdout, "stderr": ""}
