"""Answer the rows of `cases/` that can be answered without running anything, and compare with their own answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from stagec.core.place import Place
from stagec.frontends.stages.template import object_body
from stagec_dev.row import Agreement
from stagec_dev.rows.stage_definitions.projects import (
    CODE,
    context_of,
    diagnose_files,
    lacking,
    list_named,
    machine,
    markdown,
    minimal,
)
from stagec_dev.rows.stage_definitions.verdicts import rules, verdict

Given = Mapping[str, Any]
_OF_PROMPTS = ("placeholder-", "ctx-", "upstream-", "stage-ref-")
_FILE = "pipeline.json"


def _stage(given: Given) -> Any:
    following = given.get("next")
    if following is not None and not isinstance(following, dict):
        return {"applicable": False}
    stage = dict(given["stage"], **({} if following is None else {"next": following}))
    others = [minimal(name) for name in list_named(following) if name != stage.get("id")]
    document = machine([stage, *others], stage.get("id") or "none", **context_of(given.get("contextSchema")))
    answer = verdict(diagnose_files({_FILE: json.dumps(document)}), document)
    return {**answer, "placeholders": {"code-0.1": _of_prompts(answer["rules"]), "wiki-1.0": _in_markdown(given)}}


def _in_markdown(given: Given) -> list[str]:
    """Return what is said of the same prompt in a Markdown stage."""
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


def _configuration(given: Given) -> Any:
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
    "validate-stage-definition": _stage,
    "validate-sm-stages": _pipeline,
    "stage-definition-schema": _shape,
    "sm-config-schema": _configuration,
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
