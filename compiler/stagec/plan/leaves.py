"""The forms of what has no parts of its own: texts, numbers, digests, paths, and JSON of any form."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.plan.form import Definitions, Form, FormError, Known, bounded, itself, leaf, many, name_in, plain
from stagec.plan.numbers import MOST
from stagec.plan.template import DEEPEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOO_DEEP = f"is nested more than {DEEPEST} deep"
_DIGITS = "0123456789abcdef"
_NESTING = {dict, list, tuple}
_PREFIX = "sha256:"
_DIGEST_LENGTH = len(_PREFIX) + 64


def _digest(given: Any, _: Known) -> str:
    if type(given) is str and len(given) == _DIGEST_LENGTH and given[:7] == _PREFIX and not given[7:].strip(_DIGITS):
        return given
    raise FormError("expected 'sha256:' and 64 hexadecimal digits")


def _digest_schema(_: Definitions) -> Json:
    return {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


def _path(given: Any, _: Known) -> tuple[str | int, ...]:
    if type(given) is list:
        for each in given:
            if type(each) is not str and not _is_index(each):
                break
        else:
            return tuple(given)
    raise FormError("expected a path of names and indexes")


def _is_index(given: Any) -> bool:
    return type(given) is int and 0 <= given <= MOST


def _path_schema(_: Definitions) -> Json:
    return {"type": "array", "items": {"type": ["string", "integer"], "minimum": 0, "maximum": MOST}}


def _is_shallow(given: Any) -> bool:
    level = [given]
    for _ in range(DEEPEST + 1):
        level = [each for each in level if type(each) in _NESTING]
        if not level:
            return True
        level = [inner for each in level for inner in (each.values() if type(each) is dict else each)]
    return False


ANY = bounded(Form(lambda given, _: given, itself, lambda _: True), _is_shallow, TOO_DEEP)
TEXT = plain(str, "a text", {"type": "string"})
FLAG = plain(bool, "true or false", {"type": "boolean"})
COUNT = leaf(
    lambda given: type(given) is int and 0 <= given <= MOST,
    "a whole number that is not negative",
    {"type": "integer", "minimum": 0, "maximum": MOST},
)
POSITIVE = leaf(
    lambda given: type(given) is int and 0 < given <= MOST,
    "a whole number greater than 0",
    {"type": "integer", "minimum": 1, "maximum": MOST},
)
CALL = leaf(
    lambda given: type(given) is str and given.count(":") == 1,
    "a callable, 'package.module:function'",
    {"type": "string", "pattern": "^[^:]*:[^:]*$"},
)
DIGEST = Form(_digest, itself, _digest_schema)
PATH = Form(_path, list, _path_schema)
TEXTS = many(TEXT)
CONTENT = name_in("contents", DIGEST)
NODE_NAME = name_in("nodes", TEXT)
