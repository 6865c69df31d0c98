"""What JSON Schemas say of values."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

_JUDGING_FORMATS = (Draft4Validator, Draft6Validator, Draft7Validator)


def satisfies(value: Any, schema: str) -> bool:
    """Say whether a value satisfies a schema, which is given as its text."""
    return bool(_validator(schema).is_valid(value))


@cache
def _validator(schema: str) -> Validator:
    parsed = json.loads(schema)
    dialect = validator_for(parsed, default=Draft202012Validator)
    return dialect(parsed, format_checker=dialect.FORMAT_CHECKER if dialect in _JUDGING_FORMATS else None)
