"""Cases of stage definitions: files, and what is wrong in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json
from stagec.core.place import Place, Pointer
from stagec.core.value import NOTHING, value
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome
from stagec.languages.stages.document import REQUIRED
from stagec.languages.stages.placeholder_errors import object_body
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Answered, Cancelled, Effect, Event, Started, read_key
from stagec.runtime.machine.program import program_of
from stagec.runtime.machine.state import State, StepResult, TraceEvent
from stagec.sources.project.settings import Settings
from stagec_dev.rows import Agreement, Row

CODE = ("id", "body", "allowedTools", "turnCap", "completionTool", "completionSchema")
"""The members of a stage object."""
_FILLED: Mapping[str, Any] = {
    "name": "A stage",
    "allowedTools": [],
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "resolutionPolicy": "fail",
}


def diagnose_files(files: Mapping[str, str], named: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """Return the findings in a project of texts only; without names it looks for the files by itself."""
    with TemporaryDirectory() as folder:
        return _compile(Path(folder), files, named).diagnostics


def freeze_pipeline(document: Mapping[str, Any]) -> tuple[tuple[Diagnostic, ...], Plan]:
    """Return the findings in a pipeline that holds its stages as objects, and its plan, even with errors."""
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
    """Return a pipeline's declaration of the context whose names a row lists."""
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
        names = re.findall(r"ctx\.(\w+)", str(_stage_projects(each, document).get("body", "")))
        rest = [next((name for name in names if re.search(rf"\b{re.escape(name)}\b", each.message)), "")]
    shown = f"#{rest[0]}" if member in {"next", "body"} and rest and rest[0] else ""
    return f"/{member}{shown}"


def _context(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    slugs = set(_slugs(each))
    if "entry-unknown" in slugs:
        return {"entryStage": document.get("entry")}
    name = _stage_projects(each, document).get("id")
    return {"duplicateId": name} if "id-duplicate" in slugs else {"stageId": name}


def _stage_projects(each: Diagnostic, document: Any) -> Mapping[str, Any]:
    """Return the stage object that a diagnostic is about, an empty one where it is about none."""
    stages = document.get("stages") if isinstance(document, dict) else None
    index = each.at.pointer[1] if each.at.pointer[:1] == ("stages",) and len(each.at.pointer) > 1 else None
    given = stages[index] if isinstance(index, int) and isinstance(stages, list) else None
    return given if isinstance(given, dict) else {}


HOOK = "rows.world:answer"
"""The callable that behaves as a row says the author's code does."""


@value
class ToldWorld:
    """A world of answers with delays, and the time when somebody ends the run; times are numbers without unit."""

    answer: Callable[[Effect], Json]
    delay: Callable[[Effect], float] = lambda _: 0
    cancelled: float | None = None


@value
class Trace:
    """The record of a run, in order: requests and events."""

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


def run(plan: Plan, world: ToldWorld, inputs: Mapping[str, Json] = NOTHING) -> Trace:
    """Return the record of a run: requests are answered when they are due, those of one time in their order."""
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


def _next(
    due: Mapping[str, tuple[float, Effect]], world: ToldWorld, cancelled: float | None
) -> tuple[Event | None, float]:
    """Return the next event and its time; None when nothing is under way."""
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
    """Return the failure at run time that a finding stands for, None if it stands for none."""
    return next((each for each in origins if each.startswith("ExtensionHost/")), None)


Given = Mapping[str, Any]
_CONFIGURATION = ".config.json"
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEY = re.compile(r"^(?P<key>[A-Za-z]+):[ \t]*(?P<rest>.*)$", re.MULTILINE)
_LACKS = re.compile(r"lacks (?P<names>[^;]*)")


def rows_of(root: Path, file: str) -> Iterable[Row]:
    """Yield the rows that a file is: one for most, one for each result of `next` in a list."""
    text = (root / file).read_text(encoding="utf-8")
    if file.endswith(".md"):
        yield Row(file, Path(file).name, {"markdown": text})
        return
    document = json.loads(text)
    if isinstance(document, list) and document and all("nextResult" in each for each in document):
        for index, each in enumerate(document):
            yield Row(file, str(index), {"document": each})
    else:
        yield Row(file, Path(file).name, {"document": document, **dict(_machine(root / file))})


def _machine(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the machine that a configuration is for, where it lies beside it or in the folder above."""
    for folder in (path.parent, path.parent.parent) if path.name.endswith(_CONFIGURATION) else ():
        beside = folder / f"{path.name.removesuffix(_CONFIGURATION)}.json"
        if beside.exists():
            yield "machine", json.loads(beside.read_text(encoding="utf-8"))
            return


def answer(row: Row) -> Any:
    """Return the answer about a file; none about a file of other programs."""
    given = row.given
    if "markdown" in given:
        name = row.id
        found = diagnose_files({name: given["markdown"]}, (name,))
        return {**verdict(found, {}), "missing": _missing(found)}
    document = given["document"]
    if row.id.endswith(_CONFIGURATION):
        return _configuration_files(document, given.get("machine"))
    if isinstance(document, dict) and isinstance(document.get("stages"), list):
        return _partial(document) if "pipeline" in document else _whole(document)
    if isinstance(document, dict) and set(CODE[-2:]) <= document.keys():
        return verdict(diagnose_files({"row.json": json.dumps(document)}, ("row.json",)), document)
    return _results(document)


def compare_files(row: Row, got: Any) -> Agreement:
    """Tell whether an answer is what the corpus says of its files; what it says follows from what they hold."""
    right = got.get("ok")
    if "markdown" in row.given:
        header = row.given["markdown"].split("\n---", 1)[0]
        keys = {each["key"]: each["rest"] for each in _KEY.finditer(header)}
        wanted = {"field-missing"} if lacking(keys) else set()
        wanted |= set() if _KEBAB.fullmatch(keys.get("id", "")) else {"id-kebab-case"}
        found = wanted == {"field-missing", "id-kebab-case"}.intersection(got["rules"])
        right = found and got["missing"] == lacking(keys) and got["ok"] is not bool(wanted)
    elif "partial" in row.file:
        stages = row.given["document"]["stages"]
        right = got["missing"] == {each["id"]: lacking(each) for each in stages}
        right = right and got["rules"] == ["field-missing", "id-kebab-case"] and got["kebab"] == len(stages)
    elif "mutating" in got:
        right = right and got["mutating"]
    return Agreement.AGREE if right else Agreement.DISAGREE


def _missing(found: Iterable[Diagnostic]) -> list[str]:
    """Return the members that stagec says are missing."""
    told = (_LACKS.search(each.message) for each in found if "stage-definitions:field-missing" in each.origin)
    return [name for match in told if match is not None for name in re.findall(r"'([^']+)'", match["names"])]


def _configuration_files(document: Any, given: Any) -> Any:
    entry = document.get("entry") if isinstance(document, dict) else None
    name = entry if isinstance(entry, str) and entry else "plan"
    whole = given if given is not None else machine([minimal(name)], name)
    files = {"row.json": json.dumps(whole), f"row{_CONFIGURATION}": json.dumps(document)}
    told = [each for each in diagnose_files(files, ("row.json",)) if each.at.file.endswith(_CONFIGURATION)]
    return verdict(told, document)


def _whole(document: Given) -> Any:
    told = verdict(diagnose_files({"row.json": json.dumps(document)}, ("row.json",)), document)
    return {**told, "mutating": "parallel-mutating-sibling" in told["rules"]}


def _partial(document: Given) -> Any:
    """Judge stages of which only some members are given as Markdown, each in a file of its own."""
    stages = {slug_of_file(each["id"]): each for each in document["stages"]}
    order = [str(name) for name in document["pipeline"]]
    pipeline = {"id": "row", "entry": order[0], "stages": list(stages)}
    files = {"pipeline.yaml": json.dumps(pipeline), **{file: markdown(each) for file, each in stages.items()}}
    found = diagnose_files(files, ("pipeline.yaml",))
    missing = {each["id"]: _missing(one for one in found if one.at.file == file) for file, each in stages.items()}
    kebab = sum("stage-definitions:id-kebab-case" in each.origin for each in found)
    errors = [each for each in found if each.severity == "error"]
    return {"ok": not errors, "missing": missing, "kebab": kebab, "rules": rules(errors)}


def _results(document: Any) -> Any:
    """Judge every result of `next` in a document, each in a pipeline that has the stages it names."""
    told = [
        verdict(diagnose_files({"pipeline.json": json.dumps(each)}), each) for each in map(_around, _find(document))
    ]
    slugs = sorted({slug for each in told for slug in each["rules"]})
    return {"ok": all(each["ok"] for each in told), "rules": slugs, "judged": len(told)}


def _around(result: Given) -> dict[str, Any]:
    join = result.get("join")
    names = dict.fromkeys((*list_named(result), *((join,) if isinstance(join, str) else ())))
    return machine([{**minimal("first"), "next": result}, *map(minimal, names)], "first")


def _find(given: Any) -> Iterator[Given]:
    for key, each in given.items() if isinstance(given, dict) else enumerate(given if isinstance(given, list) else ()):
        if key == "nextResult" and isinstance(each, dict):
            yield each
        else:
            yield from _find(each)


_OF_PROMPTS = ("placeholder-", "ctx-", "upstream-", "stage-ref-")
_FILE = "pipeline.json"


def _stage_cases(given: Given) -> Any:
    following = given.get("next")
    if following is not None and not isinstance(following, dict):
        return {"applicable": False}
    stage = dict(given["stage"], **({} if following is None else {"next": following}))
    others = [minimal(name) for name in list_named(following) if name != stage.get("id")]
    document = machine([stage, *others], stage.get("id") or "none", **context_of(given.get("contextSchema")))
    answer = verdict(diagnose_files({_FILE: json.dumps(document)}), document)
    return {**answer, "placeholders": {"code-0.1": _of_prompts(answer["rules"]), "wiki-1.0": _in_markdown(given)}}


def _in_markdown(given: Given) -> list[str]:
    """Return the findings for the same prompt in a Markdown stage."""
    stage = {**given["stage"], "id": "row"}
    pipeline = {"id": "row", "entry": "row", "stages": ["row.md"], **context_of(given.get("contextSchema"))}
    files = {"pipeline.yaml": json.dumps(pipeline), "row.md": markdown(stage, lacking(stage))}
    return _of_prompts(rules(diagnose_files(files, ("pipeline.yaml",))))


def _of_prompts(slugs: list[str]) -> list[str]:
    return [slug for slug in slugs if slug.startswith(_OF_PROMPTS)]


def _pipeline(given: Given) -> Any:
    document = machine(given.get("stages"), given.get("entry"), **context_of(given.get("contextSchema")))
    return verdict(diagnose_files({_FILE: json.dumps(document)}), document)


def _shape(given: Given) -> Any:
    """Judge one stage under both profiles.

    A row with members that stage objects do not have is about these; then what else a Markdown stage needs is filled
    in, otherwise only what a stage object cannot say.
    """
    stage = given["value"]
    document = machine([stage], stage.get("id") or "none" if isinstance(stage, dict) else "none")
    as_object = verdict(diagnose_files({_FILE: json.dumps(document)}), document)
    if not isinstance(stage, dict):
        return {"ok": False, "profiles": {"code-0.1": as_object}}
    about = set(stage) - set(CODE)
    filled = [key for key in lacking(stage) if about or key not in CODE]
    found = diagnose_files({"row.md": markdown(stage, filled)}, ("row.md",))
    return {"ok": as_object["ok"], "profiles": {"code-0.1": as_object, "wiki-1.0": verdict(found, stage)}}


def _configuration_cases(given: Given) -> Any:
    config = given["value"]
    entry = config.get("entry") if isinstance(config, dict) else None
    name = entry if isinstance(entry, str) and entry else "plan"
    files = {"row.json": json.dumps(machine([minimal(name)], name)), "row.config.json": json.dumps(config)}
    told = [each for each in diagnose_files(files, ("row.json",)) if each.at.file == "row.config.json"]
    return verdict(told, config)


def _references(given: Given) -> Any:
    body = object_body(str(given["body"]), Place(""))
    return {"refs": [each.path[1] for each in body.placeholders if each.path[0] == "ctx"]}


ANSWERS: Mapping[str, Callable[[Given], Any]] = {
    "validate-stage-definition": _stage_cases,
    "validate-sm-stages": _pipeline,
    "stage-definition-schema": _shape,
    "sm-config-schema": _configuration_cases,
    "extract-ctx-references": _references,
}


def compare(given: Given, got: Any) -> Agreement:
    """Tell how an answer stands to stagec's own in a row, or to upstream's where there is no other."""
    if "refs" in given:
        return _agree(dict.fromkeys(given["refs"]) == dict.fromkeys(got.get("refs", ())))
    wanted = given.get("stagec", given.get("expect", {"ok": given.get("ok")}))
    if isinstance(wanted, str):
        return _agree(_as_told(wanted, got))
    if not isinstance(wanted, dict) or ("ok" not in wanted and "valid" not in wanted):
        return Agreement.UNKNOWN
    judged = got.get("profiles", {}).get(wanted.get("profile", "code-0.1"), got)
    return _agree(_meets(wanted, judged))


def _as_told(wanted: str, got: Any) -> bool:
    """Tell whether an answer is what a sentence says."""
    if wanted.startswith("not applicable"):
        return got.get("applicable") is False
    return bool(got.get("ok") and got.get("placeholders", {}).get("wiki-1.0"))


def _meets(wanted: Given, judged: Any) -> bool:
    right = judged.get("ok") is wanted.get("ok", wanted.get("valid"))
    same = all(judged.get(key) == wanted[key] for key in ("class", "code", "path") if key in wanted)
    context = judged.get("context", {})
    known = all(context.get(key) == each for key, each in wanted.get("context", {}).items())
    slug = str(wanted.get("rule", "")).partition(" ")[0]
    return right and same and known and (not slug or slug in judged.get("rules", ()))


def _agree(right: object) -> Agreement:
    return Agreement.AGREE if right else Agreement.DISAGREE
