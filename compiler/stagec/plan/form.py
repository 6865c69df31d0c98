"""How the values of a plan are written as JSON: one table for each class says how it is read, written and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, TypeVar

from stagec.core.json import Json
from stagec.core.place import Key
from stagec.core.value import replace, value

T = TypeVar("T")
Definitions = dict[str, Json]
TAG = "is"
"""The member that says which of several classes an object is."""


class FormError(Exception):
    """Some JSON is not of its form; `way` leads to it from the root, the last key first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way: list[Key] = []


@value
class Form(Generic[T]):
    """One form that JSON can have.

    `read(given)` makes the value or raises `FormError`; `write(value)` makes the JSON again. `describe(definitions)`
    returns its JSON Schema, and puts what is worth a name into `definitions`. Where every JSON value of one Python
    type is of the form and stays as it is, `plain` is this type: then there is nothing to be read.
    """

    read: Callable[[Any], T]
    write: Callable[[T], Json]
    describe: Callable[[Definitions], Json]
    plain: type | None = None


AnyForm = Form[Any]


def itself(given: Any) -> Any:
    """Return what was given: many values of a plan are their own JSON."""
    return given


def leaf(fits: Callable[[Any], bool], expected: str, schema: Mapping[str, Json]) -> AnyForm:
    """Return the form of JSON that is its own value: whether it fits, what is expected, and the schema that says so."""

    def read(given: Any) -> Any:
        if fits(given):
            return given
        raise FormError(f"expected {expected}")

    return Form(read, itself, lambda _: schema)


def plain(kind: type, expected: str, schema: Mapping[str, Json]) -> AnyForm:
    """Return the form of every JSON value of one Python type."""
    return replace(leaf(lambda given: type(given) is kind, expected, schema), plain=kind)


def words(*known: str) -> AnyForm:
    """Return the form of a text that is one of a few."""
    allowed = frozenset(known)
    expected = " or ".join(f"'{each}'" for each in known)
    return leaf(lambda given: type(given) is str and given in allowed, expected, {"enum": known})


def member_of(kind: type[StrEnum]) -> AnyForm:
    """Return the form of a member of an enumeration."""
    word = words(*(each.value for each in kind))
    return Form(lambda given: kind(word.read(given)), str, word.describe)


def many(form: AnyForm) -> AnyForm:
    """Return the form of a list, which is read as a tuple."""
    read_one, write_one = form.read, form.write
    as_it_is = {form.plain}

    def read(given: Any) -> tuple[Any, ...]:
        if type(given) is not list:
            raise FormError("expected a list")
        if {*map(type, given)} == as_it_is:
            return tuple(given)
        made: list[Any] = []
        keep = made.append
        try:
            for each in given:
                keep(read_one(each))
        except FormError as error:
            error.way.append(len(made))
            raise
        return tuple(made)

    def describe(found: Definitions) -> Json:
        return {"type": "array", "items": form.describe(found)}

    return Form(read, lambda given: [write_one(each) for each in given], describe)


def table(form: AnyForm) -> AnyForm:
    """Return the form of an object whose members all have one form, under any names."""
    read_one, write_one = form.read, form.write

    def read(given: Any) -> dict[str, Any]:
        if type(given) is not dict:
            raise FormError("expected an object")
        made: dict[str, Any] = {}
        name = ""
        try:
            for name, each in given.items():
                made[name] = read_one(each)
        except FormError as error:
            error.way.append(name)
            raise
        return made

    def describe(found: Definitions) -> Json:
        return {"type": "object", "additionalProperties": form.describe(found)}

    return Form(read, lambda given: {name: write_one(each) for name, each in given.items()}, describe)


def late(form: Callable[[], AnyForm]) -> AnyForm:
    """Return a form that is told when it is first needed, because it is inside itself."""
    return Form(
        lambda given: form().read(given),
        lambda given: form().write(given),
        lambda found: form().describe(found),
    )
