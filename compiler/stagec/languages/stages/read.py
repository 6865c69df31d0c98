"""From trees to pipelines and their routes: keep what is well formed, leave out the rest, judge nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.core.clock import read_milliseconds
from stagec.core.json import Json, Object, list_of, object_of, objects_in, text_in, whole_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, list_mentions
from stagec.core.value import replace, value
from stagec.ir.catalogue import Catalogue, find_catalogue, read_catalogue
from stagec.ir.catalogue.read import find_nearby
from stagec.languages.stages.document import (
    CONDUCT,
    CONSTANT,
    PARALLEL,
    Body,
    CallError,
    Case,
    Conduct,
    Elements,
    Incoming,
    IncomingKind,
    InnerPipeline,
    Mode,
    Pipeline,
    Profile,
    Stage,
    StageCheck,
    StageCondition,
    StagePattern,
    WrittenDuration,
)
from stagec.languages.stages.files import PipelineFiles, bundle_of, bundles, guess_names, objects
from stagec.languages.stages.placeholder_errors import markdown_body, object_body
from stagec.languages.stages.recognise import PIPELINES, is_pipeline, says_nothing_of_a_stage
from stagec.sources.contract.combinations import Combination
from stagec.sources.contract.conflict import list_possible
from stagec.sources.contract.promise import possible_values, promise
from stagec.sources.contract.reach import Reference, numbers, references_in
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources, join
from stagec.sources.tree import Fault, Tree

IncomingWays = Mapping[str, tuple[Incoming, ...]]


def incoming(entry: Mention | None, stages: Mapping[str, Stage], is_filled: _IsFilled) -> IncomingWays:
    """Return every way each stage is come to, by stage id, in the order in which they are written.

    `is_filled` tells whether the list for whose elements a case runs stages always has one.
    """
    found: dict[str, list[Incoming]] = {}
    if entry is not None:
        found.setdefault(entry.name, []).append(Incoming(IncomingKind.ENTRY, entry.at))
    # the stages that do not only run as siblings: of the others no case is followed but the recovery
    forked = {each.name for one in stages.values() for case in one.conduct.cases for each in _siblings(case)}
    known = {} if entry is None else {entry.name: None}
    known |= dict.fromkeys(called for called in stages if called not in forked)
    for one in stages.values():
        known |= dict.fromkeys(_alone(case for case in one.conduct.cases if case.is_recovery))
    order = list(known)
    for called in order:  # grows while it is read
        fresh = [each for each in _alone(stages[called].conduct.cases) if each not in known] if called in stages else []
        known |= dict.fromkeys(fresh)
        order.extend(dict.fromkeys(fresh))
    free, ends = frozenset(known), _Ends(stages, is_filled)
    for name, stage in stages.items():
        for case in stage.conduct.cases:
            for target, way in _list_ways(name, case, ends) if case.is_recovery or name in free else ():
                found.setdefault(target, []).append(way)
    return {name: tuple(ways) for name, ways in found.items()}


def _siblings(case: Case) -> tuple[Mention, ...]:
    """Return the stages that run together: a join that stands among them cannot be meant to be one of them."""
    if case.mode is not Mode.FORK:
        return ()
    return tuple(each for each in case.stages if case.meant_join is None or each.name != case.meant_join.name)


def _alone(cases: Iterable[Case]) -> Iterator[str]:
    """Yield the stages that cases lead to otherwise than as siblings."""
    for case in cases:
        if case.mode is not Mode.FORK:
            yield from (each.name for each in case.stages)
        elif case.meant_join is not None and case.stages:
            yield case.meant_join.name


def _list_ways(name: str, case: Case, ends: _Ends) -> Iterator[tuple[str, Incoming]]:
    if case.mode is Mode.FORK:
        siblings = _siblings(case)
        if case.each is not None:
            yield from _list_ways_of_elements(case, siblings, ends)
            return
        for each in siblings:
            yield each.name, Incoming(IncomingKind.SIBLING, each.at)
        if case.meant_join is not None and case.stages:
            handed = tuple(ends.find(each.name, is_sibling=True) for each in siblings)
            yield case.meant_join.name, Incoming(IncomingKind.JOIN, case.meant_join.at, handed)
        return
    first, *chained = case.stages if case.mode is not None and case.stages else (None,)
    if first is not None:
        yield first.name, Incoming(IncomingKind.SUCCESSOR, first.at, ((name,),))
    for before, each in zip(case.stages, chained, strict=False):
        yield each.name, Incoming(IncomingKind.CHAINED, each.at, (ends.find(before.name, is_sibling=False),))


def _list_ways_of_elements(case: Case, stages: tuple[Mention, ...], ends: _Ends) -> Iterator[tuple[str, Incoming]]:
    """Yield the ways of stages that run for an element one after the other, and of what joins the elements."""
    handed: tuple[tuple[str, ...], ...] = ()
    for each in stages:
        yield each.name, Incoming(IncomingKind.SIBLING, each.at, handed)
        handed = (ends.find(each.name, is_sibling=True),)
    if case.meant_join is not None:
        yield case.meant_join.name, Incoming(IncomingKind.JOIN, case.meant_join.at, handed, case.each)


class _Ends:
    """Finds the stages whose result may be the last of a branch, by the stage with which the branch begins."""

    def __init__(self, stages: Mapping[str, Stage], is_filled: _IsFilled) -> None:
        self._stages = stages
        self._is_filled = is_filled
        self._known: dict[_Start, tuple[str, ...]] = {}
        self._patience = _PATIENCE

    def find(self, name: str, *, is_sibling: bool) -> tuple[str, ...]:
        """Return the stages at which a branch may end; none where that cannot be told."""
        start = (name, is_sibling)
        if start not in self._known:
            self._known[start] = self._follow(start)
        return self._known[start]

    def _follow(self, start: _Start) -> tuple[str, ...]:
        found, order = dict[str, None](), [start]
        seen = {start}
        for name, is_sibling in order:  # grows while it is read
            stage = self._stages.get(name)
            cases = stage.conduct.cases if stage is not None else ()
            self._patience -= 1 + len(cases)
            if stage is None or self._patience < 0:
                return ()
            stays = not any(case.is_for_success for case in cases) or any(not case.stages for case in cases)
            if is_sibling or stays:
                found[name] = None
            followed = [case for case in cases if case.stages and (case.is_recovery or not is_sibling)]
            if any(case.mode is None for case in followed):
                return ()
            if any(self._ends_at_once(stage, case) for case in followed):
                found[name] = None
            fresh = dict.fromkeys(each for case in followed for each in _list_last(case) if each not in seen)
            seen.update(fresh)
            order.extend(fresh)
        return tuple(found)

    def _ends_at_once(self, stage: Stage, case: Case) -> bool:
        """Tell whether nothing may follow a case: the list of its elements may be empty, and they have no join."""
        return case.each is not None and case.meant_join is None and not self._is_filled(stage, case)


_IsFilled = Callable[[Stage, Case], bool]
_Start = tuple[str, bool]
"""A stage, and whether it is a sibling, of which no case is followed but the recovery."""
_PATIENCE = 200_000
"""Cases that are followed to the ends of branches in one pipeline: more than anybody needs."""


def _list_last(case: Case) -> Iterator[_Start]:
    """Yield the first stages of the last branches that a case starts."""
    if case.mode is not Mode.FORK:
        yield case.stages[-1].name, False
    elif case.meant_join is not None:
        yield case.meant_join.name, False
    else:
        last = case.stages if case.each is None else case.stages[-1:]
        yield from ((each.name, True) for each in last)


_INDEX = re.compile(r"\[(\d{1,9})\]")
_PHASES = ("setup", "gate", "assert", "exit")
_VERDICTS = frozenset({"retry", "fail"})


@value
class Written:
    """A member of a stage's conduct as written, and where."""

    given: Json
    at: Place


def conduct(
    own: Mapping[str, Written], given: Mapping[str, Written], result: Schema | Miss, schemas: Schemas
) -> Conduct:
    """Return the conduct of a stage from what it says itself and what its pipeline says of it; the pipeline wins."""
    written = {**own, **given}
    reading = _RoutesReading(result, schemas)
    following, hooks = written.get("next"), object_of(written["hooks"].given) if "hooks" in written else {}
    cases = None if following is None else tuple(reading.cases(following))
    gate = written.get("gate", Written({}, Place("")))
    return Conduct(
        next_at=None if following is None else following.at,
        cases=cases or (),
        checks=tuple(reading.checks(written.get("checks"))),
        gate={
            name: reading.conditions(each, gate.at / name, judged=False) for name, each in object_of(gate.given).items()
        },
        hooks=frozenset(hooks),
        twice=tuple((name, given[name].at, own[name].at) for name in CONDUCT if name in own and name in given),
        is_whole=all(case.is_whole for case in cases or ()),
        calls={phase: call for phase in _PHASES if (call := text_in(hooks, phase))},
        policy=object_of(written["policy"].given) if "policy" in written else {},
        deadline=_read_duration(written["deadline"].given, written["deadline"].at) if "deadline" in written else None,
    )


class _RoutesReading:
    """Reads conditions against the schema of the result they are about."""

    def __init__(self, result: Schema | Miss, schemas: Schemas) -> None:
        self._result = result
        self._schemas = schemas
        self._memo = Memo()

    def cases(self, written: Written) -> Iterator[Case]:
        if isinstance(written.given, list):
            for index, each in enumerate(written.given):
                yield self._case(each, written.at / index)
        elif isinstance(written.given, str):
            yield Case(written.at, (), (Mention(written.given, written.at),))
        else:
            yield self._case(written.given, written.at)

    def checks(self, written: Written | None) -> Iterator[StageCheck]:
        for index, each in enumerate(list_of(written.given)) if written is not None else ():
            body, verdict = object_of(each), object_of(each).get("verdict")
            if written is not None and isinstance(verdict, str) and verdict in _VERDICTS:
                at = written.at / index
                when = self.conditions(body.get("when"), at / "when")
                if len(when) == len(object_of(body.get("when"))) and not _misshapen(body):
                    yield StageCheck(at, when, verdict, text_in(body, "reason"))

    def conditions(self, given: Json, at: Place, *, judged: bool = True) -> tuple[StageCondition, ...]:
        """Return the conditions that all have to hold; `judged` when they are about the stage's result."""
        found = (_condition(path, each, at / path) for path, each in object_of(given).items())
        return tuple(self._add_promise(each) if judged else each for each in found if each is not None)

    def _case(self, given: Json, at: Place) -> Case:
        body = object_of(given)
        when = self.conditions(body.get("when"), at / "when")
        member = "nextStages" if "nextStages" in body and "stages" not in body else "stages"
        named = list_of(body.get(member))
        stages = list_mentions(named, at / member)
        join = body.get("join")
        meant = Mention(join, at / "join") if isinstance(join, str) and join else None
        whole = len(stages) == len(named) and len(when) == len(object_of(body.get("when")))
        mode, ends = (
            _mode(body, stages),
            ([] in (body.get("stages"), body.get("nextStages")) or body.get("terminate") is True or _terminates(body)),
        )
        whole = whole and mode is not None and bool(stages) is not ends and "when" not in _misshapen(body)
        each = _read_elements(body, at)
        is_list = _OF_ELEMENTS.isdisjoint(body) or (each is not None and each.most is not None and bool(stages))
        wait = _read_duration(body.get("wait"), at / "wait")
        return Case(at, when, stages, mode, meant, whole and is_list, each, wait)

    def _add_promise(self, condition: StageCondition) -> StageCondition:
        if condition.path[0] != "parsed" or isinstance(self._result, Miss):
            return condition
        result, path = self._result, condition.path[1:]
        promised = self._memo.once(path, lambda: promise(self._schemas, result, path, of_object=True))
        possible = self._memo.once((path, "possible"), lambda: possible_values(self._schemas, promised))
        return replace(condition, promised=promised, possible=possible)


_OF_ELEMENTS = frozenset({"forEach", "most", "concurrency", "onFailure"})


def _read_elements(body: Object, at: Place) -> Elements | None:
    """Return the list in a case for whose elements it runs stages."""
    path = body.get("forEach")
    if not isinstance(path, str) or not path:
        return None
    most, concurrency = (whole_of(body.get(name)) for name in ("most", "concurrency"))
    return Elements(
        split_path(path),
        at / "forEach",
        most if most is not None and most > 0 else None,
        concurrency if concurrency is not None and concurrency > 0 else None,
        body.get("onFailure") == "collect",
    )


def _read_duration(given: Json, at: Place) -> WrittenDuration | None:
    return WrittenDuration(given, at, read_milliseconds(given)) if isinstance(given, str) else None


def split_path(path: str) -> tuple[str, ...]:
    """Return the names of a path: `parsed.files[0].name` has four."""
    return tuple(_INDEX.sub(r".\1", path).split("."))


def _misshapen(body: Object) -> frozenset[str]:
    return frozenset(("when",)) if not isinstance(body.get("when", {}), dict) else frozenset()


def _terminates(body: Object) -> bool:
    return body.get("execution") == "terminate"


def _mode(body: Object, stages: tuple[Mention, ...]) -> Mode | None:
    """Return how several stages run; a single sequential one is the usual case."""
    execution = body.get("execution", "sequential")
    if execution == "parallel" or "forEach" in body:
        return Mode.FORK
    if execution != "sequential" and not _terminates(body):
        return None
    return Mode.CHAIN if len(stages) > 1 else Mode.ONE


def _condition(path: str, given: Json, at: Place) -> StageCondition | None:
    names = split_path(path)
    if isinstance(given, dict):
        present = given.get("present")
        return StageCondition(names, at, present=present) if isinstance(present, bool) else None
    values = tuple(given) if isinstance(given, list) else (given,)
    whole = bool(values) and not any(isinstance(each, dict | list) for each in values)
    return StageCondition(names, at, values) if whole else None


_ENTRIES = ("entry", "entryStage")


def read(sources: Sources, files: tuple[str, ...]) -> tuple[Pipeline, ...]:
    """Return the pipelines that the files are or belong to, and the stages that belong to none."""
    shared = _SharedReading(sources, [_readable(each) for each in bundles(sources, files)])
    return tuple(shared.list_pipelines())


def _readable(bundle: PipelineFiles) -> PipelineFiles:
    """Return a bundle without its pipeline where that cannot be read: its stages can be judged all the same."""
    pipeline = bundle.pipeline
    known = pipeline is None or (pipeline.readable and isinstance(pipeline.value, dict))
    return bundle if known else PipelineFiles(None, bundle.stages, lost=pipeline)


@value
class _Source:
    """One stage as it is found: its members, and where they and its prompt are."""

    members: Object
    at: Place
    profile: Profile
    tree: Tree

    def read_body(self) -> Body:
        """Return the prompt of the stage."""
        if self.profile is Profile.MARKDOWN and self.tree.body is not None:
            return markdown_body(self.tree.data.decode(errors="replace"), self.tree.body, Place(self.tree.file))
        return object_body(text_in(self.members, "body") or "", self.at / "body")


class _SharedReading:
    """Reads pipelines, each once, and after those that run as stages of it."""

    def __init__(self, sources: Sources, bundles: list[PipelineFiles]) -> None:
        self._sources = sources
        self._schemas = Schemas(sources)
        self._bundles = bundles
        self._by_file = {each.pipeline.file: each for each in bundles if each.pipeline is not None}
        self._asked = frozenset(self._by_file)
        self._known: dict[str, Pipeline] = {}
        # where a file names one that is being read: the files that run each other
        self._cycles: dict[tuple[str, str], tuple[str, ...]] = {}

    def list_pipelines(self) -> Iterator[Pipeline]:
        """Yield every pipeline, and what belongs to none; those that only others name come last."""
        for each in self._bundles:  # grows while it is read
            if each.pipeline is not None:
                file = each.pipeline.file
                self._read_with_inner(file)
                found = self._known[file]
                yield found if file in self._asked else replace(found, is_only_inner=True)
            elif each.stages:
                yield _ReadReading(self._sources, self._schemas, each, self.find).pipeline()

    def find(self, mention: Mention, inputs: Mapping[str, Mention]) -> InnerPipeline:
        """Return the pipeline that runs as a stage, by its path from the file that mentions it."""
        file = join(posixpath.dirname(mention.at.file), mention.name)
        if file is None or file not in self._by_file:
            return InnerPipeline(mention, inputs, error=CallError.OUTSIDE if file is None else CallError.UNKNOWN)
        cycle = self._cycles.get((mention.at.file, file))
        if cycle is not None:
            return InnerPipeline(mention, inputs, error=CallError.CIRCULAR, cycle=cycle)
        return InnerPipeline(mention, inputs, self._known.get(file), is_flow=file in self._asked, file=file)

    def _read_with_inner(self, first: str) -> None:
        """Read a pipeline and those in it, the innermost first: a project decides how many are in each other."""
        trail, rest = ([], []) if first in self._known else ([first], [self._list_inner(first)])
        while trail:
            for file in rest[-1]:
                if file in trail:
                    self._cycles[trail[-1], file] = tuple(trail[trail.index(file) :])
                elif file not in self._known:
                    trail.append(file)
                    rest.append(self._list_inner(file))
                    break
            else:
                rest.pop()
                bundle = self._by_file[file := trail.pop()]
                self._known[file] = _ReadReading(self._sources, self._schemas, bundle, self.find).pipeline()

    def _list_inner(self, file: str) -> Iterator[str]:
        """Yield the files of the pipelines that a pipeline runs as stages, where they can be read."""
        tree = self._by_file[file].pipeline
        for _, each in objects(tree) if tree is not None else ():
            name = text_in(each, "pipeline")
            other = join(posixpath.dirname(file), name) if name else None
            bundle = self._find_bundle(other) if other is not None else None
            if other is not None and bundle is not None and bundle.pipeline is not None:
                yield other

    def _find_bundle(self, file: str) -> PipelineFiles | None:
        """Return a pipeline with the trees of its stages; it belongs to the project from then on."""
        if file not in self._by_file:
            tree = self._sources.tree(file, "file")
            is_named = posixpath.basename(file) in PIPELINES
            is_one = tree is not None and (is_named or not tree.readable or is_pipeline(tree.value))
            found = bundle_of(self._sources, file) if is_one else None
            if found is None or found.pipeline is None:
                return None
            self._bundles.append(_readable(found))
            self._by_file[file] = self._bundles[-1]
        return self._by_file[file]


_FindInner = Callable[[Mention, Mapping[str, Mention]], InnerPipeline]


class _ReadReading:
    """Reads one pipeline with its stages."""

    def __init__(self, sources: Sources, schemas: Schemas, bundle: PipelineFiles, find_inner: _FindInner) -> None:
        self._sources = sources
        self._schemas = schemas
        self._find_inner = find_inner
        self._bundle = bundle
        self._body = object_of(bundle.pipeline.value) if bundle.pipeline is not None else {}
        self._at = bundle.pipeline.at if bundle.pipeline is not None else Place(bundle.stages[0].file)
        self._misspelt: dict[tuple[str, str], str] = {}
        self._tools = _mention(self._body, "tools", self._at)

    def pipeline(self) -> Pipeline:
        every, entry = self._stages(), self._entry()
        by_id = _by_id(every)
        stages = tuple(each for each in every if each.inner is None)
        inner = tuple(each for each in every if each.inner is not None)
        within = [each.inner.pipeline for each in inner if each.inner is not None and each.inner.pipeline is not None]
        return Pipeline(
            id=self._name(),
            at=self._at,
            body=self._body,
            is_declared=self._bundle.pipeline is not None,
            is_whole=self._is_whole(every),
            entry=entry,
            stages=stages,
            by_id=by_id,
            names=NameIndex(by_id),
            broken=frozenset(self._guess_names()),
            patterns=self._patterns(),
            routed=tuple(self._list_routed()),
            context=self._context(),
            tools=self._tools,
            catalogue=self._catalogue(self._tools),
            max_parallel=_count(self._body.get("maxParallel")) or PARALLEL,
            max_executions=_count(self._body.get("maxStageExecutions")),
            deadline=_read_duration(self._body.get("runDeadline"), self._at / "runDeadline"),
            incoming=incoming(entry, by_id, self._is_filled) if self._bundle.pipeline is not None else {},
            schemas=self._schemas,
            memo=Memo(),
            references=tuple(self._references(stages)),
            configured=tuple(self._list_configured()),
            inner=inner,
            depth=max((each.depth + 1 for each in within), default=0),
            size=len(stages) + sum(each.size for each in within),
            output=_mention(self._body, "output", self._at),
            is_lost=self._bundle.lost is not None,
        )

    def _name(self) -> str:
        return text_in(self._body, "id") or posixpath.basename(posixpath.dirname(self._at.file)) or self._at.file

    def _stages(self) -> tuple[Stage, ...]:
        found = tuple(self._sources_of_stages())
        self._misspelt = dict(self._guess_routes({name for each in found if (name := text_in(each.members, "id"))}))
        return tuple(self._stage(each) for each in found)

    def _guess_names(self) -> Iterator[str]:
        """Yield the names by which stages may be mentioned that cannot be read."""
        for tree in self._bundle.stages:
            if _is_nameless(tree):
                yield from guess_names(tree)

    def _is_whole(self, stages: tuple[Stage, ...]) -> bool:
        """Tell whether everything that decides where runs go could be read."""
        tree = self._bundle.pipeline
        if tree is None or any(map(_is_nameless, self._bundle.stages)):
            return False
        broken = any(map(_decides, tree.faults))
        found = all(pattern.found for pattern in self._patterns())
        return found and not broken and all(stage.id is not None and stage.conduct.is_whole for stage in stages)

    def _sources_of_stages(self) -> Iterator[_Source]:
        pipeline = self._bundle.pipeline
        for tree in (*((pipeline,) if pipeline is not None else ()), *self._bundle.stages):
            if tree.body is not None and tree.readable:
                if says_nothing_of_a_stage(object_of(tree.value)):
                    continue  # it lacks whatever a stage has, which is all there is to say of it
                yield _Source(object_of(tree.value), tree.at, Profile.MARKDOWN, tree)
            elif tree.readable:
                for pointer, each in objects(tree):
                    yield _Source(each, Place(tree.file, pointer), Profile.OBJECT, tree)

    def _stage(self, source: _Source) -> Stage:
        members, at = source.members, source.at
        if source.profile is Profile.OBJECT and source.tree is self._bundle.pipeline and "pipeline" in members:
            return self._inner_stage(members, at)
        name = text_in(members, "id") or None
        result = self._schema(members.get("completionSchema"), at / "completionSchema")
        inputs = self._schema(members["inputsSchema"], at / "inputsSchema") if "inputsSchema" in members else None
        own = (
            _read_conduct(members, at)
            if source.profile is Profile.OBJECT
            else _read_conduct(members.get("stagec"), at / "stagec")
        )
        given = {member: found for member in CONDUCT if (found := self._find_given(member, name, own)) is not None}

        def make() -> Stage:
            allowed = members.get("allowedTools")
            return Stage(
                id=name,
                at=at,
                profile=source.profile,
                members=members,
                body=source.read_body(),
                allowed=list_mentions(allowed, at / "allowedTools") if isinstance(allowed, list) else None,
                completion=_mention(members, "completionTool", at),
                result=result,
                inputs=inputs,
                conduct=conduct(own, given, result, self._schemas),
                known=Memo(),
            )

        # the text of a kept schema is the text that all of the stage was read from
        question = "stage", source.profile, source.tree.kind, repr(given)
        return self._schemas.keep(question, (Schema(members, at),), make, _is_faultless)

    def _inner_stage(self, members: Object, at: Place) -> Stage:
        """Return the stage as which another pipeline runs: what follows it sees the result of its output."""
        mention = _mention(members, "pipeline", at) or Mention("", at / "pipeline")
        said = object_of(members.get("inputs"))
        inputs = {each: Mention(text_in(said, each) or "", at / "inputs" / each) for each in said}
        inner = self._find_inner(mention, inputs) if mention.name else InnerPipeline(mention, inputs)
        constants = {name: each[CONSTANT] for name, each in objects_in(members, "inputs") if CONSTANT in each}
        inner = replace(inner, constants=constants)
        within = inner.pipeline
        last = within.by_id.get(within.output.name) if within is not None and within.output is not None else None
        name, own = text_in(members, "id") or None, _read_conduct(members, at)
        given = {member: found for member in CONDUCT if (found := self._find_given(member, name, own)) is not None}
        result = Miss.UNKNOWABLE if last is None else last.result
        decided = conduct(own, given, result, self._schemas)
        return Stage(
            id=name,
            at=at,
            profile=Profile.OBJECT,
            members={} if last is None else {**last.members, "id": name},
            body=Body("", at),
            allowed=(),
            completion=None,
            result=result,
            inputs=None,
            conduct=decided if last is None else replace(decided, checks=(*decided.checks, *last.conduct.checks)),
            known=Memo(),
            inner=inner,
        )

    def _schema(self, given: Json, at: Place) -> Schema | Miss:
        if not isinstance(given, dict):
            return Miss.UNKNOWABLE
        schema = Schema(given, at)
        self._schemas.embed(schema)
        return schema

    def _find_given(self, member: str, stage: str | None, own: Mapping[str, Written]) -> Written | None:
        """Return the pipeline's value of one member of a stage's conduct."""
        said = object_of(self._body.get(member))
        if stage is None or (stage not in said and member in own):
            return None
        name = stage if stage in said else self._misspelt.get((member, stage))
        return Written(said[name], self._at / member / name) if name is not None else None

    def _guess_routes(self, stages: set[str]) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield the stages that a pipeline names with a slip, and the wrong name."""
        names, guessed = NameIndex(stages), set(self._guess_names())
        for each in self._list_routed():
            if each.name not in stages and each.name not in guessed and (meant := names.nearest(each.name)):
                yield (str(each.at.pointer[0]), meant), each.name

    def _list_routed(self) -> Iterator[Mention]:
        for member in CONDUCT:
            yield from (Mention(name, self._at / member / name) for name in object_of(self._body.get(member)))

    def _entry(self) -> Mention | None:
        return next((found for name in _ENTRIES if (found := _mention(self._body, name, self._at))), None)

    def _patterns(self) -> tuple[StagePattern, ...]:
        return tuple(
            StagePattern(each.text, self._at / "stages" / each.index, bool(each.files), each.searched)
            for each in self._bundle.listed
            if each.index is not None
        )

    def _context(self) -> Mapping[str, Schema] | None:
        if "context" not in self._body:
            return None
        found = object_of(self._body["context"])
        context = {name: Schema(each, self._at / "context" / name) for name, each in found.items()}
        for schema in context.values():
            self._schemas.embed(schema)
        return context

    def _is_filled(self, stage: Stage, case: Case) -> bool:
        """Tell whether the list for whose elements a case runs stages has one in every run."""
        root, *inside = case.each.path if case.each is not None else ("",)
        name, *below = inside or ("",)
        is_input = root == "ctx"
        schema = (self._context() or {}).get(name) if is_input else stage.result
        if not isinstance(schema, Schema):
            return False
        promised = promise(self._schemas, schema, below if is_input else inside, of_object=not is_input)
        every = [list_possible(self._schemas, group) for group in promised.ends]
        return bool(every) and all(
            max(numbers(each, "minItems"), default=0) > 0 for possible in every for each in possible or (_ANYTHING,)
        )

    def _references(self, stages: tuple[Stage, ...]) -> Iterator[Reference]:
        """Yield the references of every schema, and of the files that they lead to, each once."""
        held = [each for stage in stages for each in (stage.result, stage.inputs)]
        todo = [references_in(self._schemas, each) for each in held if isinstance(each, Schema)]
        todo += [references_in(self._schemas, each) for each in (self._context() or {}).values()]
        seen = {self._at.file, *(stage.at.file for stage in stages)}
        for references in todo:  # grows while it is walked
            for each in references:
                yield each
                if isinstance(each.found, Schema) and each.found.at.file not in seen:
                    seen.add(each.found.at.file)
                    todo.append(references_in(self._schemas, self._schemas.root(each.found.at.file)))

    def _list_configured(self) -> Iterator[Mention]:
        """Yield the entries that configurations of a state machine name."""
        beside = self._bundle.configuration
        for body, at in (
            (self._body.get("config"), self._at / "config"),
            *(((beside.value, beside.at),) if beside is not None and beside.readable else ()),
        ):
            named = _mention(object_of(body), "entry", at)
            if named is not None:
                yield named

    def _catalogue(self, tools: Mention | None) -> Catalogue | None:
        if self._bundle.pipeline is None:  # stages that no pipeline lists, often in a folder below one
            return find_nearby(self._sources, self._at.file)
        folder = posixpath.dirname(self._at.file)
        file = join(folder, tools.name) if tools is not None else find_catalogue(self._sources, folder)
        return read_catalogue(self._sources, file) if file is not None else None


_ANYTHING = Combination((), None, whole=False)
"""What may be where the alternatives of a schema are too many."""


def _is_faultless(stage: Stage) -> bool:
    """Tell whether no condition of a stage has names to compare a wrong one with."""
    cases = (each.when for each in stage.conduct.cases)
    checks = (each.when for each in stage.conduct.checks)
    conditions = (each for when in (*cases, *checks) for each in when)
    return not any(each.promised is not None and each.promised.near for each in conditions)


def _by_id(stages: tuple[Stage, ...]) -> Mapping[str, Stage]:
    """Return stages by id; of several with one id the first counts."""
    found: dict[str, Stage] = {}
    for stage in stages:
        if stage.id is not None:
            found.setdefault(stage.id, stage)
    return found


def _is_nameless(tree: Tree) -> bool:
    """Tell whether it cannot be read by which name the stage of a file is mentioned."""
    if not tree.readable or any(fault.at.pointer == ("id",) for fault in tree.about("repeated-key")):
        return True
    return isinstance(tree.value, dict) and text_in(tree.value, "id") is None


_DECIDING = frozenset({"entry", "entryStage", "next"})
_DECIDING_OF_STAGE = frozenset({"id", "next"})


def _decides(fault: Fault) -> bool:
    """Tell whether a fault of a pipeline may hide where runs go."""
    if fault.at.range is not None or fault.topic == "unknown-key":
        return False
    first, *rest = fault.at.pointer or ("",)
    if first == "stages":
        return len(rest) < _MEMBER or rest[1] in _DECIDING_OF_STAGE
    return not first or first in _DECIDING


_MEMBER = 2
"""The index and the name lead to a member of a stage object."""


def _read_conduct(given: Json, at: Place) -> Mapping[str, Written]:
    return {name: Written(each, at / name) for name, each in object_of(given).items() if name in CONDUCT}


def _mention(body: Object, member: str, at: Place) -> Mention | None:
    name = text_in(body, member)
    return Mention(name, at / member) if name else None


def _count(given: Json) -> int | None:
    """Return a whole number greater than 0; JSON Schema counts `5.0` among the integers."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return int(given) if given > 0 and given % 1 == 0 else None
