"""What JSON Schemas say of values."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for


def satisfies(value: Any, schema: str) -> bool:
    """Say whether a value satisfies a schema, which is given as its text."""
    return bool(_validator(schema).is_valid(value))


@cache
def _validator(schema: str) -> Validator:
    parsed = json.loads(schema)
    return validator_for(parsed, default=Draft202012Validator)(parsed)
