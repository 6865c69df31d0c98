"""Values that may show that two JSON Schemas differ: at the edges of the one, and just outside of the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from stagec.core.json import Json, Object, list_of, object_of

_MOST = 600
"""Values that are tried for one pair of schemas."""
_EACH = 14
"""Values of one part that are tried in all others."""
_DEPTH = 6
_LONG = 2_000
"""Characters and elements of the longest texts and lists that are tried."""
_ANY: tuple[Json, ...] = ("x", 1, None, True, [], {}, 0.5, "")


def list_samples(old: Json, new: Json) -> list[Json]:
    """Return values that the old schema may accept and the new one may refuse; whoever uses them asks both."""
    return [*islice(_Sampler(old, new).samples(old, new, 0), _MOST)]


class _Sampler:
    """Walks through two schemas side by side."""

    def __init__(self, old: Json, new: Json) -> None:
        self._old, self._new = old, new

    def samples(self, old: Json, new: Json, depth: int) -> Iterator[Json]:
        """Yield values for a part of the old schema, with the part of the new one at the same place."""
        old, new = self._open(old, self._old), self._open(new, self._new)
        if depth > _DEPTH:
            return
        if "enum" in old or "const" in old:
            yield from list_of(old["enum"]) if "enum" in old else [old["const"]]
            return
        for key in ("anyOf", "oneOf", "allOf"):
            for each in list_of(old.get(key)):
                rest = {name: other for name, other in old.items() if name != key}
                yield from self.samples({**rest, **self._open(each, self._old)}, new, depth + 1)
        yield from _alternate([self._of_kind(kind, old, new, depth) for kind in _kinds(old)])

    def _open(self, schema: Json, root: Json) -> Object:
        for _ in range(_DEPTH):
            body = object_of(schema) if isinstance(schema, dict) else {}
            reference = body.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return body
            schema = root
            for part in reference.removeprefix("#").split("/")[1:]:
                schema = object_of(schema).get(part) if isinstance(schema, dict) else None
        return {}

    def _of_kind(self, kind: str, old: Object, new: Object, depth: int) -> Iterator[Json]:
        match kind:
            case "object":
                yield from self._objects(old, new, depth)
            case "array":
                yield from self._arrays(old, new, depth)
            case "string":
                yield from ("x", "", *("x" * size for size in _sizes("Length", old, new)))
            case "number" | "integer":
                yield from _numbers(old, new, whole=kind == "integer")
            case "boolean":
                yield from (True, False)
            case _:
                yield None

    def _objects(self, old: Object, new: Object, depth: int) -> Iterator[Json]:
        declared, wanted = object_of(old.get("properties")), object_of(new.get("properties"))
        choices: dict[str, list[Json]] = {}
        for name in dict.fromkeys((*declared, *wanted, *map(str, list_of(new.get("required"))))):
            part = declared.get(name, old.get("additionalProperties", {}))
            made = self.samples(part, wanted.get(name, new.get("additionalProperties", {})), depth + 1)
            choices[name] = [] if part is False else [*islice(made, _EACH)]
        needed = [str(name) for name in list_of(old.get("required"))]
        base: dict[str, Json] = {name: choices.get(name, [*_ANY])[0] for name in needed if choices.get(name, [1])}
        full = base | {name: some[0] for name, some in choices.items() if some}
        yield from (base, full)
        for name, some in choices.items():
            yield from ({**base, name: each} for each in some)
            yield {other: each for other, each in full.items() if other != name}
        yield from ({**base, "anything else": each} for each in _ANY)
        yield from ({**base, **{f"member {at}": "x" for at in range(size)}} for size in _sizes("Properties", old, new))

    def _arrays(self, old: Object, new: Object, depth: int) -> Iterator[Json]:
        part = old.get("items", {})
        some = [*islice(self.samples(part, new.get("items", {}), depth + 1), _EACH)] or ["x"]
        yield []
        yield from ([each] for each in some)
        yield from ([some[0]] * size for size in _sizes("Items", old, new))
        yield [*some]


def _alternate(sources: list[Iterator[Json]]) -> Iterator[Json]:
    """Yield one value of each source, then the next of each."""
    while sources:
        for each in [*sources]:
            found = [*islice(each, 1)]
            yield from found
            if not found:
                sources.remove(each)


def _kinds(schema: Object) -> list[str]:
    said = schema.get("type")
    if said is None:
        likely = [kind for kind, keys in _TELLING.items() if not keys.isdisjoint(schema)]
        return [*likely, "string", "number", "null", "boolean", *(["array", "object"] if not likely else [])]
    return [said] if isinstance(said, str) else [str(each) for each in list_of(said)]


_TELLING = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "array": {"items", "minItems", "maxItems"},
}


def _sizes(what: str, old: Object, new: Object) -> Iterator[int]:
    """Yield numbers of characters, elements or members at the bounds of both schemas, and beside them."""
    for each in (old, new):
        for key in (f"min{what}", f"max{what}"):
            bound = each.get(key)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                yield from (size for size in (int(bound) - 1, int(bound), int(bound) + 1) if 0 <= size <= _LONG)


def _numbers(old: Object, new: Object, *, whole: bool) -> Iterator[Json]:
    yield from (0, 1, -1)
    for each in (old, new):
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            bound = each.get(key)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                yield from (bound, bound - 1, bound + 1)
    if not whole:
        yield from (0.5, 1.5, -0.5)
