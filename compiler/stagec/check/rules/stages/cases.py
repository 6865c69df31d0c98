"""Cases, gates and checks of a pipeline: the values that they compare, and results that no case takes."""

from collections.abc import Iterator

from stagec.check.rules.stages import (
    asking,
    contradiction,
    decisions,
    elsewhere,
    grounds,
    guess_condition,
    rule,
    show_value,
)
from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.languages.stages.condition_errors import (
    ConditionError,
    ConditionMistake,
    Uncovered,
    Unreached,
    WrongCondition,
    find_uncovered,
    find_unreached_cases,
    find_unreached_checks,
    find_wrong_cases,
    find_wrong_checks,
    find_wrong_gates,
)
from stagec.languages.stages.document import Pipeline, Stage
from stagec.sources.contract.schemas import Schema


@rule(since="0.1", origin=("rulings:pipelines",))
def stg360_unknown_case_path(pipeline: Pipeline) -> Iterator[Finding]:
    """A case asks for a member that no result has.

    ## Why this matters
    Cases choose by the result of their stage: its `verdict`, the `reason`, what was handed in as `parsed`, `capHit`,
    the `attemptCount`, and the `output` of an exit hook. A path that begins otherwise is never there.

    ## How to fix
    Members of the result are written with `parsed` before them: `{when: {parsed.approved: true}, stages: []}`.
    """
    for each in find_wrong_cases(pipeline):
        found = each.wrong
        if found.kind is ConditionError.UNKNOWN:
            message = f"a case of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(found.at, message, tuple(elsewhere(each)), causes=grounds(pipeline, each.stage))


_ELSEWHERE = {ConditionError.UNKNOWN, ConditionError.UNDECLARED}
"""Errors that other rules report."""


@rule(since="0.1", origin=("rulings:pipelines",))
def stg361_unmeetable_case(pipeline: Pipeline) -> Iterator[Finding]:
    """A case asks for a value that never occurs.

    ## Why this matters
    The result of a stage fits its completion schema, and the schema excludes this: the path is forbidden, or the value
    is none of the possible ones. The author believes in a way that no run ever takes, and results that were meant for
    it go elsewhere.

    ## How to fix
    Write path and value as the schema has them. A case that does not ask for `verdict` is about accepted results only:
    what a check refuses never comes to it. Without an assert hook a stage that reaches its turn cap never succeeds, so
    `capHit: true` goes together with `verdict: fail` only. Values compare as JSON: `1` is `1.0`, and no text is
    `true`. A `reason` that is a known one with a slip in it, such as `provider-faild`, never comes, nor does one that
    only checks with the verdict `retry` have: a model reads it, and the result has `retry-exhausted`.
    """
    for each in find_wrong_cases(pipeline):
        found = each.wrong
        if found.kind not in _ELSEWHERE:
            message = f"a case of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(
                found.at,
                message,
                tuple(elsewhere(each)),
                guess_condition(found),
                causes=grounds(pipeline, each.stage),
                spoils=decisions(each.stage),
            )
    for stage in (*pipeline.stages, *pipeline.inner):
        for lost in find_unreached_cases(pipeline, stage):
            if not lost.earlier:
                asked = {condition.path[0] for condition in lost.judged.when}
                what = "no result" if "verdict" in asked else "no accepted result"
                message = f"{what} of stage {quote(stage.name)} can meet all conditions of this case"
                yield Finding(lost.judged.at, message, causes=grounds(pipeline, stage))


_SHOWN = 8


@rule(since="0.1", origin=("rulings:pipelines",))
def stg362_unreachable_case(pipeline: Pipeline) -> Iterator[Finding]:
    """A case is never taken, because earlier ones take all results that it is about.

    ## Why this matters
    The first case that matches a result decides. Where this one stands, nothing is left that it could match, so the
    stages in it are not run when its author expects it.

    ## How to fix
    Put the case before those that are wider, narrow these down, or delete it. A case without `when` takes all other
    results and belongs at the end. If one is followed by others, the error is at that case, once.
    """
    for stage in (*pipeline.stages, *pipeline.inner):
        same: dict[tuple[Place, ...], list[Unreached]] = {}
        for lost in find_unreached_cases(pipeline, stage):
            if lost.earlier:
                same.setdefault(tuple(each.at for each in lost.earlier), []).append(lost)
        for found in same.values():
            at, message, related = _tell(stage, found)
            yield Finding(at, message, related[:_SHOWN], causes=grounds(pipeline, stage))


def _tell(stage: Stage, found: list[Unreached]) -> tuple[Place, str, tuple[Related, ...]]:
    (first, *more), earlier = found, found[0].earlier
    if len(earlier) == 1 and not earlier[0].when:
        related = tuple(Related(each.judged.at, "never taken") for each in found)
        message = f"a case of stage {quote(stage.name)} has no condition and takes every other result"
        return earlier[0].at, f"{message}: {format_count(len(found), 'case')} after it can never be taken", related
    related = (
        *(Related(each.judged.at, "never taken either") for each in more),
        *(Related(each.at, "taken first") for each in earlier),
    )
    who = "an earlier case takes" if len(earlier) == 1 else f"{len(earlier)} earlier cases take"
    message = f"stage {quote(stage.name)} never takes this case: {who} every result that fits it"
    return first.judged.at, message, related


@rule(since="0.1", origin=("rulings:pipelines",))
def stg363_uncovered_cases(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage can succeed with a result that no case matches.

    ## Why this matters
    When a stage has succeeded, or was skipped, some case has to say what runs next. Where none matches, the run fails
    although nothing went wrong. Cases without `verdict` are about such results; a failure needs no case, it ends the
    run.

    ## How to fix
    End the list with a case without `when`, or write cases for every value that the completion schema leaves: require
    what you choose by at every level, and give it an `enum` or `type: boolean`.
    """
    for stage in (*pipeline.stages, *pipeline.inner):
        found = find_uncovered(pipeline, stage)
        if found is not None:
            at = stage.conduct.next_at or stage.at
            related = tuple(_relate(pipeline, stage))
            yield Finding(at, _describe_gap(stage, found), related, causes=grounds(pipeline, stage))


def _relate(pipeline: Pipeline, stage: Stage) -> Iterator[Related]:
    for each in (wrong.wrong for wrong in find_wrong_cases(pipeline) if wrong.stage is stage):
        yield Related(each.at.key, contradiction(each))
    if isinstance(stage.result, Schema):
        yield Related(stage.result.at, "the completion schema")


def _describe_gap(stage: Stage, found: Uncovered) -> str:
    if found.example is None:
        return f"stage {quote(stage.name)} has too many conditions: stagec cannot show that a case always matches"
    *others, last = [*_describe(found)] or ["whatever it is"]
    example = f"{', '.join(others)} and {last}" if others else last
    if found.exact:
        return f"stage {quote(stage.name)} can have a result that no case matches: {example}"
    every = f"every result of stage {quote(stage.name)}"
    return f"it cannot be shown that {every} matches a case, such as one where {example}"


def _describe(found: Uncovered) -> Iterator[str]:
    for path, standing in (found.example or {}).items():
        given = f"is {show_value(standing.given)}" if standing.asked or standing.exemplary else "has another value"
        yield f"{quote('.'.join(path))} {given if standing.present else 'is left out'}"


@rule(since="0.1", origin=("rulings:pipelines",))
def stg364_impossible_check(pipeline: Pipeline) -> Iterator[Finding]:
    """A check can never decide anything.

    ## Why this matters
    Checks judge the work of a stage by what it handed in, by `capHit` and by `attemptCount`; the first that matches
    decides. This one asks for a value that never occurs, or earlier checks decide every result that it matches. Work
    that it was meant to refuse is accepted.

    ## How to fix
    Write path and value as the completion schema has them. The verdict, its reason and the output are made only after
    the checks. A check without `when` refuses everything that is left, and belongs at the end.
    """
    for each in find_wrong_checks(pipeline):
        found = each.wrong
        if found.kind is not ConditionError.UNDECLARED:
            message = f"a check of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(
                found.at,
                message,
                tuple(elsewhere(each)),
                causes=grounds(pipeline, each.stage),
                spoils=decisions(each.stage),
            )
    for stage in pipeline.stages:
        for lost in find_unreached_checks(pipeline, stage):
            related = tuple(Related(each.at, "decides first") for each in lost.earlier[:_SHOWN])
            taken = "earlier checks decide every result that it matches"
            why = taken if lost.earlier else "its conditions never hold together"
            message = f"a check of stage {quote(stage.name)} never decides: {why}"
            yield Finding(lost.judged.at, message, related, causes=grounds(pipeline, stage))


@rule(since="0.1", origin=("rulings:pipelines",))
def stg365_unknown_gate_path(pipeline: Pipeline) -> Iterator[Finding]:
    """A gate asks for a name that the context does not have.

    ## Why this matters
    A gate decides by the context whether its stage may start. The pipeline declares the inputs of a run, and this is
    none of them, or its JSON Schema excludes the value: the condition never holds, and the gate never closes.

    ## How to fix
    Correct the path, which begins with a name under `context`, without `ctx`; or declare the name.
    """
    for each in find_wrong_gates(pipeline):
        found = each.wrong
        again = tuple(one for one in elsewhere(each) if one.message != "the completion schema")
        message = f"the gate of stage {quote(each.stage.name)} {asking(found)}, but {_why(pipeline, found)}"
        yield Finding(found.at, message, (*again, Related((pipeline.at / "context").key, "the declared context")))


def _why(pipeline: Pipeline, found: WrongCondition) -> str:
    if found.kind is not ConditionError.UNKNOWN:
        return contradiction(found)
    meant = f"; did you mean {quote(found.meant)}?" if found.meant else ""
    known = pipeline.memo.once("context names", lambda: NameIndex(pipeline.context or ()))
    near = meant or hint(found.condition.path[0], known)
    return f"the context does not declare that{near}"


@rule(since="0.1", origin=("rulings:pipelines",), severity=Severity.WARNING)
def stg366_undeclared_case_path(pipeline: Pipeline) -> Iterator[Finding]:
    """A case or a check asks for a member that the completion schema does not declare.

    ## Why this matters
    The schema is open, so the stage may hand it in, but nothing asks the model for it. Chance decides where the run
    goes; often the path is only misspelt.

    ## How to fix
    Correct the path, or declare the member in the completion schema, and require it.
    """
    for each in find_wrong_cases(pipeline):
        if find_uncovered(pipeline, each.stage) is None:
            yield from _say(pipeline, each, "a case")
    for each in find_wrong_checks(pipeline):
        yield from _say(pipeline, each, "a check")


def _say(pipeline: Pipeline, each: ConditionMistake, what: str) -> Iterator[Finding]:
    found = each.wrong
    if found.kind is ConditionError.UNDECLARED:
        message = f"{what} of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
        yield Finding(found.at, message, tuple(elsewhere(each)), causes=grounds(pipeline, each.stage))
