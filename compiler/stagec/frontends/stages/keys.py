"""Which keys of a stage's frontmatter were most likely meant to be others, or to stand elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.contract.combinations import types_of
from stagec.core.json import Json, object_of
from stagec.core.nearest import NameIndex
from stagec.frontends.stages.document import MEMBERS, REQUIRED, Stage

_KNOWN = NameIndex(MEMBERS)
_PHASES = frozenset({"setup", "gate", "assert", "exit"})
_ANSWERS = frozenset({"defer", "block"})
_OTHERS = frozenset({"stage", "stages", "disallowedTools", "disallowed-tools"})
"""Words that are near to a key and far from what it means."""
_SHORT, _HEAD, _LONG = 5, 3, 8
"""Of short words only those that begin alike are taken for each other, of long ones all that are near."""


def find_misspelt_keys(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the keys of a stage that look like a known one, and that one.

    Those that look like a required key which is not there are left out: who says that it is missing names them.
    """
    lacking = NameIndex(each for each in REQUIRED if each not in stage.members)
    for key in stage.members:
        if key not in _KNOWN and key not in _OTHERS and not key.startswith(("x-", "_", "$")):
            near = _KNOWN.nearest(key)
            if near is not None and _alike(key, near, written=near in stage.members) and lacking.nearest(key) is None:
                yield key, near


def _alike(key: str, near: str, *, written: bool) -> bool:
    """Tell whether a key is hardly another word; where the known key is written too, short ones must be the same."""
    if written and len(key) <= _LONG:
        return _letters(key) == _letters(near)
    return len(key) > _SHORT or key.lower()[:_HEAD] == near.lower()[:_HEAD]


def _letters(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


def find_misplaced_keys(stage: Stage) -> Iterator[str]:
    """Yield the keys of a stage that are read below `stagec` only, and hold what would be read there.

    Other programs have keys of these names, too, and hold other things in them.
    """
    yield from (key for key, holds in _BELOW.items() if key in stage.members and holds(stage.members[key]))


def _are_checks(given: Json) -> bool:
    return isinstance(given, list) and bool(given) and all("verdict" in object_of(each) for each in given)


_BELOW: Mapping[str, Callable[[Json], bool]] = {
    "next": lambda given: isinstance(given, str | dict | list),
    "checks": _are_checks,
    "gate": lambda given: bool(object_of(given)) and object_of(given).keys() <= _ANSWERS,
    "hooks": lambda given: bool(object_of(given)) and object_of(given).keys() <= _PHASES,
}


def find_fallen_keywords(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the keys of a stage that are keywords of the schema above them, and the key of this schema.

    Their indentation is lost, or is made of spaces that YAML takes for letters.
    """
    above: str | None = None
    for key, given in stage.members.items():
        keyword = key.strip()
        if key in _SCHEMAS:
            above = key
        elif above is None or key in MEMBERS or not _TAKES.get(keyword, _takes_nothing)(given):
            above = None
        else:
            yield key, above


def _takes_nothing(_: Json) -> bool:
    return False


def _is_schema(given: Json) -> bool:
    return isinstance(given, bool | dict)


def _are_schemas(given: Json) -> bool:
    return isinstance(given, dict) and all(map(_is_schema, given.values()))


def _are_names(given: Json) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _is_count(given: Json) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


_SCHEMAS = ("completionSchema", "inputsSchema")
_TAKES: Mapping[str, Callable[[Json], bool]] = {
    "required": _are_names,
    "type": lambda given: types_of({"type": given}) is not None,
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "items", "propertyNames"), _is_schema),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _are_schemas),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), lambda given: isinstance(given, list) and all(map(_is_schema, given))),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
}
"""Keywords that a schema of objects often has, and whether they take a value."""
