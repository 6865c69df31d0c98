"""What stands at some paths of a value, and whether a value of which that is known satisfies a schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.contract.choices import identity
from stagec.contract.combinations import Combination, types_of
from stagec.contract.extent import fits, lists
from stagec.contract.negations import judge_member, judge_required
from stagec.contract.schemas import Schema, Schemas
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import NOTHING, value
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS

Path = tuple[str, ...]


@value
class PathValue:
    """What stands at a path: nothing, one of the values somebody asks for, or something else.

    Of something else, `given` is an example where the schema names one.
    """

    present: bool
    asked: bool = False
    given: Json = None
    exemplary: bool = False
    alone: bool = False
    """Whether nothing but `given` is meant."""


ABSENT = PathValue(False)
OTHER = PathValue(True)

Variant = Mapping[Path, PathValue]


@value
class WantedPath:
    """One part of the paths: the path up to here, the values asked for if it ends here, and the parts below."""

    path: Path
    values: tuple[Json, ...] | None
    inside: Mapping[str, WantedPath] = NOTHING


def path_tree(asked: Mapping[Path, Iterable[Json]], path: Path = ()) -> WantedPath:
    """Return the paths as a tree, going over those below each part once."""
    below: dict[str, dict[Path, Iterable[Json]]] = {}
    for each, given in asked.items():
        if len(each) > len(path):
            below.setdefault(each[len(path)], {})[each] = given
    values = tuple(asked[path]) if path in asked else None
    return WantedPath(path, values, {name: path_tree(inside, (*path, name)) for name, inside in below.items()})


def judge_variant(
    schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath, combination: Combination | None = None
) -> bool | None:
    """Tell whether all values of a variant satisfy a schema, or none does; None where it depends or is involved.

    What nobody asks about, the combination of which it is a variant may tell.
    """
    found: list[bool | None] = []
    for each in schemas.layers(schema):
        if not isinstance(each, Schema) or not isinstance(each.value, dict):
            found.append(each.value if isinstance(each, Schema) and isinstance(each.value, bool) else None)
        elif (standing := variant.get(wanted.path)) is not None and (standing.asked or standing.alone):
            alone = {key: inner for key, inner in each.value.items() if key not in _FOLLOWED}
            found.append(fits(alone, standing.given))
        else:
            found += _judge_keywords(schemas, each, variant, wanted, combination)
    return False if False in found else None if None in found else True


_FOLLOWED = frozenset({"allOf", "$ref"})
"""Keywords whose schemas are layers of their own."""


def _judge_keywords(
    schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath, combination: Combination | None
) -> Iterator[bool | None]:
    for key, given in object_of(schema.value).items():
        if key == "properties":
            parts = ((name, Schema(inner, schema.at / key / name)) for name, inner in object_of(given).items())
            judged = ((each, _judge_member(schemas, each[1], variant, wanted.inside.get(each[0]))) for each in parts)
            yield from (
                judge_member(schemas, combination, *each) if found is None and combination is not None else found
                for each, found in judged
            )
        elif key == "required":
            yield from (_judge_required(name, variant, wanted, combination) for name in list_of(given))
        elif key == "type":
            types = types_of({"type": given})
            is_object = any(_is_there(variant, each) for name, each in wanted.inside.items() if not name.isdigit())
            yield "object" in types if is_object and types is not None else None
        elif key in {"enum", "const"}:
            yield _judge_list([one for each in lists({key: given}) for one in each], variant, wanted)
        elif key in KEYWORDS and key not in REMARKS and key not in _FOLLOWED:
            yield None


def _judge_member(schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath | None) -> bool | None:
    there = None if wanted is None else _is_there(variant, wanted)
    if there is False or schema.value is True:
        return True
    judged = None if wanted is None else judge_variant(schemas, schema, variant, wanted)
    return judged if there or judged else None


def _judge_required(name: Json, variant: Variant, wanted: WantedPath, combination: Combination | None) -> bool | None:
    inside = wanted.inside.get(name) if isinstance(name, str) else None
    there = None if inside is None else _is_there(variant, inside)
    return there if there is not None or combination is None else judge_required(combination, [name])


def _judge_list(listed: list[Json], variant: Variant, wanted: WantedPath) -> bool | None:
    """Tell that a value that nobody asks for is none of a list, where somebody asks for all of the list."""
    if wanted.values is None or wanted.path not in variant:
        return None
    known = frozenset(map(identity, wanted.values))
    return False if all(identity(each) in known for each in listed) else None


def _is_there(variant: Variant, wanted: WantedPath) -> bool | None:
    """Tell whether a value is there, from what stands at its path and below; None where nobody has asked."""
    standing = variant.get(wanted.path)
    if standing is not None:
        return standing.present
    return True if any(_is_there(variant, each) for each in wanted.inside.values()) else None
