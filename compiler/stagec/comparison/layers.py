"""Schemas that hold together: which types they leave, and what they say of members and bounds."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.json import Json, Object, kind_of, list_of, object_of

Layers = tuple[Json, ...]
"""Schemas all of which a value satisfies."""
LEAST = {"minimum": "exclusiveMinimum", "minLength": "", "minItems": "", "minProperties": ""}
MOST = {"maximum": "exclusiveMaximum", "maxLength": "", "maxItems": "", "maxProperties": ""}


def look_up(root: Object, reference: Json) -> Json:
    """Return what a reference leads to inside its own schema; nothing where it leads elsewhere."""
    if not isinstance(reference, str) or not reference.startswith("#") or "%" in reference:
        return None
    found: Json = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = object_of(found).get(name) if isinstance(found, dict) else None
    return found if reference == "#" or reference.startswith("#/") else None


def find_types(layers: Layers) -> set[str] | None:
    """Return the types that some layers leave, None when none of them says."""
    found: set[str] | None = None
    for each in layers:
        said = _read_types(each) if isinstance(each, dict) else None
        if said is not None:
            found = said if found is None else _intersect(found, said)
    return found


def _read_types(schema: Object) -> set[str] | None:
    if "enum" in schema or "const" in schema:
        return {name_type(each) for each in (list_of(schema["enum"]) if "enum" in schema else [schema["const"]])}
    said = schema.get("type")
    return None if said is None else {said} if isinstance(said, str) else {str(each) for each in list_of(said)}


def _intersect(one: set[str], other: set[str]) -> set[str]:
    both = one & other
    is_whole = (
        "integer" in one | other and ("number" in one or "integer" in one) and ("number" in other or "integer" in other)
    )
    return both | ({"integer"} if is_whole else set())


def name_type(given: Json) -> str:
    """Return the type of a value; that of a whole number is `integer`."""
    return "integer" if isinstance(given, int) and not isinstance(given, bool) else kind_of(given)


def may_be(layers: Layers, kind: str) -> bool:
    """Tell whether some layers leave a type."""
    types = find_types(layers)
    return types is None or kind in types


def list_member_layers(layers: Layers, name: str) -> Layers:
    """Return what layers say of a member; what is said of names by patterns is left out."""
    found: list[Json] = []
    for each in layers:
        body = object_of(each) if isinstance(each, dict) else {}
        properties = object_of(body.get("properties"))
        if name in properties:
            found.append(properties[name])
        elif "patternProperties" not in body and "additionalProperties" in body:
            found.append(body["additionalProperties"])
    return tuple(found)


def is_bounded(layers: Iterable[Json], key: str, wanted: Json) -> bool:
    """Tell whether a bound follows from one of a layer."""
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return False
    is_least = key in LEAST or key == "exclusiveMinimum"
    plain, strict = ("minimum", "exclusiveMinimum") if is_least else ("maximum", "exclusiveMaximum")
    for each in layers:
        body = object_of(each) if isinstance(each, dict) else {}
        same, stricter = body.get(key), body.get(strict) if key == plain else None
        weaker = body.get(plain) if key == strict else None
        if _reaches(same, wanted, is_least=is_least) or _reaches(stricter, wanted, is_least=is_least):
            return True
        if _reaches(weaker, wanted, is_least=is_least) and weaker != wanted:
            return True
    return is_least and key in {"minLength", "minItems", "minProperties"} and wanted <= 0


def _reaches(given: Json, wanted: float, *, is_least: bool) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return given >= wanted if is_least else given <= wanted
