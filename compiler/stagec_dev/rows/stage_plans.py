"""Ids of stages and whole stage plans, with the diagnostics that the specification wants for them."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.plan.document import Plan
from stagec.runtime.prepared_schedule import list_schedules, prepare
from stagec_dev.compiling import diagnostics, plans
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

_FILES = ("stage-protocol/stage_ids.json", "stage-protocol/plans_recommended.json")
_ORIGIN = "stage-protocol:"
_RULED = {"S01_do_stuff": [["stage-id-vague-verb", "error"]]}
"""Ids about which the rulings say something else than the rows."""


def _claims(file: str) -> bool:
    return file in _FILES


def _answer(_root: Path, row: Row) -> Json:
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
        return [_describe(each) for each in found], _run_through(plans(Path(folder))[0]) if is_sound else None


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


def _describe(each: Diagnostic) -> dict[str, Json]:
    slugs: list[Json] = [slug.removeprefix(_ORIGIN) for slug in each.origin]
    severity = {"note": "info"}.get(each.severity.value, each.severity.value)
    return {"slugs": slugs, "severity": severity, "at": _locate(each.at.pointer)}


def _locate(pointer: Pointer) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer)
    return "".join(parts).removeprefix(".") or "$"


def _compare(row: Row, got: Any) -> Agreement:
    wanted = [tuple(each) for each in _RULED.get(row.given.get("stageId", ""), row.given["recommended"])]
    found = got["found"]
    fits = len(wanted) == len(found) and all(any(_fits(each, other) for other in found) for each in wanted)
    fits = fits and ("order" not in got or row.given["topological_order"] == got["order"])
    return Agreement.AGREE if fits else Agreement.DISAGREE


def _fits(wanted: tuple[str, ...], found: Any) -> bool:
    """Tell whether a diagnostic is the one that a row wants; rows about ids do not say where."""
    slug, severity, *at = wanted
    return slug in found["slugs"] and severity == found["severity"] and (not at or at[0] == found["at"])


STAGE_PLANS = RowKind(_claims, list_rows, _answer, _compare)
