"""Errors that are one mistake: two values are swapped or one is misplaced; with it undone nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import Any

from stagec.check.findings import PROSE, locate, look_up
from stagec.core.diagnostic import Change, Diagnostic, Edit, Fix, Remark, Severity
from stagec.core.json import kind_of
from stagec.core.place import START, Place, Pointer
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.sources.tree import Tree

_FEWEST, _MOST, _TRIES, _SMALL = 2, 8, 8, 100_000
"""Errors, tries and bytes: each try is a check of the whole project, which takes too long with more of them."""
_NEAR = 4
"""So many members of an object can be meant beside the one that an error names."""

Recheck = Callable[[Mapping[str, bytes]], Collection[Diagnostic]]
"""Returns what is wrong with the project if some of its files have other bytes."""
_Swap = tuple[Place, Place]


@value
class _Repair:
    """A change that may undo a mistake: its edits, the places it is about, each with a remark, and its sentence."""

    edits: tuple[Edit, ...]
    remarks: tuple[tuple[Place, str], ...]
    message: str


def fold_swapped(
    told: Sequence[Diagnostic], checked: Container[tuple[str, Place]], trees: Mapping[str, Tree], recheck: Recheck
) -> tuple[Diagnostic, ...]:
    """Return diagnostics with one error for a swap or a misplaced value, instead of all errors that it explains.

    It explains the errors that disappear when it is undone: at least two, and no other error may appear.
    `checked` has the codes and the places of what `recheck` can find: no other error is explained.
    """
    wrong = [each for each in told if each.severity is Severity.ERROR and (each.code, each.at) in checked]
    errors = [each for each in wrong if not (each.fix and each.fix.is_safe)]
    if not _FEWEST <= len(wrong) <= _MOST or sum(len(tree.data) for tree in trees.values()) > _SMALL:
        return tuple(told)
    best: tuple[list[Diagnostic], _Repair] | None = None
    known = {_identify(each) for each in told}
    moves = ((each, wrong) for each in islice(_list_moves(wrong, trees), _TRIES))
    swaps = ((_repair_swap(each, trees), errors) for each in islice(_list_swaps(errors, trees), _TRIES))
    for repair, explained in chain(moves, swaps):
        changed = _change(repair.edits, trees)
        if changed is None:
            continue
        found = recheck(changed)
        left = {_identify(each) for each in found if each.severity is Severity.ERROR}
        gone = [each for each in explained if _identify(each) not in left]
        if left <= known and len(gone) >= _FEWEST and (best is None or len(gone) > len(best[0])):
            best = gone, repair
            if gone == wrong:
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


def _change(edits: Iterable[Edit], trees: Mapping[str, Tree]) -> Mapping[str, bytes] | None:
    """Return the files with some edits made; None if a value is not in the text as it was read."""
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.at.file, []).append(edit)
    try:
        return {file: _apply(trees[file], made) for file, made in by_file.items()}
    except ValueError:
        return None


def _apply(tree: Tree, edits: Sequence[Edit]) -> bytes:
    text = tree.data.decode(errors="surrogateescape")
    return tree.format.apply(text, edits).encode(errors="surrogateescape")


def _explain(gone: Sequence[Diagnostic], repair: _Repair, trees: Mapping[str, Tree]) -> Diagnostic:
    """Return the first of the errors that a repair explains, with the repair, and what it explains."""
    first, *rest = gone
    spans = locate([at for at, _ in repair.remarks], trees)
    remarks = tuple(Remark(at, spans.get(at, START), message) for at, message in repair.remarks)
    others = tuple(Remark(each.at, each.span, each.message) for each in rest)
    is_plain = not any(isinstance(edit.value, dict | list) for edit in repair.edits)  # others may have comments in them
    fix = Fix(repair.message, repair.edits, is_safe=False) if is_plain else None
    folded = sum(each.folded for each in gone) + len(rest)
    return replace(first, related=(*remarks, *others), folded=folded, fix=fix)


def _repair_swap(swap: _Swap, trees: Mapping[str, Tree]) -> _Repair:
    remarks = tuple((at, "this and the other value may be swapped") for at in swap)
    return _Repair(_edit(swap, trees), remarks, "exchange the two values")


def _list_moves(errors: Sequence[Diagnostic], trees: Mapping[str, Tree]) -> Iterator[_Repair]:
    """Yield repairs of members that stand a level too high or too low."""
    found = [each for each in errors if each.at.pointer or each.at.range is None]
    wrong = dict.fromkeys(_name(each.at) for each in found if each.at.pointer and each.at.range is None)
    places = dict.fromkeys(at for each in wrong for at in (each, Place(each.file, each.pointer[:-1])) if at.pointer)
    for each in found:
        owner = _find_owner(each.at, trees)
        given = _look(owner, trees)
        if isinstance(given, dict):
            lacking = [at for at in places if _lacks(each, str(at.pointer[-1]), owner)]
            yield from (_move(owner, (at,), trees) for at in lacking if _may_move(at, owner, given))
        elif given is None and owner.pointer:
            beside = tuple(at for at in wrong if _is_beside(at, owner))
            yield from [_move(owner, beside, trees)] if beside else []
    around = dict.fromkeys(Place(at.file, at.pointer[:end]) for at in wrong for end in range(1, len(at.pointer)))
    yield from (_lift(at, inner) for at in around if (inner := _find_same(at, _look(at, trees))))


def _lacks(error: Diagnostic, key: str, owner: Place) -> bool:
    """Tell whether an error may say that an object lacks a member of this name."""
    is_named = quote(key) in error.message or f"'{key}: " in error.message
    return error.at.pointer == (*owner.pointer, key) or (error.at.pointer == owner.pointer and is_named)


def _find_owner(at: Place, trees: Mapping[str, Tree]) -> Place:
    """Return the place that an error is about: of a member that is missing the object that lacks it."""
    return Place(at.file, at.pointer if _look(at, trees) != "" else at.pointer[:-1])


def _look(at: Place, trees: Mapping[str, Tree]) -> Any:
    """Return the value at a place, an empty text if there is none."""
    try:
        return look_up(trees[at.file].value, at.pointer)
    except (LookupError, TypeError):
        return ""


def _may_move(at: Place, owner: Place, members: Mapping[str, Any]) -> bool:
    """Tell whether a place is a member that an object on another level may lack."""
    holder = Place(at.file, at.pointer[:-1])
    is_apart = owner not in Place(at.file, at.pointer) and holder.pointer != owner.pointer
    return (
        is_apart
        and at.pointer[-1] not in members
        and at.file == owner.file
        and (owner in holder or holder in Place(owner.file, owner.pointer))
    )


def _is_beside(at: Place, owner: Place) -> bool:
    return at.file == owner.file and at.pointer[:-1] == owner.pointer[:-1] and at.pointer != owner.pointer


def _move(owner: Place, members: Sequence[Place], trees: Mapping[str, Tree]) -> _Repair:
    """Return the move of some members into an object, or to where no value is."""
    given = {str(at.pointer[-1]): _look(at, trees) for at in members}
    top = Place(owner.file, owner.pointer)
    if _look(owner, trees) is None:
        fresh: tuple[Edit, ...] = (Edit(Change.REPLACE, top, given),)
    else:
        fresh = tuple(Edit(Change.INSERT, top / key, each) for key, each in given.items())
    remarks = (*((at, "this may stand on the wrong level") for at in members), (top, "it may belong here"))
    return _Repair((*(Edit(Change.REMOVE, at) for at in members), *fresh), remarks, "move it there")


def _find_same(at: Place, given: Any) -> Any:
    """Return the only member of an object if it is an object of the same name."""
    inner = given.get(at.pointer[-1]) if isinstance(given, dict) and len(given) == 1 else None
    return inner if isinstance(inner, dict) else None


def _lift(at: Place, inner: Any) -> _Repair:
    remarks = ((at, "this object has another one of its name inside"),)
    return _Repair((Edit(Change.REPLACE, at, inner),), remarks, "keep the inner one")
