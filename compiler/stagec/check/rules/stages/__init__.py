"""STG3xx: stage definitions and pipelines: names, templates, schemas, routes, joins and tools."""

import re
from collections.abc import Iterable, Iterator

from stagec.core.json import Json
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Mention, Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.stages.condition_errors import ConditionError, ConditionMistake, WrongCondition
from stagec.languages.stages.document import RESULT, Case, Mode, Pipeline, Profile, Stage
from stagec.languages.stages.durations import EXCEEDED
from stagec.languages.stages.outcomes import REASON
from stagec.languages.stages.placeholder_errors import WrongPlaceholder
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.schemas import Schema

FAMILY = Family(__name__, (range(300, 400),), Pipeline)
rule = FAMILY.rule

_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def in_kebab_case(name: str) -> bool:
    """Tell whether a name is written as ids of stages should be."""
    return _KEBAB.fullmatch(name) is not None


def report_unconventional(pipeline: Pipeline, profile: Profile) -> Iterator[Finding]:
    """Say of every stage of one profile whose id is not in kebab case how it could be written."""
    for stage in pipeline.stages:
        if stage.id is not None and stage.profile is profile and not in_kebab_case(stage.id):
            words = "-".join(word.lower() for word in _WORD.findall(stage.id)) if stage.id.isascii() else ""
            such = f", such as {quote(words)}" if words else ""
            yield Finding(stage.id_at, f"stage id {quote(stage.id)} is not in kebab case{such}")


_SHOWN = 8
"""So many repetitions of a wrong placeholder are shown."""


def relate_repeated(found: WrongPlaceholder) -> tuple[Related, ...]:
    """Return the other places of a wrong placeholder in the same prompt."""
    others = (each.at for each in found.again if each.at != found.placeholder.at)
    return tuple(Related(at, "here too") for at, _ in zip(others, range(_SHOWN), strict=False))


def routes(pipeline: Pipeline) -> Iterator[tuple[Stage, Case]]:
    """Yield every case of every stage of a pipeline."""
    for stage in pipeline.by_id.values() if pipeline.is_declared else ():
        yield from ((stage, case) for case in stage.conduct.cases)


def report_missing(pipeline: Pipeline, mentions: Iterable[tuple[Mention, str]]) -> Iterator[Finding]:
    """Say of every name that no stage has, however often it is mentioned, what comes with its first mention of all.

    Where a stage cannot be read, only a name that is near another is told to be wrong.
    """
    lost = pipeline.memo.once("lost", lambda: _find_lost(pipeline))
    certain = not lost or _knows_all(pipeline)
    for mention, sentence in mentions if lost else ():
        first, *others = lost.get(mention.name, (None,))
        near = hint(mention.name, pipeline.names) if first == mention.at else ""
        if first == mention.at and (certain or near):
            related = tuple(Related(at, "mentioned here too") for at in others[:_SHOWN])
            meant = (
                pipeline.by_id.get(pipeline.names.nearest(mention.name) or "") if in_kebab_case(mention.name) else None
            )
            causes = () if meant is None else (meant.id_at,)  # which may be in another case, and that is told
            fix = guess(mention.name, pipeline.names, *others)
            yield Finding(first, f"{sentence}{near}", related, fix, (*causes, *find_repeated(pipeline)))


def _find_lost(pipeline: Pipeline) -> dict[str, list[Place]]:
    """Return the mentions of unknown stages: in entries, next stages, joins and texts."""
    cases = [case for _, case in routes(pipeline)]
    joins = (case.join for case in cases if case.join is not None and case.mode is Mode.FORK)
    entries = tuple(each for each in (pipeline.entry, pipeline.output) if each is not None)
    routed = (Mention(each.name, each.at.key) for each in pipeline.routed)
    found: dict[str, list[Place]] = {}
    for each in (*entries, *(each for case in cases for each in case.stages), *joins, *routed, *pipeline.configured):
        if pipeline.is_declared and not pipeline.has_stage(each.name):
            found.setdefault(each.name, []).append(each.at)
    return found


def _knows_all(pipeline: Pipeline) -> bool:
    """Tell whether every stage of a pipeline could be read, and has a name of its own."""
    written = pipeline.body.get("stages", [])
    listed = isinstance(written, list) and all(isinstance(each, str | dict) for each in written)
    found = all(pattern.found for pattern in pipeline.patterns)
    return listed and found and not pipeline.broken and bool(pipeline.by_id) and pipeline.is_unambiguous


def grounds(pipeline: Pipeline, stage: Stage) -> tuple[Place, ...]:
    """Return the grounds of conclusions about a stage: the schema of its result, and that its id is unique."""
    layers = pipeline.schemas.layers(stage.result) if isinstance(stage.result, Schema) else ()
    result = (each.at for each in layers if isinstance(each, Schema))
    return *result, *find_repeated(pipeline)


def find_repeated(pipeline: Pipeline) -> tuple[Place, ...]:
    """Return the ids that an earlier stage has: whatever another name means may be such a stage."""
    return pipeline.memo.once("repeated", lambda: tuple(_list_repeated(pipeline)))


def decisions(stage: Stage) -> tuple[Place, ...]:
    """Return the places that decide on the results of a stage."""
    routes_at = () if stage.conduct.next_at is None else (stage.conduct.next_at,)
    return *routes_at, *(each.at for each in stage.conduct.checks)


def _list_repeated(pipeline: Pipeline) -> Iterator[Place]:
    for stage in (*pipeline.stages, *pipeline.inner):
        if stage.id is not None and pipeline.by_id.get(stage.id) is not stage:
            yield stage.id_at


def show_value(given: Json) -> str:
    """Return a value as messages write it: a text in quotes, anything else as JSON writes it."""
    return quote(given) if isinstance(given, str) else as_text(given)


def asking(each: WrongCondition) -> str:
    """Return the demand of a condition, as the middle of a sentence."""
    path = quote(".".join(each.condition.path))
    return (
        f"asks whether {path} is {show_value(each.given)}" if each.kind is ConditionError.VALUE else f"asks for {path}"
    )


_NEVER = {
    ConditionError.LATE: "that is not known before the result is judged",
    ConditionError.PLAIN: "that has no members",
    ConditionError.OUTPUT: "only an exit hook makes an output, and the stage has none",
    ConditionError.PATH: "its schema forbids that",
    ConditionError.UNDECLARED: "its schema does not declare that",
}


def contradiction(each: WrongCondition) -> str:
    """Return why what a condition asks for can never be, as the end of a sentence."""
    if each.kind is ConditionError.VALUE:
        return _possible_of(each)
    if each.kind is not ConditionError.UNKNOWN:
        return f"{_NEVER[each.kind]}{_nearest_of(each)}"
    meant = f"; did you mean {quote(each.meant)}?" if each.meant else hint(each.condition.path[0], NameIndex(RESULT))
    return f"a result has only {listing(RESULT)}{meant}"


def guess_condition(each: WrongCondition) -> Guess | None:
    """Return the likely intention of a condition."""
    if each.kind is ConditionError.VALUE:
        is_text = isinstance(each.given, str) and each.possible is not None
        return guess(str(each.given), each.possible.texts) if is_text and each.possible is not None else None
    if each.kind is ConditionError.UNKNOWN:
        return None if each.meant else guess(each.condition.path[0], NameIndex(RESULT))
    promised = each.condition.promised
    followed = promised.followed if promised is not None else 0
    path = each.condition.path[1:]
    return guess(path[followed], promised.near) if promised is not None and followed < len(path) else None


def _nearest_of(each: WrongCondition) -> str:
    promised = each.condition.promised
    followed = promised.followed if promised is not None else 0
    path = each.condition.path[1:]
    return hint(path[followed], promised.near) if promised is not None and followed < len(path) else ""


def _refuse_reason(each: WrongCondition) -> str:
    if not isinstance(each.given, str):
        return "a reason is a text"
    if each.given == EXCEEDED:
        return "the stage has no deadline"
    if each.possible is not None and each.given in each.possible:
        return "only a check that sends the work back has it: the last result has the reason 'retry-exhausted'"
    return f"no result has that reason{hint(each.given, each.possible.texts) if each.possible is not None else ''}"


def _possible_of(each: WrongCondition) -> str:
    if each.condition.path == REASON:
        return _refuse_reason(each)
    if each.possible is None:
        is_count = each.condition.path[0] == "attemptCount"
        return "no attempt has that number" if is_count else "its schema rules that out"
    possible = each.possible.values
    if not possible:
        return "there is no value that its schema allows"
    near = hint(each.given, each.possible.texts) if isinstance(each.given, str) else ""
    if isinstance(each.given, str) and each.given in each.possible.written:
        near = f"; did you mean {each.given} without quotes?"
    known = [show_value(one) for one in possible[:_SHOWN]]
    known += [f"one of {len(possible) - _SHOWN} more"] if len(possible) > _SHOWN else []
    return f"that is always {' or '.join(filter(None, (', '.join(known[:-1]), known[-1])))}{near}"


def elsewhere(each: ConditionMistake) -> Iterator[Related]:
    """Yield the explanations of a wrong condition: the schema that it contradicts, and its repetitions."""
    promised = each.wrong.condition.promised
    ends = [schema for end in promised.ends for schema in end] if promised is not None else []
    if each.wrong.kind is ConditionError.VALUE and ends:
        yield Related(ends[0].at, "the possible values")
    elif each.wrong.kind in {ConditionError.PATH, ConditionError.UNDECLARED} and isinstance(each.stage.result, Schema):
        yield Related(each.stage.result.at, "the completion schema")
    yield from (Related(at, "here too") for at in each.again[:_SHOWN])
