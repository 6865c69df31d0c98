"""Completion at a position: keys, values and names of the project; also in a broken text."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Object, list_of, object_of
from stagec.core.place import Pointer
from stagec.core.value import value
from stagec.ir.catalogue import WELL_KNOWN
from stagec.ir.flow import NODES, NameKind
from stagec.languages import Flow
from stagec.languages.stages.document import CONSTANT, Pipeline
from stagec.lsp.cursor import TextCursor, find_cursor
from stagec.lsp.hover import describe_member, find_kind, find_schemas, find_syntax
from stagec.lsp.name_places import KIND_OF_NODE, read_places
from stagec.lsp.positions import Point, Stretch, TextLines
from stagec.lsp.workspace import CheckedProject
from stagec.sources.contract.schemas import Schema

_ANY = None
_EACH = 0
Pattern = tuple[str | int | None, ...]
"""The end of a pointer, in which None stands for any key, and 0 for any index."""

_VALUES: Mapping[str, tuple[tuple[Pattern, NameKind], ...]] = {
    "registry": (
        (("transitions", _ANY, "target"), NameKind.STEP),
        (("transitions", _ANY, "fallback"), NameKind.STEP),
        (("targets", _ANY), NameKind.STEP),
        (("entryStep",), NameKind.STEP),
        (("entryStepMapping", _ANY), NameKind.STEP),
        (("entryStepMapping", _ANY, _ANY), NameKind.STEP),
        (("validator",), NameKind.VALIDATOR),
        (("retry", "preflightConditions", _ANY), NameKind.VALIDATOR),
        (("retry", "postLLMConditions", _ANY), NameKind.VALIDATOR),
        (("failurePattern",), NameKind.PATTERN),
        (("patternRef",), NameKind.PATTERN),
        (("uvVariables", _ANY), NameKind.VARIABLE),
    ),
    "pipeline": (
        (("entry",), NameKind.STAGE),
        (("entryStage",), NameKind.STAGE),
        (("output",), NameKind.STAGE),
        (("next", _ANY), NameKind.STAGE),
        (("next", _ANY, _EACH), NameKind.STAGE),
        (("next", _ANY, "stages", _ANY), NameKind.STAGE),
        (("next", _ANY, _ANY, "stages", _ANY), NameKind.STAGE),
        (("join",), NameKind.STAGE),
        (("allowedTools", _ANY), NameKind.TOOL),
    ),
    "stage": (
        (("allowedTools", _ANY), NameKind.TOOL),
        (("next",), NameKind.STAGE),
        (("next", _EACH), NameKind.STAGE),
        (("stages", _ANY), NameKind.STAGE),
        (("join",), NameKind.STAGE),
    ),
    "stage_plan": ((("dependencies", _ANY), NameKind.ENVELOPE), (("inputs", _ANY), NameKind.ENVELOPE)),
    "workflow": (
        (("labelMapping", _ANY), NameKind.PHASE),
        (("outputPhase",), NameKind.PHASE),
        (("outputPhases", _ANY), NameKind.PHASE),
        (("fallbackPhase",), NameKind.PHASE),
        (("fallbackPhases", _ANY), NameKind.PHASE),
        (("phases", _ANY, "agent"), NameKind.AGENT),
        (("fromAgent",), NameKind.AGENT),
    ),
}
"""The places of names in documents of a kind."""
_VALUES_OF_TESTS: tuple[Pattern, ...] = (("expect", "path", _ANY), ("scenario", "entry"))
_KEYS: Mapping[str, tuple[tuple[Pattern, NameKind], ...]] = {
    "pipeline": tuple(
        ((member,), NameKind.STAGE) for member in ("next", "checks", "gate", "hooks", "policy", "deadline")
    ),
}
_KEYS_OF_TESTS: tuple[Pattern, ...] = (
    *(("scenario", each) for each in ("answers", "conversations", "processes", "judge", "confirm")),
    *(("expect", each) for each in ("results", "visits", "attempts", "prompts", "tools", "accepts", "refuses")),
)
_INPUTS: Pattern = ("stages", _EACH, "inputs")
_INTENTS: tuple[Pattern, ...] = (
    ("steps", _ANY, "transitions"),
    ("steps", _ANY, "structuredGate", "allowedIntents", _ANY),
)
_EVERY_INTENT = ("next", "repeat", "jump", "handoff", "closing", "escalate", "abort")
_SAME_KIND = {"envelope": "stage_plan", "configuration": "pipeline", "stage_object": "stage"}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "~", "-", "---"})


@value
class Proposal:
    """A proposal: its label, its kind, its text with the place, and its meaning."""

    label: str
    sort: str
    text: str
    where: Stretch
    told: str = ""


def complete(known: CheckedProject, file: str, text: str, point: Point) -> list[Proposal]:
    """Return the proposals for a position in the text of a file.

    `known` is the project as it was when the file could be read last: in a broken file nothing has a name.
    """
    lines = TextLines(text)
    cursor = find_cursor(text, lines.offset(point), find_syntax(file))
    if cursor is None:
        return []
    where, asked = lines.stretch(cursor.start, cursor.end), _Proposals(known, file, text, cursor)
    if cursor.is_placeholder:
        return [Proposal(name, "variable", name, where, told) for name, told in asked.list_placeholders()]
    found: dict[str, Proposal] = {}
    for name, sort, told in (*asked.list_keys(), *asked.list_values()):
        found.setdefault(name, Proposal(name, sort, asked.write(name, sort), where, told))
    return list(found.values())


class _Proposals:
    """The proposals for one position."""

    def __init__(self, project: CheckedProject, file: str, text: str, cursor: TextCursor) -> None:
        self._project = project
        self._file = file
        self._text = text
        self._cursor = cursor
        kind = find_kind(project, file)
        self._kind = _SAME_KIND.get(kind, kind)

    def list_keys(self) -> Iterator[tuple[str, str, str]]:
        if not self._cursor.is_key:
            return
        for pattern, named in _KEYS.get(self._kind, ()):
            if _fits(self._cursor.pointer, pattern):
                yield from ((name, "key", str(named)) for name in self._list_names(named))
        if self._kind == "pipeline" and _fits(self._cursor.pointer, _INPUTS):
            yield from ((name, "key", "an input of the pipeline") for name in self._list_inputs())
        if self._kind == "flow test" and any(_fits(self._cursor.pointer, pattern) for pattern in _KEYS_OF_TESTS):
            yield from ((name, "key", "") for name in self._list_nodes())
        if self._kind == "registry" and _fits(self._cursor.pointer, _INTENTS[0]):
            yield from ((intent, "key", "intent") for intent in self._list_intents())
        for schema in find_schemas(self._project, self._file, self._text, self._cursor.pointer):
            for name in object_of(schema.get("properties")):
                if name not in self._cursor.siblings:
                    yield name, "key", describe_member(schema, name)

    def list_values(self) -> Iterator[tuple[str, str, str]]:
        # beside other keys there can only be a key
        if not self._cursor.is_value or (self._cursor.is_key and self._cursor.siblings):
            return
        for pattern, named in _VALUES.get(self._kind, ()):
            if _fits(self._cursor.pointer, pattern):
                yield from ((name, str(named), str(named)) for name in self._list_names(named))
        if self._cursor.pointer[-1:] == ("forEach",):
            yield from ((path, "variable", "a list") for path in self._list_lists())
        if self._kind == "pipeline":
            yield from self._list_given()
        if self._kind == "pipeline" and _fits(self._cursor.pointer, ("stages", _EACH, "pipeline")):
            folder = posixpath.dirname(self._file) or "."
            others = (
                each.at.file for each in self._list_pipelines() if each.is_declared and each.at.file != self._file
            )
            yield from ((posixpath.relpath(file, folder), "value", "a pipeline") for file in others)
        if self._kind == "flow test" and any(_fits(self._cursor.pointer, pattern) for pattern in _VALUES_OF_TESTS):
            yield from ((name, "node", "") for name in self._list_nodes())
        if self._kind == "registry" and _fits(self._cursor.pointer, _INTENTS[1]):
            yield from ((intent, "intent", "intent") for intent in self._list_intents())
        for schema in find_schemas(self._project, self._file, self._text, self._cursor.pointer):
            yield from ((name, "value", "") for name in _list_constants(schema))

    def list_placeholders(self) -> Iterator[tuple[str, str]]:
        """Yield the paths of placeholders: what a run is given, and what the stages before have made."""
        own = {each.occurrence.owner for each in read_places(self._project).list_in(self._file)}
        for each in read_places(self._project).list_known(NameKind.VARIABLE):
            if each.owner in own or not own:
                is_parameter = each.whole is not None and "parameters" in each.whole.pointer
                yield (f"uv-{each.name}" if is_parameter else f"ctx.{each.name}"), "an input of the run"
        if not self._cursor.word.startswith("uv-"):
            for name in ("ctx.upstream", "ctx.workflowRunId", "ctx.stageExecutionId", "stage.id", "stage.name"):
                yield name, "given to every stage"

    def write(self, name: str, sort: str) -> str:
        """Return a name as the syntax wants it: with quotes where it needs some, and a key with its colon."""
        rest = self._text[self._cursor.end :].lstrip("\"'")
        has_colon = rest.lstrip(" \t").startswith(":")
        if self._cursor.syntax == "json":
            is_literal = sort == "value" and name in {"true", "false", "null"}
            written = name if self._cursor.is_quoted or is_literal else json.dumps(name, ensure_ascii=False)
            return f"{written}: " if sort == "key" and not has_colon and not self._cursor.is_quoted else written
        is_plain = set(name) <= _PLAIN or (":" in name and ": " not in name and not name.startswith(("-", ":")))
        is_safe = is_plain and (name not in _WORDS or sort == "value") and not name[:1].isdigit()
        written = name if self._cursor.is_quoted or is_safe else json.dumps(name, ensure_ascii=False)
        return f"{written}: " if sort == "key" and not has_colon and not self._cursor.is_quoted else written

    def _list_names(self, kind: NameKind) -> Iterator[str]:
        yield from dict.fromkeys(each.name for each in read_places(self._project).list_known(kind))
        if kind is NameKind.TOOL:
            yield from (name for name in WELL_KNOWN if name[:1].isupper())

    def _list_nodes(self) -> Iterable[str]:
        """Return the nodes of the flows near a file of flow tests."""
        flows: tuple[Flow, ...] = () if self._project.compilation is None else self._project.compilation.flows
        folder = self._file.rpartition("/")[0]
        near = [flow for flow in flows if flow.at.file.rpartition("/")[0] == folder] or flows
        return dict.fromkeys(
            name for flow in near for name in flow.nodes if KIND_OF_NODE.get(flow.names.get("node", "")) in NODES
        )

    def _list_pipelines(self) -> list[Pipeline]:
        compiled = self._project.compilation
        return [each for each in (() if compiled is None else compiled.documents) if isinstance(each, Pipeline)]

    def _list_inputs(self) -> Iterator[str]:
        """Return the inputs of the pipeline that runs as the stage at the position, those that are not given yet."""
        context = self._list_context(self._cursor.pointer[:-1])
        return (name for name in context if name not in self._cursor.siblings)

    def _list_given(self) -> Iterator[tuple[str, str, str]]:
        """Yield the possible inputs of a pipeline that runs as a stage: names of the context, values of a constant."""
        pointer = self._cursor.pointer
        if _fits(pointer, (*_INPUTS, _ANY)):
            own = (each for each in self._list_pipelines() if each.at.file == self._file)
            yield from ((f"ctx.{name}", "variable", "an input of the run") for one in own for name in one.context or ())
        if _fits(pointer, (*_INPUTS, _ANY, CONSTANT)):
            wanted = self._list_context(pointer[:-3]).get(str(pointer[-2]))
            known = () if wanted is None else _list_constants(object_of(wanted.value))
            yield from ((name, "value", "a value of the input") for name in known)

    def _list_context(self, stage: Pointer) -> Mapping[str, Schema]:
        """Return the context of the pipeline that runs as a stage of the file."""
        for each in (one for pipeline in self._list_pipelines() for one in pipeline.inner):
            within = each.inner.pipeline if each.inner is not None else None
            if (each.at.file, each.at.pointer) == (self._file, stage) and within is not None:
                return within.context or {}
        return {}

    def _list_lists(self) -> Iterator[str]:
        """Yield the paths to the lists that a stage has found and that runs are given."""
        pointer = self._cursor.pointer
        for pipeline in self._list_pipelines():
            for stage in pipeline.stages:
                is_named = pipeline.at.file == self._file and pointer[:2] == ("next", stage.id)
                if (is_named or stage.at.file == self._file) and isinstance(stage.result, Schema):
                    yield from (f"parsed.{name}" for name in _list_arrays(object_of(stage.result.value)))
            if self._file in {pipeline.at.file, *(stage.at.file for stage in pipeline.stages)}:
                context = {name: each.value for name, each in (pipeline.context or {}).items()}
                yield from (f"ctx.{name}" for name in _list_arrays({"properties": context}))

    def _list_intents(self) -> Iterable[str]:
        """Return the intents that a step allows in its gate, first, and all that the published schema knows."""
        tree = self._project.find_tree(self._file)
        step = object_of(
            object_of(object_of(None if tree is None else tree.value).get("steps")).get(str(self._cursor.pointer[1]))
        )
        gate = object_of(step.get("structuredGate"))
        is_gate = "structuredGate" in self._cursor.pointer
        allowed = [each for each in list_of(gate.get("allowedIntents")) if isinstance(each, str)]
        schemas = find_schemas(self._project, self._file, self._text, ("steps", self._cursor.pointer[1], "transitions"))
        listed = [name for schema in schemas for name in object_of(schema.get("properties"))]
        return dict.fromkeys((*(() if is_gate else allowed), *(listed or _EVERY_INTENT)))


def _fits(pointer: Pointer, pattern: Pattern) -> bool:
    end = pointer[len(pointer) - len(pattern) :] if len(pointer) >= len(pattern) else ()
    pairs = zip(pattern, end, strict=False)
    fitting = (want is _ANY or want == key or (want == _EACH and isinstance(key, int)) for want, key in pairs)
    return len(end) == len(pattern) and all(fitting)


def _list_arrays(schema: Object) -> Iterator[str]:
    members = object_of(schema.get("properties")).items()
    return (name for name, each in members if object_of(each).get("type") == "array")


def _list_constants(schema: Object) -> Iterator[str]:
    for each in (*list_of(schema.get("enum")), *([schema["const"]] if "const" in schema else [])):
        if isinstance(each, str):
            yield each
        elif each is None or isinstance(each, bool | int | float):
            yield json.dumps(each)
    if schema.get("type") == "boolean":
        yield from ("true", "false")
