"""Did you mean: the known name nearest to a misspelt one, quickly even among ten thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_FEW = 200
"""Up to this many names a slower, more lenient comparison is affordable."""
_PATIENCE = 20_000
"""Slow comparisons with the names of one kind; whoever misspelt more than that made one mistake many times."""


class NameIndex:
    """Names of one kind and scope, indexed for the question which of them is nearest to another.

    Two names are near when they differ only in case and separators, when dropping at most one character from each
    makes them equal, or, among few names, when difflib finds them similar.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(names)
        self._folded: dict[str, str] | None = None
        self._shortened: dict[str, str] = {}
        self._patience = _PATIENCE

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
        """Return the known name that `name` was most likely meant to be, or nothing."""
        return self.slip(name) or (self._similar(name) if len(self._names) <= min(_FEW, self._patience) else None)

    def slip(self, name: str) -> str | None:
        """Return the known name that differs by case, separators or a character from each, or nothing."""
        if self._folded is None:
            self._folded = self._index()
        folded = _fold(name)
        if folded in self._folded:
            return self._folded[folded]
        return next((self._shortened[short] for short in (folded, *_shorter(folded)) if short in self._shortened), None)

    def _index(self) -> dict[str, str]:
        folded: dict[str, str] = {}
        for name in self._names:
            folded.setdefault(_fold(name), name)
        for key, name in folded.items():
            for short in (key, *_shorter(key)):
                self._shortened.setdefault(short, name)
        return folded

    def _similar(self, name: str) -> str | None:
        from difflib import get_close_matches  # only a misspelt name needs it

        self._patience -= len(self._names)
        found = get_close_matches(name, self._names, n=1, cutoff=0.7)
        return found[0] if found else None


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
