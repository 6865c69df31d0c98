"""Objects of a plan: the members of one class, or of one of several classes that their tag tells apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import value
from stagec.plan.form import TAG, AnyForm, Definitions, Form, FormError

Members = Mapping[str, tuple[AnyForm, str]]
"""What an object holds: for each field of the class its form and one sentence about it."""


@value
class _Field:
    """One member: its name in JSON, its form, what is said of it, and its default."""

    attribute: str
    name: str
    form: AnyForm
    about: str
    is_needed: bool
    default: Any


def record(kind: type, members: Members, tag: str | None = None) -> AnyForm:
    """Return the form of the values of a class. A member that has its default is not written.

    `members` names every field. With a `tag`, the object says that it is of this class.
    """
    defaults: Mapping[str, Any] = kind.__dict__["_defaults"]
    fields = tuple(
        _Field(name, camel(name), form, about, name not in defaults, defaults.get(name))
        for name, (form, about) in members.items()
    )
    reading = _Reading(kind, fields, tag)
    return Form(reading.read, lambda given: _written(given, fields, tag), lambda found: _defined(found, reading))


def union(**variants: AnyForm) -> AnyForm:
    """Return the form of what is of one of several classes, which the tag tells."""
    readers = {name: form.read for name, form in variants.items()}

    def read(given: Any) -> Any:
        tag = given.get(TAG) if type(given) is dict else None
        chosen = readers.get(tag) if type(tag) is str else None
        if chosen is None:
            raise FormError(f"expected an object whose '{TAG}' is {' or '.join(map(repr, readers))}")
        return chosen(given)

    def describe(found: Definitions) -> Json:
        return {"oneOf": [form.describe(found) for form in variants.values()]}

    return Form(read, lambda given: variants[_tag_of(given)].write(given), describe)


def tagged(name: str, kind: type, members: Members) -> AnyForm:
    """Return the form of one variant of a union, and remember which tag its class has."""
    _TAGS[kind] = name
    return record(kind, members, name)


def camel(name: str) -> str:
    """Return the name of a member in JSON: `fail_fast` is `failFast`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


_TAGS: dict[type, str] = {}


def _tag_of(given: object) -> str:
    return _TAGS[type(given)]


class _Reading:
    """Reads the values of one class."""

    def __init__(self, kind: type, fields: tuple[_Field, ...], tag: str | None) -> None:
        self.kind = kind
        self.fields = fields
        self.tag = tag
        self._known = {each.name: (each.attribute, each.form.plain, each.form.read) for each in fields}
        self._needed = tuple((each.attribute, each.name) for each in fields if each.is_needed)

    def read(self, given: Any) -> Any:
        if type(given) is not dict:
            raise FormError("expected an object")
        made: dict[str, Any] = {}
        name, known = "", self._known
        try:
            for name, inner in given.items():
                if name in known:
                    attribute, plain, read = known[name]
                    made[attribute] = inner if type(inner) is plain else read(inner)
                elif name != TAG or inner != self.tag:
                    _refuse_member()
        except FormError as error:
            error.way.append(name)
            raise
        for attribute, name in self._needed:
            if attribute not in made:
                raise FormError(f"lacks '{name}'")
        return self.kind(**made)


def _refuse_member() -> None:
    raise FormError("is no member of this object")


def _written(given: Any, fields: tuple[_Field, ...], tag: str | None) -> Json:
    made: dict[str, Json] = {} if tag is None else {TAG: tag}
    for each in fields:
        held = getattr(given, each.attribute)
        if each.is_needed or held != each.default:
            made[each.name] = each.form.write(held)
    return made


def _defined(found: Definitions, reading: _Reading) -> Json:
    """Put the schema of a class into the definitions, once, and return a reference to it."""
    name = reading.kind.__name__
    if name not in found:
        found[name] = None  # a class may be inside itself
        found[name] = _schema(found, reading)
    return {"$ref": f"#/$defs/{name}"}


def _schema(found: Definitions, reading: _Reading) -> Json:
    properties: dict[str, Json] = {} if reading.tag is None else {TAG: {"const": reading.tag}}
    for each in reading.fields:
        properties[each.name] = {"description": each.about, **_object(each.form.describe(found))}
    needed = [each.name for each in reading.fields if each.is_needed]
    return {
        "title": reading.kind.__name__,
        "description": (reading.kind.__doc__ or "").partition("\n\n")[0],
        "type": "object",
        "properties": properties,
        "required": needed if reading.tag is None else [TAG, *needed],
        "additionalProperties": False,
    }


def _object(given: Json) -> Mapping[str, Json]:
    return given if isinstance(given, Mapping) else {}
