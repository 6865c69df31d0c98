"""Stages for the elements of a list: whether there is a list, how long it is, and where its elements are known."""

from collections.abc import Iterator

from stagec.check.rules.stages import grounds, relate_repeated, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.languages.stages.document import Pipeline
from stagec.languages.stages.elements import (
    ListError,
    ListMistake,
    find_list_mistake,
    find_nested,
    find_uses,
    list_each,
)
from stagec.languages.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.sources.contract.schemas import Schema


def _list_mistakes(pipeline: Pipeline) -> list[ListMistake]:
    found = (find_list_mistake(pipeline, stage, case) for stage, case in list_each(pipeline))
    return [each for each in found if each is not None]


_LENGTH = {ListError.UNBOUNDED, ListError.LONG, ListError.SHORT}


@rule(since="0.1", origin=("rulings:pipelines",))
def stg388_missing_list(pipeline: Pipeline) -> Iterator[Finding]:
    """Stages are to run for the elements of a list, and there may be no list, or there is never an element.

    ## Why this matters
    A run that comes to this case and finds no list cannot go on. The path of `forEach` must therefore lead to a list
    in every result that the case is for: under `parsed` as the `completionSchema` says, or under `ctx` as the
    `context` of the pipeline declares it. It is a warning if the list is there, and its schema leaves no element.

    ## How to fix
    Correct the path; require the member at every level; give it `type: array`. Of a stage that its gate may skip, only
    results with `verdict: ok` have a `parsed`.
    """
    for each in _list_mistakes(pipeline):
        if each.error not in _LENGTH:
            at = each.case.at if each.case.each is None else each.case.each.at
            related = () if each.schema is None else (Related(each.schema.at, "the schema of the value"),)
            severity = Severity.WARNING if each.error is ListError.EMPTY else None
            causes = grounds(pipeline, each.stage)
            yield Finding(at, _tell_missing(pipeline, each), related, causes=causes, severity=severity)


def _tell_missing(pipeline: Pipeline, found: ListMistake) -> str:
    path, text = ((), "") if found.case.each is None else (found.case.each.path, quote(found.case.each.text))
    promised = found.promised
    match found.error:
        case ListError.ROOT:
            return f"{text} leads to no list: a path begins with 'parsed' for the stage's result, or with 'ctx'"
        case ListError.NAME:
            near = hint(path[1], NameIndex(pipeline.context or ()))
            return f"{text} leads to no list: the pipeline declares no such name under 'context'{near}"
        case ListError.NOTHING:
            return f"{text} may lead to nothing: the case also takes results that hand in nothing"
        case ListError.PATH:
            at = 1 + (promised.followed if promised is not None else 0)
            near = "" if promised is None or at >= len(path) else hint(path[at], promised.near)
            return f"{text} leads to nothing: its schema excludes {quote('.'.join(path[: at + 1]))}{near}"
        case ListError.ABSENT:
            return f"{text} may lead to nothing: its schema does not require it"
        case ListError.EMPTY:
            return f"{text} never has an element, so the stages for elements never run"
        case ListError.TYPE:
            return f"{text} may lead to something else than a list: its schema does not say 'type: array'"
        case _:
            return f"{text} cannot be shown to lead to a list: its schema is too complex"


@rule(since="0.1", origin=("rulings:pipelines",))
def stg389_unbounded_elements(pipeline: Pipeline) -> Iterator[Finding]:
    """A list may have more elements than its stages may run for.

    ## Why this matters
    `most` bounds what a run costs. A list that is longer ends the run as failed, with all that it has done. So the
    schema of the list has to say that this cannot be: `maxItems`, no larger than `most`, or each element by itself. A
    model that hands in a longer list is told so, and tries again.

    ## How to fix
    Write `maxItems` in the schema of the list, or raise `most`.
    """
    for each in _list_mistakes(pipeline):
        case = each.case.each
        if each.error not in _LENGTH or case is None or case.most is None:
            continue
        text, most = quote(case.text), format_count(case.most, "element")
        related = () if each.schema is None else (Related(each.schema.at, "the schema of the list"),)
        fix = None
        if each.error is ListError.UNBOUNDED:
            message = f"{text} may have more than {most}: its schema has no 'maxItems'"
            fix = _bound(each.schema, case.most)
        elif each.error is ListError.LONG:
            message = f"{text} may have {each.bound:,} elements, and {most} at most may run"
        else:
            message = f"{text} has {each.bound:,} elements at least, and {most} at most may run"
        yield Finding(case.at, message, related, fix, grounds(pipeline, each.stage))


def _bound(schema: Schema | None, most: int) -> Fix | None:
    if schema is None or not isinstance(schema.value, dict) or "$ref" in schema.value:
        return None
    edit = Edit(Change.INSERT, schema.at / "maxItems", most)
    return Fix(f"write 'maxItems: {most}' in its schema", (edit,), is_safe=False)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg390_nested_elements(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage that runs for the elements of a list is to run stages for the elements of another list.

    ## Why this matters
    `ctx.item` and `ctx.index` are those of one list. And the bounds would be multiplied: 50 elements with 50 elements
    each are 2,500 executions, which nobody sees who reads the two numbers. A pipeline that runs as a stage counts, too.

    ## How to fix
    Let the first stage hand in one flat list, or run the second list after the join of the first.
    """
    for each in find_nested(pipeline):
        around, within = each.around.each, each.within
        outer = () if around is None else (Related(around.at, "the elements around it"),)
        related = outer if within is None else (Related(within, "the other list"), *outer)
        what = f"{quote(each.stage.name)} runs for elements itself"
        yield Finding(each.at, f"{what}: it cannot run stages for the elements of another list", related)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg391_item_outside_elements(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads the element of a list in a stage that does not always run for one.

    ## Why this matters
    `ctx.item` and `ctx.index` are there in the stages of a `forEach`, and in the branches of recovery that begin at
    these. Any other execution has no element, so the stage cannot start.

    ## How to fix
    Read the results of the elements in the join, as `{{ctx.upstream}}`. If the stage is also come to on another way,
    give that way a stage of its own.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.ITEM):
        uses = find_uses(pipeline)[each.stage.name]
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        why = "but a run can also reach it without an element" if uses.cases else "but it does not run for elements"
        related = () if uses.otherwise is None else (Related(uses.otherwise, "reached here"),)
        yield Finding(each.placeholder.at, f"{what}, {why}", (*related, *relate_repeated(each)))
