"""Write stages, pipelines and configurations as projects that are only texts, and see what stagec says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import NOTHING, value
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome
from stagec.languages.stages.document import REQUIRED
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Answered, Cancelled, Effect, Event, Started, read_key
from stagec.runtime.machine.program import program_of
from stagec.runtime.machine.state import State, StepResult, TraceEvent
from stagec.sources.project.settings import Settings

CODE = ("id", "body", "allowedTools", "turnCap", "completionTool", "completionSchema")
"""What a stage object can say."""
_FILLED: Mapping[str, Any] = {
    "name": "A stage",
    "allowedTools": [],
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "resolutionPolicy": "fail",
}


def diagnose_files(files: Mapping[str, str], named: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """Return what stagec says of a project that is only texts; without names it looks for the files by itself."""
    with TemporaryDirectory() as folder:
        return _compile(Path(folder), files, named).diagnostics


def freeze_pipeline(document: Mapping[str, Any]) -> tuple[tuple[Diagnostic, ...], Plan]:
    """Return what stagec says of a pipeline that holds its stages as objects, and its plan, even with errors."""
    with TemporaryDirectory() as folder:
        compilation = _compile(Path(folder), {"pipeline.json": json.dumps(document)})
        (meaning,) = compilation.meanings
        return compilation.diagnostics, meaning.plan()


def _compile(folder: Path, files: Mapping[str, str], named: Iterable[str] = ()) -> Compilation:
    overlay = {file: text.encode("utf-8", "surrogatepass") for file, text in files.items()}
    root = folder.resolve()
    paths = tuple(root / file for file in (named or files))
    return compile_project(Project(root, paths, Settings(), overlay))


def machine(stages: Any, entry: Any, **members: Any) -> dict[str, Any]:
    """Return a pipeline that holds its stages as objects."""
    return {"id": "row", "entry": entry, "stages": stages, **members}


def minimal(name: str) -> dict[str, Any]:
    """Return a stage object that nothing is wrong with."""
    tool = "hand_in_" + "".join(each if each.isalnum() else "_" for each in name)
    schema = {"type": "object", "title": name}
    made = {"id": name, "body": f"Call {tool}.", "allowedTools": [], "turnCap": 1}
    return {**made, "completionTool": tool, "completionSchema": schema}


def list_named(following: Any) -> tuple[str, ...]:
    """Return the stages that a route names, each once; its join is not among them."""
    given = following if isinstance(following, dict) else {}
    listed = given.get("nextStages", given.get("stages"))
    return tuple(dict.fromkeys(each for each in listed if isinstance(each, str))) if isinstance(listed, list) else ()


def context_of(declared: Any) -> dict[str, Any]:
    """Return what a pipeline says of the context whose names a row lists."""
    if not isinstance(declared, dict):
        return {}
    names = (*declared.get("required", ()), *declared.get("optional", ()))
    return {"context": {name: {} for name in names}}


def markdown(stage: Mapping[str, Any], filled: Iterable[str] = ()) -> str:
    """Return a stage object as a Markdown file; of the members it lacks, those to be filled are."""
    given = {key: each for key, each in stage.items() if key not in {"body", "next"}}
    given |= {key: _FILLED[key] for key in filled if key in _FILLED and key not in given}
    if "next" in stage:
        given["stagec"] = {"next": stage["next"]}
    lines = "".join(f"{json.dumps(key)}: {json.dumps(each)}\n" for key, each in given.items())
    return f"---\n{lines}---\n{stage.get('body', 'Do it.')}\n"


def lacking(stage: Mapping[str, Any]) -> list[str]:
    """Return the required members that a Markdown stage does not have."""
    return [each for each in REQUIRED if each not in stage]


def slug_of_file(name: str) -> str:
    """Return the file in which a Markdown stage of some name lies."""
    return f"stages/{name}.md"


_OF_SCHEMAS = re.compile(r"STG16\d")
_CODE = re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z]+")
_FALLBACK = "Validation/StageDefinitionInvalid"
_ORDER = ("StageTurnCapTooLow", "StageCtxUnresolved", "StageCompletionSchemaInvalid", "StageJoinDangling")
"""In which order upstream looks at one stage; it tells only the first fault."""
_MISTYPED = {"STG171", "STG172"}


def verdict(found: Iterable[Diagnostic], document: Any) -> dict[str, Any]:
    """Return whether something is in order, the slugs of all that is not, and what upstream would say first."""
    told = tuple(found)
    errors = [each for each in told if each.severity is Severity.ERROR]
    answer: dict[str, Any] = {"ok": not errors, "rules": rules(told)}
    if errors:
        first = min(errors, key=_rank)
        kind, _, code = _code(first).partition("/")
        answer |= {"class": kind, "code": code, "path": _path(first, document), "context": _context(first, document)}
    return answer


def rules(found: Iterable[Diagnostic]) -> list[str]:
    """Return the slugs of the specification that diagnostics are about."""
    return sorted({slug for each in found if each.severity is not Severity.NOTE for slug in _slugs(each)})


def _slugs(each: Diagnostic) -> Iterable[str]:
    yield from (origin.rpartition(":")[2] for origin in each.origin if origin.startswith("stage-definitions:"))
    member = next((key for key in _inside(each.at.pointer) if isinstance(key, str)), None)
    ending = "type" if each.code in _MISTYPED else "invalid" if _OF_SCHEMAS.match(each.code) else None
    if ending is not None and member is not None:
        yield re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", f"{member}-{ending}")


def _code(each: Diagnostic) -> str:
    if _OF_SCHEMAS.match(each.code) and "completionSchema" in each.at.pointer:
        return "Validation/StageCompletionSchemaInvalid"
    return next((origin for origin in each.origin if _CODE.fullmatch(origin)), _FALLBACK)


def _rank(each: Diagnostic) -> tuple[int, Pointer]:
    code = _code(each).partition("/")[2]
    return _ORDER.index(code) if code in _ORDER else len(_ORDER), tuple(map(str, each.at.pointer))


def _inside(pointer: Pointer) -> Pointer:
    """Return the way inside a stage: of a pipeline's stages, or of routes that it gives to one."""
    if pointer[:1] == ("stages",):
        return pointer[2:]
    return (pointer[0], *pointer[2:]) if pointer[:1] == ("next",) else pointer


def _path(each: Diagnostic, document: Any) -> str:
    member, *rest = (*_inside(each.at.pointer), "")[:3]
    if member == "body":
        names = re.findall(r"ctx\.(\w+)", str(_stage(each, document).get("body", "")))
        rest = [next((name for name in names if re.search(rf"\b{re.escape(name)}\b", each.message)), "")]
    shown = f"#{rest[0]}" if member in {"next", "body"} and rest and rest[0] else ""
    return f"/{member}{shown}"


def _context(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    slugs = set(_slugs(each))
    if "entry-unknown" in slugs:
        return {"entryStage": document.get("entry")}
    name = _stage(each, document).get("id")
    return {"duplicateId": name} if "id-duplicate" in slugs else {"stageId": name}


def _stage(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    """Return the stage object that a diagnostic is about, an empty one where it is about none."""
    stages = document.get("stages") if isinstance(document, dict) else None
    index = each.at.pointer[1] if each.at.pointer[:1] == ("stages",) and len(each.at.pointer) > 1 else None
    given = stages[index] if isinstance(index, int) and isinstance(stages, list) else None
    return given if isinstance(given, dict) else {}


HOOK = "rows.world:answer"
"""The callable that behaves as a row says the author's code does."""


@value
class World:
    """What answers requests, after how long, and when somebody wants the run to end; times are numbers without unit."""

    answer: Callable[[Effect], Json]
    delay: Callable[[Effect], float] = lambda _: 0
    cancelled: float | None = None


@value
class Trace:
    """What has happened in a run, in order: requests and events."""

    happened: tuple[Effect | TraceEvent, ...]
    outcome: Outcome | None

    @property
    def trace(self) -> tuple[TraceEvent, ...]:
        """The events alone."""
        return tuple(each for each in self.happened if isinstance(each, TraceEvent))

    def facts(self, name: str, **wanted: Json) -> list[Mapping[str, Any]]:
        """Return the facts of the events of a name, of those that say what is wanted."""
        named = (each.facts for each in self.trace if each.name == name)
        return [facts for facts in named if all(facts.get(key) == each for key, each in wanted.items())]

    def effects(self, kind: type) -> list[Any]:
        """Return the requests of one kind."""
        return [each for each in self.happened if type(each) is kind]

    @property
    def error(self) -> str | None:
        """The failure with which the run has ended, as `Class/Code`."""
        told = [each["error"] for each in self.facts("WorkflowExit") if "error" in each]
        return f"{told[0]['class']}/{told[0]['code']}" if told else None


def run(plan: Plan, world: World, inputs: Mapping[str, Json] = NOTHING) -> Trace:
    """Return what happens in a run: requests are answered when they are due, those of one time in their order."""
    program, step = program_of(plan), StepResult(State())
    happened: list[Effect | TraceEvent] = []
    due: dict[str, tuple[float, Effect]] = {}
    event: Event | None = Started("row", inputs=inputs)
    now, cancelled = 0.0, world.cancelled
    while event is not None:
        step = advance(program, step.state, event)
        happened += [*step.trace, *step.effects]
        due = {key: each for key, each in due.items() if key in step.state.pending}
        due |= {each.key: (now + world.delay(each), each) for each in step.effects}
        event, now = _next(due, world, cancelled)
        cancelled = None if isinstance(event, Cancelled) else cancelled
    return Trace(tuple(happened), step.state.ended)


def _next(due: Mapping[str, tuple[float, Effect]], world: World, cancelled: float | None) -> tuple[Event | None, float]:
    """Return what happens next and when; nothing when nothing is under way."""
    if not due:
        return None, 0.0
    when, effect = min(due.values(), key=_time)
    if cancelled is not None and cancelled <= when:
        return Cancelled(), cancelled
    return Answered(effect.key, world.answer(effect)), when


def _time(each: tuple[float, Effect]) -> float:
    return each[0]


def stage_of(effect: Effect) -> str:
    """Return the stage that asks."""
    return read_key(effect.key).node


def find_error(origins: Iterable[str]) -> str | None:
    """Return the failure at run time that a finding stands for, nothing when it stands for none."""
    return next((each for each in origins if each.startswith("ExtensionHost/")), None)
