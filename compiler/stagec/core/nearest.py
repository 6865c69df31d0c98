"""Finds the names nearest to a wrong one, and makes the fix that writes the right one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from stagec.core.place import Place
from stagec.core.value import value

_FEW = 200
"""Up to this many names a slower, more lenient comparison is affordable."""
_PATIENCE = 20_000
"""Slow comparisons with the names of one kind; whoever misspelt more than that made one mistake many times."""


class NameIndex:
    """Names of one kind and scope, indexed for the question which of them is nearest to another.

    Two names are near when they differ only in case and separators, when dropping at most one character from each
    makes them equal, or, among few names, when difflib finds them similar.
    """

    def __init__(self, names: Iterable[str], slips: _Slips | None = None) -> None:
        self._names = dict.fromkeys(names)
        self._slips = _Slips(self._names) if slips is None else slips
        self._patience = _PATIENCE

    def renew(self) -> NameIndex:
        """Return an index of the same names that has not worn out."""
        return NameIndex(self._names, self._slips)

    def __iter__(self) -> Iterator[str]:
        """Yield the names in the order in which they were given."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        """Tell whether both know the same names, in the same order."""
        return isinstance(other, NameIndex) and [*self._names] == [*other._names]

    def __hash__(self) -> int:
        """Return a number that equal names share."""
        return hash(tuple(self._names))

    def __contains__(self, name: object) -> bool:
        """Tell whether a name is known as it is."""
        return name in self._names

    def nearest(self, name: str) -> str | None:
        """Return the known name that `name` was most likely meant to be, or None."""
        return next(iter(self._list_slips(name) or self._list_similar(name)), None)

    def guess(self, name: str) -> str | None:
        """Return the nearest known name if no other one is about as near, so that a fix can write it."""
        near = {*(self._list_slips(name) or self._list_similar(name))}
        return near.pop() if len(near) == 1 else None

    def slip(self, name: str) -> str | None:
        """Return the known name that differs by case, separators or a character from each, or None."""
        return next(iter(self._list_slips(name)), None)

    def _list_slips(self, name: str) -> list[str]:
        """Return up to two names that differ by case and separators only; else those that a character makes equal."""
        return self._slips.look_up(name)

    def _list_similar(self, name: str) -> list[str]:
        """Return the two names that are most similar, of few names those that are."""
        if len(self._names) > min(_FEW, self._patience):
            return []
        from difflib import get_close_matches  # only a misspelt name needs it

        self._patience -= len(self._names)
        return get_close_matches(name, self._names, n=2, cutoff=0.7)


class _Slips:
    """Names that differ from others by case, separators or a character; computed on demand."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names

    def look_up(self, name: str) -> list[str]:
        """Return up to two names that differ by case and separators only; else those that a character makes equal."""
        folded = _fold(name)
        return self._folded.look_up(folded) or [
            near for short in (folded, *_shorter(folded)) for near in self._shortened.look_up(short)
        ]

    @cached_property
    def _folded(self) -> _FirstTwo:
        folded = _FirstTwo()
        for each in self._names:
            folded.add(_fold(each), each)
        return folded

    @cached_property
    def _shortened(self) -> _FirstTwo:
        shortened = _FirstTwo()
        for key, each in self._folded.first.items():
            for short in (key, *_shorter(key)):
                shortened.add(short, each)
        return shortened


class _FirstTwo:
    """The first two names of each key: enough to know whether a name is the only one that is near."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self._second: dict[str, str] = {}

    def add(self, key: str, name: str) -> None:
        if self.first.setdefault(key, name) != name:
            self._second.setdefault(key, name)

    def look_up(self, key: str) -> list[str]:
        return [known[key] for known in (self.first, self._second) if key in known]


NO_NAMES = NameIndex(())


def hint(name: str, names: NameIndex) -> str:
    """Return `; did you mean 'x'?`, or nothing when no name is near."""
    near = names.nearest(name)
    return f"; did you mean {near!r}?" if near is not None else ""


def _fold(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


_SHORTEST = 3
_LONGEST = 200
"""Longer names are compared as wholes only: shortening them costs the square of their length."""


def _shorter(name: str) -> list[str]:
    if not _SHORTEST < len(name) <= _LONGEST:
        return []
    return [name[:index] + name[index + 1 :] for index in range(len(name))]


_LEAST = 4
_LONG = 6


def is_slip(name: str, known: str) -> bool:
    """Tell whether a name is another with one slip in it: its case, a letter too much, too few, or in the wrong place.

    Short names may differ by a letter and be meant, and so may a word and its plural.
    """
    one, other = sorted((_fold(name), _fold(known)), key=len)
    if one == other:
        return name != known
    if len(one) < _LEAST or f"{one}s" == other:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[start:] == other[start + 1 :]
    swapped = f"{one[:start]}{one[start + 1 : start + 2]}{one[start]}{one[start + 2 :]}"
    return swapped == other or (len(one) >= _LONG and one[start + 1 :] == other[start + 1 :])


@value
class Guess:
    """A misspelt name and what was most likely meant; a fix writes that at the place of a finding, and at others."""

    name: str
    meant: str
    others: tuple[Place, ...] = ()


def guess(name: str, known: NameIndex, *others: Place) -> Guess | None:
    """Return the likely intended name, if no other known name is about as near."""
    near = known.guess(name)
    return None if near is None or near == name else Guess(name, near, others)
