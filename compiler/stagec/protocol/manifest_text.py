"""Manifests of checkpoints as texts: read with every digit and character kept, and digested in both forms.

A manifest holds the digest of its own other members. The reference implementation digests what `JSON.stringify` writes,
with an indent of two; stagec digests canonical JSON (RFC 8785).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

from stagec.core.canonical import MOST, canonical, compact
from stagec.core.json import Json, Object

DIGEST = "manifestSha256"
"""The member that holds the digest of all others."""
DEEPEST = 64
"""Objects and arrays inside each other; no manifest needs more than four."""

_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_INTEGER = 400
"""Digits; a longer integer is more than a double can hold, and Python refuses to read very long ones."""


def read_json(data: bytes) -> Json:
    """Return the value of a JSON text; raise `ValueError` for what is none and for what is nested too deeply.

    Of repeated names the last counts, halves of characters are kept, and so are the digits of large integers.
    """
    try:
        found: Json = json.loads(data.decode(), parse_int=_read_integer, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not _is_flat(found):
        raise ValueError("it is nested too deeply")
    return found


def digest_stringified(manifest: Object) -> str:
    """Return the digest of a manifest as the reference implementation computes it."""
    return sha256(stringify(_drop_digest(manifest)).encode()).hexdigest()


def digest_canonical(manifest: Object) -> str | None:
    """Return the digest of a manifest as stagec computes it; None for one that has no canonical text."""
    try:
        return sha256(canonical(_drop_digest(manifest))).hexdigest()
    except ValueError:
        return None


def stringify(given: Json) -> str:
    """Return what ECMAScript's `JSON.stringify(value, null, 2)` writes."""
    pieces: list[str] = []
    todo: list[str | tuple[Json, str]] = [(given, "\n")]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            pieces.append(each)
        elif isinstance(each[0], dict | list) and each[0]:
            todo.extend(reversed(list(_open(*each))))
        else:
            pieces.append(_write_scalar(each[0]))
    return "".join(pieces)


def _open(given: Json, newline: str) -> Iterator[str | tuple[Json, str]]:
    """Yield the texts and values that a container is written as."""
    inner, between = f"{newline}  ", ""
    if isinstance(given, dict):
        for name in sorted(given, key=_order):
            yield f"{between or '{'}{inner}{_write_scalar(name)}: "
            yield given[name], inner
            between = ","
        yield f"{newline}}}"
    elif isinstance(given, list):
        for each in given:
            yield f"{between or '['}{inner}"
            yield each, inner
            between = ","
        yield f"{newline}]"


def _order(name: str) -> tuple[bool, int]:
    """Return what sorts names that are indexes of arrays before all others, which keep their order."""
    is_index = _INDEX.fullmatch(name) is not None and int(name) <= _LAST_INDEX
    return not is_index, int(name) if is_index else 0


def _write_scalar(given: Json) -> str:
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return compact(given if -MOST <= given <= MOST else float(given))
        except (OverflowError, ValueError):  # infinite
            return "null"
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", compact(given))


def _drop_digest(manifest: Object) -> Mapping[str, Json]:
    return {name: given for name, given in manifest.items() if name != DIGEST}


def _read_integer(digits: str) -> float:
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _is_flat(given: Json) -> bool:
    """Tell whether a value is nested no deeper than allowed."""
    level: list[Json] = [given]
    for _ in range(DEEPEST + 1):
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
        if not inner:
            return True
    return False
