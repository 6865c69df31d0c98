"""Codecs: how values are read from JSON, written as JSON and described by a JSON Schema.

The annotations of a class declare its form: a type, what else must hold, and one sentence about the member. `codec_of`
derives the codec from them; nothing else has to be said about a member.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from enum import StrEnum
from functools import reduce
from inspect import get_annotations
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from stagec.core.canonical import MOST
from stagec.core.json import Json, list_of, object_of
from stagec.core.place import Key
from stagec.core.value import TAG, replace, tag_of, value
from stagec.core.words import quote

Definitions = dict[str, Json]
Known = Mapping[str, Container[str]]
"""The names that a plan has: those of its `nodes`, of its `contents`, and so on."""


class CodecError(Exception):
    """Some JSON is not what its codec reads; `way` leads to it from the root, the last key first."""

    def __init__(self, reason: str, *way: Key) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way = list(way)


@value
class Codec:
    """Reads, writes and describes one form of JSON.

    `read(given, known)` makes the value or raises `CodecError`; `write(value)` makes the JSON again.
    `describe(definitions)` returns its JSON Schema, and puts what is worth a name into `definitions`. `plain` is a
    Python type all of whose JSON values are read as they are: then `read` need not be called.
    """

    read: Callable[[Any, Known], Any]
    write: Callable[[Any], Json]
    describe: Callable[[Definitions], Json]
    plain: type | None = None


HIDDEN = object()
"""In an annotation, says that JSON has no such member: it is for people only."""


@value
class Size:
    """A bound on length: a list or an object has at least so many members."""

    least: int


@value
class Within:
    """A bound on values, and the reason for which others are refused."""

    is_within: Callable[[Any], bool]
    reason: str


def itself(given: Any) -> Any:
    """Return the argument: many values of a plan are their own JSON."""
    return given


def leaf(fits: Callable[[Any], bool], expected: str, schema: Mapping[str, Json]) -> Codec:
    """Return the codec of JSON that is its own value: whether it fits, what is expected, and its schema."""

    def read(given: Any, _: Known) -> Any:
        if fits(given):
            return given
        raise CodecError(f"expected {expected}")

    return Codec(read, itself, lambda _: schema)


def plain(kind: type, expected: str, schema: Mapping[str, Json]) -> Codec:
    """Return the codec of every JSON value of one Python type."""
    return replace(leaf(lambda given: type(given) is kind, expected, schema), plain=kind)


def between(least: int, most: int, *, is_whole: bool = True) -> Codec:
    """Return the codec of a number within bounds, which belong to it."""
    kinds = {int} if is_whole else {int, float}
    return leaf(
        lambda given: type(given) in kinds and least <= given <= most,
        f"a {'whole ' if is_whole else ''}number from {least:,} to {most:,}",
        {"type": "integer" if is_whole else "number", "minimum": least, "maximum": most},
    )


def name_in(table: str, codec: Codec) -> Codec:
    """Return the codec of a text that names something in a table of the plan; no other text is accepted."""

    def read(given: Any, known: Known) -> Any:
        if type(given) is str and given in known[table]:
            return given
        raise CodecError(f"refers to {quote(codec.read(given, known))}, which the plan does not have in '{table}'")

    return replace(codec, read=read, plain=None)


def words(*known: str) -> Codec:
    """Return the codec of a text that is one of a few."""
    return _choose({each: each for each in known}, itself)


def member_of(known: Iterable[StrEnum]) -> Codec:
    """Return the codec of a member of an enumeration, or of one of some of its members."""
    return _choose({each.value: each for each in known}, str)


def _choose(choices: Mapping[str, Any], write: Callable[[Any], Json]) -> Codec:
    def read(given: Any, _: Known) -> Any:
        if type(given) is str and given in choices:
            return choices[given]
        raise CodecError(f"expected {' or '.join(map(repr, choices))}")

    return Codec(read, write, lambda _: {"enum": list(choices)})


def many(codec: Codec, least: int = 0) -> Codec:
    """Return the codec of a list with at least so many elements, which is read as a tuple."""
    plain, read_one, write_one = codec.plain, codec.read, codec.write
    expected = f"expected a list with at least {least}" if least else "expected a list"

    def read(given: Any, known: Known) -> tuple[Any, ...]:
        if type(given) is not list or len(given) < least:
            raise CodecError(expected)
        made: list[Any] = []
        keep = made.append
        try:
            for each in given:
                keep(each if type(each) is plain else read_one(each, known))
        except CodecError as error:
            error.way.append(len(made))
            raise
        return tuple(made)

    def describe(found: Definitions) -> Json:
        return {"type": "array", "items": codec.describe(found), **({"minItems": least} if least else {})}

    return Codec(read, lambda given: [write_one(each) for each in given], describe)


def table(codec: Codec, least: int = 0, names: Codec | None = None) -> Codec:
    """Return the codec of an object with at least so many members, all with one codec; `names` reads their names."""
    plain, read_one, write_one = codec.plain, codec.read, codec.write
    expected = f"expected an object with at least {least}" if least else "expected an object"

    def read(given: Any, known: Known) -> dict[str, Any]:
        if type(given) is not dict or len(given) < least:
            raise CodecError(expected)
        made: dict[str, Any] = {}
        name = ""
        try:
            if names is not None:
                for name in given:
                    names.read(name, known)
            for name, each in given.items():
                made[name] = each if type(each) is plain else read_one(each, known)
        except CodecError as error:
            error.way.append(name)
            raise
        return made

    def describe(found: Definitions) -> Json:
        most = {"minProperties": least} if least else {}
        named = {} if names is None else {"propertyNames": names.describe(found)}
        return {"type": "object", "additionalProperties": codec.describe(found), **named, **most}

    return Codec(read, lambda given: {name: write_one(each) for name, each in given.items()}, describe)


def text_or(text: Codec, other: Codec) -> Codec:
    """Return the codec of what is a text with one codec, or anything else with the other."""
    return Codec(
        lambda given, known: (text if type(given) is str else other).read(given, known),
        lambda given: (text if type(given) is str else other).write(given),
        lambda found: {"oneOf": [text.describe(found), other.describe(found)]},
    )


def nullable(codec: Codec) -> Codec:
    """Return the codec of what may also be null."""

    def describe(found: Definitions) -> Json:
        described = object_of(codec.describe(found))
        if isinstance(described.get("type"), str):
            return {**described, "type": [described["type"], "null"]}
        if "enum" in described:
            return {"enum": [*list_of(described["enum"]), None]}
        return {"anyOf": [described, {"type": "null"}]}

    return Codec(
        lambda given, known: None if given is None else codec.read(given, known),
        lambda given: None if given is None else codec.write(given),
        describe,
    )


def bound(codec: Codec, is_within: Callable[[Any], bool], reason: str) -> Codec:
    """Return a codec that accepts only what is within a bound; the bound keeps recursive readers within the stack."""

    def read(given: Any, known: Known) -> Any:
        try:
            made = codec.read(given, known)
        except RecursionError:
            raise CodecError(reason) from None
        if is_within(made):
            return made
        raise CodecError(reason)

    def write(given: Any) -> Json:
        if is_within(given):
            return codec.write(given)
        raise CodecError(reason)

    return Codec(read, write, codec.describe)


DEEPEST = 100
"""How deep pieces may be nested, and any JSON in a plan."""
TOO_DEEP = f"is nested more than {DEEPEST} deep"
_DIGITS = "0123456789abcdef"
_NESTING = {dict, list, tuple}
_PREFIX = "sha256:"
_DIGEST_LENGTH = len(_PREFIX) + 64


def _digest(given: Any, _: Known) -> str:
    if type(given) is str and len(given) == _DIGEST_LENGTH and given[:7] == _PREFIX and not given[7:].strip(_DIGITS):
        return given
    raise CodecError("expected 'sha256:' and 64 hexadecimal digits")


def _digest_schema(_: Definitions) -> Json:
    return {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


def _path(given: Any, _: Known) -> tuple[str | int, ...]:
    if type(given) is list:
        for each in given:
            if type(each) is not str and not (type(each) is int and 0 <= each <= MOST):
                break
        else:
            return tuple(given)
    raise CodecError("expected a path of names and indexes")


def _path_schema(_: Definitions) -> Json:
    return {"type": "array", "items": {"type": ["string", "integer"], "minimum": 0, "maximum": MOST}}


def _is_shallow(given: Any) -> bool:
    level = [given]
    for _ in range(DEEPEST + 1):
        level = [each for each in level if type(each) in _NESTING]
        if not level:
            return True
        level = [inner for each in level for inner in (each.values() if type(each) is dict else each)]
    return False


UNBOUNDED = Codec(lambda given, _: given, itself, lambda _: True)
"""Any JSON of reports: values of plans with more around them."""
ANY = bound(UNBOUNDED, _is_shallow, TOO_DEEP)
TEXT = plain(str, "a text", {"type": "string"})
FLAG = plain(bool, "true or false", {"type": "boolean"})
NUMBER = plain(float, "a number", {"type": "number"})
WHOLE = plain(int, "a whole number", {"type": "integer"})
COUNT = leaf(
    lambda given: type(given) is int and 0 <= given <= MOST,
    "a whole number that is not negative",
    {"type": "integer", "minimum": 0, "maximum": MOST},
)
POSITIVE = leaf(
    lambda given: type(given) is int and 0 < given <= MOST,
    "a whole number greater than 0",
    {"type": "integer", "minimum": 1, "maximum": MOST},
)
CALL = leaf(
    lambda given: type(given) is str and given.count(":") == 1,
    "a callable, 'package.module:function'",
    {"type": "string", "pattern": "^[^:]*:[^:]*$"},
)
DIGEST = Codec(_digest, itself, _digest_schema)
PATH = Codec(_path, list, _path_schema)


NON_EMPTY = Size(1)
Call = Annotated[str, CALL]
Count = Annotated[int, COUNT]
Digest = Annotated[str, DIGEST]
Path = Annotated[tuple[str | int, ...], PATH]
Positive = Annotated[int, POSITIVE]

AgentName = Annotated[str, name_in("plans", TEXT)]
ChoicesName = Annotated[str, name_in("choices", TEXT)]
Content = Annotated[str, name_in("contents", DIGEST)]
EntryName = Annotated[str, name_in("entries", TEXT)]
NodeName = Annotated[str, name_in("nodes", TEXT)]
ServerName = Annotated[str, name_in("servers", TEXT)]
ToolName = Annotated[str, name_in("tools", TEXT)]
ValidatorName = Annotated[str, name_in("validators", TEXT)]


def write(given: object) -> Json:
    """Return the JSON of a value of a plan."""
    return codec_of(type(given)).write(given)


def write_all(given: Iterable[object]) -> list[Json]:
    """Return the JSON of several values of a plan."""
    return [write(each) for each in given]


def codec_of(form: Any) -> Codec:
    """Return the codec of what an annotation allows: derived once for a class and for a union of classes."""
    found = _DERIVED.get(form)
    if found is not None:
        return found
    origin = get_origin(form)
    if origin is Annotated:
        inner, *said = get_args(form)
        return _refine(inner, [each for each in said if not isinstance(each, str)])
    if origin is tuple:
        return many(codec_of(get_args(form)[0]))
    if origin is Mapping:
        return _table(form, 0)
    if origin in _UNIONS:
        return _of_union(form)
    if not isinstance(form, type):
        raise TypeError(f"{form} has no codec")
    if issubclass(form, StrEnum):
        return member_of(form)
    return _keep(form, lambda: _record(form))


def _refine(form: Any, said: list[Any]) -> Codec:
    """Return the codec of a form of which more is said: another codec, a size, or a bound; of nothing but one form."""
    if form not in _DERIVED and get_origin(form) in _UNIONS and NoneType in get_args(form):
        return _refine(_without_none(form), said)
    if not said:
        return codec_of(form)
    [extra] = said
    if isinstance(extra, Codec):
        return extra
    if isinstance(extra, Within):
        return bound(codec_of(form), extra.is_within, extra.reason)
    return _table(form, extra.least) if get_origin(form) is Mapping else many(codec_of(get_args(form)[0]), extra.least)


def _without_none(form: Any) -> Any:
    return reduce(or_, (each for each in get_args(form) if each is not NoneType))


def _table(form: Any, least: int) -> Codec:
    names, values = get_args(form)
    return table(codec_of(values), least, None if names is str else codec_of(names))


def _of_union(form: Any) -> Codec:
    """Return the codec of a union: of a text or something else, or of classes with tags."""
    kinds = get_args(form)
    text = next((each for each in kinds if each is str or get_origin(each) is Annotated), None)
    if text is not None:
        [other] = (each for each in kinds if each is not text)
        return text_or(codec_of(text), _union((other,)))
    return _keep(form, lambda: _union(kinds))


def _keep(form: Any, derive: Callable[[], Codec]) -> Codec:
    """Derive a codec once. Meanwhile, a form that contains itself gets a codec that looks the whole one up.

    Only one thread may derive codecs: `plan/loader.py` has that of a plan derived while it is imported.
    """

    def whole() -> Codec:
        return _DERIVED[form]

    _DERIVED[form] = Codec(
        lambda given, known: whole().read(given, known),
        lambda given: whole().write(given),
        lambda found: whole().describe(found),
    )
    _DERIVED[form] = made = derive()
    return made


_DERIVED: dict[Any, Codec] = {str: TEXT, bool: FLAG, int: WHOLE, float: NUMBER, Json: ANY}
_UNIONS = (Union, UnionType)


@value
class _Field:
    """One member: its name in JSON, its codec, its description, and its default."""

    attribute: str
    name: str
    codec: Codec
    about: str
    is_needed: bool
    default: Any


def _list_fields(kind: Any) -> tuple[_Field, ...]:
    """Return the members that the annotations of a class declare. One that may be None without a default is null."""
    defaults: Mapping[str, Any] = kind.__dict__["_defaults"]
    found = []
    for name, form in get_annotations(kind, eval_str=True).items():
        inner, *said = get_args(form)
        if HIDDEN in said:
            continue
        about = next(each for each in said if isinstance(each, str))
        codec, is_needed = codec_of(form), name not in defaults
        if is_needed and inner not in _DERIVED and get_origin(inner) in _UNIONS and NoneType in get_args(inner):
            codec = nullable(codec)
        found.append(_Field(name, camel(name), codec, about, is_needed, defaults.get(name)))
    return tuple(found)


def _record(kind: type) -> Codec:
    """Return the codec of the values of a class. A member that has its default is not written."""
    fields, tag = _list_fields(kind), tag_of(kind)
    steps = [(each.name, each.attribute, each.codec.write, each.is_needed, each.default) for each in fields]

    def write(given: Any) -> Json:
        made: dict[str, Json] = {} if tag is None else {TAG: tag}
        for name, attribute, inner, is_needed, default in steps:
            held = getattr(given, attribute)
            if is_needed or (held is not default and held != default):
                made[name] = inner(held)
        return made

    return Codec(_Reader(kind, fields).read, write, lambda found: _define(found, kind, fields))


def _union(kinds: Iterable[Any]) -> Codec:
    """Return the codec of what is of one of several classes; the tag tells which."""
    known = [(tag_of(kind), codec_of(kind)) for kind in kinds]
    readers = {tag: codec.read for tag, codec in known}
    expected = f"expected an object whose '{TAG}' is {' or '.join(map(repr, readers))}"

    def read(given: Any, names: Known) -> Any:
        try:
            chosen = readers[given[TAG]]
        except (KeyError, TypeError):  # no such tag, no tag, no text, no object
            raise CodecError(expected) from None
        return chosen(given, names)

    def describe(found: Definitions) -> Json:
        return {"oneOf": [codec.describe(found) for _, codec in known]}

    return Codec(read, write, describe)


def camel(name: str) -> str:
    """Return the name of a member in JSON: `fail_fast` is `failFast`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


class _Reader:
    """Reads objects: most of the time that reading a plan takes goes here."""

    def __init__(self, kind: type, fields: tuple[_Field, ...]) -> None:
        steps = [(each, each.attribute, each.codec.plain, each.codec.read) for each in fields]
        self._kind, self._fields = kind, fields
        self._needed = [(each.name, to, plain, read) for each, to, plain, read in steps if each.is_needed]
        self._optional = [(each.name, to, plain, read) for each, to, plain, read in steps if not each.is_needed]
        self._least = len(self._needed) + (tag_of(kind) is not None)

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


def _define(found: Definitions, kind: type, fields: tuple[_Field, ...]) -> Json:
    """Put the schema of a class into the definitions, once, and return a reference to it."""
    name = kind.__name__
    if name not in found:
        found[name] = None  # a class may be inside itself
        found[name] = _schema(found, kind, fields)
    return {"$ref": f"#/$defs/{name}"}


def _schema(found: Definitions, kind: type, fields: tuple[_Field, ...]) -> Json:
    properties: dict[str, Json] = {}
    for each in fields:
        member = {"description": each.about, **object_of(each.codec.describe(found))}
        if not each.is_needed and each.default not in (None, "", (), {}):
            member["default"] = each.codec.write(each.default)
        properties[each.name] = member
    needed, tag = [each.name for each in fields if each.is_needed], tag_of(kind)
    if tag is not None:
        properties = {TAG: {"description": "Which of several kinds it is.", "const": tag}, **properties}
        needed = [TAG, *needed]
    return {
        "title": kind.__name__,
        "description": (kind.__doc__ or "").partition("\n\n")[0],
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }
