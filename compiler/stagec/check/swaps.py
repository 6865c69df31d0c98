"""Errors that are one mistake: two values stand in each other's place, and with them exchanged nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import Any

from stagec.check.findings import PROSE, locate, look_up
from stagec.core.diagnostic import Change, Diagnostic, Edit, Fix, Remark, Severity
from stagec.core.json import kind_of
from stagec.core.place import START, Place, Pointer
from stagec.core.value import replace
from stagec.sources.tree import Tree

_FEWEST, _MOST, _TRIES, _SMALL = 2, 8, 8, 100_000
"""Errors, tries and bytes: each try is a check of the whole project, which takes too long with more of them."""
_NEAR = 4
"""So many members of an object can be meant beside the one that an error names."""

Recheck = Callable[[Mapping[str, bytes]], Collection[Diagnostic]]
"""Returns what is wrong with the project if some of its files have other bytes."""
_Swap = tuple[Place, Place]


def fold_swapped(
    told: Sequence[Diagnostic], checked: Container[tuple[str, Place]], trees: Mapping[str, Tree], recheck: Recheck
) -> tuple[Diagnostic, ...]:
    """Return diagnostics with one error for two swapped values, instead of all errors that the swap explains.

    It explains the errors that disappear when the values are exchanged: at least two, and no other error may appear.
    `checked` has the codes and the places of what `recheck` can find: no other error is explained.
    """
    wrong = (each for each in told if each.severity is Severity.ERROR and (each.code, each.at) in checked)
    errors = [each for each in wrong if not (each.fix and each.fix.is_safe)]
    if not _FEWEST <= len(errors) <= _MOST or sum(len(tree.data) for tree in trees.values()) > _SMALL:
        return tuple(told)
    best: tuple[list[Diagnostic], _Swap] | None = None
    known = {_identify(each) for each in told}
    for swap in islice(_list_swaps(errors, trees), _TRIES):
        changed = _exchange(swap, trees)
        if changed is None:
            continue
        found = recheck(changed)
        left = {_identify(each) for each in found if each.severity is Severity.ERROR}
        gone = [each for each in errors if _identify(each) not in left]
        if left <= known and len(gone) >= _FEWEST and (best is None or len(gone) > len(best[0])):
            best = gone, swap
            if gone == errors:
                break
    if best is None:
        return tuple(told)
    first, *rest = best[0]
    return tuple(_explain(*best, trees) if each is first else each for each in told if each not in rest)


def _identify(each: Diagnostic) -> object:
    return each.code, each.at.file, each.at.pointer, each.message


def _list_swaps(errors: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> Iterator[_Swap]:
    """Yield pairs of values that may be swapped, the likely ones first, each once."""
    alike = sorted(combinations(errors, 2), key=lambda pair: pair[0].code != pair[1].code)
    pairs = [([one.at, *_list_related(one)], [other.at, *_list_related(other)]) for one, other in alike]
    direct = (_list_named(one, other, _list_owners(one[:1], other[:1])) for one, other in pairs)
    named = (_list_named(one, other, _list_owners(one, other)) for one, other in pairs)
    near = (_list_near(one, other, trees) for one, other in pairs)
    yield from dict.fromkeys(_keep_alike(chain(*direct, *named, *near), trees))


def _list_related(each: Diagnostic) -> Iterator[Place]:
    return (also.at for also in each.related)


def _list_named(first: Sequence[Place], second: Sequence[Place], owners: Iterable[_Swap]) -> Iterator[_Swap]:
    """Yield the subjects of two errors: the same member of two owners, larger ones first, and the errors."""
    for left, right in owners:
        paths = _list_paths(left, right, (*first, *second))
        yield from ((_go(left, path), _go(right, path)) for path in paths if path)
    yield first[0], second[0]


def _list_near(first: Sequence[Place], second: Sequence[Place], trees: Mapping[str, Tree]) -> Iterator[_Swap]:
    """Yield the other members of two owners that lie beside what the errors name."""
    for left, right in _list_owners(first, second):
        for path in _list_paths(left, right, (*first, *second)):
            tops = _go(left, path), _go(right, path)
            shared = _list_members(tops[0], trees)
            found = [*_keep_alike(((tops[0] / key, tops[1] / key) for key in shared), trees)]
            yield from found if len(found) <= _NEAR else ()


def _list_owners(first: Sequence[Place], second: Sequence[Place]) -> Iterable[_Swap]:
    """Return the pairs of values around two places with equal ends: from their first different member to the last."""
    pairs = dict.fromkeys(each for left in first for right in second for each in _split(left, right))
    # each error is about its own value: what names both may be gone because the other value says less
    return [
        (left, right)
        for left, right in pairs
        if not any(at in right for at in first) and not any(at in left for at in second)
    ]


def _list_paths(left: Place, right: Place, named: Iterable[Place]) -> list[Pointer]:
    """Return the paths to all named places in one of two members, and to the members around them."""
    inner = [at.pointer[len(top.pointer) :] for at in named for top in (left, right) if at in top]
    return sorted(dict.fromkeys(path[:end] for path in inner for end in range(len(path) + 1)), key=len)


def _go(top: Place, path: Pointer) -> Place:
    return Place(top.file, (*top.pointer, *path))


def _list_members(at: Place, trees: Mapping[str, Tree]) -> list[str]:
    try:
        given = _read(at, trees)
    except (LookupError, TypeError):
        return []
    return list(given) if isinstance(given, dict) else []


def _split(one: Place, other: Place) -> Iterator[_Swap]:
    if one.file != other.file:
        yield Place(one.file), Place(other.file)
        return
    pairs = list(zip(one.pointer, other.pointer, strict=False))
    begin = next((at for at, (left, right) in enumerate(pairs, 1) if left != right), None)
    if begin is not None:
        yield Place(one.file, one.pointer[:begin]), Place(other.file, other.pointer[:begin])
        backwards = zip(reversed(one.pointer), reversed(other.pointer), strict=False)
        alike = next((at for at, (left, right) in enumerate(backwards) if left != right), 0)
        yield (
            Place(one.file, one.pointer[: len(one.pointer) - alike]),
            Place(other.file, other.pointer[: len(other.pointer) - alike]),
        )


def _keep_alike(pairs: Iterable[_Swap], trees: Mapping[str, Tree]) -> Iterator[_Swap]:
    """Yield the pairs of different values of one kind: of one type, in members of one name, in files of one kind."""
    for one, other in pairs:
        try:
            left, right = _read(one, trees), _read(other, trees)
        except (LookupError, TypeError):  # one is not there
            continue
        is_kind = kind_of(left) == kind_of(right) and trees[one.file].kind == trees[other.file].kind
        if is_kind and left != right and _last_name(one) == _last_name(other) and not _touch(one, other):
            yield _name(one), _name(other)


def _last_name(at: Place) -> str | None:
    return next((key for key in reversed(at.pointer) if isinstance(key, str)), None)


def _touch(one: Place, other: Place) -> bool:
    """Tell whether one of two places has something of the other in it."""
    if one.range is not None and other.range is not None and one.file == other.file:
        return max(one.range[0], other.range[0]) < min(one.range[1], other.range[1])
    return one in other or other in one


def _name(at: Place) -> Place:
    """Return the place of a value, also where only its name was meant."""
    return Place(at.file, at.pointer, range=at.range)


def _read(at: Place, trees: Mapping[str, Tree]) -> Any:
    """Return the value or the stretch of prose at a place; raises LookupError or TypeError if there is none."""
    tree = trees[at.file]
    if at.range is not None and at.range[0] >= (tree.body or at.range)[0] and tree.format.name in PROSE:
        return tree.data.decode(errors="surrogateescape")[slice(*at.range)]
    if not at.pointer or at.range is not None:
        raise LookupError(at)
    given = look_up(tree.value, at.pointer[:-1])
    if not isinstance(given, dict | list):
        raise TypeError(at)  # a character of a text is no value
    return look_up(given, at.pointer[-1:])


def _edit(swap: _Swap, trees: Mapping[str, Tree]) -> tuple[Edit, ...]:
    given = (_read(at, trees) for at in reversed(swap))
    kinds = (Change.REPLACE if at.range is None else Change.WRITE for at in swap)
    return tuple(map(Edit, kinds, swap, given))


def _exchange(swap: _Swap, trees: Mapping[str, Tree]) -> Mapping[str, bytes] | None:
    """Return the files with the values exchanged; None if a value is not in the text as it was read."""
    edits: dict[str, list[Edit]] = {}
    for edit in _edit(swap, trees):
        edits.setdefault(edit.at.file, []).append(edit)
    try:
        return {file: _apply(trees[file], made) for file, made in edits.items()}
    except ValueError:
        return None


def _apply(tree: Tree, edits: Sequence[Edit]) -> bytes:
    text = tree.data.decode(errors="surrogateescape")
    return tree.format.apply(text, edits).encode(errors="surrogateescape")


def _explain(gone: Sequence[Diagnostic], swap: _Swap, trees: Mapping[str, Tree]) -> Diagnostic:
    """Return the first of the errors that a swap explains, with the swap, what it explains, and how to undo it."""
    first, *rest = gone
    spans = locate(swap, trees)
    remarks = tuple(Remark(at, spans.get(at, START), "this and the other value may be swapped") for at in swap)
    others = tuple(Remark(each.at, each.span, each.message) for each in rest)
    edits = _edit(swap, trees)
    is_plain = not any(isinstance(edit.value, dict | list) for edit in edits)  # others may have comments in them
    fix = Fix("exchange the two values", edits, is_safe=False) if is_plain else None
    folded = sum(each.folded for each in gone) + len(rest)
    return replace(first, related=(*remarks, *others), folded=folded, fix=fix)
