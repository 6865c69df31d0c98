"""The joint statement of several schemas about one member of an object, or one element of an array."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from stagec.core.json import Json, Object, list_of, object_of, whole_of
from stagec.core.value import replace, value
from stagec.sources.contract.combinations import Combination, follows_dependents
from stagec.sources.contract.schemas import Schema
from stagec.sources.shape.subschemas import index_of


@value
class MemberSchemas:
    """The schemas of one member.

    `parts` are the schemas that speak of its value. `whole` tells that nothing else can speak of it, `certain` that
    nothing else can require it.
    """

    parts: tuple[Schema, ...] = ()
    required: bool = False
    forbidden: bool = False
    whole: bool = True
    certain: bool = True


_FORBIDDEN = MemberSchemas(forbidden=True)


def member(combination: Combination, name: str) -> MemberSchemas:
    """Return the schemas of a combination for a member; a name that is a number can also mean an element."""
    return combination.memo.once(("member", name), lambda: _find_member(combination, name))


def _find_member(combination: Combination, name: str) -> MemberSchemas:
    types, index = combination.types, index_of(name)
    is_array = index < sys.maxsize and (types is None or "array" in types)
    is_object = types is None or "object" in types
    if is_array and is_object:
        # what applies to an element or to a member; without any type, a text or a number has neither
        elements = [_element(each, index) for each in combination.layers]
        members = [_property(combination, each, name) for each in combination.speaking(name)]
        parts = tuple({part.at: part for each in (*elements, *members) for part in each.parts}.values())
        is_open = combination.whole and combination.types is None and not any(map(_lists_values, combination.layers))
        return MemberSchemas(parts if is_open else (), whole=False, certain=is_open)
    if not is_array and not is_object:
        return _FORBIDDEN
    if is_array:
        found = _together([_element(each, index) for each in combination.layers], whole=combination.whole)
    else:
        said = [_property(combination, each, name) for each in combination.speaking(name)]
        required = name in combination.required
        found = replace(_together(said, whole=combination.whole), required=required)
    others = combination.whole if types is None else len(types) > 1
    if others and found.required:  # a value of another type has no members
        return MemberSchemas(found.parts, False, found.forbidden, found.whole)
    return found if is_array else _apply_unevaluated(combination, found)


def _lists_values(layer: Schema) -> bool:
    return not {"enum", "const", "not"}.isdisjoint(object_of(layer.value))


def is_barred(combination: Combination) -> bool:
    """Tell whether a combination requires a member that it forbids."""
    return combination.memo.once("barred", lambda: any(each.forbidden for _, each in list_needed(combination)))


def list_needed(combination: Combination) -> tuple[tuple[str, MemberSchemas], ...]:
    """Return the members that a value must have where it is an object for sure, or the first element of an array."""
    return combination.memo.once("needed", lambda: tuple(_find_needed(combination)))


def _find_needed(combination: Combination) -> Iterator[tuple[str, MemberSchemas]]:
    if combination.types == _OBJECT:
        yield from ((name, member(combination, name)) for name in combination.required)
    elif combination.types == _ARRAY and (first := member(combination, "0")).required:
        yield "0", first
        yield from (("0", MemberSchemas((*first.parts, each), required=True)) for each in _list_contained(combination))


def _list_contained(combination: Combination) -> Iterator[Schema]:
    """Yield what some element has to satisfy, if the first element is like all others."""
    bodies = [(each, object_of(each.value)) for each in combination.layers]
    if not any(isinstance(body.get(key), list) for _, body in bodies for key in ("prefixItems", "items")):
        yield from (Schema(body["contains"], each.at / "contains") for each, body in bodies if _has_contained(body))


_OBJECT, _ARRAY = frozenset({"object"}), frozenset({"array"})


def _together(said: list[MemberSchemas], *, whole: bool) -> MemberSchemas:
    return MemberSchemas(
        parts=tuple({part.at: part for each in said for part in each.parts}.values()),
        required=any(each.required for each in said),
        forbidden=any(each.forbidden for each in said),
        whole=whole and all(each.whole for each in said),
        certain=whole and all(each.certain for each in said),
    )


_REQUIRING = {"not", "$dynamicRef"}
"""Keywords that can make a member required in ways that are not followed."""
_SPEAKING = {"$dynamicRef", "$recursiveRef"}
"""Keywords that can say more about a member in ways that are not followed."""


def _property(combination: Combination, layer: Schema, name: str) -> MemberSchemas:
    body = layer.value if isinstance(layer.value, dict) else {}
    declared: list[Schema] = []
    properties = _mapping(body, "properties")
    if name in properties:
        declared.append(Schema(properties[name], layer.at / "properties" / name))
    for pattern, inner in _mapping(body, "patternProperties").items():
        if _matches(pattern, name):
            declared.append(Schema(inner, layer.at / "patternProperties" / pattern))
    parts, doubtful = declared, _may_match(body, name)
    elsewhere = body.get("additionalProperties")
    if not parts and not doubtful and isinstance(elsewhere, dict) and elsewhere:
        parts = [Schema(elsewhere, layer.at / "additionalProperties")]
    closed = not parts and not doubtful and elsewhere is False
    whole = not doubtful and follows_dependents(body) and _SPEAKING.isdisjoint(body) and not _lists_objects(body)
    return MemberSchemas(
        parts=tuple(parts),
        forbidden=closed or any(part.value is False for part in parts),
        whole=whole,
        certain=whole and _REQUIRING.isdisjoint(body) and not _may_require(combination, layer, name),
    )


def _may_require(combination: Combination, layer: Schema, name: str) -> bool:
    """Tell whether a schema may demand a member that it does not require by name, because of others or their number."""
    demanded = combination.memo.once(("demanded", layer.at), lambda: _find_demanded(object_of(layer.value)))
    return demanded is None or name in demanded


def _find_demanded(body: Object) -> frozenset[str] | None:
    """Return the members that others make required; None where their least number may make any member required."""
    least = _count(body, "minProperties")
    if "minProperties" in body and (least is None or least > len(set(map(str, list_of(body.get("required")))))):
        return None
    dependents = (each for key in _DEPENDENT for each in _mapping(body, key).values())
    return frozenset(name for each in dependents for name in list_of(each) if isinstance(name, str))


_DEPENDENT = ("dependentRequired", "dependencies")
"""Keywords that list members which others make required."""


_PLAIN_PATTERN = re.compile(r"\^?[\w -]*\$?")


def _matches(pattern: str, name: str) -> bool | None:
    """Tell whether a pattern matches, None when it is not plain: a user's pattern is never run unbounded."""
    if not _PLAIN_PATTERN.fullmatch(pattern):
        return None
    text = pattern.removeprefix("^").removesuffix("$")
    starts, ends = pattern.startswith("^"), pattern.endswith("$")
    if starts and ends:
        return name == text
    return name.startswith(text) if starts else name.endswith(text) if ends else text in name


def _may_match(body: Object, name: str) -> bool:
    return any(_matches(pattern, name) is None for pattern in _mapping(body, "patternProperties"))


def _lists_objects(body: Object) -> bool:
    """Tell whether a schema names whole objects, whose members are not looked into."""
    listed = body.get("enum")
    return "const" in body or (isinstance(listed, list) and any(isinstance(each, dict) for each in listed))


def _element(layer: Schema, index: int) -> MemberSchemas:
    body = layer.value if isinstance(layer.value, dict) else {}
    part = _element_schema(layer, body, index)
    least, most = _count(body, "minItems"), _count(body, "maxItems")
    contained = body.get("contains") if _has_contained(body) else None
    parts = [] if part is None or part.value is True else [part]
    if contained is not None and index == 0 and most == 1:  # the only element is the one that is asked for
        parts.append(Schema(contained, layer.at / "contains"))
    return MemberSchemas(
        parts=tuple(parts),
        required=(least is not None and least > index) or (contained is not None and index == 0),
        forbidden=(most is not None and most <= index) or (part is not None and part.value is False),
        whole=not _lists_arrays(body),
        certain=not _lists_arrays(body),
    )


def _has_contained(body: Object) -> bool:
    """Tell whether a list has an element that satisfies what its schema asks some element for."""
    return isinstance(body.get("contains"), dict) and _count(body, "minContains") != 0


def _element_schema(layer: Schema, body: Object, index: int) -> Schema | None:
    """Return the schema of an element: by its own index, or the one of all further elements."""
    keyword = "prefixItems" if isinstance(body.get("prefixItems"), list) else "items"
    listed = body.get(keyword)
    if isinstance(listed, list):
        if index < len(listed):
            return Schema(listed[index], layer.at / keyword / index)
        rest = "items" if keyword == "prefixItems" else "additionalItems"
    else:
        rest = "items"
    return Schema(body[rest], layer.at / rest) if rest in body else None


def _lists_arrays(body: Object) -> bool:
    listed = body.get("enum")
    return "const" in body or (isinstance(listed, list) and any(isinstance(each, list) for each in listed))


def _apply_unevaluated(combination: Combination, found: MemberSchemas) -> MemberSchemas:
    """Apply `unevaluatedProperties`: what none of the schemas beside or below it speaks of.

    Only where nothing in the combination speaks of the member; what is more involved is not judged.
    """
    parts = tuple(
        Schema(given, each.at / "unevaluatedProperties")
        for each in combination.layers
        if isinstance(given := object_of(each.value).get("unevaluatedProperties"), dict) and given
    )
    if not (combination.closes_unevaluated or parts) or found.parts or found.forbidden:
        return found
    if combination.opens_others or not found.whole:
        return MemberSchemas((), found.required, found.forbidden, False, False)
    return _FORBIDDEN if combination.closes_unevaluated else replace(found, parts=parts)


def _mapping(given: Json, key: str) -> Object:
    inner = given.get(key) if isinstance(given, dict) else None
    return inner if isinstance(inner, dict) else {}


def _count(body: Object, key: str) -> int | None:
    return whole_of(body.get(key))
