"""Envelopes and plans as documents print them: what `validate` says of them, also to the letter of the JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import NOTHING
from stagec.pipeline import Compilation, Project, compile_project
from stagec.project.settings import Settings
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

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
    """Return what `validate` makes of one document in a file that is named by hand."""
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
    return [_describe(each) for each in _validate(given["envelope"]).diagnostics]


def _describe(found: Diagnostic) -> dict[str, Json]:
    severity = {"note": "info"}.get(found.severity.value, found.severity.value)
    return {"slugs": [_slug(each) for each in found.origin], "severity": severity, "at": _locate(found.at.pointer)}


def _slug(origin: str) -> str:
    return origin.removeprefix(_ORIGIN)


def _locate(pointer: Pointer) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer).removeprefix(".") or "$"


def _judge_documented(given: Mapping[str, Any]) -> Json:
    """Return for each plan of a row its errors, and what is said of durations; goals and paths are made up."""
    found: dict[str, Json] = {}
    for name, stages in _list_plans(given):
        run = {
            key: given[source] for key, source in (("reportTitle", "reportTitle"), ("runId", "run")) if source in given
        }
        diagnostics = _validate({**run, "stages": stages}).diagnostics
        errors: list[Json] = [_describe(each) for each in diagnostics if each.severity is Severity.ERROR]
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
    return _agree(fits=len(wanted) == len(got) and all(any(_fits(each, found) for found in got) for each in wanted))


def _fits(wanted: tuple[str, str, str], found: Any) -> bool:
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


def _claims(file: str) -> bool:
    path = PurePosixPath(file)
    return path.parent.name == "stage-protocol" and path.name in _KINDS


def _answer(_root: Path, row: Row) -> Json:
    return _KINDS[PurePosixPath(row.file).name][0](row.given)


def _compare(row: Row, got: Any) -> Agreement:
    return _KINDS[PurePosixPath(row.file).name][1](row.given, got)


ENVELOPES = RowKind(_claims, list_rows, _answer, _compare)
