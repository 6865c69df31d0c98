"""Rows of stage plans and of frontmatter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json, Object
from stagec.core.place import Pointer
from stagec.core.value import NOTHING
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.program import list_schedules, prepare
from stagec.sources.project.settings import Settings
from stagec_dev.checkout import diagnostics, plans
from stagec_dev.rows import Agreement, Row, RowKind, list_rows

_ORIGIN = "stage-protocol:"
_STRICT: Mapping[str, Severity | None] = {"strict": Severity.ERROR}
"""The severities that `validate --strict` sets."""
_KEYWORDS = {
    "envelope-not-object": "type",
    "wrong-type": "type",
    "null-optional": "type",
    "input-value-type": "type",
    "output-value-type": "type",
    "dependency-type": "type",
    "missing-stage-id": "required",
    "missing-goal": "required",
    "missing-inputs": "required",
    "missing-outputs": "required",
    "missing-max-duration": "required",
    "goal-too-short": "minLength",
    "goal-too-long": "maxLength",
    "stage-id-format": "pattern",
    "stage-id-missing-verb": "pattern",
    "stage-id-missing-noun": "pattern",
    "stage-id-digits": "pattern",
    "duration-too-short": "minimum",
    "duration-too-long": "maximum",
}
"""The keyword of the protocol's JSON Schema that forbids what a rule is about."""


def _validate(document: Json, severity: Mapping[str, Severity | None] = NOTHING) -> Compilation:
    """Return the result of `validate` for one document in a file that is named by hand."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "plan.json").write_text(json.dumps(document), encoding="utf-8")
        return compile_project(Project(root, (root / "plan.json",), Settings(severity=severity)))


def _judge_to_the_letter(given: Mapping[str, Any]) -> Json:
    """Return the errors of a strict run that the JSON Schema knows, as the rows write them."""
    found = _validate({"reportTitle": "demo", "stages": [given["envelope"]]}, _STRICT).diagnostics
    errors = sorted({each for one in found if one.severity is Severity.ERROR for each in _list_violations(one)})
    return {"ok": not errors, "errors": [*errors]}


def _list_violations(found: Diagnostic) -> Iterable[str]:
    keywords = [_KEYWORDS[slug] for slug in map(_slug, found.origin) if slug in _KEYWORDS]
    member = ".".join(map(str, found.at.pointer[2:])) or "$"
    return [f"{member}:{keywords[0]}"] if keywords else []


def _judge_alone(given: Mapping[str, Any]) -> Json:
    return [_describe_envelopes(each) for each in _validate(given["envelope"]).diagnostics]


def _describe_envelopes(found: Diagnostic) -> dict[str, Json]:
    severity = {"note": "info"}.get(found.severity.value, found.severity.value)
    return {
        "slugs": [_slug(each) for each in found.origin],
        "severity": severity,
        "at": _locate_envelopes(found.at.pointer),
    }


def _slug(origin: str) -> str:
    return origin.removeprefix(_ORIGIN)


def _locate_envelopes(pointer: Pointer) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer).removeprefix(".") or "$"


def _judge_documented(given: Mapping[str, Any]) -> Json:
    """Return for each plan of a row its errors, and what is said of durations; goals and paths are made up."""
    found: dict[str, Json] = {}
    for name, stages in _list_plans(given):
        run = {
            key: given[source] for key, source in (("reportTitle", "reportTitle"), ("runId", "run")) if source in given
        }
        diagnostics = _validate({**run, "stages": stages}).diagnostics
        errors: list[Json] = [_describe_envelopes(each) for each in diagnostics if each.severity is Severity.ERROR]
        slow = {slug for each in diagnostics for slug in map(_slug, each.origin) if slug.startswith("duration-")}
        found[name] = {"errors": errors, "slow": bool(slow)}
    return found


def _list_plans(given: Mapping[str, Any]) -> Iterable[tuple[str, list[Json]]]:
    if "artifacts" in given:
        artifacts: Mapping[str, list[str]] = given["artifacts"]
        outputs = {
            stage: dict(zip(map(str, range(len(files))), files, strict=True)) for stage, files in artifacts.items()
        }
        yield "stages", [_complete({"stageId": stage}, outputs[stage]) for stage in artifacts]
    for name in ("stages", "wrong", "correct"):
        listed = given.get(name, [])
        stages = [each if isinstance(each, dict) else {"stageId": each} for each in listed]
        if stages:
            yield name, [_complete(each) for each in stages]


def _complete(stage: Mapping[str, Any], outputs: Mapping[str, str] = NOTHING) -> Json:
    seconds = stage.get("minutes", 1) * 60
    goal = f"Do the work of {stage['stageId']}"
    written = {"stageId": stage["stageId"], "goal": goal, "inputs": {}, "outputs": dict(outputs)}
    return {**written, "maxDurationSec": seconds}


def _list_kept_ids(given: Mapping[str, Any]) -> Json:
    """Return the ids under which a stage with some id goes on, whatever is wrong with it."""
    flows = _validate({"stages": [{"stageId": given["input"], "goal": "Do the work of this stage"}]}).flows
    return [name for flow in flows for name in flow.nodes]


def _agree(*, fits: bool) -> Agreement:
    return Agreement.AGREE if fits else Agreement.DISAGREE


def _compare_to_the_letter(given: Mapping[str, Any], got: Any) -> Agreement:
    wanted = {"ok": given["literal_ok"], "errors": sorted(given["literal_schema_errors"])}
    return _agree(fits=got == wanted)


def _compare_alone(given: Mapping[str, Any], got: Any) -> Agreement:
    wanted = [tuple(each) for each in given["recommended_envelope_mode"]]
    return _agree(
        fits=len(wanted) == len(got) and all(any(_fits_envelopes(each, found) for found in got) for each in wanted)
    )


def _fits_envelopes(wanted: tuple[str, str, str], found: Any) -> bool:
    slug, severity, at = wanted
    return slug in found["slugs"] and (severity, at) == (found["severity"], found["at"])


def _compare_documented(given: Mapping[str, Any], got: Any) -> Agreement:
    """Tell whether the plans that documents print are free of errors, and those called too long are not quick."""
    sound = all(not each["errors"] for name, each in got.items() if name != "wrong")
    timed = any(isinstance(each, dict) and "minutes" in each for each in given.get("wrong", ()))
    return _agree(fits=sound and bool(got) and (not timed or got["wrong"]["slow"]))


def _compare_ids(given: Mapping[str, Any], got: Any) -> Agreement:
    """Tell whether a stage keeps its id: upstream's rewriting is what stagec never does."""
    return _agree(fits=got == [given["input"]])


_Answer = Callable[[Mapping[str, Any]], Json]
_Compare = Callable[[Mapping[str, Any], Any], Agreement]
_KINDS: Mapping[str, tuple[_Answer, _Compare]] = {
    "envelopes_boundary.json": (_judge_to_the_letter, _compare_to_the_letter),
    "envelopes_documented.json": (_judge_alone, _compare_alone),
    "plans_documented.json": (_judge_documented, _compare_documented),
    "mcp_normalize_stage_id.json": (_list_kept_ids, _compare_ids),
}


def _claims_envelopes(file: str) -> bool:
    path = PurePosixPath(file)
    return path.parent.name == "stage-protocol" and path.name in _KINDS


def _answer_envelopes(_root: Path, row: Row) -> Json:
    return _KINDS[PurePosixPath(row.file).name][0](row.given)


def _compare_envelopes(row: Row, got: Any) -> Agreement:
    return _KINDS[PurePosixPath(row.file).name][1](row.given, got)


ENVELOPES = RowKind(_claims_envelopes, list_rows, _answer_envelopes, _compare_envelopes)


_FILES = ("stage-protocol/stage_ids.json", "stage-protocol/plans_recommended.json")
_RULED = {"S01_do_stuff": [["stage-id-vague-verb", "error"]]}
"""Ids about which the rulings say something else than the rows."""


def _claims_stage_plans(file: str) -> bool:
    return file in _FILES


def _answer_stage_plans(_root: Path, row: Row) -> Json:
    if "stages" in row.given:
        found, order = _compile(row.given["stages"])
        return {"found": found, "order": order}
    envelope = {"stageId": row.given["stageId"], "goal": "Do the work of this stage", "maxDurationSec": 60}
    stage = {**envelope, "inputs": {}, "outputs": {"out": "out.json"}}
    about_ids = [each for each in _compile([stage])[0] if str(each["slugs"][0]).startswith("stage-id-")]
    return {"found": about_ids}


def _compile(stages: Json) -> tuple[Any, Json]:
    """Return the diagnostics of a plan, and the order in which its stages run one at a time if it has no error."""
    with TemporaryDirectory() as folder:
        written = {"reportTitle": "demo", "stages": stages}
        Path(folder, "plan.json").write_text(json.dumps(written), encoding="utf-8")
        found = diagnostics(Path(folder), "plan.json")
        is_sound = all(each.severity is not Severity.ERROR for each in found)
        return [_describe_stage_plans(each) for each in found], _run_through(
            plans(Path(folder))[0]
        ) if is_sound else None


def _run_through(plan: Plan) -> list[Json]:
    """Return the nodes of the schedule of a plan as they get ready, of several the first by number and id."""
    prepared = prepare(next(list_schedules(plan)))
    ready, left, order = list(prepared.first), dict[int, int](), list[Json]()
    while ready:
        place = min(ready, key=lambda each: prepared.nodes[each])
        ready.remove(place)
        order.append(prepared.nodes[place])
        freed, changed = prepared.release((place,), left)
        ready += freed
        left |= changed
    return order


def _describe_stage_plans(each: Diagnostic) -> dict[str, Json]:
    slugs: list[Json] = [slug.removeprefix(_ORIGIN) for slug in each.origin]
    severity = {"note": "info"}.get(each.severity.value, each.severity.value)
    return {"slugs": slugs, "severity": severity, "at": _locate_stage_plans(each.at.pointer)}


def _locate_stage_plans(pointer: Pointer) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer)
    return "".join(parts).removeprefix(".") or "$"


def _compare_stage_plans(row: Row, got: Any) -> Agreement:
    wanted = [tuple(each) for each in _RULED.get(row.given.get("stageId", ""), row.given["recommended"])]
    found = got["found"]
    fits = len(wanted) == len(found) and all(any(_fits_stage_plans(each, other) for other in found) for each in wanted)
    fits = fits and ("order" not in got or row.given["topological_order"] == got["order"])
    return Agreement.AGREE if fits else Agreement.DISAGREE


def _fits_stage_plans(wanted: tuple[str, ...], found: Any) -> bool:
    """Tell whether a diagnostic is the one that a row wants; rows about ids do not say where."""
    slug, severity, *at = wanted
    return slug in found["slugs"] and severity == found["severity"] and (not at or at[0] == found["at"])


STAGE_PLANS = RowKind(_claims_stage_plans, list_rows, _answer_stage_plans, _compare_stage_plans)


_NAME = "frontmatter.md"
"""The name under which a file is read: names in the corpus are cut off and may have lost their suffix."""
_DECIDES = "ruamel_safe_12"
_SYNTAX = re.compile(r"STG1(?:0[3-9]|1[0-4])")


def _claims_frontmatter(file: str) -> bool:
    path = PurePosixPath(file)
    return path.name == "index.json" and path.parent.name == "frontmatter"


def _rows(root: Path, file: str) -> Iterable[Row]:
    return list_rows(root, file)


def _answer_frontmatter(root: Path, row: Row) -> Json:
    folder = (root / row.file).parent.resolve()
    data = (folder / row.id).read_bytes()
    project = Project(folder, (folder / _NAME,), Settings(), {_NAME: data})
    compilation = compile_project(project)
    told = [_show(each) for each in compilation.diagnostics if _about_syntax(each)]
    given = compilation.trees[_NAME].value
    verdict = "malformed" if told else "left alone" if given is None else "well-formed"
    return {"verdict": verdict, "keys": sorted(given) if isinstance(given, dict) else None, "diagnostics": told}


def _about_syntax(each: Diagnostic) -> bool:
    return _SYNTAX.fullmatch(each.code) is not None and each.severity is Severity.ERROR


def _show(each: Diagnostic) -> Object:
    start = each.span.start
    return {"code": each.code, "line": start.line, "column": start.column, "message": each.message}


def _compare_frontmatter(row: Row, got: Any) -> Agreement:
    said = row.given.get("yaml")
    if not isinstance(said, dict):
        return Agreement.UNKNOWN
    agrees = got.get("verdict") == _want(said) and (got["verdict"] != "malformed" or _is_reported_once(said, got))
    return Agreement.AGREE if agrees else Agreement.DISAGREE


def _want(said: Mapping[str, Any]) -> str:
    verdicts = [str(given) for parser, given in said.items() if given is not None and parser != "pyyaml_message"]
    refused = sum(verdict.startswith("err:") for verdict in verdicts)
    read = len(verdicts) - refused
    if not verdicts:
        return "left alone"
    malformed = str(said.get(_DECIDES)).startswith("err:") if refused == read else refused > read
    return "malformed" if malformed else "well-formed"


def _is_reported_once(said: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Tell whether there is one diagnostic, in a line that the other parser named or the one above it.

    That parser counts from the line behind the fence, and often stops one line too late.
    """
    lines = {int(line) for line in re.findall(r"line (\d+)", str(said.get("pyyaml_message") or ""))}
    near = {line + below for line in lines for below in (0, 1)}
    told = got["diagnostics"]
    return len(told) == 1 and (not near or told[0]["line"] in near)


FRONTMATTER = RowKind(_claims_frontmatter, _rows, _answer_frontmatter, _compare_frontmatter)
