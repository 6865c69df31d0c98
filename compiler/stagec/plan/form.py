"""How the values of a plan are written as JSON: one table for each class says how it is read, written and described."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from enum import StrEnum

from stagec.core.json import Json
from stagec.core.place import Key
from stagec.core.value import replace, value
from stagec.core.words import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Definitions = dict[str, Json]
Known = Mapping[str, Container[str]]
"""The names that a plan has: those of its `nodes`, of its `contents`, and so on."""
TAG = "is"
"""The member that says which of several classes an object is."""


class FormError(Exception):
    """Some JSON is not of its form; `way` leads to it from the root, the last key first."""

    def __init__(self, reason: str, *way: Key) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way = list(way)


@value
class Form:
    """One form that JSON can have.

    `read(given, known)` makes the value or raises `FormError`; `write(value)` makes the JSON again.
    `describe(definitions)` returns its JSON Schema, and puts what is worth a name into `definitions`. Where every JSON
    value of one Python type is of the form and stays as it is, `plain` is this type: then there is nothing to be read.
    """

    read: Callable[[Any, Known], Any]
    write: Callable[[Any], Json]
    describe: Callable[[Definitions], Json]
    plain: type | None = None


def itself(given: Any) -> Any:
    """Return what was given: many values of a plan are their own JSON."""
    return given


def leaf(fits: Callable[[Any], bool], expected: str, schema: Mapping[str, Json]) -> Form:
    """Return the form of JSON that is its own value: whether it fits, what is expected, and the schema that says so."""

    def read(given: Any, _: Known) -> Any:
        if fits(given):
            return given
        raise FormError(f"expected {expected}")

    return Form(read, itself, lambda _: schema)


def plain(kind: type, expected: str, schema: Mapping[str, Json]) -> Form:
    """Return the form of every JSON value of one Python type."""
    return replace(leaf(lambda given: type(given) is kind, expected, schema), plain=kind)


def name_in(table: str, form: Form) -> Form:
    """Return the form of a text that names something in a table of the plan; any other is a name without a meaning."""

    def read(given: Any, known: Known) -> Any:
        if type(given) is str and given in known[table]:
            return given
        raise FormError(f"refers to {quote(form.read(given, known))}, which the plan does not have in '{table}'")

    return replace(form, read=read, plain=None)


def words(*known: str) -> Form:
    """Return the form of a text that is one of a few."""
    return _chosen({each: each for each in known}, itself)


def member_of(kind: type[StrEnum]) -> Form:
    """Return the form of a member of an enumeration."""
    return _chosen({each.value: each for each in kind}, str)


def _chosen(choices: Mapping[str, Any], write: Callable[[Any], Json]) -> Form:
    def read(given: Any, _: Known) -> Any:
        if type(given) is str and given in choices:
            return choices[given]
        raise FormError(f"expected {' or '.join(map(repr, choices))}")

    return Form(read, write, lambda _: {"enum": list(choices)})


def many(form: Form, least: int = 0) -> Form:
    """Return the form of a list with at least so many elements, which is read as a tuple."""
    plain, read_one, write_one = form.plain, form.read, form.write
    expected = f"expected a list with at least {least}" if least else "expected a list"

    def read(given: Any, known: Known) -> tuple[Any, ...]:
        if type(given) is not list or len(given) < least:
            raise FormError(expected)
        made: list[Any] = []
        keep = made.append
        try:
            for each in given:
                keep(each if type(each) is plain else read_one(each, known))
        except FormError as error:
            error.way.append(len(made))
            raise
        return tuple(made)

    def describe(found: Definitions) -> Json:
        return {"type": "array", "items": form.describe(found), **({"minItems": least} if least else {})}

    return Form(read, lambda given: [write_one(each) for each in given], describe)


def table(form: Form, least: int = 0, names: Form | None = None) -> Form:
    """Return the form of an object with at least so many members, all of one form; their names may have one as well."""
    plain, read_one, write_one = form.plain, form.read, form.write
    expected = f"expected an object with at least {least}" if least else "expected an object"

    def read(given: Any, known: Known) -> dict[str, Any]:
        if type(given) is not dict or len(given) < least:
            raise FormError(expected)
        made: dict[str, Any] = {}
        name = ""
        try:
            if names is not None:
                for name in given:
                    names.read(name, known)
            for name, each in given.items():
                made[name] = each if type(each) is plain else read_one(each, known)
        except FormError as error:
            error.way.append(name)
            raise
        return made

    def describe(found: Definitions) -> Json:
        most = {"minProperties": least} if least else {}
        named = {} if names is None else {"propertyNames": names.describe(found)}
        return {"type": "object", "additionalProperties": form.describe(found), **named, **most}

    return Form(read, lambda given: {name: write_one(each) for name, each in given.items()}, describe)


def late(form: Callable[[], Form]) -> Form:
    """Return a form that is told when it is first needed, because it is inside itself."""
    return Form(
        lambda given, known: form().read(given, known),
        lambda given: form().write(given),
        lambda found: form().describe(found),
    )


def bounded(form: Form, is_within: Callable[[Any], bool], reason: str) -> Form:
    """Return a form of which only what is within a bound is one; the bound keeps whoever walks it on the stack."""

    def read(given: Any, known: Known) -> Any:
        try:
            made = form.read(given, known)
        except RecursionError:
            raise FormError(reason) from None
        if is_within(made):
            return made
        raise FormError(reason)

    def write(given: Any) -> Json:
        if is_within(given):
            return form.write(given)
        raise FormError(reason)

    return Form(read, write, form.describe)
