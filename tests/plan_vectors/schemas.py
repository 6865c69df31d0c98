"""What JSON Schemas say of values."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft202012Validator,
    FormatChecker,
    ValidationError,
)
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for


def _decode(validator: Any, encoding: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error for a text that is not encoded, or not encoded JSON: drafts 6 and 7 judge that."""
    if not isinstance(instance, str):
        return
    with suppress(ValueError):
        data = base64.b64decode(instance, validate=True) if schema.get("contentEncoding") == "base64" else instance
        if schema.get("contentMediaType") == "application/json":
            json.loads(data)
        return
    yield ValidationError(f"{instance!r} is not {encoding}")


_BOTH = {"contentEncoding": _decode, "contentMediaType": _decode}
_ENCODED = {dialect: extend(dialect, _BOTH) for dialect in (Draft6Validator, Draft7Validator)}
_ALWAYS = {"date", "time", "regex", "idn-email"}
_JUDGING_FORMATS = (Draft4Validator, *_ENCODED.values())


def satisfies(value: Any, schema: str) -> bool:
    """Say whether a value satisfies a schema, which is given as its text."""
    return bool(_validator(schema).is_valid(value))


@cache
def _validator(schema: str) -> Validator:
    parsed = json.loads(schema)
    dialect = validator_for(parsed, default=Draft202012Validator)
    dialect = _ENCODED.get(dialect, dialect)
    checker = FormatChecker(_ALWAYS | dialect.FORMAT_CHECKER.checkers.keys())
    return dialect(parsed, format_checker=checker if dialect in _JUDGING_FORMATS else None)
