"""From trees to pipelines: take what is well formed, leave out what is not, judge nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, list_mentions
from stagec.core.value import value
from stagec.ir.catalogue import Catalogue, find_catalogue, read_catalogue
from stagec.ir.catalogue.read import find_nearby
from stagec.languages.stages.document import PARALLEL, Body, Pipeline, Profile, Stage, StagePattern
from stagec.languages.stages.files import PipelineFiles, bundles, guess_names, objects
from stagec.languages.stages.placeholder_errors import markdown_body, object_body
from stagec.languages.stages.recognise import says_nothing_of_a_stage
from stagec.languages.stages.routes import Written, conduct, incoming
from stagec.sources.contract.reach import Reference, references_in
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources, join
from stagec.sources.tree import Fault, Tree

_CONDUCT = ("next", "checks", "gate", "hooks")
_ENTRIES = ("entry", "entryStage")


def read(sources: Sources, files: tuple[str, ...]) -> tuple[Pipeline, ...]:
    """Return the pipelines that the files are or belong to, and the stages that belong to none."""
    found, schemas = map(_readable, bundles(sources, files)), Schemas(sources)
    return tuple(_Reading(sources, schemas, each).pipeline() for each in found if each.pipeline or each.stages)


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


class _Reading:
    """Reads one pipeline with its stages."""

    def __init__(self, sources: Sources, schemas: Schemas, bundle: PipelineFiles) -> None:
        self._sources = sources
        self._schemas = schemas
        self._bundle = bundle
        self._body = object_of(bundle.pipeline.value) if bundle.pipeline is not None else {}
        self._at = bundle.pipeline.at if bundle.pipeline is not None else Place(bundle.stages[0].file)
        self._misspelt: dict[tuple[str, str], str] = {}
        self._tools = _mention(self._body, "tools", self._at)

    def pipeline(self) -> Pipeline:
        by_id, entry = _by_id(stages := self._stages()), self._entry()
        return Pipeline(
            id=self._name(),
            at=self._at,
            body=self._body,
            is_declared=self._bundle.pipeline is not None,
            is_whole=self._is_whole(stages),
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
            incoming=incoming(entry, by_id) if self._bundle.pipeline is not None else {},
            schemas=self._schemas,
            memo=Memo(),
            references=tuple(self._references(stages)),
            configured=tuple(self._list_configured()),
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
        name = text_in(members, "id") or None
        result = self._schema(members.get("completionSchema"), at / "completionSchema")
        inputs = self._schema(members["inputsSchema"], at / "inputsSchema") if "inputsSchema" in members else None
        own = (
            _read_conduct(members, at)
            if source.profile is Profile.OBJECT
            else _read_conduct(members.get("stagec"), at / "stagec")
        )
        given = {member: found for member in _CONDUCT if (found := self._find_given(member, name, own)) is not None}
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
        )

    def _schema(self, given: Json, at: Place) -> Schema | Miss:
        if not isinstance(given, dict):
            return Miss.UNKNOWABLE
        schema = Schema(given, at)
        self._schemas.embed(schema)
        return schema

    def _find_given(self, member: str, stage: str | None, own: Mapping[str, Written]) -> Written | None:
        """Return what the pipeline says of one member of a stage's conduct."""
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
        for member in _CONDUCT:
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
    return {name: Written(each, at / name) for name, each in object_of(given).items() if name in _CONDUCT}


def _mention(body: Object, member: str, at: Place) -> Mention | None:
    name = text_in(body, member)
    return Mention(name, at / member) if name else None


def _count(given: Json) -> int | None:
    """Return a whole number greater than 0; JSON Schema counts `5.0` among the integers."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return int(given) if given > 0 and given % 1 == 0 else None
