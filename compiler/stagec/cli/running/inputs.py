"""What a run is given: by its scenario, by files and by the command line, the later ones winning."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from stagec.cli.files import read_file
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.nearest import Names, hint
from stagec.core.words import listing, quote
from stagec.runtime import Program, Started
from stagec.runtime.advance import find_trouble


def refuse_unfit(program: Program, started: Started) -> None:
    """Raise `Failure` when a run cannot begin as asked, with what would help."""
    why = find_trouble(program, started)
    if why is not None:
        raise Failure(f"{quote(program.plan.id)} cannot be run: {why}{_help(program, started)}")


def _help(program: Program, started: Started) -> str:
    """Return what would help: the names there are, or how a missing input is given."""
    plan, entry = program.plan, started.entry
    if (plan.entry if entry is None else entry) not in plan.entries:
        near = "" if entry is None else hint(entry, Names(plan.entries))
        return near or f"; --entry names {listing(sorted(plan.entries), 'or')}"
    foreign = next((name for name in started.inputs if name not in plan.inputs), None)
    if foreign is not None:
        return hint(foreign, Names(plan.inputs))
    missing = (name for name, each in plan.inputs.items() if each.required and each.default is None)
    name = next((name for name in missing if name not in started.inputs), None)
    return "" if name is None else f": --input {name}=VALUE gives it"


def inputs_of(program: Program, scenario: Object, given: Iterable[str]) -> Object:
    """Return the inputs of a run."""
    found = dict(scenario)
    for each in given:
        if each.startswith("@"):
            found |= _in_file(Path(each.removeprefix("@")))
            continue
        name, equals, text = each.partition("=")
        if not equals:
            raise Failure(f"{quote(each)} gives no input: NAME=VALUE does, or @FILE")
        found[name] = _value(program, name, text)
    return found


_BUDGET, _ROOM = "file-size", 10
"""Inputs are data: they may be so many times as large as what somebody writes."""


def _in_file(path: Path) -> Object:
    try:
        given = json.loads(read_file(path, _BUDGET, _ROOM))
    except (ValueError, RecursionError) as error:
        raise Failure(f"{quote(path)} is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise Failure(f"{quote(path)} holds no inputs: an object is expected")
    return given


def _value(program: Program, name: str, text: str) -> Json:
    """Return the text itself if it satisfies the schema of the input; else what it is as JSON, if that does."""
    wanted = program.plan.inputs.get(name)
    schema = wanted.schema if wanted is not None else None
    if _satisfies(program, schema, text):
        return text
    try:
        parsed: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed if _satisfies(program, schema, parsed) else text


def _satisfies(program: Program, schema: str | None, given: Json) -> bool:
    """Tell whether a value satisfies a schema; one that no schema can judge, such as half a character, does not."""
    try:
        return program.payloads.complaint(schema, given) is None
    except (ValueError, RecursionError):
        return False
