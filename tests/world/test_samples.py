"""Answers that `simulate` makes up are small, whatever their schema wants."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stagec.world.samples import _Maker

NAMES = [f"n{number}" for number in range(20)]
ENDLESS: dict[str, dict[str, Any]] = {
    "arrays": {"type": "array", "minItems": 12, "items": {"$ref": "#"}},
    "one array": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    "members": {"type": "object", "required": NAMES, "properties": {name: {"$ref": "#"} for name in NAMES}},
    "both": {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "array", "minItems": 9, "items": {"$ref": "#"}}},
    },
}


@pytest.mark.parametrize("schema", ENDLESS.values(), ids=ENDLESS)
def test_a_schema_that_wants_no_end_gets_one(schema: dict[str, Any]) -> None:
    assert len(json.dumps(_Maker(schema).simplest(schema, 0))) < 1_000_000
