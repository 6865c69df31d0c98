"""Errors in single conditions of cases and checks: paths that do not exist, values that never occur."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property

from stagec.core.json import Json
from stagec.core.nearest import NameIndex, is_slip
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.languages.stages.document import RESERVED, RESULT, Case, Pipeline, Stage, StageCheck, StageCondition
from stagec.languages.stages.durations import EXCEEDED, can_exceed
from stagec.languages.stages.elements import is_of_element, promise_elements, runs_for_elements
from stagec.languages.stages.outcomes import (
    ATTEMPTS,
    CHECKED,
    REASON,
    REASONS,
    VERDICT,
    Fitting,
    Outcomes,
    Result,
    can_skip,
    is_count,
    list_unjudged,
    most_attempts,
    outcomes,
)
from stagec.languages.stages.placeholder_errors import declares_context
from stagec.sources.contract.choices import as_text, identity
from stagec.sources.contract.conflict import Conflict, denies_on_way, emptiness
from stagec.sources.contract.promise import Presence, possible_values, promise
from stagec.sources.contract.schemas import Miss, Schema
from stagec.sources.contract.variants import variants


class ConditionError(StrEnum):
    """One way in which a condition can be wrong."""

    UNKNOWN = "unknown"
    """No result has such a member."""
    LATE = "late"
    """The member is not known yet where the condition is asked."""
    PLAIN = "plain"
    """The path leads into a member that has no members."""
    OUTPUT = "output"
    """Nothing makes an output."""
    PATH = "path"
    """The schema of what is handed in forbids the path."""
    VALUE = "value"
    """The value can never stand there."""
    UNDECLARED = "undeclared"
    """The schema does not speak of the path; it may be there all the same."""


class Possible:
    """The values that can stand somewhere, indexed when the first wrong one is compared with them."""

    def __init__(self, values: tuple[Json, ...]) -> None:
        self.values = values

    def __contains__(self, given: Json) -> bool:
        """Tell whether a value is among them."""
        return identity(given) in self._identities

    @cached_property
    def texts(self) -> NameIndex:
        """The texts among them, as names that may be misspelt."""
        return NameIndex(each for each in self.values if isinstance(each, str))

    @cached_property
    def written(self) -> frozenset[str]:
        """All of them as they are written without quotes."""
        return frozenset(map(as_text, self.values))

    @cached_property
    def _identities(self) -> frozenset[tuple[object, ...]]:
        return frozenset(map(identity, self.values))


@value
class WrongCondition:
    """A condition that is wrong, and where; of a wrong value also those that are possible, where they are few."""

    kind: ConditionError
    condition: StageCondition
    at: Place
    given: Json = None
    possible: Possible | None = None
    meant: str | None = None
    """Of a member that no result has: the path that was most likely meant."""


@value
class ConditionMistake:
    """One mistake in the conditions of a stage, where it is written first, and where else."""

    stage: Stage
    wrong: WrongCondition
    again: tuple[Place, ...]


def find_wrong_cases(pipeline: Pipeline) -> Iterator[ConditionMistake]:
    """Yield the mistakes in the conditions of cases, each once for its stage."""
    for stage in (*pipeline.stages, *pipeline.inner):
        cases = pipeline.live_cases(stage)
        yield from _group(stage, (found for case in cases for found in find_condition_errors(pipeline, stage, case)))


def find_wrong_checks(pipeline: Pipeline) -> Iterator[ConditionMistake]:
    """Yield the mistakes in the conditions of checks, each once for its stage."""
    for stage in pipeline.stages:
        checks = stage.conduct.checks
        yield from _group(stage, (found for check in checks for found in find_condition_errors(pipeline, stage, check)))


def find_wrong_gates(pipeline: Pipeline) -> Iterator[ConditionMistake]:
    """Yield the mistakes in the conditions of gates, as far as the context is declared."""
    for stage in (each for each in pipeline.stages if declares_context(pipeline, each)):
        conditions = (each for when in stage.conduct.gate.values() for each in when)
        yield from _group(stage, (found for each in conditions for found in _find_in_gate(pipeline, stage, each)))


def _group(stage: Stage, found: Iterable[WrongCondition]) -> Iterator[ConditionMistake]:
    same: dict[tuple[object, ...], list[WrongCondition]] = {}
    for each in found:
        # what paths share that lead through something that is no object: the schemas that say so
        promised = each.condition.promised
        if each.kind is not ConditionError.PATH or promised is None or not promised.broken:
            break_of = None
        else:
            name = each.condition.path[promised.followed + 1]
            break_of = (
                tuple(part.at for part in promised.broken) if not promised.near or name in promised.near else None
            )
        same.setdefault((each.kind, break_of or each.condition.path, identity(each.given)), []).append(each)
    for first, *others in same.values():
        yield ConditionMistake(stage, first, tuple(each.at for each in others))


def _find_in_gate(pipeline: Pipeline, stage: Stage, condition: StageCondition) -> Iterator[WrongCondition]:
    name, *rest = condition.path
    context = pipeline.context or {}
    if name in RESERVED:
        return
    if is_of_element(pipeline, name) and runs_for_elements(pipeline, stage):
        promises = [found for found in promise_elements(pipeline, stage, name, rest) if found is not None]
        if any(each.presence is Presence.IMPOSSIBLE for each in promises):
            yield WrongCondition(ConditionError.PATH, replace(condition, promised=promises[0]), condition.at.key)
        return
    if name not in context:
        meant = rest[0] if name == "ctx" and rest and rest[0] in context else None
        yield WrongCondition(ConditionError.UNKNOWN, condition, condition.at.key, meant=meant)
        return
    promised = promise(pipeline.schemas, context[name], rest)
    if promised.presence is Presence.IMPOSSIBLE:
        yield WrongCondition(ConditionError.PATH, replace(condition, promised=promised), condition.at.key)
        return
    possible = pipeline.memo.once(
        ("context", condition.path), lambda: _index(possible_values(pipeline.schemas, promised))
    )
    for index, each in enumerate(condition.values if possible is not None else ()):
        if possible is not None and each not in possible:
            at = condition.at / index if len(condition.values) > 1 else condition.at
            yield WrongCondition(ConditionError.VALUE, replace(condition, promised=promised), at, each, possible)


def emptiness_of(pipeline: Pipeline, stage: Stage) -> Conflict | None:
    """Return why a stage can hand in nothing, if its schema forbids whatever it may be."""
    return emptiness(pipeline.schemas, stage.result) if isinstance(stage.result, Schema) else None


def find_condition_errors(pipeline: Pipeline, stage: Stage, judged: Case | StageCheck) -> tuple[WrongCondition, ...]:
    """Return everything that is wrong with single conditions of a case or a check; nothing of what can never be."""

    def find() -> tuple[WrongCondition, ...]:
        if emptiness_of(pipeline, stage) is not None:
            return ()
        checked = isinstance(judged, StageCheck)
        conditions = (_JudgedCondition(pipeline, stage, each) for each in judged.when)
        return tuple(found for each in conditions for found in each.find_errors(checked=checked))

    # what is wrong is told with the names that were meant, of which an index wears out
    return pipeline.schemas.keep_beside(stage.known, ("condition-errors", judged.at), find, operator.not_)


def is_sound(pipeline: Pipeline, stage: Stage, judged: Case | StageCheck) -> bool:
    """Tell whether a case or a check says what it means: nothing in it is misshapen, unknown or impossible."""
    wrong = {each.kind for each in find_condition_errors(pipeline, stage, judged)} - {ConditionError.UNDECLARED}
    return not wrong and (isinstance(judged, StageCheck) or judged.is_whole)


@value
class _JudgedCondition:
    """A condition of a case or a check, and the stage that it judges."""

    pipeline: Pipeline
    stage: Stage
    condition: StageCondition

    def find_errors(self, *, checked: bool) -> Iterator[WrongCondition]:
        """Yield the mistakes in the condition."""
        kind = self._error_of_path(checked=checked)
        if kind is not None:
            # the path into what is handed in that a condition means when it leaves out `parsed`
            meant = None
            if self.condition.path[0] not in RESULT and not isinstance(self.stage.result, Miss):
                presence = promise(
                    self.pipeline.schemas, self.stage.result, self.condition.path, of_object=True
                ).presence
                meant = (
                    ".".join(("parsed", *self.condition.path))
                    if presence in {Presence.SURE, Presence.POSSIBLE}
                    else None
                )
            yield WrongCondition(kind, self.condition, self.condition.at.key, meant=meant)
        if kind is not None and kind is not ConditionError.UNDECLARED:
            return
        possible = self.pipeline.memo.once(("possible", self.stage.at, self.condition.path), self._possible)
        left = self._list_left(is_listed=possible is not None)
        for index, each in enumerate(self.condition.values):
            fits = self._can_be(each, possible)
            if not fits or (left is not None and identity(each) not in left):
                at = self.condition.at / index if len(self.condition.values) > 1 else self.condition.at
                yield WrongCondition(ConditionError.VALUE, self.condition, at, each, possible)

    def _error_of_path(self, *, checked: bool) -> ConditionError | None:
        member, *rest = self.condition.path
        if member not in RESULT:
            return ConditionError.UNKNOWN
        if checked and member not in CHECKED:
            return ConditionError.LATE
        if member == "output":
            absent = "exit" not in self.stage.conduct.hooks and self.condition.present is not False
            return ConditionError.OUTPUT if absent else None
        if member != "parsed":
            return ConditionError.PLAIN if rest else None
        presence = (
            self.condition.promised.presence if self.condition.promised is not None and rest else Presence.UNKNOWABLE
        )
        return {Presence.IMPOSSIBLE: ConditionError.PATH, Presence.UNDECLARED: ConditionError.UNDECLARED}.get(presence)

    def _possible(self) -> Possible | None:
        """Return the values that can stand at a path where they are named one by one."""
        match self.condition.path:
            case ("verdict",):
                return Possible(("ok", "fail", "skip") if can_skip(self.stage) else ("ok", "fail"))
            case ("capHit",):
                return Possible((True, False))
            case ("reason",):
                return self._list_reasons()
            case ("parsed", *_):
                return _index(self.condition.possible)
            case _:
                return None

    def _list_left(self, *, is_listed: bool) -> frozenset[tuple[object, ...]] | None:
        """Return the values of a condition that occur in possible results; None if that is undecidable.

        Nor if all possible values are listed, and no denied value could leave one out.
        """
        rest = self.condition.path[1:]
        if self.condition.path[0] != "parsed" or not self.condition.values or not isinstance(self.stage.result, Schema):
            return None
        if is_listed and not denies_on_way(self.pipeline.schemas, self.stage.result, rest):
            return None
        found = variants(self.pipeline.schemas, self.stage.result, {rest: self.condition.values})
        standings = (each[rest] for each in found.found) if found is not None and found.found else ()
        return frozenset(identity(each.given) for each in standings if each.asked) if standings else None

    def _list_reasons(self) -> Possible | None:
        """Return the reasons that are known; None where a hook or the stages of an inner pipeline give others."""
        conduct = self.stage.conduct
        if conduct.hooks or self.stage.inner is not None:
            return None
        given = (each.reason for each in conduct.checks if each.reason)
        return Possible(tuple(dict.fromkeys((*given, *REASONS))))

    def _is_told_to_model(self, given: Json) -> bool:
        """Tell whether only checks that send the work back give a reason: no result has it, the model reads it."""
        verdicts = {each.verdict for each in self.stage.conduct.checks if each.reason == given}
        return verdicts == {"retry"} and given not in REASONS

    def _can_be(self, given: Json, possible: Possible | None) -> bool:
        """Tell whether a value can stand at the path of the condition."""
        if self.condition.path == REASON:
            # another machine may have reasons that are not known here, but none that is a known one with a slip in it
            known = possible.values if possible is not None else ()
            is_slipped = any(is_slip(str(given), str(each)) for each in known) and given not in known
            is_lost = is_slipped or (possible is not None and self._is_told_to_model(given))
            return isinstance(given, str) and not is_lost and (given != EXCEEDED or can_exceed(self.stage))
        if possible is not None:
            return given in possible
        return self.condition.path != ATTEMPTS or is_count(given, 0, most_attempts(self.stage))


def _index(possible: tuple[Json, ...] | Miss) -> Possible | None:
    return None if isinstance(possible, Miss) else Possible(possible)


When = tuple[StageCondition, ...]


@value
class Unreached:
    """A case or check that decides nothing, and the earlier ones that cover it; none if nothing does."""

    judged: Case | StageCheck
    earlier: tuple[Case | StageCheck, ...]


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
    question = "unreached", pipeline.is_only_sibling(stage)
    return pipeline.schemas.keep_beside(stage.known, question, lambda: tuple(_find_unreached_cases(pipeline, stage)))


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


def find_untaken(pipeline: Pipeline, stage: Stage) -> frozenset[Place]:
    """Return the cases of a stage that surely no result takes, such as a default for which nothing is left.

    A case that is an error by itself is none of them: what follows from it would be a second error about one mistake.
    """
    question = "untaken", pipeline.is_only_sibling(stage)
    return pipeline.schemas.keep_beside(stage.known, question, lambda: _find_untaken(pipeline, stage))


def _find_untaken(pipeline: Pipeline, stage: Stage) -> frozenset[Place]:
    cases = pipeline.live_cases(stage)
    if not cases[1:] or not all(is_sound(pipeline, stage, each) for each in cases):
        return frozenset()
    found = _outcomes(pipeline, stage)
    if found is None or not found.whole or emptiness_of(pipeline, stage) is not None:
        return frozenset()
    fitting, taken, untaken = Fitting(found.results), set[int](), set[Place]()
    for case in cases:
        fresh = fitting.matching(case.when) - taken
        if not fresh:
            untaken.add(case.at)
        taken |= fresh
    return frozenset(untaken.difference(each.judged.at for each in find_unreached_cases(pipeline, stage)))


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
    """Return the accepted results of a stage that no case takes; a failure needs no case."""
    question = "uncovered", pipeline.is_only_sibling(stage)
    return pipeline.schemas.keep_beside(stage.known, question, lambda: _find_uncovered(pipeline, stage))


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
    schemas = pipeline.schemas
    return schemas.keep_beside(stage.known, "outcomes", lambda: outcomes(schemas, stage))


def _find_unreached(judged: Sequence[Case | StageCheck], fitting: Sequence[frozenset[int]]) -> Iterator[Unreached]:
    """Yield the cases or checks that decide nothing, given the positions of the results that fit each."""
    taken: dict[int, Case | StageCheck] = {}
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
