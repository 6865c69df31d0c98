"""Plain schemas judge simple values as the library does, and without it."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from campaigns import choose

from stagec.runtime.machine.answer_schemas import prepare

_NAMES = ("a", "b", "c")
_KINDS = ("string", "boolean", "integer", "number", "object", "array", "null")
_WRONG: tuple[Any, ...] = (None, 1, -1, "", "none", [], ["a", "a"], {"a": 3}, [1], True, {})
_VALUES: tuple[Any, ...] = (None, True, False, 0, 1, -7, 1.0, 2.5, 2**60, "", "a", "b", "ä", "long text", [], {})


def make_schema(random: Random, levels: int) -> Any:
    """Return a schema of keywords that are known to be plain, and now and then of others and wrong ones."""
    if random.random() < 0.1:
        return random.choice([True, False, {}])
    inner = (lambda: make_schema(random, levels - 1)) if levels else (lambda: True)
    makers = {
        "type": lambda: random.choice(_KINDS),
        "enum": lambda: random.sample(_NAMES, random.randint(1, 3)),
        "const": lambda: random.choice(_NAMES),
        "required": lambda: random.sample(_NAMES, random.randint(1, 2)),
        "properties": lambda: {name: inner() for name in random.sample(_NAMES, 2)},
        "additionalProperties": inner,
        "items": inner,
        "minLength": lambda: random.randint(0, 3),
        "minItems": lambda: random.randint(0, 2),
        "title": lambda: "text",
        "maxLength": lambda: random.randint(0, 3),
    }
    chosen = random.sample([*makers], random.randint(1, 3))
    return {name: random.choice(_WRONG) if random.random() < 0.02 else makers[name]() for name in chosen}


def make_value(random: Random, levels: int) -> Any:
    if levels and random.random() < 0.4:
        return {name: make_value(random, levels - 1) for name in random.sample(_NAMES, random.randint(0, 3))}
    if levels and random.random() < 0.3:
        return [make_value(random, levels - 1) for _ in range(random.randint(0, 3))]
    return random.choice(_VALUES)


@pytest.mark.parametrize("seed", range(choose(20, whole=200)))
def test_schemas_judge_as_the_library_does(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        schema = make_schema(random, 3)
        try:
            library = jsonschema_rs.validator_for(schema)
        except (ValueError, jsonschema_rs.ValidationError):
            with pytest.raises(ValueError, match=r"."):
                prepare(json.dumps(schema))
            continue
        prepared = prepare(json.dumps(schema))
        for value in (make_value(random, 3) for _ in range(20)):
            assert (prepared.complaint(value) is None) == library.is_valid(value), (schema, value)


def test_a_plain_schema_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "enum": ["ok"]}}, "required": ["x"]}
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)  # which makes importing it an error
    assert prepare(json.dumps(schema)).complaint({"x": "ok"}) is None
    with pytest.raises(ImportError):
        prepare(json.dumps({"pattern": "x"}))
