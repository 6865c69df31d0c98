"""Names for definitions that come from elsewhere: readable, and different from those in use."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain, count

from stagec.core.place import Place

_UNUSUAL = re.compile(r"[^\w.-]+")


class Names:
    """The names in use, of which none is given again."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbered: Counter[str] = Counter()

    def name(self, at: Place) -> str:
        """Return a name for what comes from a place: the place's own last name, else with its file's, else a number."""
        stem = _UNUSUAL.sub("_", posixpath.basename(at.file).partition(".")[0])
        own = _own(at) or stem or "schema"
        usual = (own, own if own == stem else f"{stem}.{own}")
        numbered = (f"{own}_{number}" for number in count(self._numbered[own] + 2))
        name = next(each for each in chain(usual, numbered) if each not in self._taken)
        self._numbered[own] += name not in usual
        self._taken.add(name)
        return name


def _own(at: Place) -> str:
    """Return the last name on the way to a place, with the indexes behind it."""
    last = max((index for index, key in enumerate(at.pointer) if isinstance(key, str)), default=0)
    return _UNUSUAL.sub("_", "_".join(map(str, at.pointer[last:])))
