"""Which of many results meet conditions, found without looking at each result for each condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.contract.listed import identity
from stagec.contract.variants import ABSENT, Path, Standing
from stagec.frontends.stages.document import Condition

Result = Mapping[Path, Standing]
"""What stands at every path that a condition of the stage names, and at `verdict`."""

VERDICT = ("verdict",)

_Positions = frozenset[int]
_NONE: _Positions = frozenset()


class Fitting:
    """Results, and for every path that somebody asks about the positions at which each value stands there."""

    def __init__(self, results: tuple[Result, ...]) -> None:
        self._results = results
        self._all = frozenset(range(len(results)))
        self._present: dict[Path, _Positions] = {}
        self._values: dict[Path, Mapping[tuple[object, ...], _Positions]] = {}

    def meeting(self, when: Iterable[Condition]) -> _Positions:
        """Return the positions of the results of which all conditions hold."""
        found = sorted((self._holding(each) for each in when), key=len)
        return found[0].intersection(*found[1:]) if found else self._all

    def matching(self, when: tuple[Condition, ...]) -> _Positions:
        """Return the positions of the results that a case matches: no failure when it says nothing of the verdict."""
        found = self.meeting(when)
        return found if any(each.path == VERDICT for each in when) else found & self.accepted()

    def accepted(self) -> _Positions:
        """Return the positions of the results that did not fail."""
        self._look_at(VERDICT)
        return self._all - self._values[VERDICT].get(identity("fail"), _NONE)

    def _holding(self, condition: Condition) -> _Positions:
        path = condition.path
        self._look_at(path)
        if condition.present is not None:
            return self._present[path] if condition.present else self._all - self._present[path]
        return _NONE.union(*(self._values[path].get(identity(each), _NONE) for each in condition.values))

    def _look_at(self, path: Path) -> None:
        if path in self._present:
            return
        found: dict[tuple[object, ...], set[int]] = {}
        there = {at for at, result in enumerate(self._results) if result.get(path, ABSENT).present}
        for at in there:
            standing = self._results[at][path]
            if standing.asked:
                found.setdefault(identity(standing.given), set()).add(at)
        self._present[path] = frozenset(there)
        self._values[path] = {key: frozenset(positions) for key, positions in found.items()}
