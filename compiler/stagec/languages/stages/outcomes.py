"""The possible results of a stage, and those that satisfy conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, product
from math import prod
from operator import methodcaller

from stagec.core.json import Json, object_of, whole_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.stages.document import Case, Stage, StageCondition
from stagec.languages.stages.durations import EXCEEDED
from stagec.sources.contract.choices import identity
from stagec.sources.contract.schemas import Miss, Schemas
from stagec.sources.contract.variants import ABSENT, LARGEST, MOST, OTHER, Path, PathValue, Variants, variants

Result = Mapping[Path, PathValue]
"""The values at every path that a condition of the stage names, and at `verdict`."""

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

    def meeting(self, when: Iterable[StageCondition]) -> _Positions:
        """Return the positions of the results of which all conditions hold."""
        found = sorted((self._holding(each) for each in when), key=len)
        return found[0].intersection(*found[1:]) if found else self._all

    def matching(self, when: tuple[StageCondition, ...]) -> _Positions:
        """Return the positions of the results that a case matches: no failure when it says nothing of the verdict."""
        found = self.meeting(when)
        return found if any(each.path == VERDICT for each in when) else found & self.accepted

    @cached_property
    def accepted(self) -> _Positions:
        """The positions of the results that did not fail."""
        return self._all - self.having("fail")

    def having(self, verdict: str) -> _Positions:
        """Return the positions of the results with a verdict."""
        self._look_at(VERDICT)
        return self._values[VERDICT].get(identity(verdict), _NONE)

    def _holding(self, condition: StageCondition) -> _Positions:
        path = condition.path
        self._look_at(path)
        if condition.present is not None:
            return self._present[path] if condition.present else self._all - self._present[path]
        return _NONE.union(*(self._values[path].get(identity(each), _NONE) for each in condition.values))

    def _look_at(self, path: Path) -> None:
        if path in self._present:
            return
        found: dict[tuple[object, ...], set[int]] = {}
        there: set[int] = set()
        for at, result in enumerate(self._results):
            standing = result.get(path, ABSENT)
            if standing.present:
                there.add(at)
            if standing.asked:
                found.setdefault(identity(standing.given), set()).add(at)
        self._present[path] = frozenset(there)
        self._values[path] = {key: frozenset(positions) for key, positions in found.items()}


def take(cases: Iterable[Case], fitting: Fitting) -> Iterator[tuple[Place, _Positions]]:
    """Yield the positions of the results that each case takes, by its place: the first that matches a result has it."""
    left = fitting.meeting(())
    for case in cases:
        taken = fitting.matching(case.when) & left
        left -= taken
        yield case.at, taken


CAP_HIT, ATTEMPTS, REASON = ("capHit",), ("attemptCount",), ("reason",)
REASONS = ("provider-failed", EXCEEDED, "retry-exhausted", "init-failed", "gate-unresolved", "skipped")
"""The reasons that the machine gives; a check or a hook may give any other."""


@value
class Outcomes:
    """The results that a stage can have; none is left out.

    `exact` tells that there can be each of them; `whole` that the stage's schema could be read.
    """

    results: tuple[Result, ...]
    exact: bool
    whole: bool


def outcomes(schemas: Schemas, stage: Stage, *besides: Path) -> Outcomes | None:
    """Return the results that a stage can have, None when they are too many to be looked at.

    Told apart is what conditions ask for, and whether something is at the paths `besides`.
    """
    decided, checked = stage.conduct.cases, stage.conduct.checks
    asked = _collect_values(
        chain((one for each in decided for one in each.when), (one for each in checked for one in each.when))
    )
    asked |= {path: () for path in besides if path not in asked}
    found = _find_variants(schemas, stage, asked)
    results = _Results(stage, asked, found).all() if found is not None else None
    if found is None or results is None:
        return None
    return Outcomes(results, found.exact, found.whole and not isinstance(stage.result, Miss))


def list_unjudged(schemas: Schemas, stage: Stage) -> tuple[Result, ...] | None:
    """Return the results of a stage that checks can see, None if they are too many."""
    asked = _collect_values(chain.from_iterable(each.when for each in stage.conduct.checks))
    found = _find_variants(schemas, stage, asked)
    return None if found is None else _Results(stage, asked, found).list_unjudged()


def _find_variants(schemas: Schemas, stage: Stage, asked: Mapping[Path, tuple[Json, ...]]) -> Variants | None:
    schema = None if isinstance(stage.result, Miss) else stage.result
    return variants(schemas, schema, {path[1:]: values for path, values in asked.items() if path[0] == "parsed"})


def can_skip(stage: Stage) -> bool:
    """Tell whether a stage can be skipped: its gate can answer so that its policy says so."""
    policy, gate = stage.members.get("resolutionPolicy"), stage.conduct.gate
    is_open = "gate" in stage.conduct.hooks or not gate.keys() <= set(_ANSWERS)
    answers = (each for each in _ANSWERS if is_open or gate.get(each))
    return any((policy.get(each) if isinstance(policy, dict) else policy) == "skip" for each in answers)


_ANSWERS = ("defer", "block")
"""What the terms of a gate can answer."""


def most_attempts(stage: Stage) -> int | None:
    """Return how often the work of a stage may be tried, None when that cannot be read; once where nothing is said."""
    if "retryPolicy" not in stage.members:
        return 1
    most = whole_of(object_of(stage.members.get("retryPolicy")).get("maxAttempts"))
    return most if most is not None and most > 0 else None


def _collect_values(conditions: Iterable[StageCondition]) -> dict[Path, tuple[Json, ...]]:
    found: dict[Path, dict[tuple[object, ...], Json]] = {}
    for each in conditions:
        values = found.setdefault(each.path, {})
        for given in each.values:
            values.setdefault(identity(given), given)
    return {path: tuple(values.values()) for path, values in found.items()}


class _Results:
    """Puts the members of results together, one kind of ending after the other."""

    def __init__(self, stage: Stage, asked: Mapping[Path, tuple[Json, ...]], handed_in: Variants) -> None:
        self._stage = stage
        self._asked = asked
        self._handed_in: list[Result] = [
            {("parsed", *path): each for path, each in one.items()} for one in handed_in.found
        ]
        # also where no answer satisfies the schema: a stage that fails, or that its gate skips, hands in nothing
        self._nothing: Result = {path: ABSENT for path in asked if path[0] == "parsed"}
        self._judged = "assert" in stage.conduct.hooks
        self._most = most_attempts(stage)
        self._most = self._find_last_attempt()

    def all(self) -> tuple[Result, ...] | None:
        """Return every result; None when they are too many."""
        found = _enumerate([*self._list_accepted(), *self._list_skipped(), *self._list_failed()])
        return None if found is None else tuple(self._not_refused(found))

    def list_unjudged(self) -> tuple[Result, ...] | None:
        """Return every attempt before its judgement; None if they are too many."""
        attempts = self._attempts(1, most_attempts(self._stage))
        handed_in = [[_cap_hit(hit=False)], self._handed_in, attempts]
        nothing = [[_cap_hit(hit=True)], [self._nothing], attempts]
        return _enumerate([handed_in, nothing])

    def _find_last_attempt(self) -> int | None:
        """Return the last attempt that there can be: checks may decide about an earlier one whatever it hands in."""
        checks = self._stage.conduct.checks
        given = self._asked.get(ATTEMPTS, ())
        counts = {int(each) for each in given if isinstance(each, int | float) and is_count(each, 1, self._most)}
        found = self.list_unjudged() if checks and ATTEMPTS in self._asked and not self._judged else None
        if found is None:
            return self._most
        fitting, left, retried = Fitting(found), {*range(len(found))}, set[int]()
        for check in checks:
            decided = fitting.meeting(check.when) & left
            left -= decided
            retried |= decided if check.verdict == "retry" else set()
        retried |= {at for at in left if found[at][CAP_HIT].given is True}
        again = {found[at][ATTEMPTS].given if found[at][ATTEMPTS].asked else None for at in retried}
        few = range(1, min(max(counts, default=0) + 2, self._most or LARGEST))
        return next((each for each in few if (each if each in counts else None) not in again), self._most)

    def _list_accepted(self) -> Iterator[list[list[Result]]]:
        rest = [self._attempts(1, self._most), self._reason(), *self._output()]
        yield [[_verdict("ok")], [_cap_hit(hit=False)], self._handed_in, *rest]
        if self._judged:
            yield [[_verdict("ok")], [_cap_hit(hit=True)], [self._nothing], *rest]

    def _list_skipped(self) -> Iterator[list[list[Result]]]:
        if can_skip(self._stage):
            rest = [self._attempts(0, 0), self._reason(), *self._output()]
            yield [[_verdict("skip")], [_cap_hit(hit=False)], [self._nothing], *rest]

    def _list_failed(self) -> Iterator[list[list[Result]]]:
        rest = [self._attempts(0, self._most), self._reason(failed=True), *self._output()]
        yield [[_verdict("fail")], [_cap_hit(hit=False)], [*self._handed_in, self._nothing], *rest]
        yield [[_verdict("fail")], [_cap_hit(hit=True)], [self._nothing], *rest]

    def _not_refused(self, found: tuple[Result, ...]) -> Iterator[Result]:
        """Yield the results of which no check makes another verdict than `ok`; a hook may judge otherwise."""
        if "assert" in self._stage.conduct.hooks or not self._stage.conduct.checks:
            yield from found
            return
        seen = Fitting(tuple({path: each for path, each in one.items() if path[0] in CHECKED} for one in found))
        refused: set[int] = set().union(*(seen.meeting(check.when) for check in self._stage.conduct.checks))
        yield from (one for at, one in enumerate(found) if one[VERDICT].given != "ok" or at not in refused)

    def _attempts(self, least: int, most: int | None) -> list[Result]:
        asked = [each for each in self._asked.get(ATTEMPTS, ()) if is_count(each, least, most)]
        room = None if most is None else most - least + 1
        standings = [PathValue(True, True, each) for each in asked]
        return [{ATTEMPTS: each} for each in (*standings, *((OTHER,) if room is None or room > len(asked) else ()))]

    def _reason(self, *, failed: bool = False) -> list[Result]:
        """Return the possible reasons of a result; only a failed one can have that of a deadline."""
        asked = (each for each in self._asked.get(REASON, ()) if isinstance(each, str))
        may = failed or self._judged or "exit" in self._stage.conduct.hooks
        texts = (PathValue(True, True, each) for each in asked if may or each != EXCEEDED)
        return [{REASON: each} for each in (OTHER, *texts, ABSENT)]

    def _output(self) -> Iterator[list[Result]]:
        """Yield the possible values at each path of the output, which only an exit hook makes."""
        for path, asked in self._asked.items():
            if path[0] == "output":
                made = "exit" in self._stage.conduct.hooks
                values = (OTHER, *(PathValue(True, True, each) for each in asked)) if made else ()
                yield [{path: each} for each in (*values, ABSENT)]


CHECKED = frozenset({"parsed", "capHit", "attemptCount"})
"""The members of a result that checks can read."""


def _verdict(name: str) -> Result:
    return {VERDICT: PathValue(True, True, name)}


def _cap_hit(*, hit: bool) -> Result:
    return {CAP_HIT: PathValue(True, True, hit)}


def _enumerate(kinds: list[list[list[Result]]]) -> tuple[Result, ...] | None:
    """Return every choice of one part of each member, for each kind of result; None when they are too many."""
    many = sum(prod(map(len, kind)) for kind in kinds)
    widest = max(sum(len(choices[0]) for choices in kind if choices) for kind in kinds)
    if many > MOST or many * widest > LARGEST:
        return None
    return tuple(dict(chain.from_iterable(map(_ITEMS, parts))) for kind in kinds for parts in product(*kind))


_ITEMS = methodcaller("items")


def is_count(given: Json, least: int, most: int | None) -> bool:
    """Tell whether a value is a whole number between two bounds, the upper one of which may be open; `1.0` is one."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given % 1 != 0:
        return False
    return given >= least and (most is None or given <= most)
