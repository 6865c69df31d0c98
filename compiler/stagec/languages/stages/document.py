"""A pipeline as its author wrote it: stages, their order, and the names by which they refer to each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Json, Object
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place
from stagec.core.value import NOTHING, value
from stagec.ir.catalogue import Catalogue
from stagec.ir.flow import NameKind, Occurrence
from stagec.ir.plan.gate import Among, Exists, Term
from stagec.sources.contract.promise import Promise
from stagec.sources.contract.reach import Reference
from stagec.sources.contract.schemas import Miss, Schema, Schemas


class Profile(StrEnum):
    """The form of the format in which a stage is written."""

    MARKDOWN = "wiki-1.0"
    OBJECT = "code-0.1"


REQUIRED = (
    "id",
    "name",
    "allowedTools",
    "completionTool",
    "completionSchema",
    "retryPolicy",
    "turnCap",
    "resolutionPolicy",
)
"""The required members of the frontmatter of a stage definition."""


MEMBERS = (*REQUIRED, "description", "inputsSchema", "tags", "stagec")
"""The members of the frontmatter of a stage definition; other keys are metadata that nothing reads."""


CONDUCT = ("next", "checks", "gate", "hooks", "policy", "deadline")
"""Members that a stage has below its `stagec`, or in its pipeline under its id."""


CONSTANT = "const"
"""The member of an input of an inner pipeline that is a constant."""


PROVIDED = ("upstream", "workflowRunId", "stageExecutionId")
"""The names under `ctx` that every stage is given."""


RESERVED = (*PROVIDED, "attempts", "host")
"""The names under `ctx` that no pipeline may give a meaning of its own."""


ELEMENT = ("item", "index")
"""The names under `ctx` that stages for the elements of a list are given besides."""


RESULT = ("verdict", "reason", "parsed", "capHit", "attemptCount", "output")
"""The members of a stage's result that others can read."""


PARALLEL = 4
"""How many stages run at the same time where the pipeline does not say."""


class PlaceholderForm(StrEnum):
    """The content of a placeholder's braces; `ESCAPE` stands for two opening braces."""

    PATH = "path"
    EXPRESSION = "expression"
    MALFORMED = "malformed"
    EMPTY = "empty"
    UNCLOSED = "unclosed"
    ESCAPE = "escape"


@value
class Placeholder:
    """One placeholder of a body: as written, where, and the path it names (`("ctx", "upstream", 0, "parsed")`)."""

    text: str
    at: Place
    form: PlaceholderForm
    path: tuple[str | int, ...] = ()


@value
class Body:
    """The prompt of a stage. `literals` are placeholders of the other profile, which stay as they are."""

    text: str
    at: Place
    placeholders: tuple[Placeholder, ...] = ()
    literals: tuple[Placeholder, ...] = ()


class Mode(StrEnum):
    """The way in which a case runs its stages: the one stage, all together, or one after the other."""

    ONE = "one"
    FORK = "fork"
    CHAIN = "chain"


@value
class StageCondition:
    """A condition on a result, or on the context: a path, and the values it may have or whether it is there.

    Of a path into `parsed`, `promised` is what the stage's schema says of it, and `possible` the values that can stand
    there.
    """

    path: tuple[str, ...]
    at: Place
    values: tuple[Json, ...] = ()
    present: bool | None = None
    promised: Promise | None = None
    possible: tuple[Json, ...] | Miss = Miss.NO_MEMBER

    @property
    def term(self) -> Term:
        """The condition as plans have it."""
        return Among(self.path, self.values) if self.present is None else Exists(self.path, self.present)


@value
class Elements:
    """The list of a case for whose elements its stages run; an unreadable number is None."""

    path: tuple[str, ...]
    at: Place
    most: int | None = None
    concurrency: int | None = None
    collects: bool = False

    @property
    def text(self) -> str:
        """The path as people write it."""
        return ".".join(self.path)


@value
class WrittenDuration:
    """How long a case waits, or a stage or a run may last, as it is written; `milliseconds` is None for no duration."""

    text: str
    at: Place
    milliseconds: int | None = None


@value
class Case:
    """One way on: under which conditions, to which stages. No stages end the run; `mode` None is no known execution."""

    at: Place
    when: tuple[StageCondition, ...]
    stages: tuple[Mention, ...]
    mode: Mode | None = Mode.ONE
    join: Mention | None = None
    is_whole: bool = True
    """Whether nothing in it is misshapen."""
    each: Elements | None = None
    """The list for whose elements the stages run, one after the other; the elements run in parallel."""
    wait: WrittenDuration | None = None

    @property
    def is_recovery(self) -> bool:
        """Tell whether the case is about failed results alone."""
        return any(each.path == ("verdict",) and each.values == ("fail",) for each in self.when)

    @property
    def is_for_success(self) -> bool:
        """Tell whether a result that did not fail can match the case by its verdict."""
        asked = [each for each in self.when if each.path == ("verdict",)]
        return all(each.present is not False and set(each.values) != {"fail"} for each in asked)

    @property
    def meant_join(self) -> Mention | None:
        """The join, unless it is the only stage that runs for the elements of a list: then another one is meant."""
        if self.each is None or self.join is None:
            return self.join
        return None if {self.join.name} == {each.name for each in self.stages} else self.join

    @property
    def targets(self) -> tuple[Mention, ...]:
        """Every stage that the case mentions, the join included."""
        return self.stages if self.join is None else (*self.stages, self.join)


@value
class StageCheck:
    """One judgement of a result: when it applies, the verdict, and why."""

    at: Place
    when: tuple[StageCondition, ...]
    verdict: str
    reason: str | None = None


@value
class Conduct:
    """The settings of a pipeline, or of the stage itself, about the run of a stage and its successors.

    `next_at` is where its cases are written, None when nothing is said. `hooks` are the names under which something is
    written, be it well formed or not; `calls` are the callables, by phase. `twice` are members said in both places: the
    name, where the pipeline says it, and where the stage does.
    """

    next_at: Place | None = None
    cases: tuple[Case, ...] = ()
    checks: tuple[StageCheck, ...] = ()
    gate: Mapping[str, tuple[StageCondition, ...]] = NOTHING
    hooks: frozenset[str] = frozenset()
    twice: tuple[tuple[str, Place, Place], ...] = ()
    is_whole: bool = True
    calls: Mapping[str, str] = NOTHING
    policy: Object = NOTHING
    """How its model is asked, as it is written."""
    deadline: WrittenDuration | None = None
    """How long an execution of it may last."""


class CallError(StrEnum):
    """Why a pipeline cannot run as a stage: what its file is."""

    UNKNOWN = "unknown"
    """There is no such file, or it is no pipeline."""
    OUTSIDE = "outside"
    """The path leads out of the project."""
    CIRCULAR = "circular"
    """It runs itself, directly or through others."""


@value
class InnerPipeline:
    """A pipeline that runs as a stage.

    `inputs` has the names of its context that are said, each with what is written for it; `constants` has the values
    of those that are constants. `pipeline` is None where it cannot be read, which `error` says unless its own `file`
    does; `cycle` has the files that run each other.
    """

    mention: Mention
    inputs: Mapping[str, Mention] = NOTHING
    pipeline: Pipeline | None = None
    error: CallError | None = None
    cycle: tuple[str, ...] = ()
    is_flow: bool = False
    """Whether the pipeline is a flow of the project itself, so that what is wrong with it is told there."""
    file: str | None = None
    constants: Object = NOTHING


@value
class Stage:
    """One stage. `id` None when it has none that can be read; what is missing or misshapen is None or `Miss`.

    `at` is its frontmatter or object. `result` is the completion schema, `inputs` the schema of its inputs.
    """

    id: str | None
    at: Place
    profile: Profile
    members: Object
    body: Body
    allowed: tuple[Mention, ...] | None
    completion: Mention | None
    result: Schema | Miss
    inputs: Schema | Miss | None
    conduct: Conduct
    known: Memo
    """Answers that follow from the stage alone; if the stage is kept for the next check, they are kept with it."""
    inner: InnerPipeline | None = None
    """The pipeline that runs as this stage; its output is then the result, and nothing else is said of the stage."""

    @property
    def name(self) -> str:
        """The id, or the file where there is none."""
        return self.id if self.id is not None else self.at.file

    @property
    def id_at(self) -> Place:
        """The place of the stage's id."""
        return self.at / "id"


class IncomingKind(StrEnum):
    """The way in which a run reaches a stage; a `CHAINED` one follows the branch of the one before it in a sequence."""

    ENTRY = "entry"
    SIBLING = "sibling"
    SUCCESSOR = "successor"
    CHAINED = "chained"
    JOIN = "join"


@value
class Incoming:
    """One way a stage is come to, and the results it is handed there: for each, the stages it may be of.

    No stages mean that it cannot be told whose result it is. The join of `elements` is handed a result for each of
    them, all of the same stages, which stand here once.
    """

    kind: IncomingKind
    at: Place
    sources: tuple[tuple[str, ...], ...] = ()
    elements: Elements | None = None

    @property
    def is_awaited(self) -> bool:
        """Tell whether the next stage waits for the results that it receives, so that all of them have succeeded."""
        return self.kind is IncomingKind.JOIN or (self.kind is IncomingKind.SIBLING and bool(self.sources))


@value
class StagePattern:
    """One entry of a pipeline's `stages`, whether it was searched for, and whether a stage definition is found."""

    text: str
    at: Place
    found: bool
    searched: bool = True


@value
class Pipeline:
    """A pipeline, or stage definitions that belong to none (`is_declared` False)."""

    id: str
    at: Place
    body: Object
    is_declared: bool
    is_whole: bool
    """Whether nothing is misshapen or unreadable that decides where runs begin and go."""
    entry: Mention | None
    stages: tuple[Stage, ...]
    by_id: Mapping[str, Stage]
    names: NameIndex
    broken: frozenset[str]
    """Names by which a stage that cannot be read may be mentioned."""
    patterns: tuple[StagePattern, ...]
    routed: tuple[Mention, ...]
    """The stages of which the pipeline says something in a member of `CONDUCT`."""
    context: Mapping[str, Schema] | None
    """The names that a run is given, None when they are not declared."""
    tools: Mention | None
    """The tool catalogue that the pipeline names."""
    catalogue: Catalogue | None
    max_parallel: int
    max_executions: int | None
    deadline: WrittenDuration | None
    """How long a run may last."""
    incoming: Mapping[str, tuple[Incoming, ...]]
    schemas: Schemas
    """Looks up what the schemas of the stages refer to."""
    memo: Memo
    references: tuple[Reference, ...] = ()
    """Every `$ref` in the schemas of stages and context, and in the schema files that they lead to."""
    configured: tuple[Mention, ...] = ()
    """The stages that configurations of a state machine name as its entry."""
    inner: tuple[Stage, ...] = ()
    """The stages as which other pipelines run; `by_id` has them too, `stages` only what defines a stage."""
    depth: int = 0
    """How many pipelines are inside each other in it."""
    size: int = 0
    """How many stages it has with those of the pipelines in it."""
    output: Mention | None = None
    """The stage whose result is that of the pipeline where it runs as a stage."""
    is_only_inner: bool = False
    """Whether the pipeline is read because another one runs it as a stage, and for nothing else: it is then no flow."""
    is_lost: bool = False
    """Whether the stages belong to a pipeline that cannot be read, and that may name their tools."""

    @property
    def is_unambiguous(self) -> bool:
        """Tell whether every stage has a name, and one of its own."""
        return len(self.by_id) == len(self.stages) + len(self.inner)

    def has_stage(self, name: str) -> bool:
        """Tell whether a stage has this id, or may have it."""
        return name in self.by_id or name in self.broken

    def live_cases(self, stage: Stage) -> tuple[Case, ...]:
        """Return the cases of a stage that are ever followed: of one that only runs as a sibling, its recovery."""
        cases = stage.conduct.cases
        return tuple(case for case in cases if case.is_recovery) if self.is_only_sibling(stage) else cases

    def dead_cases(self, stage: Stage) -> tuple[Case, ...]:
        """Return the cases of a stage that are never followed."""
        cases = stage.conduct.cases if self.is_only_sibling(stage) else ()
        return tuple(case for case in cases if not case.is_recovery)

    def is_sibling(self, name: str) -> bool:
        """Tell whether a stage runs in parallel with others, on some way."""
        return any(way.kind is IncomingKind.SIBLING for way in self.incoming.get(name, ()))

    def is_only_sibling(self, stage: Stage) -> bool:
        """Tell whether a stage runs in no other way than in parallel with others."""
        return {each.kind for each in self.incoming.get(stage.id or "", ())} == {IncomingKind.SIBLING}


_CONTEXT = "ctx"


def list_names(document: Pipeline) -> Iterator[Occurrence]:
    """Yield every place at which a name is defined or mentioned."""
    owner = document.at.file
    for stage in (*document.stages, *document.inner):
        if stage.id is not None:
            yield Occurrence(NameKind.STAGE, stage.id, owner, stage.id_at, stage.at)
        yield from _list_tools(document, stage)
        for path, at in _list_reads(stage):
            if path[:1] == (_CONTEXT,) and len(path) > 1 and path[1] in (document.context or {}):
                yield Occurrence(NameKind.VARIABLE, str(path[1]), owner, at)
    for each in _list_mentions(document):
        # a member is named by its key, a target by a text
        is_key = any(each is routed for routed in document.routed)
        yield Occurrence(NameKind.STAGE, each.name, owner, each.at.key if is_key else each.at)
    for name in document.context or {}:
        at = document.at / "context" / name
        yield Occurrence(NameKind.VARIABLE, name, owner, at.key, at)
    for stage in document.inner:
        yield from _list_inputs(document, stage)
    yield from _list_files(document)


def _list_inputs(document: Pipeline, stage: Stage) -> Iterator[Occurrence]:
    """Yield the names of both contexts where an inner pipeline is given its inputs."""
    within = stage.inner.pipeline if stage.inner is not None else None
    for name, mention in stage.inner.inputs.items() if stage.inner is not None else ():
        around = name_around(mention.name)
        if within is not None:
            yield Occurrence(NameKind.VARIABLE, name, within.at.file, mention.at.key)
        if around is not None:
            yield Occurrence(NameKind.VARIABLE, around, document.at.file, mention.at)


def name_around(given: str) -> str | None:
    """Return the name in the outer context that gives an input its value: `branch` for `ctx.branch`."""
    root, dot, name = given.partition(".")
    is_name = root == _CONTEXT and dot and name and "." not in name and "[" not in name
    return name if is_name and name not in (*RESERVED, *ELEMENT) else None


def _list_reads(stage: Stage) -> Iterator[tuple[tuple[str | int, ...], Place]]:
    """Yield every path that a stage reads, in its prompt, its gate and the lists for whose elements it runs others."""
    yield from ((each.path, each.at) for each in stage.body.placeholders)
    yield from ((each.path, each.at.key) for when in stage.conduct.gate.values() for each in when)
    yield from ((case.each.path, case.each.at) for case in stage.conduct.cases if case.each is not None)


def _list_mentions(document: Pipeline) -> Iterator[Mention]:
    if document.entry is not None:
        yield document.entry
    yield from document.routed
    yield from document.configured
    if document.output is not None:
        yield document.output
    for stage in (*document.stages, *document.inner):
        for case in stage.conduct.cases:
            yield from case.targets


def _list_tools(document: Pipeline, stage: Stage) -> Iterator[Occurrence]:
    catalogue = document.catalogue
    for each in stage.allowed or ():
        owner = "" if catalogue is None else catalogue.file
        yield Occurrence(NameKind.TOOL, each.name, owner, each.at)
    if stage.completion is not None:
        # a stage defines the tool by which it completes
        yield Occurrence(
            NameKind.COMPLETION_TOOL, stage.completion.name, stage.name, stage.completion.at, stage.completion.at
        )
        start = 0 if stage.body.at.range is None else stage.body.at.range[0]
        word = re.compile(rf"(?<![\w-]){re.escape(stage.completion.name)}(?![\w-])")
        for told in word.finditer(stage.body.text) if start else ():
            at = Place(stage.at.file, range=(start + told.start(), start + told.end()))
            yield Occurrence(NameKind.COMPLETION_TOOL, stage.completion.name, stage.name, at)


def _list_files(document: Pipeline) -> Iterator[Occurrence]:
    for each in document.references:
        if isinstance(each.found, Schema):
            yield Occurrence(NameKind.FILE, each.found.at.file, "", each.at)
    files = {stage.at.file for stage in document.stages}
    for pattern in document.patterns:
        plain = pattern.text.removeprefix("./")
        named = (file for file in files if file == plain or file.endswith(f"/{plain}"))
        yield from (Occurrence(NameKind.FILE, file, "", pattern.at) for file in named)
    for stage in document.inner:
        if stage.inner is not None and stage.inner.pipeline is not None:
            yield Occurrence(NameKind.FILE, stage.inner.pipeline.at.file, "", stage.inner.mention.at)
    if document.tools is not None and document.catalogue is not None:
        yield Occurrence(NameKind.FILE, document.catalogue.file, "", document.tools.at)
