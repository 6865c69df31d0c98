"""What the schema of an answer can have many of."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from benchmarks._scaling._registry import answer, registry, step
from stagec.core.json import Json
from stagec_dev.cost import Dimension, Dimensions, Files


def _files(schema: Any, handed: tuple[str, ...] = ("found",), **definitions: Any) -> Files:
    first = step("initial.first", gate={"handoffFields": list(handed)}, schema="large")
    return registry({"initial.first": first}, {"large": schema, **definitions})


def _answer(**properties: Json) -> dict[str, Any]:
    return answer("next", "handoff", **properties)


def _properties(count: int, *, faulty: bool) -> Files:
    kind = "strnig" if faulty else "string"
    return _files(_answer(**{f"member{at}": {"type": kind} for at in range(count)}))


def _values(count: int, *, faulty: bool) -> Files:
    """Make values of an enum, or intents that no gate knows."""
    values: list[Json] = [f"value-{at}" for at in range(count)]
    return _files(answer("next", "handoff", *map(str, values)) if faulty else _answer(chosen={"enum": values}))


def _references(count: int, *, faulty: bool) -> Files:
    """Make references that lead one to the next, or nowhere."""
    ends: Json = {"$ref": "#/$defs/nowhere"} if faulty else {"type": "string"}
    links = {f"link{at}": {"$ref": f"#/$defs/link{at + 1}"} for at in range(count)}
    return _files(_answer(found={"$ref": "#/$defs/link0"}), **links, **{f"link{count}": ends})


def _lost_references(count: int, *, faulty: bool) -> Files:
    """Make references to one definition, or each to one that there is not."""
    names = [f"#/$defs/known{'x' * faulty}{at if faulty else ''}" for at in range(count)]
    return _files(_answer(**{f"member{at}": {"$ref": name} for at, name in enumerate(names)}), known={"type": "string"})


def _circle(count: int, *, faulty: bool) -> Files:
    """Make references in a circle that goes through members, or through nothing."""
    links = [f"link{(at + 1) % count}" for at in range(count)]
    through = [{"$ref": f"#/$defs/{name}"} for name in links]
    objects = [each if faulty else {"type": "object", "properties": {"next": each}} for each in through]
    return _files(_answer(found={"$ref": "#/$defs/link0"}), **{f"link{at}": each for at, each in enumerate(objects)})


def _members(count: int, *, faulty: bool, keyword: str) -> Files:
    """Make parts of an `allOf`, `anyOf` or `oneOf`, which agree or contradict each other."""
    kinds = ("string", "integer") if faulty else ("string", "string")
    parts: list[Json] = [{"type": kinds[at % 2], "minLength": at} for at in range(count)]
    return _files(_answer(found={keyword: parts}))


def _spread(count: int, *, faulty: bool, keyword: str) -> Files:
    """Make parts of an `allOf` that each declare a member which is handed over, or one that is not."""
    names = [f"field{at}" for at in range(count)]
    parts: list[Json] = [{"properties": {f"{name}{'x' * faulty}": {"type": "string"}}} for name in names]
    return _files({**_answer(), "additionalProperties": True, keyword: parts}, tuple(names))


def _demanding(count: int, *, faulty: bool) -> Files:
    """Make members that each demand the next one, of which the schema requires the first."""
    names = [f"member{at}" for at in range(count)]
    schema = _answer(**{name: {"type": "strnig" if faulty else "integer"} for name in names})
    demanded = {name: [following] for name, following in pairwise(names)}
    return _files({**schema, "required": ["action", "found", *names[:1]], "dependentRequired": demanded})


def _conditions(count: int, *, faulty: bool) -> Files:
    """Make conditions of a schema."""
    given = "strnig" if faulty else "string"
    parts: list[Json] = [
        {"if": {"properties": {"found": {"const": str(at)}}}, "then": {"properties": {"found": {"type": given}}}}
        for at in range(count)
    ]
    return _files({**_answer(), "allOf": parts})


def _multiples(count: int, *, faulty: bool) -> Files:
    """Make numbers of which a value must be a multiple; in the faulty variant they are no numbers."""
    parts: list[Json] = [{"multipleOf": "x" if faulty else at} for at in range(1, count + 1)]
    return _files(_answer(found={"type": "integer", "allOf": parts}))


def _nested(count: int, *, faulty: bool) -> Files:
    """Make arrays of arrays, one definition in the other, of which each needs an element or two."""
    kind = "arary" if faulty else "array"
    links = {
        f"link{at}": {"type": kind, "minItems": 1 + (at < 8), "items": {"$ref": f"#/$defs/link{at + 1}"}}
        for at in range(count)
    }
    return _files(_answer(found={"$ref": "#/$defs/link0"}), **links, **{f"link{count}": {"type": "string"}})


def _definitions(count: int, *, faulty: bool) -> Files:
    """Make definitions that nothing refers to, or that are no schemas."""
    return _files(_answer(), **{f"other{at}": 1 if faulty else {"type": "string"} for at in range(count)})


def _required(count: int, *, faulty: bool) -> Files:
    """Make names that a schema requires, of which it forbids all in the faulty variant."""
    names = [f"member{at}" for at in range(count)]
    schema = _answer(**{} if faulty else {name: {"type": "string"} for name in names})
    return _files({**schema, "required": ["action", "found", *names]})


def _patterns(count: int, *, faulty: bool) -> Files:
    wrong = "(" if faulty else ""
    return _files(_answer(**{f"member{at}": {"type": "string", "pattern": f"^a{at}{wrong}"} for at in range(count)}))


def _handed(count: int, *, faulty: bool) -> Files:
    """Make paths into one object that are handed over, all through one reference."""
    names = [f"field{at}" for at in range(count)]
    inner = {f"{name}{'x' * faulty}": {"type": "string"} for name in names}
    known = {"type": "object", "required": [*inner], "properties": inner, "additionalProperties": False}
    return _files(_answer(inside={"$ref": "#/$defs/inside"}), tuple(f"inside.{name}" for name in names), inside=known)


SCHEMAS = Dimensions(
    (
        Dimension("properties of a schema", _properties, 12_000),
        Dimension("values of an enum", _values, 30_000),
        Dimension("references in a chain", _references, 12_000),
        Dimension("references", _lost_references, 10_000),
        Dimension("references in a circle", _circle, 5000),
        *(Dimension(f"parts of {name}", partial(_members, keyword=name), 8000) for name in ("allOf", "anyOf", "oneOf")),
        *(
            Dimension(f"members spread over {name}", partial(_spread, keyword=name), 4000)
            for name in ("allOf", "anyOf")
        ),
        Dimension("members that demand each other", _demanding, 8000),
        Dimension("conditions of a schema", _conditions, 2500),
        Dimension("multiples", _multiples, 8000),
        Dimension("arrays of arrays", _nested, 4000),
        Dimension("definitions", _definitions, 14_000),
        Dimension("required names", _required, 7000),
        Dimension("regular expressions", _patterns, 6000),
        Dimension("paths into one object", _handed, 6000),
    )
)
