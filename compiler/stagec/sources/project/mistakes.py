"""Mistakes in a configuration, by the published schema `schemas/stagec.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from stagec.core.nearest import NameIndex, hint
from stagec.core.place import spell_path
from stagec.core.value import value
from stagec.core.version import schema_file
from stagec.core.words import listing, quote

Path = tuple[str | int, ...]
_MOST = 20
_CROWDED = 100_000
"""Values of a configuration beyond which only its first mistake is reported: the library makes all at once."""


@value
class Mistake:
    """One thing that is wrong: the keys and indexes that lead to it, and a sentence."""

    path: Path
    message: str


def mistakes(table: Mapping[str, Any]) -> tuple[Mistake, ...]:
    """Return the mistakes in a configuration table, as many as a person would read."""
    import jsonschema_rs  # only a project with a configuration needs it

    with open(schema_file("stagec"), encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    validator = jsonschema_rs.Draft202012Validator(schema, retriever=_refuse)
    given = _as_json(table)

    errors: Iterable[Any] = ()
    if json.dumps(given).count(",") <= _CROWDED:
        errors = validator.iter_errors(given)  # finds all of them at once, however many there are
    else:
        try:
            validator.validate(given)
        except jsonschema_rs.ValidationError as error:
            errors = (error,)
    return tuple(islice((each for error in errors for each in _explain(schema, table, error)), _MOST))


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} is not fetched")


def _as_json(given: Any) -> Any:
    """Put null, which TOML does not have and no key takes, in place of what JSON does not have: dates, infinity."""
    if isinstance(given, Mapping):
        return {key: _as_json(each) for key, each in given.items()}
    if isinstance(given, list):
        return [_as_json(each) for each in given]
    known = isinstance(given, str | int) or (isinstance(given, float) and given - given == 0)
    return given if known else None


def _explain(schema: Mapping[str, Any], table: Mapping[str, Any], error: Any) -> Iterator[Mistake]:
    path: Path = tuple(error.instance_path)
    kind = error.kind.as_dict()
    wanted: Any = schema
    for key in path:
        below = wanted["items"] if isinstance(key, int) else wanted.get("properties", {}).get(key)
        wanted = wanted["additionalProperties"] if below is None else below
    if error.kind.name == "additionalProperties":
        known = NameIndex(sorted(wanted["properties"]))
        for key in sorted(kind["unexpected"]):
            yield Mistake((*path, key), f"unknown key {quote(spell_path((*path, key)))}{hint(key, known)}")
    else:
        found: Any = table
        for key in path:
            found = found[key]
        if "enum" in wanted:
            near = hint(found, NameIndex(wanted["enum"])) if isinstance(found, str) else ""
            expected = f"{listing(wanted['enum'], 'or')}, found {_describe(found)}{near}"
        else:
            expected = f"{wanted['x-expected']}, found {_describe(found)}"
        yield Mistake(path, f"{quote(spell_path(path))} must be {expected}")


def _describe(found: Any) -> str:
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, dict | list):
        return "a table" if isinstance(found, dict) else "an array"
    return quote(found) if isinstance(found, str) else quote(str(found))[1:-1]
