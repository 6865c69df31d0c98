"""Pipelines that run as stages: reasons why one cannot, its inputs, and the ends of its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.canonical import MOST
from stagec.core.json import MISSING, Json, Object, follow
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.precedence import components, repeats
from stagec.core.value import NOTHING, value
from stagec.languages.stages.document import (
    CONSTANT,
    PARALLEL,
    Case,
    IncomingKind,
    Mode,
    Pipeline,
    PlaceholderForm,
    Stage,
    name_around,
)
from stagec.languages.stages.outcomes import VERDICT
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.conflict import emptiness
from stagec.sources.contract.inclusion import Inclusion, ValueJudge, find_inclusion
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.shape import prepare_judge

DEEPEST = 16
"""Pipelines that may be inside each other."""
LARGEST = 1_000
"""Stages that a pipeline may have with those of the pipelines in it: each level may double them."""


class InnerError(StrEnum):
    """Why a pipeline that can be read cannot run as a stage."""

    DEEP = "deep"
    LARGE = "large"
    NO_OUTPUT = "no-output"
    NO_CONTEXT = "no-context"
    BOUNDED = "bounded"
    TIMED = "timed"
    HOOKS = "hooks"
    SKIPS = "skips"
    CHAIN = "chain"
    DEMANDS = "demands"
    TOOLS = "tools"
    SESSION = "session"
    CONDUCT = "conduct"
    VERDICT = "verdict"
    SIBLING = "sibling"
    TAKEN = "taken"


@value
class InnerMistake:
    """A reason why a pipeline cannot run as a stage, its place, and the explanation; `name` is a stage or a member."""

    stage: Stage
    inner: Pipeline
    error: InnerError
    at: Place
    name: str = ""
    cause: Place | None = None


def find_inner_mistake(pipeline: Pipeline, stage: Stage) -> InnerMistake | None:
    """Return why the pipeline of a stage cannot run as it, None if it can or cannot be read."""
    within = stage.inner.pipeline if stage.inner is not None else None
    if stage.inner is None or within is None:
        return None
    found = next(_list_mistakes_around(pipeline, stage), None)
    if found is not None:
        error, at, name = found
        return InnerMistake(stage, within, error, at, name)
    inside = next(_list_mistakes_inside(pipeline, within), None)
    if inside is not None:
        error, cause, name = inside
        return InnerMistake(stage, within, error, stage.inner.mention.at, name, cause)
    return None


def _list_mistakes_around(pipeline: Pipeline, stage: Stage) -> Iterator[tuple[InnerError, Place, str]]:
    """Yield the members of the outer pipeline that a stage cannot have if it is a pipeline."""
    yield from _list_mistakes_of_size(pipeline, stage)
    for mention in pipeline.routed:
        if mention.name == stage.id and mention.at.pointer[-2] != "next":
            yield InnerError.CONDUCT, mention.at.key, str(mention.at.pointer[-2])
    for case in stage.conduct.cases:
        yield from ((InnerError.VERDICT, each.at, "") for each in case.when if each.path == VERDICT)
    for way in pipeline.incoming.get(stage.id or "", ()):
        if way.kind in {IncomingKind.SIBLING, IncomingKind.CHAINED}:
            yield InnerError.SIBLING, way.at, ""
    for each in pipeline.by_id.values():
        for case in each.conduct.cases:
            if case.mode is Mode.CHAIN and any(mention.name == stage.id for mention in case.stages):
                yield InnerError.SIBLING, case.at, ""
        if each.id is not None and each.id.startswith(f"{stage.id}/"):
            yield InnerError.TAKEN, each.id_at, each.id


def _list_mistakes_of_size(pipeline: Pipeline, stage: Stage) -> Iterator[tuple[InnerError, Place, str]]:
    """Yield a mistake where too many pipelines or stages are nested, at the outermost of them."""
    sizes = {id(each): each.inner.pipeline.size for each in pipeline.inner if each.inner and each.inner.pipeline}
    if stage.inner is None or stage.inner.pipeline is None:
        return
    if stage.inner.pipeline.depth == DEEPEST:
        yield InnerError.DEEP, stage.inner.mention.at, ""
    if max(sizes.values()) <= LARGEST < pipeline.size and max(sizes, key=sizes.__getitem__) == id(stage):
        yield InnerError.LARGE, stage.inner.mention.at, ""


def _list_mistakes_inside(pipeline: Pipeline, within: Pipeline) -> Iterator[tuple[InnerError, Place | None, str]]:
    """Yield the members of an inner pipeline that cannot hold where it runs as a stage."""
    if within.output is None:
        yield InnerError.NO_OUTPUT, None, ""
    if within.context is None:
        yield InnerError.NO_CONTEXT, None, ""
    if within.max_executions is not None:
        most = count_executions(within)
        if most is None or most > within.max_executions:
            yield InnerError.BOUNDED, within.at / "maxStageExecutions", ""
    if within.deadline is not None:
        yield InnerError.TIMED, within.deadline.at, ""
    for member in ("securityMode", "loopHooks"):
        if within.body.get(member) != pipeline.body.get(member):
            yield InnerError.SESSION, within.at / member if member in within.body else None, member
    mine, theirs = (each.catalogue.file if each.catalogue is not None else None for each in (within, pipeline))
    if mine != theirs and any(stage.allowed is None or stage.allowed for stage in within.stages):
        yield InnerError.TOOLS, None if within.tools is None else within.tools.at, ""
    yield from _list_mistakes_of_stages(within)


def _list_mistakes_of_stages(within: Pipeline) -> Iterator[tuple[InnerError, Place | None, str]]:
    """Yield the stages of an inner pipeline for which something is said that only runs as a whole have."""
    entry, output = (None if each is None else each.name for each in (within.entry, within.output))
    for stage in within.stages:
        if stage.conduct.hooks:
            yield InnerError.HOOKS, stage.id_at, stage.name
        if stage.inputs is not None and stage.id == entry:
            yield InnerError.DEMANDS, stage.at / "inputsSchema", stage.name
        if stage.id is not None and stage.id == output and stage.conduct.gate:
            yield InnerError.SKIPS, stage.id_at, stage.name
        for case in stage.conduct.cases:
            if case.mode is Mode.CHAIN:
                yield InnerError.CHAIN, case.at, stage.name


def can_run(pipeline: Pipeline, stage: Stage) -> bool:
    """Tell whether the pipeline of a stage can be put in its place."""
    within = stage.inner.pipeline if stage.inner is not None else None
    if within is None or within.entry is None or within.entry.name not in within.by_id:
        return False
    known = within.output is not None and within.output.name in within.by_id
    bounded = within.depth < DEEPEST and pipeline.size <= LARGEST
    return known and bounded and find_inner_mistake(pipeline, stage) is None and not any(find_stray_ends(within))


def count_executions(pipeline: Pipeline) -> int | None:
    """Return how many stages a run executes at most without any bound; None if a stage may follow itself."""
    return pipeline.memo.once("most-executions", lambda: _count_executions(pipeline))


def _count_executions(pipeline: Pipeline) -> int | None:
    index = {name: at for at, name in enumerate(pipeline.by_id)}
    stages = tuple(pipeline.by_id.values())
    leads = [
        sorted({index[each.name] for case in stage.conduct.cases for each in case.targets if each.name in index})
        for stage in stages
    ]
    most = [0] * len(stages)
    for group in components(leads):
        if repeats(leads, group):
            return None
        stage = stages[group[0]]
        within = stage.inner.pipeline if stage.inner is not None else None
        own = 1 if within is None else count_executions(within) if within.depth < DEEPEST else None
        if own is None:
            return None
        most[group[0]] = own + max((_count_of_case(case, index, most) for case in stage.conduct.cases), default=0)
    return max(most, default=0)


def _count_of_case(case: Case, index: Mapping[str, int], most: list[int]) -> int:
    times = 1 if case.each is None else case.each.most or MOST
    together = sum(most[index[each.name]] for each in case.stages if each.name in index)
    join = index.get(case.join.name) if case.join is not None else None
    return times * together + (0 if join is None else most[join])


def count_parallel(pipeline: Pipeline) -> int:
    """Return how many stages run at the same time: no more than any of the inner pipelines allows."""
    inside = (each.inner.pipeline for each in pipeline.inner if each.inner is not None)
    said = (count_parallel(each) for each in inside if each is not None)
    return min([pipeline.max_parallel, *said], default=PARALLEL)


def find_stray_ends(pipeline: Pipeline) -> Iterator[tuple[str, Place]]:
    """Yield the stages at which completed runs of a pipeline may end though its output is another one, and where.

    That is so of the output, too, where it runs in parallel with others, or ends runs though it has failed.
    """
    output = pipeline.output
    if output is None or output.name not in pipeline.by_id or pipeline.entry is None:
        return
    todo, seen = [(pipeline.entry.name, False, False)], set[tuple[str, bool, bool]]()
    for name, is_inside, is_sibling in todo:  # grows while it is read; `is_inside` is a branch beside others
        stage = pipeline.by_id.get(name)
        if stage is None or not stage.conduct.is_whole or (name, is_inside, is_sibling) in seen:
            continue
        seen.add((name, is_inside, is_sibling))
        cases = [case for case in stage.conduct.cases if case.is_recovery or not is_sibling]
        if is_inside and name == output.name:
            yield name, stage.id_at
        for case in cases:
            if not is_inside and _ends_badly(case, is_output=name == output.name):
                yield name, case.at
                continue  # what it leads to is no second mistake
            is_fork = case.mode is Mode.FORK
            todo.extend((each.name, is_inside or is_fork, is_fork) for each in case.stages)
            if case.meant_join is not None and is_fork:
                todo.append((case.meant_join.name, is_inside, False))
        if not is_inside and name != output.name and not any(case.is_for_success for case in cases):
            yield name, stage.id_at


def _ends_badly(case: Case, *, is_output: bool) -> bool:
    """Tell whether a case ends the run otherwise than after a success of the output."""
    if case.stages:
        return case.mode is Mode.FORK and case.meant_join is None
    return not is_output or case.is_recovery or not case.is_for_success


_CONTEXT = "ctx"


class InputError(StrEnum):
    """The mistakes in an input of a pipeline that runs as a stage."""

    MISSING = "missing"
    """The pipeline declares it, and nothing is said for it."""
    UNDECLARED = "undeclared"
    """The pipeline declares no such name."""
    PATH = "path"
    """The value is no name of the context."""
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
    """One wrong input: its name in the inner pipeline, the value given, and the place.

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
    """Return the mistake in a name of the context; mistakes of the inner pipeline are reported in its own file."""
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


def explain_refusal(schemas: Schemas, wanted: Schema, given: Json) -> str | None:
    """Return why a schema of the context refuses a value; a schema that cannot be used is a mistake of its own."""
    judge = prepare_judge(_bundle(schemas, wanted))
    return None if judge is None else judge(given)


def _judge_constant(
    pipeline: Pipeline, stage: Stage, within: Pipeline, name: str, wanted: Schema
) -> InputMistake | None:
    """Return the mistake in a constant: its value, or a reader that cannot use it."""
    if stage.inner is None:
        return None
    given, at = stage.inner.constants[name], stage.inner.inputs[name].at / CONSTANT

    def mistake(error: InputError, why: str | None = None, reader: Place | None = None) -> InputMistake:
        return InputMistake(stage, within, error, name, at, why=why, reader=reader)

    complaint = explain_refusal(pipeline.schemas, wanted, given)
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
    """The sources of the names of an inner pipeline's context: names of the outer context, or constants."""

    names: Mapping[str, str] = NOTHING
    constants: Object = NOTHING


def look_outside(stage: Stage, around: OuterNames | None = None) -> OuterNames:
    """Return the sources of the names of the pipeline that runs as a stage; `around` has those of the outer one."""
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
