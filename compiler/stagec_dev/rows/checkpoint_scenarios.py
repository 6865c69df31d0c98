"""Results of upstream's checkpoint manager in projects of several files, compared with those of stagec.

A step that only asks (`validate`, `list`, `resume`) is answered from the files that are there. Of a step that writes,
the answer is whether stagec would write such a checkpoint; the steps behind it look at the files that upstream has
left. stagec has no notebooks, no sessions and no step that removes checkpoints, and a plan decides where a run
continues: rows about these are out of scope. A fault that upstream does not know is beside the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import (
    ArtifactEntry,
    JudgedCheckpoint,
    Manifest,
    TrustLevel,
    encode_manifest,
    find_newest,
    read_instant,
    read_manifest,
)
from stagec.ir.protocol.stage_ids import find_segment_fault
from stagec.runtime.world.checkpoints import judge_checkpoint, list_manifests
from stagec.runtime.world.stage_files import RunFolder
from stagec_dev.rows import Agreement, Row, RowKind, is_out_of_scope, list_rows, out_of_scope

_FILES = ("checkpoint_scenarios_edge", "checkpoint_scenarios_upstream_tests")
_OWN = frozenset({"misplaced-checkpoint", "repeated-artifact"})
"""Rules about manifests that upstream does not have."""
_NAMES = ("reportTitle", "runId", "checkpointId")
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "save": ("reportTitle", "runId", "checkpointId", "stageId"),
    "emergency": ("reportTitle", "runId", "stageId", "reason"),
    "validate": ("reportTitle", "runId", "checkpointId"),
    "list": ("reportTitle",),
    "resume": ("reportTitle",),
}
_FOREIGN = ("notebook", "researchSessionID", "JSON Parse error")
"""Subjects of upstream's errors that stagec does not have."""


def _claims(file: str) -> bool:
    return file in {f"stage-protocol/{name}.json" for name in _FILES}


def _answer(_root: Path, row: Row) -> Json:
    tree, answers = row.given.get("pre"), []
    for step in row.given["steps"]:
        args = step["args"]
        files = step.get("pre_fs", tree)
        answers.append(out_of_scope("what is there is not recorded") if files is None else _ask(args, files))
        if args.get("action") in _WRITES:
            tree = row.given.get("post")
    return answers


_WRITES = frozenset({"save", "emergency", "prune"})


def _ask(args: Mapping[str, Any], files: Mapping[str, Any]) -> Json:
    action = str(args.get("action"))
    if action not in _NEEDS:
        return out_of_scope("stagec has no such step")
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        _lay_out(root, files)
        try:
            _check_names(root, action, args)
            return {"ok": True, **_ANSWERS[action](root, args)}
        except (Failure, ValueError) as error:
            return {"ok": False, "error": str(error)}


def _lay_out(root: Path, files: Mapping[str, Any]) -> None:
    root.mkdir()
    Path(f"{root}-out").mkdir()
    for name, each in sorted(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if "symlink" in each:
            path.symlink_to(each["symlink"].replace("$ROOT", str(root)))
        elif "utf8" in each:
            path.write_bytes(each["utf8"].encode())
        else:
            path.mkdir(exist_ok=True)


def _check_names(root: Path, action: str, args: Mapping[str, Any]) -> None:
    """Raise `Failure` for a name that no run can have; runs ask the same."""
    needed = _NEEDS[action]
    RunFolder(root, _text(args, "reportTitle"), _text(args, "runId") if "runId" in needed else "any")
    for name in _NAMES:
        fault = find_segment_fault(args.get(name)) if name in needed or args.get(name) else None
        if fault is not None:
            raise Failure(f"{name} {fault.words}")


def _text(args: Mapping[str, Any], name: str) -> str:
    given = args.get(name)
    return given if isinstance(given, str) else ""


def _save(_root: Path, args: Mapping[str, Any]) -> Mapping[str, Json]:
    said = "emergency" if args["action"] == "emergency" else args.get("status") or "saved"
    reason = args.get("reason") or ("abort" if said == "interrupted" else None)  # stagec always has one
    entries = [(each["relativePath"], each["sha256"], each["sizeBytes"]) for each in args.get("artifacts") or ()]
    manifest = Manifest(
        report=args["reportTitle"],
        run=args["runId"],
        stage=_text(args, "stageId"),
        created="2026-01-01T00:00:00Z",
        artifacts=tuple(ArtifactEntry(*each) for each in entries),
        status="saved" if said == "saved" else "interrupted",
        reason=None if said == "saved" else reason,
        trust=TrustLevel(args.get("trustLevel", "local")),
    )
    encode_manifest(manifest)
    return {"stageId": manifest.stage}


def _validate(root: Path, args: Mapping[str, Any]) -> Mapping[str, Json]:
    found = judge_checkpoint(_folder(root, args) / args["checkpointId"] / "checkpoint.json")
    own = [each.topic for each in found.faults if each.topic in _OWN]
    others = [each.topic for each in found.faults if each.topic not in _OWN]
    loads = found.manifest is not None
    return {"valid": loads and not others, "issues": others if loads else ["manifest"], "also": own}


def _list(root: Path, args: Mapping[str, Any]) -> Mapping[str, Json]:
    found = sorted(_load(root, args), key=lambda each: read_instant(each.created), reverse=True)
    return {"checkpoints": [_describe(each) for each in found], "count": len(found)}


def _resume(root: Path, args: Mapping[str, Any]) -> Mapping[str, Json]:
    judged = _judge(root, args)
    valid = {id(each.manifest): each for each in judged if all(fault.topic in _OWN for fault in each.faults)}
    newest = find_newest(each.manifest for each in valid.values() if each.manifest is not None)
    told: dict[str, Json] = {"found": newest is not None, "searchedCount": len(judged)}
    if newest is None:
        return told
    is_warned = valid[id(newest)].trust is not TrustLevel.LOCAL
    return {**told, "checkpoint": _describe(newest), "trustWarning": is_warned}


_ANSWERS = {"save": _save, "emergency": _save, "validate": _validate, "list": _list, "resume": _resume}


def _folder(root: Path, args: Mapping[str, Any]) -> Path:
    return Path(root, "reports", args["reportTitle"], "checkpoints", _text(args, "runId"))


def _judge(root: Path, args: Mapping[str, Any]) -> list[JudgedCheckpoint]:
    found = (judge_checkpoint(path) for path in list_manifests(_folder(root, args)))
    return [each for each in found if each.manifest is not None]


def _load(root: Path, args: Mapping[str, Any]) -> Iterator[Manifest]:
    yield from (each.manifest for each in _judge(root, args) if each.manifest is not None)


def _describe(manifest: Manifest) -> dict[str, Json]:
    return {
        "checkpointId": manifest.checkpoint,
        "runId": manifest.run,
        "stageId": manifest.stage,
        "status": manifest.status,
        "createdAt": manifest.created,
        "artifactCount": len(manifest.artifacts),
    }


def _compare(row: Row, got: Any) -> Agreement:
    steps = row.given["steps"]
    outcomes = [
        _compare_step(step, each, steps[index + 1 :]) for index, (step, each) in enumerate(zip(steps, got, strict=True))
    ]
    if Agreement.DISAGREE in outcomes:
        return Agreement.DISAGREE
    return Agreement.AGREE if Agreement.AGREE in outcomes else Agreement.OUT_OF_SCOPE


def _compare_step(step: Mapping[str, Any], got: Any, later: Iterable[Mapping[str, Any]]) -> Agreement:
    if is_out_of_scope(got):
        return Agreement.OUT_OF_SCOPE
    if not step["ok"]:
        is_foreign = any(word in str(step.get("error")) for word in _FOREIGN)
        return Agreement.OUT_OF_SCOPE if is_foreign else _agree(not got["ok"])
    if step["args"]["action"] in _WRITES:
        return _compare_written(step, got, later)
    return _agree(all(_same(step["result"], name, each) for name, each in got.items() if name != "also"))


def _compare_written(step: Mapping[str, Any], got: Any, later: Iterable[Mapping[str, Any]]) -> Agreement:
    """Tell whether stagec refuses to write what upstream writes and cannot read or verify afterwards.

    Some of these stagec writes and reads, such as an id of a stage that only upstream's reader refuses: then nothing is
    compared.
    """
    is_lost = _has_unreadable(step.get("post_fs", {})) or any(_is_lost(each["result"]) for each in later if each["ok"])
    return Agreement.OUT_OF_SCOPE if is_lost and got["ok"] else _agree(got["ok"] or is_lost)


def _has_unreadable(files: Mapping[str, Any]) -> bool:
    manifests = (each["utf8"] for name, each in files.items() if name.endswith("/checkpoint.json"))
    return any(read_manifest(text.encode()).manifest is None for text in manifests)


def _is_lost(result: Mapping[str, Any]) -> bool:
    return result.get("count") == 0 or result.get("valid") is False or result.get("found") is False


def _same(wanted: Mapping[str, Any], name: str, got: Json) -> bool:
    if name == "issues":
        return isinstance(got, list) and len(wanted.get(name, ())) == len(got)
    if name == "trustWarning":
        return (name in wanted) is got
    if name == "checkpoint":
        return isinstance(got, dict) and all(wanted[name][key] == each for key, each in got.items())
    return bool(wanted.get("success", True)) is got if name == "ok" else bool(wanted.get(name) == got)


def _agree(is_same: object) -> Agreement:
    return Agreement.AGREE if is_same else Agreement.DISAGREE


CHECKPOINT_SCENARIOS = RowKind(_claims, list_rows, _answer, _compare)
