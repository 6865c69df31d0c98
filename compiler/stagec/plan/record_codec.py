"""Codecs of objects: the members of one class, or of one of several classes that a tag tells apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stagec.core.json import Json, object_of
from stagec.core.value import value
from stagec.plan.codec import TAG, Codec, CodecError, Definitions, Known

Members = Mapping[str, tuple[Codec, str]]
"""What an object holds: for each field of the class its codec and one sentence about it."""


@value
class _Field:
    """One member: its name in JSON, its codec, its description, and its default."""

    attribute: str
    name: str
    codec: Codec
    about: str
    is_needed: bool
    default: Any


@value
class _Record:
    """What the values of a class are written as: their members, and the tag that tells the class from others."""

    kind: type
    fields: tuple[_Field, ...]
    tag: str | None

    def make_writer(self) -> Callable[[Any], Json]:
        """Return what writes values of the class."""
        tag = self.tag
        steps = [(each.name, each.attribute, each.codec.write, each.is_needed, each.default) for each in self.fields]

        def write(given: Any) -> Json:
            made: dict[str, Json] = {} if tag is None else {TAG: tag}
            for name, attribute, inner, is_needed, default in steps:
                held = getattr(given, attribute)
                if is_needed or (held is not default and held != default):
                    made[name] = inner(held)
            return made

        return write


def record(kind: type, members: Members, tag: str | None = None) -> Codec:
    """Return the codec of the values of a class. A member that has its default is not written.

    `members` names every field. With a `tag`, the object says that it is of this class; whoever reads it has looked.
    """
    defaults: Mapping[str, Any] = kind.__dict__["_defaults"]
    fields = (
        _Field(name, camel(name), codec, about, name not in defaults, defaults.get(name))
        for name, (codec, about) in members.items()
    )
    made = _Record(kind, tuple(fields), tag)
    return Codec(_Reader(made).read, made.make_writer(), lambda found: _define(found, made))


def union(**kinds: tuple[type, Members]) -> Codec:
    """Return the codec of what is of one of several classes; the tag tells which."""
    variants = {tag: record(kind, members, tag) for tag, (kind, members) in kinds.items()}
    tags = {kind: tag for tag, (kind, _) in kinds.items()}
    readers = {tag: codec.read for tag, codec in variants.items()}

    def read(given: Any, known: Known) -> Any:
        try:
            chosen = readers[given[TAG]]
        except (KeyError, TypeError):  # no such tag, no tag, no text, no object
            expected = " or ".join(map(repr, kinds))
            raise CodecError(f"expected an object whose '{TAG}' is {expected}") from None
        return chosen(given, known)

    def describe(found: Definitions) -> Json:
        return {"oneOf": [codec.describe(found) for codec in variants.values()]}

    return Codec(read, lambda given: variants[tags[type(given)]].write(given), describe)


def camel(name: str) -> str:
    """Return the name of a member in JSON: `fail_fast` is `failFast`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


class _Reader:
    """Reads objects: most of the time that reading a plan takes goes here."""

    def __init__(self, record: _Record) -> None:
        steps = [(each, each.attribute, each.codec.plain, each.codec.read) for each in record.fields]
        self._kind, self._fields = record.kind, record.fields
        self._needed = [(each.name, to, plain, read) for each, to, plain, read in steps if each.is_needed]
        self._optional = [(each.name, to, plain, read) for each, to, plain, read in steps if not each.is_needed]
        self._least = len(self._needed) + (record.tag is not None)

    def read(self, given: Any, known: Known) -> Any:
        if type(given) is not dict:
            raise CodecError("expected an object")
        made, name, left = dict[str, Any](), "", len(given) - self._least
        try:
            for name, attribute, plain, inner in self._needed:
                held = given[name]
                made[attribute] = inner(held, known) if plain is None or type(held) is not plain else held
            for name, attribute, plain, inner in self._optional:
                if not left:
                    break
                if name in given:
                    held = given[name]
                    made[attribute] = inner(held, known) if plain is None or type(held) is not plain else held
                    left -= 1
        except CodecError as error:
            error.way.append(name)
            raise
        except KeyError as error:
            raise CodecError(f"lacks '{name}'") from error
        if left:
            raise CodecError("is not a member of this object", self._find_foreign(given))
        return self._kind(**made)

    def _find_foreign(self, given: Iterable[str]) -> str:
        """Return a member of an object that the class does not have."""
        known = {TAG, *(each.name for each in self._fields)}
        return next((name for name in given if name not in known), TAG)


def _define(found: Definitions, record: _Record) -> Json:
    """Put the schema of a class into the definitions, once, and return a reference to it."""
    name = record.kind.__name__
    if name not in found:
        found[name] = None  # a class may be inside itself
        found[name] = _schema(found, record)
    return {"$ref": f"#/$defs/{name}"}


def _schema(found: Definitions, record: _Record) -> Json:
    properties: dict[str, Json] = {}
    for each in record.fields:
        member = {"description": each.about, **object_of(each.codec.describe(found))}
        if not each.is_needed and each.default not in (None, "", (), {}):
            member["default"] = each.codec.write(each.default)
        properties[each.name] = member
    needed = [each.name for each in record.fields if each.is_needed]
    if record.tag is not None:
        properties = {TAG: {"description": "Which of several kinds it is.", "const": record.tag}, **properties}
        needed = [TAG, *needed]
    return {
        "title": record.kind.__name__,
        "description": (record.kind.__doc__ or "").partition("\n\n")[0],
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }
