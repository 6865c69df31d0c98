"""What pipelines that run as stages are given: names of the context around them, constants, and what is wrong there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.json import MISSING, Json, Object, follow
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.languages.stages.document import CONSTANT, Pipeline, PlaceholderForm, Stage, name_around
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.conflict import emptiness
from stagec.sources.contract.inclusion import Inclusion, ValueJudge, find_inclusion
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.shape import prepare_judge

_CONTEXT = "ctx"


class InputError(StrEnum):
    """What is wrong with an input of a pipeline that runs as a stage."""

    MISSING = "missing"
    """The pipeline declares it, and nothing is said for it."""
    UNDECLARED = "undeclared"
    """The pipeline declares no such name."""
    PATH = "path"
    """What is said is no name of the context."""
    UNKNOWN = "unknown"
    """The context around declares no such name."""
    REFUSED = "refused"
    """The name around may have a value that the schema in the pipeline refuses."""
    UNDECIDED = "undecided"
    """It is not known whether the name around may have such a value."""
    CONSTANT = "constant"
    """The schema in the pipeline refuses the constant."""
    LACKING = "lacking"
    """A prompt reads something inside the constant that is not there."""
    LISTED = "listed"
    """Stages run for the elements of the constant: a plan names a list, and has none."""


@value
class InputMistake:
    """One input that is wrong: its name in the inner pipeline, what is said for it, and where that is seen.

    `refused` is a value of the name around that is refused. `why` is the reason for which a constant is refused, or
    what leaves a doubt. `reader` is what reads a constant.
    """

    stage: Stage
    inner: Pipeline
    error: InputError
    name: str
    at: Place
    given: str = ""
    why: str | None = None
    reader: Place | None = None
    refused: Json = None


def find_input_mistakes(pipeline: Pipeline) -> Iterator[InputMistake]:
    """Yield every input of an inner pipeline that is wrong; a name with a slip is not missing as well."""
    for stage in pipeline.inner:
        inner = stage.inner
        within = inner.pipeline if inner is not None else None
        if inner is None or within is None or within.context is None:
            continue
        lacking = NameIndex(each for each in within.context if each not in inner.inputs)
        slips = {lacking.nearest(each) for each in inner.inputs if each not in within.context}
        for name in within.context:
            if name not in inner.inputs and name not in slips:
                yield InputMistake(stage, within, InputError.MISSING, name, inner.mention.at)
        for name, mention in inner.inputs.items():
            wanted = within.context.get(name)
            if wanted is None:
                is_readable = mention.name or name in inner.constants
                at = mention.at.key
                found = InputMistake(stage, within, InputError.UNDECLARED, name, at) if is_readable else None
            elif name in inner.constants:
                found = _judge_constant(pipeline, stage, within, name, wanted)
            else:
                found = _judge_name(pipeline, stage, within, name, wanted) if mention.name else None
            if found is not None:
                yield found


def _judge_name(pipeline: Pipeline, stage: Stage, within: Pipeline, name: str, wanted: Schema) -> InputMistake | None:
    """Return what is wrong with a name of the context; what the inner pipeline says wrongly is told in its own file."""
    mention = stage.inner.inputs[name] if stage.inner is not None else None
    if mention is None:
        return None

    def mistake(error: InputError, why: str | None = None, refused: Json = None) -> InputMistake:
        return InputMistake(stage, within, error, name, mention.at, mention.name, why, refused=refused)

    outer = name_around(mention.name)
    if outer is None:
        return mistake(InputError.PATH)
    offered = (pipeline.context or {}).get(outer)
    if offered is None:
        return mistake(InputError.UNKNOWN)
    found = _compare(pipeline.schemas, offered, wanted)
    if found.holds is False:
        return mistake(InputError.REFUSED, refused=found.witness)
    is_open = found.holds is None and emptiness(pipeline.schemas, offered) is None
    return mistake(InputError.UNDECIDED, found.doubt) if is_open else None


def _compare(schemas: Schemas, offered: Schema, wanted: Schema) -> Inclusion:
    """Return whether the schema of a name in a pipeline accepts every value of the name around it."""

    def find() -> Inclusion:
        old, new = _bundle(schemas, offered), _bundle(schemas, wanted)
        found = find_inclusion(old, new, _prepare)
        # a schema that cannot be used is a mistake of its own
        is_usable = found.holds is not None or None not in map(prepare_judge, (old, new))
        return found if is_usable else Inclusion(holds=True)

    return schemas.keep("inner-input", (offered, wanted), find)


def _bundle(schemas: Schemas, schema: Schema) -> Object:
    """Return a schema with all that it refers to; one that is `true` or `false` as an object."""
    found: Json = json.loads(bundle(schemas, schema))
    return found if isinstance(found, dict) else {} if found is True else {"not": {}}


def _prepare(schema: Object) -> ValueJudge | None:
    judge = prepare_judge(schema)
    return None if judge is None else lambda given: judge(given) is None


def _judge_constant(
    pipeline: Pipeline, stage: Stage, within: Pipeline, name: str, wanted: Schema
) -> InputMistake | None:
    """Return what is wrong with a constant: itself, or that something reads it that cannot."""
    if stage.inner is None:
        return None
    given, at = stage.inner.constants[name], stage.inner.inputs[name].at / CONSTANT

    def mistake(error: InputError, why: str | None = None, reader: Place | None = None) -> InputMistake:
        return InputMistake(stage, within, error, name, at, why=why, reader=reader)

    judge = prepare_judge(_bundle(pipeline.schemas, wanted))
    complaint = None if judge is None else judge(given)  # a schema that cannot be used is a mistake of its own
    if complaint is not None:
        return mistake(InputError.CONSTANT, complaint)
    for each in _list_reads(within, name):
        if each.is_list:
            return mistake(InputError.LISTED, reader=each.at)
        if follow(given, each.path) is MISSING:
            return mistake(InputError.LACKING, ".".join((_CONTEXT, each.name, *map(str, each.path))), each.at)
    return None


@value
class _Read:
    """A prompt that reads a name of a context, or a case that runs stages for the elements of it."""

    name: str
    path: tuple[str | int, ...]
    at: Place
    is_list: bool = False


def _list_reads(pipeline: Pipeline, name: str) -> Iterator[_Read]:
    """Yield every read of a name of a pipeline's context, those in pipelines further inside included."""
    todo, seen = [(pipeline, name)], set[tuple[str, str]]()
    for within, called in todo:  # grows while it is read
        if (within.at.file, called) in seen:
            continue
        seen.add((within.at.file, called))
        for stage in within.by_id.values():
            yield from _list_own_reads(stage, called)
            inner = stage.inner
            if inner is not None and inner.pipeline is not None:
                further = (each for each, mention in inner.inputs.items() if name_around(mention.name) == called)
                todo.extend((inner.pipeline, each) for each in further)


def _list_own_reads(stage: Stage, name: str) -> Iterator[_Read]:
    start = (_CONTEXT, name)
    paths = (each for each in stage.body.placeholders if each.form is PlaceholderForm.PATH)
    yield from (_Read(name, each.path[2:], each.at) for each in paths if each.path[:2] == start)
    lists = (case.each for case in stage.conduct.cases if case.each is not None)
    yield from (_Read(name, each.path[2:], each.at, is_list=True) for each in lists if each.path[:2] == start)


@value
class OuterNames:
    """What the names of an inner pipeline's context are in the whole: names of its context, or constants."""

    names: Mapping[str, str] = NOTHING
    constants: Object = NOTHING


def look_outside(stage: Stage, around: OuterNames | None = None) -> OuterNames:
    """Return what the names are of the pipeline that runs as a stage; `around` has those of the pipeline around it."""
    if stage.inner is None:
        return OuterNames()
    names, constants = dict[str, str](), dict(stage.inner.constants)
    for name, mention in stage.inner.inputs.items():
        outer = name_around(mention.name) or name
        if name in constants:
            continue
        if around is not None and outer in around.constants:
            constants[name] = around.constants[outer]
        else:
            names[name] = outer if around is None else around.names.get(outer, outer)
    return OuterNames(names, constants)
