"""Which cases and checks of a stage decide nothing, and which of its results no case decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stagec.contract.choices import identity
from stagec.core.value import value
from stagec.frontends.stages.condition_errors import is_sound
from stagec.frontends.stages.document import Case, Check, Pipeline, Stage, StageCondition
from stagec.frontends.stages.outcomes import VERDICT, Fitting, Outcomes, Result, list_unjudged, outcomes

When = tuple[StageCondition, ...]


@value
class Unreached:
    """A case or check that decides nothing, and those before it that decide all that fits it; none if nothing does."""

    judged: Case | Check
    earlier: tuple[Case | Check, ...]


@value
class Uncovered:
    """A stage of which it cannot be shown that every result matches a case.

    `example` is what cases ask for of one that matches none, None when results are too many to be looked at; `exact`
    tells that it is known to be possible.
    """

    example: Result | None
    exact: bool


def find_unreached_cases(pipeline: Pipeline, stage: Stage) -> tuple[Unreached, ...]:
    """Return the cases of a stage that are never taken although each of their conditions can hold."""
    return pipeline.memo.once(("unreached", stage.at), lambda: tuple(_find_unreached_cases(pipeline, stage)))


def _find_unreached_cases(pipeline: Pipeline, stage: Stage) -> Iterator[Unreached]:
    cases = [each for each in pipeline.live_cases(stage) if is_sound(pipeline, stage, each)]
    found = _outcomes(pipeline, stage) if len(cases) > 1 or any(each.when for each in cases) else None
    if found is None:
        # the cases that ask for no less than an earlier one, where results are too many to be looked at
        known: dict[object, list[int]] = {}
        for index, case in enumerate(cases):
            # the keys of a case by which cases are found that it may imply
            narrowing: list[object] = [None]
            for each in case.when:
                narrowing.append((each.path, each.present is not False))
                narrowing.extend((each.path, identity(one)) for one in each.values[:1])
            possible = (at for key in narrowing for at in known.get(key, ()))
            earlier = min((at for at in possible if _implies(case, cases[at])), default=None)
            if earlier is not None:
                yield Unreached(case, (cases[earlier],))
                continue
            for key in _narrow(case.when):
                known.setdefault(key, []).append(index)
    elif any(each[VERDICT].given != "fail" for each in found.results):
        fitting = Fitting(found.results)
        yield from _find_unreached(cases, [fitting.matching(each.when) for each in cases])


def find_unreached_checks(pipeline: Pipeline, stage: Stage) -> Iterator[Unreached]:
    """Yield the checks of a stage that decide nothing although each of their conditions can hold."""
    checks = [each for each in stage.conduct.checks if is_sound(pipeline, stage, each)]
    found = list_unjudged(pipeline.schemas, stage) if checks else None
    if found is not None:
        fitting = Fitting(found)
        yield from _find_unreached(checks, [fitting.meeting(each.when) for each in checks])


def never_accepted(pipeline: Pipeline, stage: Stage) -> bool:
    """Tell whether the checks of a stage leave no result that is accepted; one that is skipped is not."""
    found = _outcomes(pipeline, stage) if stage.conduct.checks else None
    return found is not None and found.whole and all(each[VERDICT].given != "ok" for each in found.results)


def find_uncovered(pipeline: Pipeline, stage: Stage) -> Uncovered | None:
    """Return what the cases of a stage leave out of its accepted results; a failure needs no case."""
    return pipeline.memo.once(("uncovered", stage.at), lambda: _find_uncovered(pipeline, stage))


def _find_uncovered(pipeline: Pipeline, stage: Stage) -> Uncovered | None:
    cases = pipeline.live_cases(stage)
    is_decided = all(each.is_recovery for each in cases) or any(each.is_whole and not each.when for each in cases)
    if is_decided or not all(is_sound(pipeline, stage, each) for each in cases):
        return None
    found = _outcomes(pipeline, stage)
    if found is None:
        return Uncovered(None, exact=False)
    fitting = Fitting(found.results)
    missed = fitting.accepted.difference(*(fitting.matching(case.when) for case in cases))
    if not missed or not found.whole:
        return None
    # what the cases ask for, and the verdict where that is not the usual one
    example = found.results[min(missed)]
    asked = {condition.path for case in cases for condition in case.when}
    asked |= {VERDICT} if example[VERDICT].given != "ok" else set()
    return Uncovered({path: each for path, each in example.items() if path in asked}, found.exact)


def _outcomes(pipeline: Pipeline, stage: Stage) -> Outcomes | None:
    return pipeline.memo.once(("outcomes", stage.at), lambda: outcomes(pipeline.schemas, stage))


def _find_unreached(judged: Sequence[Case | Check], fitting: Sequence[frozenset[int]]) -> Iterator[Unreached]:
    """Yield what decides nothing, given the positions of the results that fit each case or check."""
    taken: dict[int, Case | Check] = {}
    is_default = True
    for each, positions in zip(judged, fitting, strict=True):
        fresh = [at for at in positions if at not in taken]
        # the first case that takes whatever is left may be there although nothing is
        if not fresh and not (is_default and not each.when and isinstance(each, Case)):
            yield Unreached(each, tuple({taken[at].at: taken[at] for at in sorted(positions)}.values()))
        is_default = is_default and bool(each.when)
        taken.update(dict.fromkeys(fresh, each))


def _narrow(when: When) -> Iterator[object]:
    """Yield keys of which a case that implies one with these conditions has at least one."""
    first = next(iter(when), None)
    if first is None:
        yield None
    elif first.present is not None:
        yield first.path, first.present
    else:
        yield from ((first.path, identity(each)) for each in first.values)


def _implies(case: Case, earlier: Case) -> bool:
    """Tell whether whatever matches a case matches an earlier one, too."""
    asked = {each.path: each for each in case.when}
    verdict = None if VERDICT in {each.path for each in earlier.when} else asked.get(VERDICT)
    if verdict is not None and (verdict.present is not None or "fail" in verdict.values):
        return False
    return all(each.path in asked and _narrows(asked[each.path], each) for each in earlier.when)


def _narrows(condition: StageCondition, other: StageCondition) -> bool:
    if condition.present is not None or other.present is not None:
        return condition.present is other.present or (other.present is True and condition.present is None)
    return {identity(each) for each in condition.values} <= {identity(each) for each in other.values}
