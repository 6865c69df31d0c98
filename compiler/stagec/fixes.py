"""Apply fixes: choose the edits of diagnostics that can be made together, and make them in the texts of the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.diagnostic import Change, Diagnostic, Edit
from stagec.core.value import value
from stagec.sources.read import BOM
from stagec.sources.tree import Tree


@value
class FixedFiles:
    """The bytes of every file that changes, before and after, and how many diagnostics that settles."""

    files: Mapping[str, tuple[bytes, bytes]]
    settled: int


def apply_fixes(diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> FixedFiles:
    """Make the edits of all fixes that do not touch each other; the others wait for the next round."""
    chosen, settled = _choose(diagnostics, trees)
    files = {file: pair for file, edits in chosen.items() if (pair := _edit(trees[file], edits))}
    return FixedFiles(files, settled if files else 0)


def _choose(diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> tuple[dict[str, list[Edit]], int]:
    chosen: dict[str, list[Edit]] = {}
    taken = _Taken()
    settled = 0
    for each in diagnostics:
        edits = each.fix.edits if each.fix else ()
        if not edits or any(edit.at.file not in trees for edit in edits):
            continue
        fresh = [edit for edit in edits if not taken.has(edit)]
        if any(taken.touches(edit) for edit in fresh):
            continue
        settled += 1
        for edit in fresh:
            taken.add(edit)
            chosen.setdefault(edit.at.file, []).append(edit)
    return chosen, settled


class _Taken:
    """The edits chosen so far, indexed for the question whether another one touches any of them."""

    def __init__(self) -> None:
        self._edits: set[tuple[object, ...]] = set()
        self._places: set[tuple[object, ...]] = set()
        self._ancestors: set[tuple[object, ...]] = set()

    def has(self, edit: Edit) -> bool:
        """Tell whether the very same edit was chosen already."""
        return _identify(edit) in self._edits

    def touches(self, edit: Edit) -> bool:
        """Tell whether a chosen edit lies at, inside or around a place that this one needs."""
        return any(self._near(place) for place in _list_places(edit))

    def add(self, edit: Edit) -> None:
        """Remember an edit as chosen."""
        self._edits.add(_identify(edit))
        for place in _list_places(edit):
            self._places.add(place)
            self._ancestors.update(place[:length] for length in range(1, len(place)))

    def _near(self, place: tuple[object, ...]) -> bool:
        around = any(place[:length] in self._places for length in range(1, len(place) + 1))
        return around or place in self._ancestors


def _list_places(edit: Edit) -> Iterable[tuple[object, ...]]:
    """Yield the place of an edit and, where a member is renamed, the place it will have."""
    place = (edit.at.file, *edit.at.pointer)
    yield place
    if edit.change is Change.RENAME:
        yield (*place[:-1], edit.value)


def _identify(edit: Edit) -> tuple[object, ...]:
    return edit.change, edit.at, repr(edit.value)


def _edit(tree: Tree, edits: Iterable[Edit]) -> tuple[bytes, bytes] | None:
    """Return the bytes of a file without and with edits made, or nothing when they change nothing."""
    text = tree.data.decode(errors="surrogateescape")
    after = tree.format.apply(text, edits)
    mark = BOM if any(tree.about("byte-order-mark")) else b""
    return (mark + tree.data, mark + after.encode(errors="surrogateescape")) if after != text else None
